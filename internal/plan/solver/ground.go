package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// A ground plays gaits. It has one environment per worker, and streams for start states that are
// functions of a seed.
type ground struct {
	spec  idrl.EnvSpec
	envs  []idrl.Environment
	seed  uint64
	spent int // environment steps so far
}

func newGround(env idrl.Environment, workers int, newEnv func() idrl.Environment, seed uint64) *ground {
	g := &ground{spec: env.Spec(), envs: []idrl.Environment{env}, seed: seed}
	for newEnv != nil && len(g.envs) < workers {
		g.envs = append(g.envs, newEnv())
	}
	return g
}

// stream returns the n-th stream for a purpose.
func (g *ground) stream(purpose string, n int) *rand.Rand { return rng.New(g.seed, purpose, uint64(n)) }

// A trial is an episode of a gait, or the beginning of one.
type trial struct {
	params []float64
	start  *rand.Rand // of the episode; its own
	steps  int        // of the episode, at most
	watch  bool       // fill seen

	mu     []float64 // discounted sum of features, length d
	played int       // steps
	broken bool      // the parameters are not valid, or the simulation broke down
	seen   moments   // of the observations
}

// play plays trials on all environments in parallel. The result does not depend on their number.
func (g *ground) play(ctx context.Context, trials []trial) error {
	err := parallel(ctx, len(g.envs), len(trials), func(worker, i int) error {
		trials[i].play(g.spec, g.envs[worker])
		return nil
	})
	for _, b := range trials {
		g.spent += b.played
	}
	return err
}

func (b *trial) play(spec idrl.EnvSpec, env idrl.Environment) {
	b.mu = make([]float64, spec.FeatureDim())
	gait, err := NewGait(spec, b.params)
	if err != nil {
		b.broken = true
		return
	}
	var p idrl.Policy = gait
	if b.watch {
		b.seen = newMoments(spec.ObsDim)
		p = watchedGait{gait, &b.seen}
	}
	discount := 1.0
	for _, step := range idrl.EpisodeOf(env, p, b.start) {
		if step.Kind == idrl.First {
			continue
		}
		b.played++
		if step.Broken {
			b.broken = true
			return
		}
		floats.AddScaled(b.mu, discount, step.Phi)
		discount *= spec.Discount
		if b.played == b.steps {
			return
		}
	}
}

// watchedGait is a gait that counts the observations it acts on.
type watchedGait struct {
	*Gait
	seen *moments
}

// ActAt counts obs and acts as the gait does.
func (w watchedGait) ActAt(dst idrl.Action, obs []float64, t int, rng *rand.Rand) idrl.Action {
	w.seen.add(obs)
	return w.Gait.ActAt(dst, obs, t, rng)
}

// value returns the return of the trial under θ, −Inf if it broke down.
func (b *trial) value(theta []float64) float64 {
	v := floats.Dot(b.mu, theta)
	if b.broken || !(math.Abs(v) <= maxReturn) {
		return math.Inf(-1)
	}
	return v
}

// A Known is a gait that was judged from several start states.
type Known struct {
	Params []float64   // of the gait
	Mus    [][]float64 // discounted sum of features in the episode from each start, length d each
}

// Score returns the score by which gaits are ranked under the weights theta: the mean of its
// returns less half of their (population) standard deviation, over the starts.
func (k Known) Score(theta []float64) float64 {
	returns := make([]float64, len(k.Mus))
	for i, mu := range k.Mus {
		returns[i] = floats.Dot(mu, theta)
	}
	mean, std := stat.PopMeanStdDev(returns, nil)
	return mean - std/2
}

// Mu returns the mean of Mus.
func (k Known) Mu() []float64 { return mean(k.Mus) }

// Judging has the settings for comparing gaits.
type Judging struct {
	Starts int // states from which episodes begin, the same for all gaits; default 8
	Steps  int // of an episode, at most the horizon; default 1,000
	Keep   int // number of gaits that are remembered, those with the highest scores; default 16
}

