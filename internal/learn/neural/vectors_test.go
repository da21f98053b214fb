package neural

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// A vector is one of the authors' code (docs/paper-code.md, section 6).
type vector struct {
	Inputs struct {
		Lambda     float64       `json:"l2_reg"`
		W1         [][]float32   `json:"W1"`
		W2         [][]float32   `json:"W2"`
		W3         []float32     `json:"w3"`
		Clips      [][][]float32 `json:"clips_LxD"`
		Labelled   [][2]int      `json:"labelled_pairs"`
		Candidates [][2]int      `json:"candidate_pairs"`
		Policies   struct {
			I []float64 `json:"fi"`
			J []float64 `json:"fj"`
		} `json:"policy_feature_vectors"`

		ObsDim int       `json:"obs_dim"`
		ActDim int       `json:"act_dim"`
		Labels []float64 `json:"labels"` // of clips 2k and 2k+1
		Orders [][]int   `json:"orders"`
	} `json:"inputs"`
	Outputs struct {
		Features      [][]float64 `json:"clip_features"`
		Predictions   []float64   `json:"clip_predictions"`
		Labels        [][]float64 `json:"labels"`
		Cov           [][]float64 `json:"cov"`
		PriorVar      float64     `json:"prior_cov_diag"`
		IDRL          []float64   `json:"idrl_scores"`
		IDRLOrder     [][2]int    `json:"idrl_order"`
		Variance      []float64   `json:"variance_scores"`
		VarianceOrder [][2]int    `json:"variance_order"`
		PairVar       float64     `json:"pair_variance_now"`

		W1     [][]float64 `json:"W1"`
		W2     [][]float64 `json:"W2"`
		W3     []float64   `json:"w3"`
		Losses []float64   `json:"losses"`
	} `json:"outputs"`
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/" + name + ".json"))(t)
	must.Do(t, json.Unmarshal(b, into))
}

// steps returns clip i, whose rows are an observation and an action.
func (v *vector) steps(i, obs int) (s idrl.Steps) {
	for _, row := range v.Inputs.Clips[i] {
		s.Obs, s.Actions = append(s.Obs, row[:obs]), append(s.Actions, row[obs:])
	}
	s.Obs = append(s.Obs, s.Obs[0])
	return s
}

// compared returns an answer to a comparison of two clips; prefer is the probability of a.
func compared(a, b idrl.Steps, prefer float64) (idrl.Query, idrl.Answer, []idrl.Steps) {
	choice := idrl.Equal
	switch {
	case prefer > 0.5:
		choice = idrl.ChoseA
	case prefer < 0.5:
		choice = idrl.ChoseB
	}
	return idrl.Query{Kind: idrl.CompareClips}, idrl.Answer{Choice: choice}, []idrl.Steps{a, b}
}

// add adds an answer to d.
func add(d *idrl.Dataset, q idrl.Query, a idrl.Answer, shown []idrl.Steps) {
	d.Queries, d.Answers, d.Shown = append(d.Queries, q), append(d.Answers, a), append(d.Shown, shown)
}

// model returns the model of the weights of v in mode Paper after the answers of d, before
// training.
func (v *vector) training(t *testing.T, obs int, d idrl.Dataset) *training {
	t.Helper()
	in := v.Inputs
	cfg := Config{Mode: Paper, ObsDim: obs, ActDim: len(in.W1[0]) - obs, Hidden: []int{len(in.W1), len(in.W2)}, Lambda: 0.5}.withDefaults()
	all := must.Get(gather(cfg, d))(t)
	out := must.Get(newTraining(t.Context(), cfg, all, nil, rng.New(1, "test", 0)))(t)
	must.Do(t, out.net.SetParams(slices.Concat(slices.Concat(in.W1...), slices.Concat(in.W2...), in.W3)))
	return out
}

// tol is relative and stated by the vector, whose network is of single precision; features
// near zero are sums of numbers near one, and have the same absolute error.
const tol = 1e-5

func near(got, want float64) bool { return scalar.EqualWithinAbsOrRel(got, want, tol/10, tol) }

