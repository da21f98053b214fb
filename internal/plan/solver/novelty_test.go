package solver_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
)

func find(t *testing.T, n solver.Novelty, env idrl.Environment, given [][]float64, count int) []solver.Novel {
	t.Helper()
	found := must.Get(n.Find(t.Context(), env, given, count, rng.New(1, "novelty", 0)))(t)
	return found
}

// nearest returns the smallest distance between two gaits in way and ease.
func nearest(found []solver.Novel) float64 {
	d := math.Inf(1)
	for i, a := range found {
		for _, b := range found[:i] {
			d = min(d, floats.Distance(a.Phi[:2], b.Phi[:2], 2))
		}
	}
	return d
}

// TestNoveltySpreads: what is found is spread wider than as many random gaits, in the
// order of farthest points.
func TestNoveltySpreads(t *testing.T) {
	env := &rover{}
	found := find(t, solver.Novelty{}, env, nil, 12)
	if len(found) != 12 || env.steps != 200*roverHorizon {
		t.Fatalf("%d gaits after %d steps, want 12 after 200 episodes", len(found), env.steps)
	}
	for i, g := range found {
		newGait(t, env.Spec(), g.Params)
		if i > 1 && g.Distance > found[i-1].Distance || !(g.Distance > 0) {
			t.Errorf("distance %d is %v, that before it %v", i, g.Distance, found[i-1].Distance)
		}
		if g.Phi[2] != 20 {
			t.Errorf("gait %d is described by %v steps, want those of a clip", i, g.Phi[2])
		}
	}
	random := find(t, solver.Novelty{Random: 12, Mutants: 1}, &rover{}, nil, 12)
	few := find(t, solver.Novelty{Random: 200, Mutants: 0}, &rover{}, nil, 12)
	if t.Logf("nearest: %.3f, of random gaits %.3f", nearest(found), nearest(random)); !(nearest(found) > 2*nearest(random)) {
		t.Errorf("the nearest two are %v apart, those of random gaits %v", nearest(found), nearest(random))
	}
	if len(few) != 12 {
		t.Errorf("%d random gaits, want 12", len(few))
	}
}

// TestNoveltyIsAFunctionOfItsArguments, whatever the number of workers is.
func TestNoveltyIsAFunctionOfItsArguments(t *testing.T) {
	n := solver.Novelty{Random: 20, Mutants: 30, Batch: 7}
	given := [][]float64{balance()}
	want := find(t, n, &fallingRover{}, given, 10)
	n.NewEnv = func() idrl.Environment { return &fallingRover{} }
	for _, workers := range []int{1, 3, 8} {
		n.Workers = workers
		if diff := cmp.Diff(want, find(t, n, &fallingRover{}, given, 10)); diff != "" {
			t.Errorf("%d workers (-one +many):\n%s", workers, diff)
		}
	}
	other, err := n.Find(t.Context(), &fallingRover{}, given, 10, rng.New(2, "novelty", 0))
	if err != nil || cmp.Diff(want, other) == "" {
		t.Errorf("another seed gives the same; error %v", err)
	}
}

// TestNoveltyOfWhatStands: the rover falls under everything that does not look. Given a
// gait that stands, what is found are its mutations and stands too.
func TestNoveltyOfWhatStands(t *testing.T) {
	none := find(t, solver.Novelty{Random: 30, Mutants: 30}, &fallingRover{}, nil, 5)
	found := find(t, solver.Novelty{Random: 30, Mutants: 60}, &fallingRover{}, [][]float64{balance()}, 8)
	if len(found) != 8 || len(none) >= 5 {
		t.Fatalf("%d gaits with one that stands and %d without, want 8 and fewer than 5", len(found), len(none))
	}
	stands := 0
	for _, g := range found {
		env := &fallingRover{}
		for range idrl.EpisodeOf(env, newGait(t, env.Spec(), g.Params), rng.New(5, "other start", 0)) {
		}
		if !env.Fallen() {
			stands++
		}
	}
	if stands < 6 {
		t.Errorf("%d of 8 stand at the end of another episode", stands)
	}
}

