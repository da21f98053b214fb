package belief

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// remarking is a model that takes remarks.
func remarking(d int, noise float64) Model {
	return Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: noise, TieBand: noise / 4}, Remark: Probit{NoiseStd: noise}}
}

// pair returns a comparison of two clips whose features are a and b.
func pair(a, b []float64) idrl.QueryVector {
	q := comparison(floats.SubTo(make([]float64, len(a)), a, b)...)
	q.Mid = floats.AddTo(make([]float64, len(a)), a, b)
	floats.Scale(0.5, q.Mid)
	return q
}

// A remark is the answer to a comparison of the average clip with nothing: the posterior
// is that after both, in updates, in fits, and under every assumption of an average.
func TestRemarkIsAnotherComparison(t *testing.T) {
	m, q := remarking(2, 0.5), pair([]float64{1, 2}, []float64{-0.5, 1})
	mid := comparison(0.25, 1.5)
	for remark, as := range map[idrl.Remark]idrl.Answer{idrl.BothGood: choseA, idrl.BothBad: choseB} {
		said := idrl.Answer{Choice: idrl.Equal, Remark: remark}

		g := update(t, m, m.Start, q, equal)
		mean, v := g.moments(mid.X)
		_, d1, d2 := Probit{NoiseStd: 0.5}.LogZ(as, mean, v)
		want := g.Condition(mid.X, d1, -d2)
		if got := update(t, m, m.Start, q, said); !bytes.Equal(encode(t, got), encode(t, want)) {
			t.Errorf("%s: the update is not that of two answers", remark)
		}
		_, report, err := m.Fit(t.Context(), m.Start, []idrl.QueryVector{q}, []idrl.Answer{said})
		if err != nil || report.Answers != 2 || !report.Converged {
			t.Errorf("%s: fit %+v, error %v", remark, report, err)
		}
	}
	for _, test := range []struct {
		name string
		m    Model
		q    idrl.QueryVector
	}{{"no model", Model{Start: m.Start, Comparison: m.Comparison}, q}, {"no average", m, comparison(1, 2)}} {
		if _, err := test.m.Condition(m.Start, test.q, idrl.Answer{Choice: idrl.ChoseA, Remark: idrl.BothBad}); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind Invalid", test.name, err)
		}
	}
}

func update(t *testing.T, m Model, g *Gaussian, q idrl.QueryVector, a idrl.Answer) *Gaussian {
	t.Helper()
	p := must.Get(m.Condition(g, q, a))(t)
	return p.(*Gaussian)
}

// A survey is the answers of one who compares pairs of clips and remarks on some.
type survey struct {
	truth []float64
	qs    []idrl.QueryVector
	as    []idrl.Answer
}

// ask puts n pairs of clips to one with the noise; remark says what they remark, given
// θ·φ of each clip.
func ask(truth []float64, n int, noise float64, r *rand.Rand, remark func(a, b float64) idrl.Remark) survey {
	s, d := survey{truth: truth}, len(truth)
	for range n {
		a, b := normals(d, r), normals(d, r)
		a[d-1], b[d-1] = 1, 1 // a constant: what every clip has
		answer := equal
		if u := floats.Dot(truth, a) - floats.Dot(truth, b) + noise*r.NormFloat64(); math.Abs(u) > noise/4 {
			answer = choseA
			if u < 0 {
				answer = choseB
			}
		}
		answer.Remark = remark(floats.Dot(truth, a), floats.Dot(truth, b))
		s.qs, s.as = append(s.qs, pair(a, b)), append(s.as, answer)
	}
	return s
}

// now and then returns a remark in half of the answers, as the likelihood has it.
func nowAndThen(noise float64, r *rand.Rand) func(a, b float64) idrl.Remark {
	return func(a, b float64) idrl.Remark {
		switch {
		case r.IntN(2) == 0:
			return ""
		case (a+b)/2+noise*r.NormFloat64() > 0:
			return idrl.BothGood
		}
		return idrl.BothBad
	}
}

// strict returns a remark only where each clip, judged with noise of its own, is beyond a
// threshold: what is remarked then depends on how good the clips are, and so does whether
// something is.
func strict(threshold, noise float64, r *rand.Rand) func(a, b float64) idrl.Remark {
	return func(a, b float64) idrl.Remark {
		a, b = a+noise*r.NormFloat64(), b+noise*r.NormFloat64()
		switch {
		case a > threshold && b > threshold:
			return idrl.BothGood
		case a < -threshold && b < -threshold:
			return idrl.BothBad
		}
		return ""
	}
}

// What every clip has is never compared: comparisons leave its weight as the prior has it,
// to the bit, and remarks find it, by its sign at the least.
func TestRemarksFindAConstant(t *testing.T) {
	const d, noise = 3, 0.7
	m := remarking(d, noise)
	for n, constant := range []float64{-1.5, -0.8, 0.8, 1.5} {
		r := rng.New(1, "constant", uint64(n))
		s := ask([]float64{1, -0.5, constant}, 60, noise, r, nowAndThen(noise, r))
		silent := slices.Clone(s.as)
		for i := range silent {
			silent[i].Remark = ""
		}
		last := []float64{0, 0, 1}
		p, _, err := m.Fit(t.Context(), m.Start, s.qs, silent)
		if err != nil {
			t.Fatal(err)
		}
		if mean, v := p.(*Gaussian).moments(last); mean != 0 || v != 1 {
			t.Errorf("comparisons alone: the constant is N(%v, %v), want the prior", mean, v)
		}
		if p, _, err = m.Fit(t.Context(), m.Start, s.qs, s.as); err != nil {
			t.Fatal(err)
		}
		mean, v := p.(*Gaussian).moments(last)
		if mean*constant <= 0 || math.Abs(mean) < 2*math.Sqrt(v) || v > 0.2 {
			t.Errorf("constant %v: found N(%v, %v)", constant, mean, v)
		}
	}
}

