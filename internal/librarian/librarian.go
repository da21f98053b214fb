// Package librarian makes libraries: behaviours of a robot that differ from one another in
// the picture, so that a session has something to ask about from its first second.
package librarian

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/internal/behaviour"
	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/library"
	"tiebreak/internal/picture"
	"tiebreak/internal/rng"
	"tiebreak/internal/sac"
	"tiebreak/internal/solver"
	"tiebreak/internal/trainer"

	"gonum.org/v1/gonum/floats"
)

// A Recipe says how the library of a robot is made. The zero Recipe suits a robot of which
// nothing is known.
type Recipe struct {
	Count   int                // behaviours; default 32
	Gaits   int                // of them found by novelty, from which is chosen; default 60
	Mutants int                // of skills that are tried; default 0
	Alive   map[string]float64 // by features, weights that are added in searches for the end of a feature
	Skills  []Skill            // that nothing else finds
	Fixed   []idrl.Behaviour   // known before
	Ends    []string           // features whose ends are searched for; nil for all
	Falls   bool               // those searches end episodes at a fall
}

// A Skill is what a robot can do, learnt for a reward.
type Skill struct {
	Name  string
	Theta map[string]float64 // weights of the reward by features
	Falls bool               // episodes of training end at a fall

	// One of these: steps of training by soft actor-critic, iterations of augmented random
	// search over linear policies, or generations of an evolution strategy over gaits.
	Steps, Iterations, Generations int
}

// seed is that of every library.
const seed = 1

// A Builder makes the library of one robot.
type Builder struct {
	Recipe
	NewEnv   func() idrl.Environment // required; returns equal environments
	Workers  int                     // goroutines of a search; it does not change the result
	Progress idrl.Progress           // required

	// Known has skills that were learnt before, by name. Learnt may be nil; it is told of
	// each skill as soon as it is learnt.
	Known  map[string][]float64
	Learnt func(name string, params []float64)

	env     idrl.Environment
	stock   *trainer.Stock
	found   []found
	done    int
	working int // parts of the work
}

// found is a behaviour with what is seen of it.
type found struct {
	idrl.Behaviour
	views []*picture.View
	must  bool // a skill: it is in the library if it can be shown
	end   bool // of a feature: so is this
	falls bool // a clip shows how the robot falls
}

