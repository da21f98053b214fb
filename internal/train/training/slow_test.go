package training

import (
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// The slower a step, the less is played for the first clips and for a policy: within a minute and 20 seconds of a
// processor, or the least of which there are questions and by which a search makes progress. What is not slow is
// trained as before.
func TestSlowEnvironments(t *testing.T) {
	for _, test := range []struct {
		costSec float64
		horizon int
		slow    bool
	}{{0, 200, false}, {0.0001, 200, false}, {0.005, 200, true}, {0.03, 20, true}, {0.2, 40, true}, {2, 1000, true}} {
		spec := idrl.EnvSpec{CostSec: test.costSec, Horizon: test.horizon}
		var slow trainer.Thompson
		configureSearch(&slow, solver.ARSFor(spec), spec)
		spec.CostSec = 0
		var fast trainer.Thompson
		configureSearch(&fast, solver.ARSFor(spec), spec)
		episode := test.costSec * float64(test.horizon)
		if first, least := 2*episode*float64(slow.Pool*slow.MuEpisodes), 2*episode*leastPool; first > max(firstClipsSec, least) || slow.Pool < leastPool || slow.Rollouts < 1 {
			t.Errorf("%+v: the first clips are of %d policies, %d episodes each, and take %v s", test, slow.Pool, slow.MuEpisodes, first)
		}
		a := slow.Solver.(brokenSearch).Solver.(solver.ARS)
		if took, least := test.costSec*float64(a.MaxSteps), 2*leastDirections*episode; took > max(slowSearchSec, least) {
			t.Errorf("%+v: a search takes %v s", test, took)
		}
		if b := fast.Solver.(brokenSearch).Solver.(solver.ARS); (slow.Pool != fast.Pool || slow.MuEpisodes != fast.MuEpisodes || a.MaxSteps != b.MaxSteps) != test.slow {
			t.Errorf("%+v: %d policies, %d episodes, %d steps; else %d, %d, %d", test, slow.Pool, slow.MuEpisodes, a.MaxSteps, fast.Pool, fast.MuEpisodes, b.MaxSteps)
		}
	}
}
