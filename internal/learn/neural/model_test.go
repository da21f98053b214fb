package neural_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/neural"

	"gonum.org/v1/gonum/floats"
)

// small is a network that is trained within milliseconds.
var small = neural.Config{ObsDim: 5, ActDim: 2, Hidden: []int{8, 8}, Updates: 100}

// rewards returns those of the steps of s.
func rewards(m *neural.Model, s idrl.Steps) []float64 {
	out := make([]float64, s.Len())
	m.Evaluator(nil).Reward(out, slices.Concat(s.Obs[:s.Len()]...), slices.Concat(s.Actions...), s.Len())
	return out
}

func TestEvaluatorAgreesWithFeatures(t *testing.T) {
	w := newTask(1)
	for _, mode := range neural.Modes() {
		cfg := small
		cfg.Mode = mode
		m := train(t, cfg, w.answers(25), nil, 1)
		theta := m.Posterior().Sample(nil, rng.New(1, "draw", 0))
		var long idrl.Steps // longer than a block
		for range 25 {
			s := w.clip()
			long.Obs, long.Actions = append(long.Obs, s.Obs[:s.Len()]...), append(long.Actions, s.Actions...)
		}
		n := long.Len()
		obs, act := slices.Concat(long.Obs...), slices.Concat(long.Actions...)
		e, got := m.Evaluator(theta), make([]float64, n)
		e.Reward(got, obs, act, n)
		single := make([]float32, n*m.Dim())
		e.Features(single, obs, act, n)
		sum := make([]float64, m.Dim())
		for i := range n {
			row := make([]float64, m.Dim())
			for k := range row {
				row[k] = float64(single[i*m.Dim()+k])
			}
			floats.Add(sum, row)
			if want := floats.Dot(theta, row); math.Abs(got[i]-want) > 1e-5*(1+math.Abs(want)) {
				t.Fatalf("reward of step %d = %v, and θ·f = %v", i, got[i], want)
			}
		}
		phi := m.Features(make([]float64, m.Dim()), long)
		if !floats.EqualApprox(phi, sum, 1e-9*(1+floats.Norm(sum, 2))) {
			t.Errorf("features of the clip differ from the sum over its steps")
		}
		mean := m.MeanFeatures(make([]float64, m.Dim()), []idrl.Steps{long, long})
		if !floats.EqualApprox(mean, phi, 1e-9*(1+floats.Norm(sum, 2))) {
			t.Errorf("the mean over a rollout twice is not that over the rollout")
		}
		if allocs := testing.AllocsPerRun(10, func() { e.Reward(got, obs, act, n); e.Features(single, obs, act, n) }); allocs > 0 {
			t.Errorf("%v allocations by batch", allocs)
		}
	}
}

// The same arguments give the same bits, and another stream others.
func TestTrainIsDeterministic(t *testing.T) {
	w := newTask(2)
	d, s := w.answers(30), w.clip()
	for _, mode := range neural.Modes() {
		cfg := small
		cfg.Mode = mode
		first := train(t, cfg, d, nil, 3)
		if a, b := rewards(first, s), rewards(train(t, cfg, d, nil, 3), s); !slices.Equal(a, b) {
			t.Errorf("%s: two trainings with one seed differ", mode)
		}
		if a, b := rewards(first, s), rewards(train(t, cfg, d, nil, 4), s); slices.Equal(a, b) {
			t.Errorf("%s: the seed changes nothing", mode)
		}
		if a, b := rewards(train(t, cfg, d, first, 5), s), rewards(train(t, cfg, d, first, 5), s); !slices.Equal(a, b) {
			t.Errorf("%s: two trainings that go on from one model differ", mode)
		}
	}
}

