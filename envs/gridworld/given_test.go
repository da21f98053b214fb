package gridworld_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"

	"tiebreak/envs/envtest"
	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
)

// TestRoundTrip rebuilds drawn environments from their layouts.
func TestRoundTrip(t *testing.T) {
	for n := range uint64(20) {
		env := gridworld.New(gridworld.Config{WallTosses: 1 + int(n%2)}, rng.New(9, "layout", n))
		again := must.Get(gridworld.FromLayout(env.Layout()))(t)
		if d := cmp.Diff(env.Layout(), again.Layout()); d != "" {
			t.Fatalf("layout %d changes on its way (-before +after):\n%s", n, d)
		}
		for s := range env.NumStates() {
			for a := range env.Spec().Actions.Num {
				if !floats.Equal(env.Transition(nil, s, a), again.Transition(nil, s, a)) {
					t.Fatalf("layout %d: action %d in state %d leads elsewhere", n, a, s)
				}
			}
		}
		var before, after drawing.Scene
		env.Draw(&before)
		again.Draw(&after)
		if d := cmp.Diff(before, after); d != "" {
			t.Fatalf("layout %d is drawn otherwise:\n%s", n, d)
		}
	}
}

// TestWallsInAnyOrder: a wall is the same from both sides, and no more if it is
// given twice.
func TestWallsInAnyOrder(t *testing.T) {
	env := must.Get(gridworld.FromLayout(gridworld.Layout{Walls: [][2]int{{13, 3}, {8, 7}, {7, 8}}, Start: 99}))(t)
	if d := cmp.Diff([][2]int{{3, 13}, {7, 8}}, env.Layout().Walls); d != "" {
		t.Errorf("walls (-want +got):\n%s", d)
	}
	if got := env.Reset(nil).Obs[0]; got != 99 {
		t.Errorf("an episode starts in cell %v, want 99", got)
	}
	envtest.Run(t, func() idrl.Environment { return env })
}

func TestFromLayoutRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*gridworld.Layout)
	}{
		{"a start below", func(l *gridworld.Layout) { l.Start = -1 }},
		{"a start above", func(l *gridworld.Layout) { l.Start = 100 }},
		{"a type below", func(l *gridworld.Layout) { l.Tiles[5] = -1 }},
		{"a type above", func(l *gridworld.Layout) { l.Tiles[5] = 11 }},
		{"a wall in a cell", func(l *gridworld.Layout) { l.Walls = [][2]int{{5, 5}} }},
		{"a wall between cells apart", func(l *gridworld.Layout) { l.Walls = [][2]int{{5, 7}} }},
		{"a wall across the edge", func(l *gridworld.Layout) { l.Walls = [][2]int{{9, 10}} }},
		{"a wall to no cell", func(l *gridworld.Layout) { l.Walls = [][2]int{{95, 105}} }},
		{"a wall from no cell", func(l *gridworld.Layout) { l.Walls = [][2]int{{-1, 0}} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var l gridworld.Layout
			test.spoil(&l)
			if _, err := gridworld.FromLayout(l); err == nil || idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("FromLayout returns %v, want an error of kind Invalid", err)
			}
		})
	}
}

// reference is testdata/replay_gridworld_state.json: an instance of the
// authors' code, with their candidate policies: one for each object, along
// shortest paths.
type reference struct {
	Inputs struct {
		Rewards []float64   `json:"rewards"` // by cell
		Start   int         `json:"initial_state"`
		Tiles   [][]int     `json:"tiles"` // by row and column
		Walls   [][2]int    `json:"walls"`
		Actions [][]float64 `json:"candidate_actions"` // by policy and cell
	} `json:"inputs"`
	Outputs struct {
		Return float64 `json:"evaluation_policy_return"` // of the best of the policies
	} `json:"outputs"`
}

func read(t *testing.T) (ref reference, env *gridworld.Env) {
	t.Helper()
	b, err := os.ReadFile("testdata/replay_gridworld_state.json")
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, json.Unmarshal(b, &ref))
	l := gridworld.Layout{Walls: ref.Inputs.Walls, Start: ref.Inputs.Start}
	for y, row := range ref.Inputs.Tiles {
		for x, tile := range row {
			l.Tiles[10*y+x] = tile
		}
	}
	if env, err = gridworld.FromLayout(l); err != nil {
		t.Fatal(err)
	}
	return ref, env
}

// TestInstanceOfAuthorsCode follows their policies: each leads to the object of
// its place in ObjectCells without a step against a wall, and the best of them
// has the return that they computed.
func TestInstanceOfAuthorsCode(t *testing.T) {
	ref, env := read(t)
	objects := env.ObjectCells()
	if len(objects) != len(ref.Inputs.Actions) {
		t.Fatalf("there are %d objects, want %d", len(objects), len(ref.Inputs.Actions))
	}
	theta := make([]float64, env.Spec().FeatureDim())
	for s, tile := range env.Layout().Tiles {
		theta[tile] = ref.Inputs.Rewards[s]
	}
	best := math.Inf(-1)
	for k, actions := range ref.Inputs.Actions {
		best = max(best, floats.Dot(theta, solver.TabularMu(env, actions)))
		for s := range env.NumStates() {
			if end := follow(t, env, actions, s); end != s && end != objects[k] {
				t.Errorf("policy %d ends in cell %d from cell %d, want %d", k, end, s, objects[k])
			}
		}
	}
	if math.Abs(best-ref.Outputs.Return) > 1e-6 { // stated by the file
		t.Errorf("the best policy returns %v, want %v", best, ref.Outputs.Return)
	}
}

// follow returns the cell where a policy stays that starts in cell s.
func follow(t *testing.T, env *gridworld.Env, actions []float64, s int) int {
	t.Helper()
	const stay = 4
	for range env.NumStates() {
		if actions[s] == stay {
			return s
		}
		env.Restore([]float64{float64(s), 0})
		next := int(env.Step(idrl.Action{actions[s]}).Obs[0])
		if next == s {
			t.Fatalf("action %v in cell %d runs against a wall", actions[s], s)
		}
		s = next
	}
	t.Fatal("the policy goes round in a circle")
	return 0
}

func TestID(t *testing.T) {
	for _, test := range []struct{ given, want string }{
		{"", "gridworld"},
		{gridworld.CodeID, "gridworld-code"},
	} {
		env := gridworld.New(gridworld.Config{ID: test.given}, rng.New(1, "layout", 0))
		if got := env.Spec().ID; got != test.want {
			t.Errorf("Config.ID %q gives the id %q, want %q", test.given, got, test.want)
		}
	}
}
