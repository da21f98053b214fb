package acquisition_test

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The files in testdata are vectors of the authors' own code
// (docs/paper-code.md). Its variances are predictive: each state that two
// policies visit adds the observation variance times the square of the
// difference of their counts, which is Input.Noise here because ours are latent.

// outputs is what both vectors state.
type outputs struct {
	PairVariances [][3]float64 `json:"pair_variances"` // i, j, variance
	SelectedPair  [2]int       `json:"selected_pair"`
	After         []float64    `json:"variance_after_each_query"`
}

func vector(t *testing.T, name string, into any) {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", name+".json")))(t)
	must.Do(t, json.Unmarshal(data, into))
}

// observe conditions p on y = θ·x with noise.
func observe(t *testing.T, p idrl.Posterior, x []float64, noise float64) idrl.Posterior {
	t.Helper()
	m := belief.Model{Rating: belief.Rating{NoiseVar: noise}}
	return m.ConditionOnPending(p, idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: x}) // the value of y does not matter to the covariance
}

// agree compares a selection with out; noise is the observation variance in the
// code's variance of the pair i, j, and tol is relative.
func (out outputs) agree(t *testing.T, m belief.Model, p idrl.Posterior, g game, query int, noise func(i, j int) float64, tol float64) {
	t.Helper()
	for _, v := range out.PairVariances {
		i, j := int(v[0]), int(v[1])
		within(t, "variance of a pair", variance(p, difference(g, i, j))+noise(i, j), v[2], tol*v[2])
	}
	for _, f := range []acquisition.IDRL{{}, {Paper: true}} {
		in := input(m, p, g, rng.New(0, "tie", 0))
		in.Noise = noise
		s := choose(t, f, in)
		if s.First != out.SelectedPair[0] || s.Second != out.SelectedPair[1] || s.Query != query {
			t.Errorf("%+v selected %+v, want pair %v and query %d", f, s, out.SelectedPair, query)
		}
		scores, pair := scorePair(t, f, in)
		before := s.PairStd*s.PairStd + noise(s.First, s.Second)
		if f.Paper {
			within(t, "variance of the selected pair", pair.Var, before, tol*before)
			before = 0 // the value is the negative of what is left
		}
		for i, want := range out.After {
			within(t, "variance after a query", before-scores[i], want, tol*want)
		}
	}
}

func TestVectorChainStates(t *testing.T) {
	var file struct {
		Inputs struct {
			ObsVar       float64      `json:"obs_var"`
			Observations [][2]float64 // state, y
			Visits       [][][2]int   `json:"visitation_counts_per_policy"`
		}
		Outputs struct {
			outputs
			SelectedQuery int `json:"selected_query"`
		}
	}
	vector(t, "idrl_chain_state", &file)
	start, queries := chainModel(t)
	g := game{Queries: queries}
	for _, visits := range file.Inputs.Visits {
		mu := make([]float64, start.Dim())
		for _, v := range visits {
			mu[v[0]] = float64(v[1])
		}
		g.Candidates = append(g.Candidates, idrl.Candidate{Mu: mu})
	}
	var p idrl.Posterior = start
	for _, o := range file.Inputs.Observations {
		p = observe(t, p, queries[int(o[0])].X, file.Inputs.ObsVar)
	}
	m := belief.Model{Start: start, Rating: belief.Rating{NoiseVar: file.Inputs.ObsVar}}
	noise := func(i, j int) float64 {
		return file.Inputs.ObsVar * math.Pow(floats.Norm(difference(g, i, j), 2), 2)
	}
	file.Outputs.agree(t, m, p, g, file.Outputs.SelectedQuery, noise, 1e-8) // stated
}

// Driver comparisons. The sums and means of the rollouts' features are those of
// vector driver_features; the grounding features are computed from its dynamics.
func TestVectorDriverComparisons(t *testing.T) {
	var file struct {
		Inputs struct {
			ObsVar      float64   `json:"obs_var"`
			PriorVar    float64   `json:"prior_var"`
			Grounding   []float64 `json:"grounding_phi"`
			Comparisons [][3]int
			Queries     [][2]int
			Sums        [][]float64 `json:"feature_sums"`
			Means       [][]float64 `json:"feature_means"`
		}
		Outputs struct {
			outputs
			SelectedQuery [2]int `json:"selected_query"`
		}
	}
	vector(t, "driver_idrl", &file)
	in := file.Inputs
	contrast := func(i, j int) []float64 {
		x := make([]float64, 5)
		floats.SubTo(x, in.Means[i], in.Means[j])
		return x
	}
	start := belief.Isotropic(5, in.PriorVar)
	p := observe(t, start, in.Grounding, 0.001)
	for _, c := range in.Comparisons {
		p = observe(t, p, contrast(c[0], c[1]), in.ObsVar)
	}
	g := returns(in.Sums...)
	want := -1
	for i, q := range in.Queries {
		g.Queries = append(g.Queries, idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: contrast(q[0], q[1])})
		if q == file.Outputs.SelectedQuery {
			want = i
		}
	}
	m := belief.Model{Start: start, Comparison: belief.PlusMinus{NoiseVar: in.ObsVar}}
	noise := func(int, int) float64 { return in.ObsVar * 100 } // 50 distinct states of either policy, once each
	file.Outputs.agree(t, m, p, g, want, noise, 1e-7)          // stated
}

