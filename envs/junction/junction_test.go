package junction_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest"
	"tiebreak/envs/junction"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

func TestContract(t *testing.T) {
	for _, c := range []junction.Config{{}, {Corridor: 1, Branch: 1}, {Corridor: 2, Branch: 3}} {
		envtest.Run(t, func() idrl.Environment { return junction.New(c) })
	}
}

// reference is testdata/junction_mdp.json: computed by the authors' code.
type reference struct {
	Inputs struct {
		Corridor int     `json:"N"`
		Branch   int     `json:"M"`
		Gamma    float64 `json:"gamma"`
	} `json:"inputs"`
	Outputs struct {
		Rewards    []float64   `json:"rewards"`
		Distance0  []int       `json:"distance_row_0"`
		Distance14 []int       `json:"distance_row_14"`
		Distance17 []int       `json:"distance_row_17"`
		Distance22 []int       `json:"distance_row_22"`
		KernelDiag float64     `json:"kernel_diag"`
		Kernel14   []float64   `json:"kernel_row_14"`
		KernelMin  float64     `json:"kernel_min_eigenvalue"`
		Actions    []float64   `json:"actions_in_state_14"`
		Returns    []float64   `json:"returns"`
		Regret     float64     `json:"regret_of_worse"`
		W          [][]float64 // discounted visits by policy, the start state included
	} `json:"outputs"`
}

func read(t *testing.T) (ref reference, env *junction.Env) {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/junction_mdp.json"))(t)
	must.Do(t, json.Unmarshal(b, &ref))
	return ref, junction.New(junction.Config{Corridor: ref.Inputs.Corridor, Branch: ref.Inputs.Branch})
}

const tol = 1e-9 // relative, stated by the file

func near(got, want float64) bool { return scalar.EqualWithinRel(got, want, tol) }

// TestMatchesAuthorsCode compares visits and returns of the two policies. With
// features one-hot over the state entered, the feature expectation μ counts the
// visits after the start: W = start + γμ.
func TestMatchesAuthorsCode(t *testing.T) {
	ref, env := read(t)
	if got := env.Spec().Discount; got != ref.Inputs.Gamma {
		t.Fatalf("the discount is %v, want %v", got, ref.Inputs.Gamma)
	}
	returns := make([]float64, len(ref.Outputs.Actions))
	for i, a := range ref.Outputs.Actions {
		actions := make([]float64, env.NumStates())
		actions[ref.Inputs.Corridor-1] = a
		mu := solver.TabularMu(env, actions)
		returns[i] = floats.Dot(ref.Outputs.Rewards, mu)
		if !near(returns[i], ref.Outputs.Returns[i]) {
			t.Errorf("action %v at the fork returns %v, want %v", a, returns[i], ref.Outputs.Returns[i])
		}
		visits := env.Start(nil)
		floats.AddScaled(visits, ref.Inputs.Gamma, mu)
		for s := range visits {
			if !near(visits[s], ref.Outputs.W[i][s]) {
				t.Errorf("action %v at the fork: %v visits of state %d, want %v", a, visits[s], s, ref.Outputs.W[i][s])
			}
		}
	}
	if got := returns[0] - returns[1]; !near(got, ref.Outputs.Regret) {
		t.Errorf("the worse policy has a regret of %v, want %v", got, ref.Outputs.Regret)
	}
	p := must.Get(solver.Tabular{}.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: ref.Outputs.Rewards}, nil))(t)
	if got := p.Params()[ref.Inputs.Corridor-1]; got != 0 {
		t.Errorf("the solver takes action %v at the fork, want 0", got)
	}
}

func TestTransitions(t *testing.T) {
	env := junction.New(junction.Config{})
	for _, test := range []struct {
		name   string
		from   int
		action int
		want   map[int]float64
	}{
		{"into the corridor", 0, 0, map[int]float64{1: 1}},
		{"along the corridor", 13, 1, map[int]float64{14: 1}},
		{"into branch A", 14, 0, map[int]float64{15: 1}},
		{"into branch B", 14, 1, map[int]float64{20: 1}},
		{"at the inner end of A", 15, 1, map[int]float64{15: 0.5, 16: 0.5}},
		{"within A", 17, 0, map[int]float64{16: 0.5, 18: 0.5}},
		{"at the outer end of A", 19, 1, map[int]float64{18: 0.5, 19: 0.5}},
		{"at the inner end of B", 20, 0, map[int]float64{20: 0.5, 21: 0.5}},
		{"within B", 22, 1, map[int]float64{21: 0.5, 23: 0.5}},
		{"at the outer end of B", 24, 0, map[int]float64{23: 0.5, 24: 0.5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for to, got := range env.Transition(nil, test.from, test.action) {
				if got != test.want[to] {
					t.Errorf("state %d is entered with probability %v, want %v", to, got, test.want[to])
				}
			}
		})
	}
}

// TestRandomStepNeedsStream restores states without a Reset before: the
// corridor can be walked, the branches need random numbers.
func TestRandomStepNeedsStream(t *testing.T) {
	env := junction.New(junction.Config{})
	env.Restore([]float64{13, 0})
	if got := env.Step(idrl.Action{0}); got.Obs[0] != 14 {
		t.Errorf("the step enters state %v, want 14", got.Obs[0])
	}
	env.Restore([]float64{17, 0})
	if !panics(func() { env.Step(idrl.Action{0}) }) {
		t.Error("a random step does without a stream")
	}
}