// Intervals of the weights hold the truth as often as they say, also of annotators who
// remark only where both clips are beyond a threshold: that nothing is remarked says
// nothing here, and what is remarked then is less noisy than the model has it.
func TestRemarksAreCalibrated(t *testing.T) {
	const d, noise, runs, share = 3, 0.7, 300, 0.8
	z := distuv.UnitNormal.Quantile(0.5 + share/2)
	m := remarking(d, noise)
	for _, test := range []struct {
		name   string
		remark func(r *rand.Rand) func(a, b float64) idrl.Remark
		lo, hi float64
	}{
		// Of 900 intervals, in threes that are nearly independent: ± 0.04 are three standard errors.
		{"as the model has it", func(r *rand.Rand) func(a, b float64) idrl.Remark { return nowAndThen(noise, r) }, share - 0.04, share + 0.04},
		{"strict", func(r *rand.Rand) func(a, b float64) idrl.Remark { return strict(0.5, noise, r) }, share - 0.04, 1},
		{"very strict", func(r *rand.Rand) func(a, b float64) idrl.Remark { return strict(1.5, noise, r) }, share - 0.04, 1},
	} {
		within, constant := 0, 0
		for n := range runs {
			r := rng.New(2, "calibration", uint64(n))
			s := ask(normals(d, r), 25, noise, r, test.remark(r))
			p, _, err := m.Fit(t.Context(), m.Start, s.qs, s.as)
			if err != nil {
				t.Fatal(err)
			}
			for k, truth := range s.truth {
				unit := make([]float64, d)
				unit[k] = 1
				if mean, v := p.(*Gaussian).moments(unit); math.Abs(truth-mean) <= z*math.Sqrt(v) {
					within++
					if k == d-1 {
						constant++
					}
				}
			}
		}
		got := float64(within) / (runs * d)
		t.Logf("%s: %.3f of all weights, %.3f of the constant", test.name, got, float64(constant)/runs)
		if got < test.lo || got > test.hi {
			t.Errorf("%s: %.3f of the intervals hold the truth, want %v to %v", test.name, got, test.lo, test.hi)
		}
	}
}

// Under the average the evidence of a remark counts, with the noise of each assumption.
func TestAverageTakesRemarks(t *testing.T) {
	const noise = 0.5
	m := remarking(3, noise)
	v, ok := m.Averaged(idrl.CompareClips)
	if !ok {
		t.Fatal("no average")
	}
	r := rng.New(3, "average", 0)
	s := ask([]float64{1, -1, 1.2}, 60, noise, r, nowAndThen(noise, r))
	p, _, err := v.Fit(t.Context(), v.Prior(), s.qs, s.as)
	if err != nil {
		t.Fatal(err)
	}
	sx := make([]float64, 3)
	mean, variance := idrl.Moments(p, []float64{0, 0, 1}, p.Mean(nil), sx)
	if math.Abs(mean-1.2) > 3*math.Sqrt(variance) || variance > 0.3 {
		t.Errorf("constant N(%v, %v), want it near 1.2", mean, variance)
	}
}

// The average knows who says much soon and who seldom.
func TestAverageFindsWhatIsMuch(t *testing.T) {
	const d, n = 3, 120
	m := Model{Start: Isotropic(d, 1), Comparison: Graded{Probit{0.5, 0.125}, 1}}
	v, _ := m.Averaged(idrl.CompareClips)
	for _, factor := range []float64{0.5, 2} {
		r := rng.New(4, "much", uint64(10*factor))
		truth := []float64{1, -0.7, 0.4}
		var qs []idrl.QueryVector
		var as []idrl.Answer
		for range n {
			x := normals(d, r)
			p := floats.Dot(truth, x) + 0.5*r.NormFloat64()
			a := equal
			if math.Abs(p) > 0.125 {
				a = choseA
				if p < 0 {
					a = choseB
				}
				a.Much = math.Abs(p) > factor
			}
			qs, as = append(qs, comparison(x...)), append(as, a)
		}
		p, _, err := v.Fit(t.Context(), v.Prior(), qs, as)
		if err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for _, part := range p.(*Mixture).parts {
			l := v.assumptions[part.assumption].model.Comparison
			if lapse, ok := l.(Lapse); ok {
				l = lapse.Of
			}
			g := l.(Graded)
			if ratio := g.Much / g.Of.(Probit).NoiseStd / 2; ratio == factor {
				right += part.weight
			}
		}
		if right < 0.8 {
			t.Errorf("band times %v: the right assumptions have the weight %v", factor, right)
		}
	}
}
