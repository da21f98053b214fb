package solver_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// load reads a vector recorded from the authors' code.
func load(t testing.TB, name string, into any) {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/" + name + ".json"))(t)
	must.Do(t, json.Unmarshal(b, into))
}

type chainVector struct {
	Inputs struct {
		Rewards []float64 `json:"rewards"`
	} `json:"inputs"`
	Outputs struct {
		Candidates  int       `json:"n_candidates"`
		BestIndex   int       `json:"best_index"`
		BestActions []float64 `json:"best_actions"`
		BestReturn  float64   `json:"best_return"`
		LPReturn    float64   `json:"lp_return"`
	} `json:"outputs"`
}

type junctionVector struct {
	Inputs struct {
		N int `json:"N"`
	} `json:"inputs"`
	Outputs struct {
		Rewards []float64 `json:"rewards"`
		Actions []float64 `json:"actions_in_state_14"`
		Returns []float64 `json:"returns"`
	} `json:"outputs"`
}

const vectorTol = 1e-9 // relative, stated by the vectors

func allPolicies(t testing.TB, env idrl.Environment) *solver.Table {
	t.Helper()
	all := must.Get(solver.AllPolicies(env.(idrl.Tabular)))(t)
	table := must.Get(solver.NewTable(env, all, nil))(t)
	return table
}

func TestAllPoliciesOfChain(t *testing.T) {
	var v chainVector
	load(t, "chain_mdp", &v)
	table := allPolicies(t, chain(v.Inputs.Rewards))
	if table.Len() != v.Outputs.Candidates {
		t.Fatalf("%d policies, want %d", table.Len(), v.Outputs.Candidates)
	}
	i, value := table.Best([]float64{1})
	if i != v.Outputs.BestIndex || !scalar.EqualWithinRel(value, v.Outputs.BestReturn, vectorTol) {
		t.Errorf("best policy is %d with return %v, want %d and %v", i, value, v.Outputs.BestIndex, v.Outputs.BestReturn)
	}
	if !slices.Equal(table.Params[i], v.Outputs.BestActions) {
		t.Errorf("best policy takes %v, want %v", table.Params[i], v.Outputs.BestActions)
	}
}

func TestAllPoliciesOfJunction(t *testing.T) {
	var v junctionVector
	load(t, "junction_mdp", &v)
	table := allPolicies(t, junction(v.Outputs.Rewards, v.Inputs.N))
	if table.Len() != len(v.Outputs.Returns) {
		t.Fatalf("%d policies, want %d", table.Len(), len(v.Outputs.Returns))
	}
	for i, want := range v.Outputs.Returns {
		if got := table.Mu[i][0]; !scalar.EqualWithinRel(got, want, vectorTol) || table.Params[i][v.Inputs.N-1] != v.Outputs.Actions[i] {
			t.Errorf("policy %d: return %v with %v at the junction, want %v with %v", i, got, table.Params[i][v.Inputs.N-1], want, v.Outputs.Actions[i])
		}
	}
}

// TestAllPoliciesCount lists the policies of a tiny environment by hand: state
// 1 is not free, and three actions count in base three.
func TestAllPoliciesCount(t *testing.T) {
	stay, go0, go1 := []float64{1, 0}, []float64{1, 0}, []float64{0, 1}
	for _, test := range []struct {
		name string
		p    [][][]float64
		want [][]float64
	}{
		{"one free", [][][]float64{{go0, go1}, {go1, go1}}, [][]float64{{0, 0}, {1, 0}}},
		{"two free", [][][]float64{{go0, go1}, {go1, go0}}, [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}},
		{"three actions", [][][]float64{{stay, go0, go1}, {go1, go1, go1}}, [][]float64{{0, 0}, {1, 0}, {2, 0}}},
		{"by probability", [][][]float64{{{0.5, 0.5}, {0.25, 0.75}}, {go1, go1}}, [][]float64{{0, 0}, {1, 0}}},
		{"none free", [][][]float64{{go1, go1}, {go0, go0}}, [][]float64{{0, 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := solver.AllPolicies(&finite{p: test.p, phi: mat.NewDense(2, 1, nil), discount: 0.9})
			if err != nil || !slices.EqualFunc(got, test.want, slices.Equal) {
				t.Errorf("policies = %v, error %v; want %v", got, err, test.want)
			}
		})
	}
}

func TestAllPoliciesTooMany(t *testing.T) {
	if got, err := solver.AllPolicies(chain(make([]float64, 32))); err != nil || len(got) != 1<<16 {
		t.Errorf("16 free states: %d policies, error %v; want 65536", len(got), err)
	}
	if _, err := solver.AllPolicies(chain(make([]float64, 34))); err == nil || idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("17 free states: error %v, want one of kind Invalid", err)
	}
}

