package nn_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/nn"
	"tiebreak/internal/rng"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// vector is "dnn_laplace" of the authors' code.
type vector struct {
	Inputs struct {
		W1       [][]float32
		W2       [][]float32
		W3       []float32     `json:"w3"`
		Ridge    float64       `json:"l2_reg"`
		Clips    [][][]float64 `json:"clips_LxD"`
		Labelled [][2]int      `json:"labelled_pairs"`
		Policies struct {
			I []float64 `json:"fi"`
			J []float64 `json:"fj"`
		} `json:"policy_feature_vectors"`
		Candidates [][2]int `json:"candidate_pairs"`
	} `json:"inputs"`
	Outputs struct {
		Features      [][]float64 `json:"clip_features"`
		Predictions   []float64   `json:"clip_predictions"`
		Hessian       [][]float64 `json:"hessian"`
		Cov           [][]float64 `json:"cov"`
		PriorVar      float64     `json:"prior_cov_diag"`
		IDRL          []float64   `json:"idrl_scores"`
		IDRLOrder     [][2]int    `json:"idrl_order"`
		Variance      []float64   `json:"variance_scores"`
		VarianceOrder [][2]int    `json:"variance_order"`
		PairVar       float64     `json:"pair_variance_now"`
	} `json:"outputs"`
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// tol is relative and stated by the vector, whose network is of single
// precision; features near zero are sums of numbers near one, so that they have
// the same error in absolute terms.
const tol = 1e-5

func near(got, want float64) bool { return scalar.EqualWithinAbsOrRel(got, want, tol/10, tol) }

func (v *vector) network() *nn.Network {
	in := v.Inputs
	return nn.NewNetwork(len(in.W1[0]), len(in.W3), slices.Concat(in.W1...), slices.Concat(in.W2...), in.W3)
}

// deltas returns the differences of the features of pairs of clips.
func (v *vector) deltas(pairs [][2]int) [][]float64 {
	n := v.network()
	var out [][]float64
	for _, p := range pairs {
		a, b := n.Features(nil, v.Inputs.Clips[p[0]]), n.Features(nil, v.Inputs.Clips[p[1]])
		out = append(out, floats.SubTo(make([]float64, len(a)), a, b))
	}
	return out
}

func laplace(t *testing.T, mean []float64, ridge float64, deltas [][]float64) *nn.Laplace {
	t.Helper()
	l, err := nn.NewLaplace(mean, ridge, deltas)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFeaturesMatchAuthorsCode(t *testing.T) {
	var v vector
	load(t, "dnn_laplace", &v)
	n := v.network()
	if n.InputDim() != 3 || n.FeatureDim() != 4 {
		t.Errorf("%d inputs and %d features, want 3 and 4", n.InputDim(), n.FeatureDim())
	}
	for i, clip := range v.Inputs.Clips {
		phi := n.Features(nil, clip)
		for j, want := range v.Outputs.Features[i] {
			if !near(phi[j], want) {
				t.Errorf("clip %d feature %d = %v, want %v", i, j, phi[j], want)
			}
		}
		if got := n.Reward(phi); !near(got, v.Outputs.Predictions[i]) {
			t.Errorf("clip %d: reward %v, want %v", i, got, v.Outputs.Predictions[i])
		}
	}
}

func TestLaplaceMatchesAuthorsCode(t *testing.T) {
	var v vector
	load(t, "dnn_laplace", &v)
	l := laplace(t, v.network().LastLayer(), v.Inputs.Ridge, v.deltas(v.Inputs.Labelled))
	h, cov := mat.NewSymDense(4, nil), mat.NewSymDense(4, nil)
	l.Hessian(h)
	if err := l.Cov(cov); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		for j := range 4 {
			if !near(h.At(i, j), v.Outputs.Hessian[i][j]) {
				t.Errorf("hessian[%d][%d] = %v, want %v", i, j, h.At(i, j), v.Outputs.Hessian[i][j])
			}
			if !near(cov.At(i, j), v.Outputs.Cov[i][j]) {
				t.Errorf("covariance[%d][%d] = %v, want %v", i, j, cov.At(i, j), v.Outputs.Cov[i][j])
			}
		}
	}
	prior := laplace(t, v.network().LastLayer(), v.Inputs.Ridge, nil)
	if got := prior.Var([]float64{0, 1, 0, 0}); !near(got, v.Outputs.PriorVar) {
		t.Errorf("prior variance = %v, want %v", got, v.Outputs.PriorVar)
	}
}

func TestScoresMatchAuthorsCode(t *testing.T) {
	var v vector
	load(t, "dnn_laplace", &v)
	l := laplace(t, v.network().LastLayer(), v.Inputs.Ridge, v.deltas(v.Inputs.Labelled))
	deltas := v.deltas(v.Inputs.Candidates)
	d := floats.SubTo(make([]float64, 4), v.Inputs.Policies.I, v.Inputs.Policies.J)
	if got := l.Var(d); !near(got, v.Outputs.PairVar) {
		t.Errorf("variance of the pair = %v, want %v", got, v.Outputs.PairVar)
	}
	idrlScores, variances := l.IDRLScores(nil, deltas, d), l.VarianceScores(nil, deltas)
	for k := range deltas {
		if !near(idrlScores[k], v.Outputs.IDRL[k]) {
			t.Errorf("IDRL score %d = %v, want %v", k, idrlScores[k], v.Outputs.IDRL[k])
		}
		if !near(variances[k], v.Outputs.Variance[k]) {
			t.Errorf("variance score %d = %v, want %v", k, variances[k], v.Outputs.Variance[k])
		}
	}
	if diff := cmp.Diff(v.Outputs.IDRLOrder, ranked(v.Inputs.Candidates, idrlScores, 1)); diff != "" {
		t.Errorf("order of IDRL, smallest first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(v.Outputs.VarianceOrder, ranked(v.Inputs.Candidates, variances, -1)); diff != "" {
		t.Errorf("order of variances, largest first (-want +got):\n%s", diff)
	}
}

// ranked returns the pairs in the order of sign·scores.
func ranked(pairs [][2]int, scores []float64, sign float64) [][2]int {
	keys, order := make([]float64, len(scores)), make([]int, len(scores))
	floats.AddScaled(keys, sign, scores)
	floats.Argsort(keys, order)
	out := make([][2]int, len(pairs))
	for i, k := range order {
		out[i] = pairs[k]
	}
	return out
}

// TestScoresAreThoseOfTheUpdatedBelief compares the closed form with the belief
// that has one comparison more.
func TestScoresAreThoseOfTheUpdatedBelief(t *testing.T) {
	stream := rng.New(1, "deltas", 0)
	const dim = 6
	mean, d := normal(dim, stream), normal(dim, stream)
	var labelled, candidates [][]float64
	for range 8 {
		labelled, candidates = append(labelled, normal(dim, stream)), append(candidates, normal(dim, stream))
	}
	candidates = append(candidates, make([]float64, dim), d) // nothing to learn; everything
	l := laplace(t, mean, 0.5, labelled)
	scores := l.IDRLScores(make([]float64, len(candidates)), candidates, d)
	for k, delta := range candidates {
		after, err := l.Given(delta)
		if err != nil {
			t.Fatal(err)
		}
		if want := after.Var(d); !scalar.EqualWithinRel(scores[k], want, 1e-12) {
			t.Errorf("candidate %d: score %v, variance after the answer %v", k, scores[k], want)
		}
		batch := laplace(t, mean, 0.5, append(slices.Clone(labelled), delta))
		if want := batch.Var(d); !scalar.EqualWithinRel(scores[k], want, 1e-12) {
			t.Errorf("candidate %d: score %v, variance from all comparisons at once %v", k, scores[k], want)
		}
		if !(scores[k] <= l.Var(d)) {
			t.Errorf("candidate %d: an answer raises the variance from %v to %v", k, l.Var(d), scores[k])
		}
	}
}

func normal(n int, stream *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = stream.NormFloat64()
	}
	return out
}

// TestLaplaceIsTheCurvature compares H with second differences of the negative
// log posterior, λ|w|²/2 − Σ log p(w·Δ), at the mean.
func TestLaplaceIsTheCurvature(t *testing.T) {
	mean := []float64{0.3, -1.2}
	deltas := [][]float64{{1, 2}, {-0.5, 1}, {3, 0.1}}
	loss := func(a, b float64) float64 {
		sum := 0.7 * (a*a + b*b) / 2
		for _, d := range deltas {
			sum += math.Log1p(math.Exp(-a*d[0] - b*d[1]))
		}
		return sum
	}
	const h = 1e-4
	second := func(i, j int) float64 {
		e := [2][2]float64{{h, 0}, {0, h}}
		at := func(s, t float64) float64 {
			return loss(mean[0]+s*e[i][0]+t*e[j][0], mean[1]+s*e[i][1]+t*e[j][1])
		}
		return (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h * h)
	}
	got := mat.NewSymDense(2, nil)
	laplace(t, mean, 0.7, deltas).Hessian(got)
	for i := range 2 {
		for j := range 2 {
			if want := second(i, j); !scalar.EqualWithinAbs(got.At(i, j), want, 1e-6) { // rounding of the differences
				t.Errorf("H[%d][%d] = %v, second difference %v", i, j, got.At(i, j), want)
			}
		}
	}
}

func TestProb(t *testing.T) {
	l := laplace(t, []float64{2}, 1, nil)
	for _, test := range []struct{ delta, want float64 }{{0, 0.5}, {math.Log(3) / 2, 0.75}, {-math.Log(3) / 2, 0.25}, {1e6, 1}, {-1e6, 0}} {
		if got := l.Prob([]float64{test.delta}); !scalar.EqualWithinAbs(got, test.want, 1e-15) {
			t.Errorf("probability at %v = %v, want %v", test.delta, got, test.want)
		}
	}
	// A comparison whose answer is certain teaches nothing, in either direction.
	for _, sure := range []float64{1e6, -1e6} {
		if got := l.IDRLScores(nil, [][]float64{{sure}}, []float64{1}); got[0] != 1 {
			t.Errorf("variance after a certain answer = %v, want 1", got[0])
		}
	}
}

func TestLaplaceOfNaN(t *testing.T) {
	if _, err := nn.NewLaplace([]float64{1, math.NaN()}, 1, [][]float64{{1, 1}}); err == nil || idrl.KindOf(err) != idrl.Internal {
		t.Errorf("error = %v, want one of kind Internal", err)
	}
	if _, err := laplace(t, []float64{1}, 1, nil).Given([]float64{math.NaN()}); err == nil || idrl.KindOf(err) != idrl.Internal {
		t.Errorf("error = %v, want one of kind Internal", err)
	}
}

// TestNetworkByHand: one input, two hidden units, leak 0.01.
func TestNetworkByHand(t *testing.T) {
	n := nn.NewNetwork(1, 2, []float32{1, -1}, []float32{1, 0, 0, -2}, []float32{3, 0.5})
	for _, test := range []struct {
		steps [][]float64
		want  []float64
	}{
		{[][]float64{{2}}, []float64{2, 0.04}},
		{[][]float64{{-2}}, []float64{-0.0002, -0.04}},
		{[][]float64{{2}, {-2}}, []float64{1.9998, 0}},
		{nil, []float64{0, 0}},
	} {
		if got := n.Features(make([]float64, 2), test.steps); !floats.EqualApprox(got, test.want, 1e-7) { // single precision
			t.Errorf("features of %v = %v, want %v", test.steps, got, test.want)
		}
	}
	if got := n.Reward([]float64{2, 4}); got != 8 {
		t.Errorf("reward = %v, want 8", got)
	}
}

func TestPanics(t *testing.T) {
	n := nn.NewNetwork(1, 2, make([]float32, 2), make([]float32, 4), make([]float32, 2))
	l := laplace(t, []float64{1, 2}, 1, nil)
	for name, call := range map[string]func(){
		"short weights":     func() { nn.NewNetwork(1, 2, make([]float32, 1), make([]float32, 4), make([]float32, 2)) },
		"no input":          func() { nn.NewNetwork(0, 1, nil, make([]float32, 1), make([]float32, 1)) },
		"long destination":  func() { n.Features(make([]float64, 3), nil) },
		"long input":        func() { n.Features(nil, [][]float64{{1, 2}}) },
		"no ridge":          func() { nn.NewLaplace([]float64{1}, 0, nil) },
		"long difference":   func() { l.Given([]float64{1, 2, 3}) },
		"short scores":      func() { l.VarianceScores(make([]float64, 1), [][]float64{{1, 1}, {1, 1}}) },
		"short IDRL scores": func() { l.IDRLScores(make([]float64, 1), nil, []float64{1, 1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

func TestLabelScheduleMatchesAuthorsCode(t *testing.T) {
	var v struct {
		Inputs struct {
			Labels        int     `json:"n_samples"`
			Steps         int     `json:"n_model_updates"`
			PolicyUpdates int     `json:"n_policy_updates"`
			Share         float64 `json:"initial_fraction"`
		} `json:"inputs"`
		Outputs struct {
			Initial  int      `json:"initial"`
			PerStep  [][2]int `json:"per_step"`
			LastStep int      `json:"last_step"`
			Total    int      `json:"total"`
			Policies int      `json:"candidate_updates"`
		} `json:"outputs"`
	}
	load(t, "dnn_schedule", &v)
	first, perStep := nn.LabelSchedule(v.Inputs.Labels, v.Inputs.Steps, v.Inputs.Share)
	total := first
	for _, n := range perStep {
		total += n
	}
	every := v.Inputs.Steps / v.Inputs.PolicyUpdates // steps between two updates of the policies
	got := []int{first, len(perStep), total, len(perStep) / every}
	if want := []int{v.Outputs.Initial, v.Outputs.LastStep, v.Outputs.Total, v.Outputs.Policies}; !slices.Equal(got, want) {
		t.Errorf("first labels, steps, total and policy updates = %v, want %v", got, want)
	}
	for _, step := range v.Outputs.PerStep {
		if n := perStep[step[0]-1]; n != step[1] {
			t.Errorf("step %d asks for %d labels, want %d", step[0], n, step[1])
		}
	}
}

// TestLabelScheduleByHand: 11 labels of which a first share of 5/11 leaves 6
// over 2 steps, so c = 6/1.5 = 4: 6 − 4 = 2 at step 1, then min(2, 4 − 2).
func TestLabelScheduleByHand(t *testing.T) {
	for _, test := range []struct {
		labels, steps int
		share         float64
		first         int
		perStep       []int
	}{
		{11, 2, 0.5, 5, []int{2, 2}},
		{1, 5, 0, 0, nil}, // ⌈c⌉ = 1 leaves nothing
		{0, 5, 0.25, 0, nil},
		{8, 3, 1, 8, nil},
		{8, 0, 0.25, 2, nil},
	} {
		first, perStep := nn.LabelSchedule(test.labels, test.steps, test.share)
		if first != test.first || !slices.Equal(perStep, test.perStep) {
			t.Errorf("%d labels over %d steps: %d and %v, want %d and %v", test.labels, test.steps, first, perStep, test.first, test.perStep)
		}
	}
}

func BenchmarkIDRLScores(b *testing.B) {
	stream := rng.New(1, "bench", 0)
	var deltas [][]float64
	for range 10000 {
		deltas = append(deltas, normal(64, stream))
	}
	l, err := nn.NewLaplace(normal(64, stream), 0.5, deltas[:1400])
	if err != nil {
		b.Fatal(err)
	}
	d, dst := normal(64, stream), make([]float64, len(deltas))
	for b.Loop() {
		l.IDRLScores(dst, deltas, d)
	}
}
