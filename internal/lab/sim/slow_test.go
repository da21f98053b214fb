package sim

import (
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// sluggish is an environment of episodes of ten steps, each of which is said to take long.
type sluggish struct {
	cost  float64
	steps int // made so far
	at    int
}

func (s *sluggish) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{FeatureNames: []string{"one"}, Actions: idrl.ActionSpec{Low: []float64{-1}, High: []float64{1}}, Horizon: 10, ClipSteps: 5, CostSec: s.cost}
}

func (s *sluggish) Reset(*rand.Rand) idrl.TimeStep {
	s.at = 0
	return idrl.TimeStep{Kind: idrl.First, Obs: []float64{0}}
}

func (s *sluggish) Step(idrl.Action) idrl.TimeStep {
	s.steps++
	s.at++
	kind := idrl.Mid
	if s.at == 10 {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: []float64{0}, Phi: []float64{float64(s.steps)}}
}

// The range of a reward is looked for in fewer episodes where a step takes long.
func TestRangeOfSlowEnvironments(t *testing.T) {
	for _, test := range []struct {
		cost float64
		want int // steps
	}{{0, 10 * randomEpisodes}, {0.001, 10 * randomEpisodes}, {0.2, 110}, {100, 10}} {
		env := &sluggish{cost: test.cost}
		if size := Range(env, []float64{1}, idrl.CompareClips, rng.New(1, "range", 0)); !(size > 0) || env.steps != test.want {
			t.Errorf("a step of %v s: %d steps, want %d; the range is %v", test.cost, env.steps, test.want, size)
		}
	}
}