// TestShortestPathsInGridworld: a reward for entering the target makes the
// shortest paths optimal, and Tabular takes the lowest index among the best
// actions, so that the two agree wherever the target can be reached.
func TestShortestPathsInGridworld(t *testing.T) {
	env := gridworld.New(gridworld.Config{}, rng.New(3, "layout", 0))
	targets := []int{0, 47, 99}
	const stay = 4
	policies := must.Get(solver.ShortestPaths(env, targets))(t)
	for i, target := range targets {
		reward := make([]float64, env.NumStates())
		reward[target] = 1
		mdp := paid(env, reward)
		want := solve(t, idrl.SolveTask{Env: mdp, Theta: []float64{1}}).Params()
		for s, a := range policies[i] {
			if s == target || !mdp.arrives(want, s, target) {
				if a != stay {
					t.Errorf("target %d: action %v in state %d, want to stay", target, a, s)
				}
			} else if a != want[s] {
				t.Errorf("target %d: action %v in state %d, want %v", target, a, s, want[s])
			}
		}
	}
}

// paid copies the dynamics of env, with the reward as its only feature.
func paid(env idrl.Tabular, reward []float64) *finite {
	e := &finite{phi: mat.NewDense(len(reward), 1, reward), start: env.Start(nil), discount: 0.9}
	for s := range reward {
		var rows [][]float64
		for a := range env.Spec().Actions.Num {
			rows = append(rows, env.Transition(nil, s, a))
		}
		e.p = append(e.p, rows)
	}
	return e
}

// arrives reports whether a policy leads from s to target.
func (e *finite) arrives(policy []float64, s, target int) bool {
	for range e.p {
		if s == target {
			return true
		}
		s = slices.Index(e.p[s][int(policy[s])], 1)
	}
	return false
}

func TestShortestPathsByHand(t *testing.T) {
	ring := &finite{phi: mat.NewDense(3, 1, nil), discount: 0.9, p: [][][]float64{
		{{0, 1, 0}, {0, 0, 1}},
		{{0, 0, 1}, {1, 0, 0}},
		{{1, 0, 0}, {0, 1, 0}},
	}}
	island := &finite{phi: mat.NewDense(2, 1, nil), discount: 0.9, p: [][][]float64{
		{{0, 1}, {0, 1}, {0, 1}},
		{{0, 1}, {0, 1}, {0, 1}},
	}}
	for _, test := range []struct {
		name   string
		env    *finite
		target int
		want   []float64
	}{
		{"in a ring nothing stays", ring, 0, []float64{0, 1, 0}},
		{"a state with no way back", island, 0, []float64{0, 2}},
		{"the first of equal ways", island, 1, []float64{0, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := solver.ShortestPaths(test.env, []int{test.target})
			if err != nil || !slices.Equal(got[0], test.want) {
				t.Errorf("policy = %v, error %v; want %v", got, err, test.want)
			}
		})
	}
}

func TestShortestPathsRefuses(t *testing.T) {
	env := maze(3, 1, rng.New(1, "maze", 0))
	for name, call := range map[string]func() ([][]float64, error){
		"random":        func() ([][]float64, error) { return solver.ShortestPaths(randomMDP(4, 1, 0.9, rng.New(1, "", 0)), nil) },
		"not a state":   func() ([][]float64, error) { return solver.ShortestPaths(env, []int{9}) },
		"below a state": func() ([][]float64, error) { return solver.ShortestPaths(env, []int{0, -1}) },
	} {
		if _, err := call(); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind Invalid", name, err)
		}
	}
	if got, err := solver.ShortestPaths(env, nil); err != nil || len(got) != 0 {
		t.Errorf("no targets: %v, error %v", got, err)
	}
}

// TestEnumerationHoldsTheOptimum compares the best of all policies with what
// planning finds.
func TestEnumerationHoldsTheOptimum(t *testing.T) {
	for seed := range uint64(10) {
		stream := rng.New(seed, "mdp", 0)
		env := randomMDP(6, 3, 0.9, stream)
		theta := []float64{stream.NormFloat64(), stream.NormFloat64(), stream.NormFloat64()}
		_, got := allPolicies(t, env).Best(theta)
		want := floats.Dot(theta, solver.Mu(env, solve(t, idrl.SolveTask{Env: env, Theta: theta}), nil))
		if !scalar.EqualWithinAbsOrRel(got, want, 1e-10, 1e-10) {
			t.Errorf("seed %d: best of all policies %v, planned %v", seed, got, want)
		}
	}
}