// A change of the units and origins of observations changes nothing but rounding.
func TestUnitsDoNotMatter(t *testing.T) {
	w := newTask(3)
	d, s := w.answers(30), w.clip()
	moved := func(s idrl.Steps) (out idrl.Steps) {
		out = s
		out.Obs = nil
		for _, o := range s.Obs {
			row := slices.Clone(o)
			row[0], row[3] = 64*row[0]-32, row[3]/1024
			out.Obs = append(out.Obs, row)
		}
		return out
	}
	other := d
	other.Shown = nil
	for _, shown := range d.Shown {
		other.Shown = append(other.Shown, []idrl.Steps{moved(shown[0]), moved(shown[1])})
	}
	cfg := small
	cfg.Updates = 20
	a, b := rewards(train(t, cfg, d, nil, 3), s), rewards(train(t, cfg, other, nil, 3), moved(s))
	if !floats.EqualApprox(a, b, 1e-3*floats.Norm(a, math.Inf(1))) {
		t.Errorf("rewards %v, and in other units %v", a[:3], b[:3])
	}
}

func TestNoAnswers(t *testing.T) {
	w := newTask(4)
	q := idrl.Query{Kind: idrl.CompareClips}
	unknown := idrl.Dataset{Queries: []idrl.Query{q}, Answers: []idrl.Answer{{Choice: idrl.CantTell}}, Shown: [][]idrl.Steps{nil}}
	for _, d := range []idrl.Dataset{{}, unknown} {
		m := train(t, small, d, nil, 1)
		x, cx := make([]float64, m.Dim()), make([]float64, m.Dim())
		x[2] = 1
		m.Posterior().CovMul(cx, x)
		if got := m.Posterior().Mean(nil); floats.Norm(got, 2) != 0 || cx[2] != 1 || m.Report().Answers != 0 {
			t.Errorf("mean %v, variance %v; want the prior, 0 and 1/(2λ) = 1", got, cx[2])
		}
		if phi := m.Features(make([]float64, m.Dim()), w.clip()); !(floats.Norm(phi, 2) > 0) {
			t.Error("the features are zero")
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	w := newTask(5)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, test := range []struct {
		name  string
		spoil func(cfg *neural.Config, d *idrl.Dataset)
		says  string
	}{
		{"no observation", func(c *neural.Config, d *idrl.Dataset) { c.ObsDim = 0 }, "needs 1 to"},
		{"other widths", func(c *neural.Config, d *idrl.Dataset) { c.ActDim = 1 }, "answer 1 of 3: step 0 has 5 numbers of an observation and 2 of an action; the network takes 5 and 1"},
		{"λ", func(c *neural.Config, d *idrl.Dataset) { c.Lambda = math.NaN() }, "λ must be"},
		{"mode", func(c *neural.Config, d *idrl.Dataset) { c.Mode = "laplace" }, "unknown mode"},
		{"layers", func(c *neural.Config, d *idrl.Dataset) { c.Hidden = []int{8, 0} }, "hidden layers"},
		{"slope", func(c *neural.Config, d *idrl.Dataset) { c.Slope = 1 }, "slope"},
		{"NaN", func(c *neural.Config, d *idrl.Dataset) { d.Shown[1][0].Obs[3][2] = nan }, "answer 2 of 3: an observation or action is NaN"},
		{"infinite", func(c *neural.Config, d *idrl.Dataset) { d.Shown[2][1].Actions[3][1] = inf }, "is +Inf"},
		{"rows of two widths", func(c *neural.Config, d *idrl.Dataset) { d.Shown[0][1].Obs[7] = []float32{1} }, "step 7 has 1 numbers"},
		{"an empty clip", func(c *neural.Config, d *idrl.Dataset) { d.Shown[0][1] = idrl.Steps{} }, "0 observations for 0 steps"},
		{"one clip", func(c *neural.Config, d *idrl.Dataset) { d.Shown[0] = d.Shown[0][:1] }, "shows 1 clips"},
		{"a rating of a comparison", func(c *neural.Config, d *idrl.Dataset) { d.Answers[0].Choice = idrl.Rated }, "does not answer"},
		{"a rating without a model", func(c *neural.Config, d *idrl.Dataset) {
			d.Queries[0].Kind, d.Answers[0].Choice, d.Shown[0] = idrl.RateClip, idrl.Rated, d.Shown[0][:1]
		}, "no likelihood of a clip_rating"},
		{"numbers that differ", func(c *neural.Config, d *idrl.Dataset) { d.Shown = d.Shown[:2] }, "3 questions and clips of 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, d := small, w.answers(3)
			test.spoil(&cfg, &d)
			m, err := neural.Train(t.Context(), cfg, d, nil, rng.New(1, "train", 0))
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("model %v, error %v; want one of kind Invalid that says %q", m != nil, err, test.says)
			}
		})
	}
	other := small
	other.Hidden = []int{4, 8}
	if _, err := neural.Train(t.Context(), small, w.answers(3), train(t, other, idrl.Dataset{}, nil, 1), rng.New(1, "train", 0)); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("going on from a model of other widths: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := neural.Train(ctx, small, w.answers(3), nil, rng.New(1, "train", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("a training that is cancelled: %v", err)
	}
}

