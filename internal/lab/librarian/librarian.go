package librarian

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// A Builder makes the library of one robot.
type Builder struct {
	Recipe
	NewEnv   func() idrl.Environment // required; returns equal environments
	Workers  int                     // goroutines of a search; it does not change the result
	Progress idrl.Progress           // required

	env     idrl.Environment
	stock   *trainer.Stock
	found   []found
	learnt  map[string][]float64 // skills by name
	raw     map[string][]float64 // networks as they were trained, by the names of skills
	trained map[string][]byte    // their checkpoints
	done    int
	working int // parts of the work
}

// found is a behaviour with what is seen of it.
type found struct {
	library.Behaviour
	views []*measure.View
	phi   []float64 // mean of the features of its clips
	must  bool      // a skill: it is in the library if it can be shown
	falls bool      // a clip shows how the robot falls, or, where the recipe asks for it, a whole episode
}

// Build returns the behaviours in the order in which they are to be shown. It is a
// function of the recipe and the environment. It returns ctx.Err() soon after ctx is
// done, and an error of kind Invalid if there are no gaits in the environment.
func (b *Builder) Build(ctx context.Context) ([]library.Behaviour, error) {
	b.env, b.stock = b.NewEnv(), Stock(b.NewEnv)
	b.learnt, b.raw, b.trained = map[string][]float64{}, map[string][]float64{}, map[string][]byte{}
	if b.Ends == nil {
		b.Ends = b.env.Spec().FeatureNames
	}
	b.working = 3 + len(b.Skills) + 2*len(b.Ends)
	for _, step := range []func(context.Context) error{b.skills, b.novelty, b.ends, b.mutants} {
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

// take adds a behaviour if there is anything to see of it.
func (b *Builder) take(ctx context.Context, name string, params []float64, must bool) error {
	one := found{Behaviour: library.Behaviour{Name: name, Params: library.Round(params)}, must: must}
	clips, err := b.stock.Clips(ctx, one.Behaviour)
	if errors.Is(err, trainer.ErrBroken) {
		return nil
	}
	if err != nil {
		return err
	}
	if one.views, err = measure.Of(clips); err != nil {
		return err
	}
	if one.falls, err = anyFalls(clips); err != nil {
		return err
	}
	one.phi = make([]float64, b.env.Spec().FeatureDim())
	for _, c := range clips {
		floats.AddScaled(one.phi, 1/float64(len(clips)), c.Phi)
	}
	if !must && !watchable(one.views) {
		return nil
	}
	if b.Falls && !one.falls {
		if err := b.measure(ctx, &one); err != nil {
			return err
		}
	}
	b.found = append(b.found, one)
	return nil
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
func watchable(views []*measure.View) bool {
	return len(views) > 0 && !slices.ContainsFunc(views, func(v *measure.View) bool { return !v.Lively() || v.Fallen() })
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
			views, err := measure.Of([]idrl.Clip{{Media: media}})
			return err == nil && watchable(views), err
		},
	}
	gaits, err := n.Find(ctx, b.env, given, cmp.Or(b.Gaits, 60), stream("novelty", 0))
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

// ends adds what searches among gaits find for either end of each feature.
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
			theta[i] += way.sign / spec.StepSeconds
			gait, err := b.search(ctx, theta, 2*i+k)
			if errors.Is(err, solver.ErrBroken) {
				continue
			}
			if err != nil {
				return err
			}
			if err := b.take(ctx, what, behaviour.Gait.Params(gait.Params()), false); err != nil {
				return err
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
	return e.Solve(ctx, task, stream("end", uint64(k)))
}