// The chain's baselines. Its policies are enumerated as the authors' code does:
// all actions in states 10 to 19, the last state fastest, ranked by the
// discounted frequencies W of the states that they are in.
func TestVectorChainBaselines(t *testing.T) {
	var file struct {
		Inputs struct {
			ObsVar       float64      `json:"obs_var"`
			Observations [][2]float64 // state, y
		}
		Outputs struct {
			Mean     []float64 `json:"posterior_mean"`
			Var      []float64 `json:"predictive_variance"`
			IGR      int       `json:"igr_selected"`
			EI, PI   []float64
			EIR      int       `json:"ei_selected"`
			Actions  []float64 `json:"epd_current_policy_actions"`
			EPD      []float64 `json:"epd_divergence"`
			Selected []int     `json:"epd_selected_set"`
		}
	}
	vector(t, "baselines_chain", &file)
	const tol = 1e-7 // stated, absolute
	start, queries := chainModel(t)
	m := belief.Model{Start: start, Rating: belief.Rating{NoiseVar: file.Inputs.ObsVar}}
	p := start
	in := input(m, p, game{Queries: queries}, rng.New(0, "tie", 0))
	in.Observed, in.Rated, in.Best = true, true, math.Inf(-1)
	for _, o := range file.Inputs.Observations {
		q := queries[int(o[0])]
		p = p.ConditionOnValue(q.X, o[1], file.Inputs.ObsVar)
		in.Table.Condition(q, idrl.Answer{Choice: idrl.Rated, Rating: o[1]}, p)
		in.Best = max(in.Best, o[1])
	}
	variances, improvement := score(t, acquisition.IGR{Paper: true}, in), score(t, acquisition.EIR{Paper: true}, in)
	chances := score(t, acquisition.PI{Paper: true}, in)
	for s := range queries {
		within(t, "probability of improvement", chances[s], file.Outputs.PI[s], tol)
		within(t, "mean", in.Table.Means()[s], file.Outputs.Mean[s], tol)
		within(t, "predictive variance", variances[s], file.Outputs.Var[s], tol)
		within(t, "expected improvement", improvement[s], file.Outputs.EI[s], tol)
	}
	for f, want := range map[acquisition.Function]int{
		acquisition.IGR{}: file.Outputs.IGR, acquisition.IGR{Paper: true}: file.Outputs.IGR, acquisition.EIR{Paper: true}: file.Outputs.EIR,
	} {
		if s := choose(t, f, in); s.Query != want {
			t.Errorf("%+v selected %d, want %d", f, s.Query, want)
		}
	}
	policies := chainPolicies(t)
	in.Solve, in.Distance = policies.solve, acquisition.DistanceOf(true, true)
	if now, _ := policies.solve(p.Mean(nil)); !floats.Equal(now, file.Outputs.Actions) {
		t.Errorf("policy of the mean %v, want %v", now, file.Outputs.Actions)
	}
	if got := score(t, acquisition.EPD{Paper: true}, in); !floats.Equal(got, file.Outputs.EPD) {
		t.Errorf("divergences %v, want %v", got, file.Outputs.EPD)
	}
	chosen := map[int]bool{}
	for range 60 { // each of three is missed with probability 3e-11
		chosen[choose(t, acquisition.EPD{Paper: true}, in).Query] = true
	}
	if got := slices.Sorted(maps.Keys(chosen)); !slices.Equal(got, file.Outputs.Selected) {
		t.Errorf("EPD selected %v, want %v", got, file.Outputs.Selected)
	}
}

// chainModel returns the prior of the chain's twenty states and a rating of each.
func chainModel(t *testing.T) (*belief.Gaussian, []idrl.QueryVector) {
	t.Helper()
	const states = 20
	kernel := mat.NewSymDense(states, nil)
	var queries []idrl.QueryVector
	for i := range states {
		for j := i; j < states; j++ {
			z := float64(i-j) / 3
			kernel.SetSym(i, j, 4*math.Exp(-0.5*z*z))
		}
		x := make([]float64, states)
		x[i] = 1
		queries = append(queries, idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: x})
	}
	start := must.Get(belief.NewGaussian(make([]float64, states), kernel))(t)
	return start, queries
}

// policyTable is all policies of the chain with their discounted frequencies W of
// states, W = μ₀ᵀ(I − γP)⁻¹.
type policyTable struct{ actions, frequencies [][]float64 }

func chainPolicies(t *testing.T) (out policyTable) {
	t.Helper()
	const states, choices, discount = 20, 10, 0.99
	start := mat.NewVecDense(states, nil)
	for s := range states {
		start.SetVec(s, 1.0/states)
	}
	for k := range 1 << choices {
		actions := make([]float64, states)
		a := mat.NewDense(states, states, nil)
		for s := range states {
			next := s + 1
			if s >= states-choices {
				actions[s] = float64(k >> (states - 1 - s) & 1)
				next = min(states-1, s-1+2*int(actions[s]))
			}
			a.Set(s, s, a.At(s, s)+1)
			a.Set(s, next, a.At(s, next)-discount)
		}
		var w mat.VecDense
		must.Do(t, w.SolveVec(a.T(), start))
		out.actions, out.frequencies = append(out.actions, actions), append(out.frequencies, w.RawVector().Data)
	}
	return out
}

// solve returns the actions of the first of the best policies.
func (p policyTable) solve(reward []float64) ([]float64, error) {
	best, most := 0, math.Inf(-1)
	for k, w := range p.frequencies {
		if r := floats.Dot(w, reward); r > most {
			best, most = k, r
		}
	}
	return p.actions[best], nil
}
