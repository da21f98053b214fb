package acquisition_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The files in testdata are vectors of the authors' own code (reference
// "vectors", whose ids they bear). Its variances are predictive: each state that
// two policies visit adds the observation variance times the square of the
// difference of their counts, which is undone here because ours are latent.

// outputs is what both vectors state.
type outputs struct {
	PairVariances [][3]float64 `json:"pair_variances"` // i, j, variance
	SelectedPair  [2]int       `json:"selected_pair"`
	After         []float64    `json:"variance_after_each_query"`
}

func vector(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// observe conditions p on y = θ·x with noise.
func observe(t *testing.T, p idrl.Posterior, x []float64, noise float64) idrl.Posterior {
	t.Helper()
	m := belief.Model{Rating: belief.Rating{NoiseVar: noise}}
	return m.Anticipate(p, idrl.Query{Kind: idrl.RateState, X: x}) // the value of y does not matter to the covariance
}

// agree compares a selection with out; extra is the observation variance in the
// code's variance of the pair i, j, and tol is relative.
func (out outputs) agree(t *testing.T, m belief.Model, p idrl.Posterior, g idrl.Generation, query int, extra func(i, j int) float64, tol float64) {
	t.Helper()
	for _, v := range out.PairVariances {
		i, j := int(v[0]), int(v[1])
		within(t, "variance of a pair", variance(p, difference(g, i, j))+extra(i, j), v[2], tol*v[2])
	}
	s := acquisition.Select(acquisition.IDRL{}, m, p, g, rng.New(0, "tie", 0))
	if s.First != out.SelectedPair[0] || s.Second != out.SelectedPair[1] || s.Query != query {
		t.Errorf("selected %+v, want pair %v and query %d", s, out.SelectedPair, query)
	}
	scores := acquisition.IDRL{}.Score(nil, m, p, g)
	for i, want := range out.After {
		within(t, "variance after a query", s.PairStd*s.PairStd-scores[i]+extra(s.First, s.Second), want, tol*want)
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
	const states = 20
	kernel := mat.NewSymDense(states, nil)
	oneHot := func(s int) []float64 { x := make([]float64, states); x[s] = 1; return x }
	var g idrl.Generation
	for i := range states {
		for j := i; j < states; j++ {
			z := float64(i-j) / 3
			kernel.SetSym(i, j, 4*math.Exp(-0.5*z*z))
		}
		g.Queries = append(g.Queries, idrl.Query{Kind: idrl.RateState, X: oneHot(i)})
	}
	for _, visits := range file.Inputs.Visits {
		mu := make([]float64, states)
		for _, v := range visits {
			mu[v[0]] = float64(v[1])
		}
		g.Candidates = append(g.Candidates, idrl.Candidate{Mu: mu})
	}
	start, err := belief.NewGaussian(make([]float64, states), kernel)
	if err != nil {
		t.Fatal(err)
	}
	var p idrl.Posterior = start
	for _, o := range file.Inputs.Observations {
		p = observe(t, p, oneHot(int(o[0])), file.Inputs.ObsVar)
	}
	m := belief.Model{Start: start, Rating: belief.Rating{NoiseVar: file.Inputs.ObsVar}}
	extra := func(i, j int) float64 {
		return file.Inputs.ObsVar * math.Pow(floats.Norm(difference(g, i, j), 2), 2)
	}
	file.Outputs.agree(t, m, p, g, file.Outputs.SelectedQuery, extra, 1e-8) // stated
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
		g.Queries = append(g.Queries, idrl.Query{Kind: idrl.CompareClips, X: contrast(q[0], q[1])})
		if q == file.Outputs.SelectedQuery {
			want = i
		}
	}
	m := belief.Model{Start: start, Comparison: belief.PlusMinus{NoiseVar: in.ObsVar}}
	extra := func(int, int) float64 { return in.ObsVar * 100 } // 50 distinct states of either policy, once each
	file.Outputs.agree(t, m, p, g, want, extra, 1e-7)          // stated
}