// Answers that a straight line separates, many times over, give weights and rewards that
// are bounded: without the penalty they would grow for ever.
func TestSeparableAnswers(t *testing.T) {
	for _, mode := range neural.Modes() {
		w := newTask(6)
		w.beta = 1e9
		d := w.answers(20)
		for range 4 {
			d.Queries, d.Answers, d.Shown = append(d.Queries, d.Queries...), append(d.Answers, d.Answers...), append(d.Shown, d.Shown...)
		}
		cfg := small
		cfg.Mode, cfg.Updates = mode, 600
		var warm *neural.Model
		for range 3 {
			warm = train(t, cfg, d, warm, 1)
		}
		if norm := floats.Norm(warm.Posterior().Mean(nil), 2); !(norm > 0 && norm < 20) {
			t.Errorf("%s: after three trainings on 320 answers the weights have the norm %v", mode, norm)
		}
		for _, r := range rewards(warm, w.clip()) {
			if math.IsNaN(r) || math.Abs(r) > 100 {
				t.Errorf("%s: a reward of %v", mode, r)
			}
		}
	}
}

// Answers that contradict each other are explained best by no reward at all. The features
// do not vanish with it, so that there is still something to ask.
func TestContradictions(t *testing.T) {
	w := newTask(7)
	d := w.answers(10)
	for i := range d.Answers {
		q, a := d.Queries[i], d.Answers[i]
		a.Choice = map[idrl.Choice]idrl.Choice{idrl.ChoseA: idrl.ChoseB, idrl.ChoseB: idrl.ChoseA}[a.Choice]
		d.Queries, d.Answers, d.Shown = append(d.Queries, q), append(d.Answers, a), append(d.Shown, d.Shown[i])
	}
	cfg := small
	cfg.Updates = 3000
	m := train(t, cfg, d, nil, 1)
	phi := m.Features(make([]float64, m.Dim()), w.clip())
	if !m.Report().Collapsed || floats.Norm(m.Posterior().Mean(nil), 2) > 1e-3 || !(floats.Norm(phi, 2) > 0.01) {
		t.Errorf("report %+v, mean %v, features of norm %v; want a mean of zero, and features", m.Report(), m.Posterior().Mean(nil), floats.Norm(phi, 2))
	}
}

// Clips of different lengths are compared by their sums, those of ratings by their means,
// and steps that no training could have seen give finite rewards.
func TestOddClips(t *testing.T) {
	w := newTask(8)
	d := w.answers(10)
	for i := range d.Shown {
		d.Shown[i][0] = d.Shown[i][0].Cut(0, 2+i)
	}
	d.Queries[4].Kind, d.Answers[4], d.Shown[4] = idrl.RateClip, idrl.Answer{Choice: idrl.Rated, Rating: 0.5}, d.Shown[4][:1]
	d.Answers[5].Choice, d.Answers[6].Choice = idrl.Equal, idrl.Skip
	cfg := small
	cfg.Rating = belief.Rating{NoiseVar: 0.05}
	m := train(t, cfg, d, nil, 1)
	if m.Report().Answers != 9 {
		t.Errorf("%d answers, want 9", m.Report().Answers)
	}
	s := w.clip()
	s.Obs[3][1], s.Actions[4][0] = float32(math.NaN()), float32(math.Inf(-1))
	for i, r := range rewards(m, s) {
		if math.IsNaN(r) || math.IsInf(r, 0) {
			t.Errorf("step %d: a reward of %v", i, r)
		}
	}
}
