package sim_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/envs/driver"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/envs/gridworld"
	"tiebreak/envs/junction"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// A named is an environment of which nothing but its description is known.
type named struct {
	idrl.Environment
	spec idrl.EnvSpec
}

func (n named) Spec() idrl.EnvSpec { return n.spec }

func newNamed(id string, d int) named {
	return named{spec: idrl.EnvSpec{ID: id, FeatureNames: make([]string, d)}}
}

func TestNewTask(t *testing.T) {
	for seed := range uint64(20) {
		drive := sim.NewTask(driver.New(), rng.New(seed, "task", 0))
		if n := floats.Norm(drive.Theta[:4], 2); !scalar.EqualWithinAbs(n, 0.5, 1e-12) || drive.Theta[4] != 0.5 {
			t.Errorf("seed %d: driver weights %v, want norm 0.5 and the constant 0.5", seed, drive.Theta)
		}
		grid := sim.NewTask(newNamed("gridworld-code", 11), rng.New(seed, "task", 0))
		line := sim.NewTask(chain.New(chain.Config{}), rng.New(seed, "task", 0))
		for _, task := range []sim.Task{grid, line} {
			if floats.Min(task.Theta) != 0 || floats.Max(task.Theta) != 1 {
				t.Errorf("seed %d: %s weights %v, want them to span [0, 1]", seed, task.Env, task.Theta)
			}
		}
	}
	if got := sim.NewTask(newNamed("pond", 3), rng.New(1, "task", 0)); got.Env != "pond" || len(got.Theta) != 3 || floats.Norm(got.Theta, 1) == 0 {
		t.Errorf("task of an unknown environment: %+v", got)
	}
}

// TestGridworldTypes checks the distribution of the object types before the
// scaling, by what the scaling keeps: the floor is the k-th lowest of 11 weights
// with the probability that k-1 of ten signs are negative.
func TestGridworldTypes(t *testing.T) {
	const n = 4000
	stream := rng.New(3, "task", 0)
	var below [11]float64
	for range n {
		theta := sim.NewTask(newNamed("gridworld", 11), stream).Theta
		k := 0
		for _, w := range theta[1:] {
			if w < theta[0] {
				k++
			}
		}
		below[k]++
	}
	for k, got := range below {
		want := math.Exp(lchoose(10, k)) / 1024
		if se := math.Sqrt(want * (1 - want) / n); math.Abs(got/n-want) > 4*se {
			t.Errorf("%d types are worse than the floor with frequency %v, want %v ± %v", k, got/n, want, se)
		}
	}
}

// lchoose returns the logarithm of n over k.
func lchoose(n, k int) float64 {
	gamma := func(v int) float64 { l, _ := math.Lgamma(float64(v)); return l }
	return gamma(n+1) - gamma(k+1) - gamma(n-k+1)
}

// TestChainIsADrawOfTheKernel asks how often weight j lies between i and k,
// which the scaling to [0, 1] does not change. With ρ the correlation of the
// steps j-i and k-j that is P(both up or both down) = 1/2 + asin(ρ)/π.
func TestChainIsADrawOfTheKernel(t *testing.T) {
	const n = 4000
	env := chain.New(chain.Config{})
	kernel := mat.NewSymDense(20, nil)
	env.Kernel(kernel)
	triples := [][3]int{{0, 1, 2}, {0, 3, 6}, {5, 9, 19}, {10, 12, 13}, {4, 19, 6}}
	between := make([]float64, len(triples))
	stream := rng.New(4, "task", 0)
	for range n {
		theta := sim.NewTask(env, stream).Theta
		for c, s := range triples {
			if (theta[s[1]] > theta[s[0]]) == (theta[s[2]] > theta[s[1]]) {
				between[c] += 1.0 / n
			}
		}
	}
	for c, s := range triples {
		i, j, k := s[0], s[1], s[2]
		cov := kernel.At(j, k) - kernel.At(j, j) - kernel.At(i, k) + kernel.At(i, j)
		up, on := 2-2*kernel.At(i, j), 2-2*kernel.At(j, k) // variances of the steps
		want := 0.5 + math.Asin(cov/math.Sqrt(up*on))/math.Pi
		if se := math.Sqrt(want * (1 - want) / n); math.Abs(between[c]-want) > 4*se {
			t.Errorf("states %v: the middle one lies between with frequency %v, want %v ± %v", s, between[c], want, se)
		}
	}
}