func (j Judging) withDefaults(spec idrl.EnvSpec) Judging {
	if j.Starts == 0 {
		j.Starts = 8
	}
	if j.Steps == 0 {
		j.Steps = 1000
	}
	if j.Keep == 0 {
		j.Keep = 16
	}
	j.Steps = min(j.Steps, spec.Horizon)
	return j
}

func (j Judging) check() error {
	if min(j.Starts, j.Steps, j.Keep) < 1 {
		return idrl.Errorf(idrl.Invalid, "gaits cannot be judged from %d starts in %d steps, %d of them remembered: all must be positive", j.Starts, j.Steps, j.Keep)
	}
	return nil
}

// A judge remembers the best gaits it has judged.
type judge struct {
	Judging
	known []Known // in the order judged
}

// judge plays gaits from every start. It returns those that did not break down, and remembers them.
// A gait whose return from the first start is below the score of the best known one is dropped,
// because its score is probably not higher.
func (j *judge) judge(ctx context.Context, g *ground, theta []float64, gaits ...[]float64) (judged []Known, err error) {
	bar := math.Inf(-1)
	if k, ok := j.best(theta); ok {
		bar = k.Score(theta)
	}
	known := make([]Known, len(gaits))
	for i, params := range gaits {
		known[i].Params = slices.Clone(params)
	}
	known, err = j.play(ctx, g, theta, known, 0, 1, bar)
	if err == nil {
		known, err = j.play(ctx, g, theta, known, 1, j.Starts, math.Inf(-1))
	}
	if err != nil {
		return nil, err
	}
	for _, k := range known {
		if !slices.ContainsFunc(j.known, func(o Known) bool { return slices.Equal(o.Params, k.Params) }) {
			j.known = append(j.known, k)
		}
	}
	j.forget(theta)
	return known, nil
}

// play plays gaits from the starts from to to−1, and returns those that did not break down
// and whose returns are all at least bar.
func (j *judge) play(ctx context.Context, g *ground, theta []float64, gaits []Known, from, to int, bar float64) (kept []Known, err error) {
	var trials []trial
	for _, k := range gaits {
		for s := from; s < to; s++ {
			trials = append(trials, trial{params: k.Params, start: g.stream("judged start", s), steps: j.Steps})
		}
	}
	if err := g.play(ctx, trials); err != nil {
		return nil, err
	}
	for i, k := range gaits {
		part := trials[i*(to-from):][:to-from]
		if slices.ContainsFunc(part, func(b trial) bool { v := b.value(theta); return math.IsInf(v, -1) || v < bar }) {
			continue
		}
		for _, b := range part {
			k.Mus = append(k.Mus, b.mu)
		}
		kept = append(kept, k)
	}
	return kept, nil
}

// forget keeps only the best gaits.
func (j *judge) forget(theta []float64) {
	for len(j.known) > j.Keep {
		worst := 0
		for i, k := range j.known {
			if k.Score(theta) < j.known[worst].Score(theta) {
				worst = i
			}
		}
		j.known = slices.Delete(j.known, worst, worst+1)
	}
}

// best returns the best of the known gaits, the first of equals. ok is false if none is
// known.
func (j *judge) best(theta []float64) (k Known, ok bool) {
	score := math.Inf(-1)
	for _, o := range j.known {
		if v := o.Score(theta); v > score {
			k, score, ok = o, v, true
		}
	}
	return k, ok
}

// checkWeights is checkTheta that also refuses weights that are not finite.
func checkWeights(task idrl.SolveTask) error {
	for i, v := range task.Theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return idrl.Errorf(idrl.Invalid, "reward weight %d is %v", i, v)
		}
	}
	return checkTheta(task)
}

// errNoGait is the error of a search in which no gait could be judged.
func errNoGait(spec idrl.EnvSpec) error {
	return fmt.Errorf("search among gaits of %s: %w", spec.ID, ErrBroken)
}
