package idrl_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// A clock is a policy that notes the times that it is told.
type clock struct{ told []int }

func (c *clock) Act(dst idrl.Action, obs []float64, rng *rand.Rand) idrl.Action {
	return c.ActAt(dst, obs, 0, rng)
}

func (c *clock) ActAt(dst idrl.Action, _ []float64, t int, _ *rand.Rand) idrl.Action {
	c.told = append(c.told, t)
	dst[0] = 0.5
	return dst
}

func (c *clock) Params() []float64 { return nil }

func TestEpisodeOfTellsTheTime(t *testing.T) {
	c := &clock{}
	steps := idrl.EpisodeOf(pointmass.New(pointmass.Config{Horizon: 4, ClipSteps: 4}), c, rng.New(1, "episode", 0))
	for range 2 { // each pass is an episode of its own
		for range steps {
			continue
		}
	}
	if want := []int{0, 1, 2, 3, 0, 1, 2, 3}; !slices.Equal(c.told, want) {
		t.Errorf("times %v, want %v", c.told, want)
	}
}