func allNear(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !near(got[i], want[i]) {
			t.Errorf("%s %d = %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestVectorLaplace(t *testing.T) {
	var v vector
	load(t, "dnn_laplace", &v)
	var d idrl.Dataset
	for k, p := range v.Inputs.Labelled {
		q, a, shown := compared(v.steps(p[0], 2), v.steps(p[1], 2), v.Outputs.Labels[k][0])
		add(&d, q, a, shown)
	}
	m := must.Get(v.training(t, 2, d).model())(t)
	features := make([][]float64, len(v.Inputs.Clips))
	mean := m.Posterior().Mean(nil)
	for i := range features {
		features[i] = m.Features(make([]float64, 4), v.steps(i, 2))
		allNear(t, "feature", features[i], v.Outputs.Features[i])
		if got := floats.Dot(mean, features[i]); !near(got, v.Outputs.Predictions[i]) {
			t.Errorf("clip %d: reward %v, want %v", i, got, v.Outputs.Predictions[i])
		}
	}
	cov := new(mat.SymDense)
	m.Posterior().Cov(cov)
	for i, row := range v.Outputs.Cov {
		allNear(t, "covariance", cov.RawSymmetric().Data[i*4 : i*4+4][i:], row[i:])
	}
	var xs [][]float64
	for _, p := range v.Inputs.Candidates {
		xs = append(xs, floats.SubTo(make([]float64, 4), features[p[0]], features[p[1]]))
	}
	between := floats.SubTo(make([]float64, 4), v.Inputs.Policies.I, v.Inputs.Policies.J)
	given, now := m.VariancesGiven(nil, xs, between), m.Variances(nil, xs)
	allNear(t, "IDRL score", given, v.Outputs.IDRL)
	allNear(t, "variance", now, v.Outputs.Variance)
	if got := m.Variances(nil, [][]float64{between})[0]; !near(got, v.Outputs.PairVar) {
		t.Errorf("variance of the pair = %v, want %v", got, v.Outputs.PairVar)
	}
	order := func(score []float64, sign float64) (out [][2]int) {
		at := make([]int, len(score))
		by := slices.Clone(score)
		floats.Scale(sign, by)
		floats.Argsort(by, at)
		for _, k := range at {
			out = append(out, v.Inputs.Candidates[k])
		}
		return out
	}
	if diff := cmp.Diff(v.Outputs.IDRLOrder, order(given, 1)); diff != "" {
		t.Errorf("IDRL's order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(v.Outputs.VarianceOrder, order(now, -1)); diff != "" {
		t.Errorf("order by variance (-want +got):\n%s", diff)
	}
	for k, x := range xs { // the closed form is the variance under Given
		c := make([]float64, 4)
		m.Given(x).CovMul(c, between)
		if got := floats.Dot(c, between); !near(got, given[k]) {
			t.Errorf("variance under Given = %v, want %v", got, given[k])
		}
	}
	prior := must.Get(v.training(t, 2, idrl.Dataset{}).model())(t)
	if got := prior.Variances(nil, [][]float64{{0, 1, 0, 0}})[0]; !near(got, v.Outputs.PriorVar) {
		t.Errorf("prior variance = %v, want %v", got, v.Outputs.PriorVar)
	}
}

// The weights after the ten epochs are those of PyTorch, with a batch that is left out,
// equal answers, and sums beyond the bound.
func TestVectorTraining(t *testing.T) {
	var v vector
	load(t, "dnn_training", &v)
	var d idrl.Dataset
	for k, y := range v.Inputs.Labels {
		q, a, shown := compared(v.steps(2*k, v.Inputs.ObsDim), v.steps(2*k+1, v.Inputs.ObsDim), y)
		add(&d, q, a, shown)
	}
	w := v.training(t, v.Inputs.ObsDim, d)
	opt := must.Get(nn.NewOptimiser(w.net, adam(paperRate, w.cfg.Lambda)))(t)
	for k, order := range v.Inputs.Orders {
		w.order, w.left = order, order
		must.Do(t, w.epoch(opt))
		if !near(w.report.Objective, v.Outputs.Losses[k]) {
			t.Errorf("loss of epoch %d = %v, want %v", k, w.report.Objective, v.Outputs.Losses[k])
		}
	}
	want := slices.Concat(slices.Concat(v.Outputs.W1...), slices.Concat(v.Outputs.W2...), v.Outputs.W3)
	for i, got := range w.net.Params(nil) {
		if math.Abs(float64(got)-want[i]) > 1e-6 {
			t.Errorf("weight %d = %v, want %v", i, got, want[i])
		}
	}
}

func TestVectorSchedule(t *testing.T) {
	var v struct {
		Inputs struct {
			Labels int     `json:"n_samples"`
			Steps  int     `json:"n_model_updates"`
			Share  float64 `json:"initial_fraction"`
		} `json:"inputs"`
		Outputs struct {
			First   int      `json:"initial"`
			PerStep [][2]int `json:"per_step"`
			Steps   int      `json:"n_steps_with_samples"`
			Total   int      `json:"total"`
		} `json:"outputs"`
	}
	load(t, "dnn_schedule", &v)
	sum := func(first int, per []int) int {
		for _, n := range per {
			first += n
		}
		return first
	}
	first, per := LabelSchedule(Paper, v.Inputs.Labels, v.Inputs.Steps, v.Inputs.Share)
	if first != v.Outputs.First || len(per) != v.Outputs.Steps || sum(first, per) != v.Outputs.Total {
		t.Errorf("%d labels at first, %d steps, %d in all", first, len(per), sum(first, per))
	}
	for _, s := range v.Outputs.PerStep {
		if got := per[s[0]-1]; got != s[1] {
			t.Errorf("step %d asks %d, want %d", s[0], got, s[1])
		}
	}
	first, per = LabelSchedule(Corrected, v.Inputs.Labels, v.Inputs.Steps, v.Inputs.Share)
	if sum(first, per) != v.Inputs.Labels || !slices.IsSortedFunc(per, func(a, b int) int { return b - a }) {
		t.Errorf("%d labels in all, want %d, ever fewer: %v", sum(first, per), v.Inputs.Labels, per)
	}
}
