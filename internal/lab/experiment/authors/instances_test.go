package authors_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/lab/experiment/authors"

	"gonum.org/v1/gonum/floats"
)

// Every seed from 1 to 30 has the instances, and they have the shapes and
// ranges that their fields promise.
func TestInstances(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		chain, ok := authors.Chain(seed)
		if !ok || len(chain.Rewards) != 20 || floats.Min(chain.Rewards) != 0 || floats.Max(chain.Rewards) != 1 {
			t.Errorf("seed %d: chain %+v, %v", seed, chain, ok)
		}
		// The return counts the states entered: at most 1/(1 − γ) of the largest reward.
		if !(chain.BestReturn > 0 && chain.BestReturn <= 100) {
			t.Errorf("seed %d: best return of the chain %v", seed, chain.BestReturn)
		}
		driver, ok := authors.Driver(seed)
		if !ok || len(driver.Weights) != 5 || driver.Weights[4] != 0.5 || math.Abs(floats.Norm(driver.Weights[:4], 2)-0.5) > 1e-12 {
			t.Errorf("seed %d: driver %+v, %v", seed, driver, ok)
		}
		if driver.EvaluationReturn < 25 {
			t.Errorf("seed %d: return of the driver %v, but the constant alone brings 25", seed, driver.EvaluationReturn)
		}
		checkGridworld(t, seed)
	}
}

func checkGridworld(t *testing.T, seed uint64) {
	t.Helper()
	g, ok := authors.Gridworld(seed)
	if !ok || len(g.Rewards) != 100 || len(g.CandidateActions) != 20 || len(g.CandidateReturns) != 20 {
		t.Fatalf("seed %d: gridworld %+v, %v", seed, g, ok)
	}
	count := make([]int, 11)
	byTile := make([]float64, 11)
	for s, tile := range g.Tiles {
		if count[tile]++; count[tile] > 1 && byTile[tile] != g.Rewards[s] {
			t.Errorf("seed %d: tile %d has the rewards %v and %v", seed, tile, byTile[tile], g.Rewards[s])
		}
		byTile[tile] = g.Rewards[s]
	}
	if !slices.Equal(count, []int{80, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}) || g.Tiles[g.Start] != 0 {
		t.Errorf("seed %d: %v of each tile, start on tile %d", seed, count, g.Tiles[g.Start])
	}
	for _, w := range g.Walls {
		if d := w[1] - w[0]; d != 10 && !(d == 1 && w[1]%10 != 0) {
			t.Errorf("seed %d: wall between %v, which are no neighbours", seed, w)
		}
	}
	if math.Abs(floats.Max(g.CandidateReturns)-g.BestReturn) > 1e-6 || math.Abs(g.BestReturn-g.LPReturn) > 1e-9 {
		t.Errorf("seed %d: best candidate %v, said to be %v, optimum %v", seed, floats.Max(g.CandidateReturns), g.BestReturn, g.LPReturn)
	}
	for i, actions := range g.CandidateActions {
		if v := gridReturn(g, actions); math.Abs(v-g.CandidateReturns[i]) > 1e-6 {
			t.Errorf("seed %d: candidate %d returns %v, want %v", seed, i, v, g.CandidateReturns[i])
		}
	}
}

// gridReturn follows a policy for 3,000 steps, after which γ = 0.99 leaves less
// than 1e-11 of the return.
func gridReturn(g authors.GridworldInstance, actions []float64) float64 {
	step := []int{-1, 1, -10, 10, 0}
	s, discount, sum := g.Start, 1.0, 0.0
	for range 3000 {
		next := s + step[int(actions[s])]
		if !slices.Contains(g.Walls, [2]int{min(s, next), max(s, next)}) {
			s = next
		}
		sum += discount * g.Rewards[s]
		discount *= 0.99
	}
	return sum
}

func TestOtherSeedsHaveNoInstance(t *testing.T) {
	for _, seed := range []uint64{0, 31, math.MaxUint64} {
		_, chain := authors.Chain(seed)
		_, grid := authors.Gridworld(seed)
		_, driver := authors.Driver(seed)
		if chain || grid || driver {
			t.Errorf("seed %d has instances: %v, %v, %v", seed, chain, grid, driver)
		}
	}
}