// Build returns the behaviours in the order in which they are to be shown. It is a
// function of the recipe, the environment and Known. It returns ctx.Err() soon after ctx is
// done, and an error of kind Invalid if there are no gaits in the environment.
func (b *Builder) Build(ctx context.Context) ([]idrl.Behaviour, error) {
	b.env, b.stock = b.NewEnv(), Stock(b.NewEnv)
	b.working = 3 + len(b.Skills)
	if b.Ends == nil {
		b.Ends = b.env.Spec().FeatureNames
	}
	b.working += 2 * len(b.Ends)
	for _, f := range b.Fixed {
		if err := b.take(ctx, f.Name, f.Params, true); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(context.Context) error{b.skills, b.mutants, b.novelty, b.ends} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return b.choose(ctx)
}

// Stock returns what plays behaviours for a library as sessions play them.
func Stock(newEnv func() idrl.Environment) *trainer.Stock {
	return &trainer.Stock{NewEnv: newEnv, Remake: behaviour.Remake, Encode: clip.Encode}
}

func (b *Builder) report(what string) {
	b.Progress(b.done, b.working, what)
	b.done++
}

func (b *Builder) stream(purpose string, n int) *rand.Rand {
	return rng.New(seed, "library "+purpose, uint64(n))
}

// take adds a behaviour if there is anything to see of it.
func (b *Builder) take(ctx context.Context, name string, params []float64, must bool) error {
	one := found{Behaviour: idrl.Behaviour{Name: name, Params: library.Round(params)}, must: must}
	clips, err := b.stock.Clips(ctx, one.Behaviour)
	if errors.Is(err, trainer.ErrBroken) {
		return nil
	}
	if err != nil {
		return err
	}
	if one.views, err = Views(clips); err != nil {
		return err
	}
	if one.falls, err = anyFalls(clips); err != nil {
		return err
	}
	if must || watchable(one.views) {
		b.found = append(b.found, one)
	}
	return nil
}

// Views returns what is seen of drawn clips.
func Views(clips []idrl.Clip) ([]*picture.View, error) {
	out := make([]*picture.View, len(clips))
	for i, c := range clips {
		drawn, err := clip.Decode(c.Media)
		if err != nil {
			return nil, err
		}
		if out[i], err = picture.New(drawn); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// anyFalls reports whether the robot lies in some state of drawn clips.
func anyFalls(clips []idrl.Clip) (bool, error) {
	for _, c := range clips {
		drawn, err := clip.Decode(c.Media)
		if err != nil || drawn.Header.Fallen > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// watchable reports whether all clips are lively, and none is of a robot that lies.
func watchable(views []*picture.View) bool {
	return len(views) > 0 && !slices.ContainsFunc(views, func(v *picture.View) bool { return !v.Lively() || v.Fallen() })
}

// skills learns what is not known.
func (b *Builder) skills(ctx context.Context) error {
	for k, s := range b.Skills {
		b.report("learning " + s.Name)
		params, ok := b.Known[s.Name]
		if !ok {
			var err error
			if params, err = b.learn(ctx, s, k); err != nil {
				return fmt.Errorf("learn %s: %w", s.Name, err)
			}
			if b.Learnt != nil {
				b.Learnt(s.Name, params)
			}
		}
		if err := b.take(ctx, s.Name, params, true); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) learn(ctx context.Context, s Skill, k int) ([]float64, error) {
	env := b.arena(s.Falls)
	if s.Steps > 0 {
		settings := sac.Live()
		settings.Features = true
		agent, err := sac.New(sac.Config{Settings: settings, Env: env, Reward: sac.Linear(b.weights(s.Theta)), Seed: b.stream("skill", k).Uint64()})
		if err != nil {
			return nil, err
		}
		if err := agent.Run(ctx, s.Steps, nil); err != nil {
			return nil, err
		}
		return behaviour.Network.Params(agent.Policy(false).Params()), nil
	}
	if s.Generations > 0 {
		e := solver.Evolve{
			Generations: s.Generations, First: 60, Judging: solver.Judging{Starts: 4, Steps: 500},
			Workers: b.Workers, NewEnv: func() idrl.Environment { return b.arena(s.Falls) },
		}
		p, err := e.Solve(ctx, idrl.SolveTask{Env: env, Theta: b.weights(s.Theta)}, b.stream("skill", k))
		if err != nil {
			return nil, err
		}
		return behaviour.Gait.Params(p.Params()), nil
	}
	search := b.env.Spec().Search
	ars := solver.ARS{
		StepSize: search.StepSize, NoiseStd: search.NoiseStd, Directions: 8, Top: 4, Episodes: 1, Normalise: true,
		Iterations: s.Iterations, Workers: b.Workers, NewEnv: func() idrl.Environment { return b.arena(s.Falls) },
	}
	p, err := ars.Solve(ctx, idrl.SolveTask{Env: env, Theta: b.weights(s.Theta)}, b.stream("skill", k))
	if err != nil {
		return nil, err
	}
	return behaviour.Linear.Params(p.Params()), nil
}

// arena returns an environment to search in.
func (b *Builder) arena(falls bool) idrl.Environment {
	if falls {
		return idrl.UntilFall(b.NewEnv())
	}
	return b.NewEnv()
}

// A mutation of a network changes its last layer, by up to a share of its size.
const (
	leastMutation = 0.03
	mutationSpan  = 20
)

// mutants tries mutations of the skills, and of those that can be watched.
func (b *Builder) mutants(ctx context.Context) error {
	stream := b.stream("mutants", 0)
	b.report("mutations of what was learnt")
	for k := range b.Mutants {
		if len(b.found) == 0 {
			return nil
		}
		parent := b.found[stream.IntN(len(b.found))]
		params, err := b.mutate(parent.Params, stream)
		if err != nil {
			return err
		}
		if err := b.take(ctx, fmt.Sprintf("%s, changed %d", root(parent.Name), k+1), params, false); err != nil {
			return err
		}
	}
	return nil
}

// root returns the name of the skill that a behaviour is a mutation of.
func root(name string) string {
	name, _, _ = strings.Cut(name, ",")
	return name
}

// mutate returns params with noise: on the last layer of a network, the weights of a linear
// policy, or the oscillator of a gait.
func (b *Builder) mutate(params []float64, stream *rand.Rand) ([]float64, error) {
	spec := b.env.Spec()
	if own, ok := behaviour.Gait.Own(params); ok {
		return behaviour.Gait.Params(solver.Mutate(spec, own, stream)), nil
	}
	out, nu := slices.Clone(params), spec.Actions.Dim()
	part := out[1 : 1+nu*spec.ObsDim]
	if _, ok := behaviour.Network.Own(params); ok {
		hidden := int(params[4+int(params[4])])
		part = out[len(out)-2*nu*(hidden+1):]
		part = part[:nu*hidden]
	}
	share := leastMutation * (1 + (mutationSpan-1)*stream.Float64()*stream.Float64())
	size := rms(part)
	for i := range part {
		part[i] += share * size * stream.NormFloat64()
	}
	return out, nil
}

// novelty adds gaits that differ from one another in features.
func (b *Builder) novelty(ctx context.Context) error {
	b.report("gaits that differ from one another")
	var given [][]float64
	for _, f := range b.found {
		if own, ok := behaviour.Gait.Own(f.Params); ok {
			given = append(given, own)
		}
	}
	n := solver.Novelty{
		Workers: b.Workers, NewEnv: b.NewEnv,
		Lively: func(env idrl.Environment, c idrl.Clip) (bool, error) {
			media, err := clip.Encode(env, c)
			if err != nil {
				return false, err
			}
			views, err := Views([]idrl.Clip{{Media: media}})
			return err == nil && watchable(views), err
		},
	}
	gaits, err := n.Find(ctx, b.env, given, cmp.Or(b.Gaits, 60), b.stream("novelty", 0))
	if err != nil {
		return err
	}
	for k, g := range gaits {
		if err := b.take(ctx, fmt.Sprintf("gait %d", k+1), behaviour.Gait.Params(g.Params), false); err != nil {
			return err
		}
	}
	return nil
}

// Searches for the end of a feature. They begin with the best of what is known.
const (
	endGenerations = 12
	endLambda      = 12
	endSteps       = 150
)

// ends adds a gait for either end of each feature.
func (b *Builder) ends(ctx context.Context) error {
	spec := b.env.Spec()
	for i, name := range spec.FeatureNames {
		if !slices.Contains(b.Ends, name) {
			continue
		}
		for k, way := range []struct {
			name string
			sign float64
		}{{"most", 1}, {"least", -1}} {
			what := fmt.Sprintf("%s %s", way.name, strings.ToLower(name))
			b.report("search: " + what)
			theta := b.weights(b.Alive)
			theta[i] += way.sign
			gait, err := b.search(ctx, theta, 2*i+k)
			if errors.Is(err, solver.ErrBroken) {
				continue
			}
			if err != nil {
				return err
			}
			before := len(b.found)
			if err := b.take(ctx, what, behaviour.Gait.Params(gait.Params()), false); err != nil {
				return err
			}
			for k := range b.found[before:] {
				b.found[before+k].end = true
			}
		}
	}
	return nil
}

func (b *Builder) search(ctx context.Context, theta []float64, k int) (idrl.Policy, error) {
	task := idrl.SolveTask{Env: b.arena(b.Falls), Theta: theta}
	for _, f := range b.found {
		if own, ok := behaviour.Gait.Own(f.Params); ok {
			task.Warm = append(task.Warm, own)
		}
	}
	e := solver.Evolve{
		Lambda: endLambda, Generations: endGenerations, Steps: max(endSteps, b.env.Spec().ClipSteps), Every: endGenerations / 2,
		Judging: solver.Judging{Starts: 2, Steps: 300}, Workers: b.Workers, NewEnv: func() idrl.Environment { return b.arena(b.Falls) },
	}
	return e.Solve(ctx, task, b.stream("end", k))
}

// weights returns θ of weights by the names of features.
func (b *Builder) weights(by map[string]float64) []float64 {
	spec := b.env.Spec()
	theta := make([]float64, spec.FeatureDim())
	for i, name := range spec.FeatureNames {
		theta[i] = by[name]
	}
	return theta
}

// Starts of the episodes over which features are averaged.
const starts = 3

// Of the behaviours that a session shows first, and of all, so many are chosen among those
// that do not fall, if there are: all falls look much the same.
const (
	firstSteady, first = 12, 16
	steadyShare        = 0.75
)

// order returns the places of what is chosen: skills and the ends of features, and what
// looks most different from them; all by farthest point, skills first.
func (b *Builder) order() ([]int, error) {
	var skills, ends, all []int
	for i, f := range b.found {
		if all = append(all, i); f.must {
			skills = append(skills, i)
		}
		if f.end {
			ends = append(ends, i)
		}
	}
	chosen, err := b.spread(all, slices.Concat(skills, ends))
	if err != nil {
		return nil, err
	}
	return b.spread(chosen, skills)
}

// spread returns the places of behaviours by farthest point, of those among which it
// chooses, beginning with some of them.
func (b *Builder) spread(among, chosen []int) (_ []int, err error) {
	all, steady := make([][]*picture.View, len(b.found)), make([][]*picture.View, len(b.found))
	for _, i := range among {
		all[i] = b.found[i].views
		if !b.found[i].falls {
			steady[i] = all[i]
		}
	}
	count := cmp.Or(b.Count, 32)
	for _, part := range []struct {
		among [][]*picture.View
		n     int
	}{{steady, firstSteady}, {all, first}, {steady, max(first, int(steadyShare*float64(count)))}, {all, count}} {
		for _, i := range chosen {
			steady[i] = all[i] // it stays chosen
		}
		if chosen, err = picture.Spread(part.among, chosen, max(part.n, len(chosen))); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// choose orders what was found and measures it.
func (b *Builder) choose(ctx context.Context) ([]idrl.Behaviour, error) {
	b.report("choosing among " + fmt.Sprint(len(b.found)))
	chosen, err := b.order()
	if err != nil {
		return nil, err
	}
	var out []idrl.Behaviour
	for _, i := range chosen {
		one := b.found[i].Behaviour
		if one.Mus, err = b.measure(ctx, one.Params); err != nil {
			return nil, err
		}
		if one.Mus != nil {
			out = append(out, one)
		}
	}
	return out, nil
}

// measure returns the discounted features of whole episodes; nil if the simulation breaks
// down in one.
func (b *Builder) measure(ctx context.Context, params []float64) (mus [][]float64, err error) {
	p, err := behaviour.New(b.env.Spec(), params)
	if err != nil {
		return nil, err
	}
	for n := range starts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mu, weight := make([]float64, b.env.Spec().FeatureDim()), 1.0
		for _, step := range idrl.EpisodeOf(b.env, p, b.stream("measured", n)) {
			if step.Broken {
				return nil, nil
			}
			if step.Kind != idrl.First {
				floats.AddScaled(mu, weight, step.Phi)
				weight *= b.env.Spec().Discount
			}
		}
		mus = append(mus, mu)
	}
	return mus, nil
}

func rms(x []float64) float64 { return floats.Norm(x, 2) / math.Sqrt(float64(len(x))) }
