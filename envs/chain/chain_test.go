package chain_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/envs/envtest"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

func TestContract(t *testing.T) {
	for _, c := range []chain.Config{{}, {States: 2, Blocked: 1}, {States: 7, Blocked: 6}} {
		envtest.Run(t, func() idrl.Environment { return chain.New(c) })
	}
}

// reference is testdata/chain_mdp.json: computed by the authors' code.
type reference struct {
	Inputs struct {
		Rewards  []float64            `json:"rewards"`
		N        int                  `json:"N"`
		Blocked  int                  `json:"blocked"`
		Gamma    float64              `json:"gamma"`
		Policies map[string][]float64 `json:"policies"`
	} `json:"inputs"`
	Outputs struct {
		Policies map[string]struct {
			W   []float64 `json:"W"` // discounted visits, the start state included
			V   []float64 `json:"V"`
			Ret float64   `json:"ret"`
		} `json:"policies"`
		BestActions []float64 `json:"best_actions"`
		BestVisits  float64   `json:"best_W_dot_r"`
		BestReturn  float64   `json:"best_return"`
	} `json:"outputs"`
}

func read(t *testing.T) (ref reference) {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/chain_mdp.json"))(t)
	must.Do(t, json.Unmarshal(b, &ref))
	return ref
}

const tol = 1e-9 // relative, stated by the file

func near(got, want float64) bool { return scalar.EqualWithinRel(got, want, tol) }

// TestMatchesAuthorsCode compares visits, values and returns of three policies.
// With features one-hot over the state entered, the feature expectation μ
// counts the visits after the start: W = start + γμ.
func TestMatchesAuthorsCode(t *testing.T) {
	ref := read(t)
	env := chain.New(chain.Config{States: ref.Inputs.N, Blocked: ref.Inputs.Blocked})
	if got := env.Spec().Discount; got != ref.Inputs.Gamma {
		t.Fatalf("the discount is %v, want %v", got, ref.Inputs.Gamma)
	}
	for name, actions := range ref.Inputs.Policies {
		want := ref.Outputs.Policies[name]
		mu := solver.TabularMu(env, actions)
		if got := floats.Dot(ref.Inputs.Rewards, mu); !near(got, want.Ret) {
			t.Errorf("%s: return %v, want %v", name, got, want.Ret)
		}
		visits := env.Start(nil)
		floats.AddScaled(visits, ref.Inputs.Gamma, mu)
		for s := range visits {
			if !near(visits[s], want.W[s]) {
				t.Errorf("%s: %v visits of state %d, want %v", name, visits[s], s, want.W[s])
			}
			p := env.Transition(nil, s, int(actions[s]))
			next := floats.Dot(p, ref.Inputs.Rewards) + ref.Inputs.Gamma*floats.Dot(p, want.V)
			if !near(next, want.V[s]) {
				t.Errorf("%s: state %d leads to a value of %v, want %v", name, s, next, want.V[s])
			}
		}
	}
}

// TestBestPolicy compares the best of the 1024 policies with the solver's.
func TestBestPolicy(t *testing.T) {
	ref := read(t)
	env := chain.New(chain.Config{})
	best := solver.TabularMu(env, ref.Outputs.BestActions)
	if got := floats.Dot(ref.Inputs.Rewards, best); !near(got, ref.Outputs.BestReturn) {
		t.Errorf("the best policy returns %v, want %v", got, ref.Outputs.BestReturn)
	}
	visits := env.Start(nil)
	floats.AddScaled(visits, ref.Inputs.Gamma, best)
	if got := floats.Dot(ref.Inputs.Rewards, visits); !near(got, ref.Outputs.BestVisits) {
		t.Errorf("the best policy's visits are worth %v, want %v", got, ref.Outputs.BestVisits)
	}
	p := must.Get(solver.Tabular{}.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: ref.Inputs.Rewards}, nil))(t)
	if got := floats.Dot(ref.Inputs.Rewards, solver.TabularMu(env, p.Params())); !near(got, ref.Outputs.BestReturn) {
		t.Errorf("the solver's policy returns %v, want %v", got, ref.Outputs.BestReturn)
	}
}

func TestTransitions(t *testing.T) {
	env := chain.New(chain.Config{})
	for _, test := range []struct {
		name         string
		from, action int
		want         int
	}{
		{"left in the first state", 0, 0, 1},
		{"right in the first state", 0, 1, 1},
		{"left in the last blocked state", 9, 0, 10},
		{"right in the last blocked state", 9, 1, 10},
		{"left in the first free state", 10, 0, 9},
		{"right in the first free state", 10, 1, 11},
		{"left in the last state", 19, 0, 18},
		{"right in the last state", 19, 1, 19},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := env.Transition(nil, test.from, test.action)[test.want]; got != 1 {
				t.Errorf("state %d is entered with probability %v, want 1", test.want, got)
			}
			env.Restore([]float64{float64(test.from), 3}) // without a Reset before
			if got := env.Step(idrl.Action{float64(test.action)}); got.Obs[0] != float64(test.want) || got.Phi[test.want] != 1 {
				t.Errorf("the step enters state %v with features %v, want state %d", got.Obs[0], got.Phi, test.want)
			}
		})
	}
}

// TestKernel has values of the squared exponential with length scale 3; the
// tolerance is the nugget.
func TestKernel(t *testing.T) {
	k := mat.NewSymDense(20, nil)
	chain.New(chain.Config{}).Kernel(k)
	for _, test := range []struct {
		s, t int
		want float64
	}{
		{4, 4, 1},
		{0, 3, math.Exp(-0.5)},
		{9, 10, math.Exp(-1.0 / 18)},
		{19, 0, math.Exp(-361.0 / 18)},
	} {
		if got := k.At(test.s, test.t); !scalar.EqualWithinRel(got, test.want, 2e-12) {
			t.Errorf("kernel[%d][%d] = %v, want %v", test.s, test.t, got, test.want)
		}
	}
}

// TestKernelIsPositiveDefinite factors the kernel of the smallest, the default
// and the longest chain. The last has no numerical rank without the nugget.
func TestKernelIsPositiveDefinite(t *testing.T) {
	for _, n := range []int{2, 20, 200} {
		k := mat.NewSymDense(n, nil)
		chain.New(chain.Config{States: n, Blocked: 1}).Kernel(k)
		var chol mat.Cholesky
		if !chol.Factorize(k) {
			t.Errorf("the kernel of %d states is not positive definite", n)
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(k, false) {
			t.Fatal("no eigenvalues")
		}
		if got := floats.Min(eigen.Values(nil)); got < 0.9e-12 {
			t.Errorf("the smallest eigenvalue of the kernel of %d states is %v, want the nugget, 1e-12, or more", n, got)
		}
	}
}

func TestNewPanics(t *testing.T) {
	for _, c := range []chain.Config{
		{States: 1}, {States: -3}, {States: 201}, {Blocked: -1}, {Blocked: 20}, {States: 10},
	} {
		if !panics(func() { chain.New(c) }) {
			t.Errorf("New accepts %+v", c)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestStartIsUniform counts the first states of 4000 episodes; six standard
// deviations of a count of 200 are 83.
func TestStartIsUniform(t *testing.T) {
	env := chain.New(chain.Config{})
	stream := rng.New(1, "start", 0)
	count := make([]int, env.NumStates())
	for range 4000 {
		count[int(env.Reset(stream).Obs[0])]++
	}
	for s, n := range count {
		if math.Abs(float64(n)-200) > 83 {
			t.Errorf("%d of 4000 episodes begin in state %d, want about 200", n, s)
		}
	}
}