// TestNoveltyAsksWhatIsLively: the hook sees the states of the last clip and decides.
func TestNoveltyAsksWhatIsLively(t *testing.T) {
	var asked atomic.Int64
	n := solver.Novelty{Random: 30, Mutants: 20, Steps: 50, Lively: func(_ idrl.Environment, c idrl.Clip) (bool, error) {
		asked.Add(1)
		if len(c.Snapshots) != 21 || c.Steps != 20 || c.Start != 30 {
			t.Errorf("%d states of %d steps from step %d, want 21 of 20 from 30", len(c.Snapshots), c.Steps, c.Start)
		}
		if way := c.Snapshots[20][0] - c.Snapshots[0][0]; math.Abs(way-c.Phi[0]) > 1e-12 {
			t.Errorf("the states show a way of %v, the features %v", way, c.Phi[0])
		}
		return c.Phi[0] > 0, nil
	}}
	for _, g := range find(t, n, &fallingRover{}, [][]float64{balance()}, 10) {
		if !(g.Phi[0] > 0) {
			t.Errorf("a gait goes %v, but those that go back are not lively", g.Phi[0])
		}
	}
	if asked.Load() == 0 {
		t.Error("the hook was not asked")
	}
	n.Lively = func(_ idrl.Environment, c idrl.Clip) (bool, error) { return false, nil }
	if found := find(t, n, &rover{}, nil, 10); len(found) != 0 {
		t.Errorf("%d gaits though none is lively", len(found))
	}
	n.Lively = func(_ idrl.Environment, c idrl.Clip) (bool, error) {
		if c.Snapshots != nil {
			t.Error("states of an environment that has none")
		}
		return false, errNotLively
	}
	if _, err := n.Find(t.Context(), &rover{}, nil, 5, rng.New(1, "", 0)); !errors.Is(err, errNotLively) {
		t.Errorf("error = %v, want that of the hook", err)
	}
}

var errNotLively = errors.New("no picture")

// A gait that breaks the simulation down is not found.
func TestNoveltyOfWhatBreaksDown(t *testing.T) {
	shown := 0
	n := solver.Novelty{Random: 40, Mutants: 40, Lively: func(env idrl.Environment, _ idrl.Clip) (bool, error) {
		if shown++; math.Abs(env.(*rover).s[0]) > 0.5 {
			t.Error("asked about a gait under which the simulation broke down")
		}
		return true, nil
	}}
	if found := find(t, n, &rover{limit: 0.5}, nil, 10); len(found) != 10 || shown == 80 {
		t.Errorf("%d gaits of 80, of which %d hold; want 10, and fewer that hold", len(found), shown)
	}
	if found := find(t, solver.Novelty{Random: 5, Mutants: 5}, &rover{limit: 1e-9}, nil, 5); len(found) != 0 {
		t.Errorf("%d gaits where all break down", len(found))
	}
}

func TestNoveltyRefusals(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (solver.Novelty{}).Find(cancelled, &rover{}, nil, 5, rng.New(1, "", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error = %v", err)
	}
	for name, test := range map[string]struct {
		n     solver.Novelty
		env   idrl.Environment
		given [][]float64
	}{
		"discrete actions": {env: chain([]float64{0, 1})},
		"a short gait":     {env: &rover{}, given: [][]float64{make([]float64, 6)}},
		"negative random":  {env: &rover{}, n: solver.Novelty{Random: -1}},
		"negative mutants": {env: &rover{}, n: solver.Novelty{Mutants: -1}},
		"negative steps":   {env: &rover{}, n: solver.Novelty{Steps: -5}},
	} {
		if _, err := test.n.Find(t.Context(), test.env, test.given, 5, rng.New(1, "", 0)); idrl.KindOf(err) != idrl.Invalid || err == nil {
			t.Errorf("%s: error = %v, want one of kind Invalid", name, err)
		}
	}
	if found := find(t, solver.Novelty{Random: 5}, &rover{}, nil, 0); len(found) != 0 {
		t.Errorf("%d gaits, want none", len(found))
	}
	if found := find(t, solver.Novelty{Random: 3, Mutants: 2}, &rover{}, nil, 50); len(found) != 5 {
		t.Errorf("%d gaits of five tried, want all", len(found))
	}
}
