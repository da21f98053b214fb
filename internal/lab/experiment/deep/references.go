package deep

import (
	"context"
	"math/rand/v2"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"
)

// Names of the references that scores are between. They take the place of a method.
const (
	Random = "random" // actions are drawn uniformly: score 0
	Expert = "expert" // soft actor-critic on the true reward, with the steps and settings of the main policy: score 100
)

// ExpertSeeds is how many experts the score 100 is the mean of.
const ExpertSeeds = 3

// randomEpisodes are those that the score 0 is the mean of.
const randomEpisodes = 100

// reference makes the run of a reference.
func reference(ctx context.Context, w *World, c Config, watch Watch) (Run, error) {
	if c.Method == Random {
		return randomRun(ctx, w, c)
	}
	return expertRun(ctx, w, c, watch.Progress)
}

// A uniform policy draws actions from within their bounds.
type uniform struct{ idrl.ActionSpec }

func (u uniform) Act(dst idrl.Action, _ []float64, rng *rand.Rand) idrl.Action {
	for i := range dst {
		dst[i] = u.Low[i] + (u.High[i]-u.Low[i])*rng.Float64()
	}
	return dst
}

func (uniform) Params() []float64 { return nil }

func randomRun(ctx context.Context, w *World, c Config) (Run, error) {
	env, stream, point, out := w.newEnv(), rng.New(c.Seed, "deep random", 0), Point{}, Run{}
	for range randomEpisodes {
		e, err := w.play(ctx, env, uniform{w.spec.Actions}, stream)
		if err != nil {
			return Run{}, err
		}
		out.Rolled += e.steps.Len()
		point.Return += e.value / randomEpisodes
	}
	out.Points = []Point{point}
	return out, nil
}

func expertRun(ctx context.Context, w *World, c Config, progress func(Point)) (Run, error) {
	settings := c.Budget.Agent
	settings.Features = true
	r := run{w: w, c: c, env: w.newEnv()}
	var err error
	r.main, err = sac.New(sac.Config{Settings: settings, Env: w.newEnv(), Reward: sac.Linear(w.theta), Seed: r.stream("expert seed", 0).Uint64()})
	if err != nil {
		return Run{}, err
	}
	for i := 0; i <= c.Budget.Batches(); i++ {
		if i > 0 {
			if err := r.main.Run(ctx, c.Budget.Every, nil); err != nil {
				return Run{}, err
			}
			r.out.AllSteps += c.Budget.Every
		}
		if err := r.measure(ctx, i); err != nil {
			return Run{}, err
		}
		if progress != nil {
			progress(r.out.Points[i])
		}
	}
	return r.out, nil
}