// TestJunction compares with the authors' code: its rewards, and the returns of
// its two policies by their visitation frequencies W, where W·r is the mean
// reward of the start plus γ times the return.
func TestJunction(t *testing.T) {
	var vector struct {
		Rewards, Returns []float64
		W                [][]float64
	}
	b := must.Get(os.ReadFile("testdata/junction.json"))(t)
	must.Do(t, json.Unmarshal(b, &vector))
	env := junction.New(junction.Config{})
	code := sim.NewCodeTask(env, rng.New(1, "task", 0))
	if !floats.EqualApprox(code.Theta, vector.Rewards, 1e-15) || code.Env != env.Spec().ID {
		t.Errorf("rewards of the authors' code = %v, want %v", code, vector.Rewards)
	}
	for k, want := range vector.Returns {
		got := (floats.Dot(vector.W[k], code.Theta) - floats.Sum(code.Theta)/25) / 0.99
		if !scalar.EqualWithinRel(got, want, 1e-9) { // the vector's tolerance
			t.Errorf("return of policy %d = %v, want %v", k, got, want)
		}
	}

	text := sim.NewTask(env, rng.New(1, "task", 0)).Theta
	if !floats.Equal(text[:20], code.Theta[:20]) {
		t.Errorf("corridor and first branch pay %v, want %v", text[:20], code.Theta[:20])
	}
	a := text[20:] // 1 - (0.14i - 1)²
	if want := []float64{0.2604, 0.4816, 0.6636, 0.8064, 0.91}; !floats.EqualApprox(a, want, 1e-15) {
		t.Errorf("the other branch pays %v, want %v", a, want)
	}
	if mean := floats.Sum(a) / 5; !(mean < 0.8 && floats.Max(a) > 0.8) { // what the paper says of it
		t.Errorf("the other branch has mean %v and maximum %v, want 0.8 between", mean, floats.Max(a))
	}
}

func TestJunctionOfAnotherSize(t *testing.T) {
	env := junction.New(junction.Config{Corridor: 4, Branch: 2})
	for _, test := range []struct {
		name string
		draw func(idrl.Environment, *rand.Rand) sim.Task
		want []float64
	}{
		{"text", sim.NewTask, []float64{0, 0, 0, 0, 0.8, 0.8, 0.5775, 0.91}}, // 1 - 0.65², 1 - 0.3²
		{"code", sim.NewCodeTask, []float64{0, 0, 0, 0, 0.8, 0.8, 0, 0.91}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.draw(env, rng.New(1, "task", 0)).Theta; !floats.EqualApprox(got, test.want, 1e-15) {
				t.Errorf("weights %v, want %v", got, test.want)
			}
		})
	}
}

// TestVariantsAgree holds NewCodeTask to NewTask where text and code agree.
func TestVariantsAgree(t *testing.T) {
	for _, env := range []idrl.Environment{driver.New(), newNamed("gridworld", 11), chain.New(chain.Config{}), newNamed("pond", 3)} {
		text, code := sim.NewTask(env, rng.New(5, "task", 0)), sim.NewCodeTask(env, rng.New(5, "task", 0))
		if !floats.Equal(text.Theta, code.Theta) {
			t.Errorf("%s: text %v, code %v", text.Env, text.Theta, code.Theta)
		}
	}
}

// A forkless junction takes no notice of actions.
type forkless struct{ *junction.Env }

func (f forkless) Transition(dst []float64, s, _ int) []float64 { return f.Env.Transition(dst, s, 0) }

// An indefinite chain has a kernel that is none.
type indefinite struct{ *chain.Env }

func (indefinite) Kernel(dst *mat.SymDense) {
	for i := range dst.SymmetricDim() {
		dst.SetSym(0, i, 2)
	}
}

// renamed is an environment under another's id.
type renamed struct {
	idrl.Tabular
	id string
}

func (r renamed) Spec() idrl.EnvSpec {
	spec := r.Tabular.Spec()
	spec.ID = r.id
	return spec
}

func TestNewTaskPanics(t *testing.T) {
	for _, test := range []struct {
		name string
		env  idrl.Environment
	}{
		{"chain without a kernel", newNamed("chain", 4)},
		{"chain with a wrong kernel", indefinite{chain.New(chain.Config{})}},
		{"junction without states", newNamed("junction", 4)},
		{"junction with other features", renamed{gridworld.New(gridworld.Config{}, rng.New(1, "layout", 0)), "junction"}},
		{"junction without a fork", forkless{junction.New(junction.Config{})}},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was accepted")
				}
			}()
			sim.NewTask(test.env, rng.New(1, "task", 0))
		})
	}
}