// TestDistanceOfAuthorsCode: theirs is one more, also from a state to itself.
func TestDistanceOfAuthorsCode(t *testing.T) {
	ref, _ := read(t)
	for from, row := range map[int][]int{
		0: ref.Outputs.Distance0, 14: ref.Outputs.Distance14, 17: ref.Outputs.Distance17, 22: ref.Outputs.Distance22,
	} {
		for to, want := range row {
			if got := junction.Distance(junction.Config{}, from, to) + 1; got != want {
				t.Errorf("distance + 1 from %d to %d is %d, want %d", from, to, got, want)
			}
		}
	}
}

// TestDistanceIsShortest compares with a breadth-first search of the graph.
func TestDistanceIsShortest(t *testing.T) {
	for _, c := range []junction.Config{{Corridor: 1, Branch: 1}, {Corridor: 4, Branch: 2}, {Corridor: 3, Branch: 6}} {
		env := junction.New(c)
		for s := range env.NumStates() {
			for to, want := range search(env, s) {
				if got := junction.Distance(c, s, to); got != want {
					t.Errorf("%+v: distance from %d to %d is %d, want %d", c, s, to, got, want)
				}
			}
		}
	}
}

// search returns the number of steps from state s to each state on the graph
// of transitions, taken in both directions.
func search(env *junction.Env, s int) []int {
	dist := make([]int, env.NumStates())
	for i := range dist {
		dist[i] = -1
	}
	dist[s] = 0
	for queue := []int{s}; len(queue) > 0; queue = queue[1:] {
		for to := range dist {
			if dist[to] < 0 && (leads(env, queue[0], to) || leads(env, to, queue[0])) {
				dist[to] = dist[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return dist
}

func leads(env *junction.Env, s, to int) bool {
	return env.Transition(nil, s, 0)[to] > 0 || env.Transition(nil, s, 1)[to] > 0
}

// kernelOf returns the matrix of exp(−(d+shift)²/(2·3²)) on distances d.
func kernelOf(n int, shift float64, c junction.Config) *mat.SymDense {
	k := mat.NewSymDense(n, nil)
	for s := range n {
		for to := s; to < n; to++ {
			d := float64(junction.Distance(c, s, to)) + shift
			k.SetSym(s, to, math.Exp(-d*d/18))
		}
	}
	return k
}

func smallest(t *testing.T, k mat.Symmetric) float64 {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(k, false) {
		t.Fatal("no eigenvalues")
	}
	return floats.Min(eigen.Values(nil))
}

// TestKernelOfAuthorsCode compares with their kernel, whose variance is 4 before
// the distance is raised by one.
func TestKernelOfAuthorsCode(t *testing.T) {
	ref, env := read(t)
	n := env.NumStates()
	code := kernelOf(n, 1, junction.Config{})
	code.ScaleSym(4, code)
	for s, want := range ref.Outputs.Kernel14 {
		if got := code.At(14, s); !near(got, want) {
			t.Errorf("their kernel[14][%d] = %v, want %v", s, got, want)
		}
	}
	if got := smallest(t, code); !near(got, ref.Outputs.KernelMin) {
		t.Errorf("the smallest eigenvalue of their kernel is %v, want %v", got, ref.Outputs.KernelMin)
	}
	ours := mat.NewSymDense(n, nil)
	env.Kernel(ours)
	for s := range n {
		for to := range n {
			if got, want := ours.At(s, to), code.At(s, to)/ref.Outputs.KernelDiag; !near(got, want) {
				t.Errorf("kernel[%d][%d] = %v, want %v", s, to, got, want)
			}
		}
	}
}

// TestKernelOfTextIsNone has the reason why the kernel is not that of the
// paper's text.
func TestKernelOfTextIsNone(t *testing.T) {
	if got := smallest(t, kernelOf(25, 0, junction.Config{})); !scalar.EqualWithinAbs(got, -0.0521, 5e-5) {
		t.Errorf("the smallest eigenvalue of the text's kernel is %v, want -0.0521", got)
	}
}

// TestKernelIsPositiveDefinite covers the extremes of the sizes. The documented
// smallest eigenvalue is 0.040.
func TestKernelIsPositiveDefinite(t *testing.T) {
	for _, c := range []junction.Config{
		{Corridor: 1, Branch: 1},
		{Corridor: 1, Branch: 100},
		{Corridor: 100, Branch: 1},
		{Corridor: 15, Branch: 5},
		{Corridor: 100, Branch: 100},
	} {
		env := junction.New(c)
		k := mat.NewSymDense(env.NumStates(), nil)
		env.Kernel(k)
		if got := smallest(t, k); got < 0.0402 {
			t.Errorf("%+v: the smallest eigenvalue is %v, want at least 0.0402", c, got)
		}
	}
}

func TestOutOfRange(t *testing.T) {
	for _, c := range []junction.Config{{Corridor: -1}, {Corridor: 101}, {Branch: -1}, {Branch: 101}} {
		if !panics(func() { junction.New(c) }) {
			t.Errorf("New accepts %+v", c)
		}
	}
	for _, pair := range [][2]int{{-1, 0}, {0, 25}, {25, 0}} {
		if !panics(func() { junction.Distance(junction.Config{}, pair[0], pair[1]) }) {
			t.Errorf("Distance accepts states %v", pair)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}