func TestRange(t *testing.T) {
	grid := gridworld.New(gridworld.Config{}, rng.New(1, "layout", 0))
	weights := make([]float64, 11)
	weights[3], weights[7] = -3, 2
	for _, test := range []struct {
		name     string
		env      idrl.Environment
		theta    []float64
		kind     idrl.QueryKind
		low, top float64
	}{
		{"every state counts", grid, weights, idrl.CompareStates, 5, 5},
		{"size of a state", grid, weights, idrl.RateState, 3, 3},
		{"no reward", grid, make([]float64, 11), idrl.RateState, 1, 1},
		{"the constant cancels", driver.New(), []float64{0, 0, 0, 0, 1}, idrl.CompareClips, 1, 1},
		{"mean of the constant", driver.New(), []float64{0, 0, 0, 0, 1}, idrl.RateClip, 1, 1},
		{"heading", driver.New(), []float64{0, 0, 1, 0, 0}, idrl.CompareClips, 1, 33},         // sin/0.0611 is at most 16.4
		{"heading now", driver.New(), []float64{0, 0, 1, 0, 0}, idrl.RateState, 0.3, 0.32721}, // 1/(0.06112367·50)
	} {
		t.Run(test.name, func(t *testing.T) {
			got := sim.Range(test.env, test.theta, test.kind, rng.New(2, "range", 0))
			if !(got >= test.low-1e-9 && got <= test.top+1e-9) {
				t.Errorf("range = %v, want it in [%v, %v]", got, test.low, test.top)
			}
		})
	}
}

// taped is an environment that keeps what it emitted.
type taped struct {
	idrl.Environment
	phi    [][][]float64 // by episode and step
	broken []bool        // by episode
}

func (e *taped) Reset(stream *rand.Rand) idrl.TimeStep {
	e.phi, e.broken = append(e.phi, nil), append(e.broken, false)
	return e.Environment.Reset(stream)
}

func (e *taped) Step(a idrl.Action) idrl.TimeStep {
	ts := e.Environment.Step(a)
	n := len(e.phi) - 1
	e.phi[n], e.broken[n] = append(e.phi[n], slices.Clone(ts.Phi)), ts.Broken
	return ts
}

// TestRangeOfLongEpisodes: of an environment with long episodes few are played,
// and all their whole clips count, but none of an episode that breaks down.
func TestRangeOfLongEpisodes(t *testing.T) {
	theta := []float64{1, -0.3, 2}
	for _, test := range []struct {
		name     string
		cfg      pointmass.Config
		all      bool // clips count, not the opening alone
		episodes int
	}{
		{"short", pointmass.Config{Horizon: 100, ClipSteps: 20}, false, 200},
		{"long", pointmass.Config{Horizon: 1000, ClipSteps: 40}, true, 20},
		{"not a multiple of the clip", pointmass.Config{Horizon: 990, ClipSteps: 40}, true, 21}, // begun at step 19800
		{"breakdowns", pointmass.Config{Horizon: 200, ClipSteps: 40, Limit: 3}, true, 0},
	} {
		for _, kind := range idrl.QueryKinds() {
			env := &taped{Environment: pointmass.New(test.cfg)}
			got := sim.Range(env, theta, kind, rng.New(2, "range", 0))
			if test.episodes > 0 && len(env.phi) != test.episodes {
				t.Errorf("%s: %d episodes, want %d", test.name, len(env.phi), test.episodes)
			}
			low, high, broken := math.Inf(1), math.Inf(-1), 0
			for i, phi := range env.phi {
				if env.broken[i] {
					broken++
					continue
				}
				n := test.cfg.ClipSteps
				if kind.Still() {
					n = 1
				}
				for k := 0; k+n <= len(phi) && (k == 0 || test.all || kind.Still()); k += n {
					u := 0.0
					for _, row := range phi[k : k+n] {
						u += floats.Dot(theta, row)
					}
					if kind.Asked() == idrl.RateClip {
						u /= float64(n)
					}
					low, high = min(low, u), max(high, u)
				}
			}
			want := high - low
			if !kind.Made().Comparison() {
				want = max(high, -low)
			}
			if !scalar.EqualWithinRel(got, want, 1e-12) {
				t.Errorf("%s, %s: range = %v, want %v", test.name, kind, got, want)
			}
			if (test.cfg.Limit > 0) != (broken > 0) || broken == len(env.phi) {
				t.Errorf("%s: %d of %d episodes break down", test.name, broken, len(env.phi))
			}
		}
	}
}
