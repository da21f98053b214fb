package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

func averaged(t testing.TB, m Model, kind idrl.QueryKind) Averaged {
	t.Helper()
	v, ok := m.Averaged(kind)
	if !ok {
		t.Fatalf("%+v has no average", m)
	}
	return v
}

// logWeights returns the logarithms of the weights by assumption; −Inf where it was
// given up.
func logWeights(v Averaged, p idrl.Posterior) []float64 {
	out := make([]float64, len(v.assumptions))
	for i := range out {
		out[i] = math.Inf(-1)
	}
	for _, p := range p.(*Mixture).parts {
		out[p.assumption] = math.Log(p.weight)
	}
	return out
}

// Of numbers with Gaussian noise the evidence is known: y ~ N(0, XXᵀ + s²I).
func TestEvidenceOfRatings(t *testing.T) {
	const d, n, noise = 2, 6, 0.3
	m := Model{Start: Isotropic(d, 1), Rating: Rating{NoiseVar: noise * noise}, OffScale: true}
	v := averaged(t, m, idrl.RateClip)
	stream := rng.New(1, "evidence", 0)
	var qs []idrl.QueryVector
	var as []idrl.Answer
	x, y := mat.NewDense(n, d, nil), mat.NewVecDense(n, nil)
	truth := normals(d, stream)
	for i := range n {
		q := rating(normals(d, stream)...)
		a := rate(floats.Dot(q.X, truth) + noise*stream.NormFloat64())
		x.SetRow(i, q.X)
		y.SetVec(i, a.Rating)
		qs, as = append(qs, q), append(as, a)
	}
	got := logWeights(v, updateAll(t, v, qs, as))
	var want, kept []float64
	for i, a := range v.assumptions {
		r, ok := a.model.Rating.(Rating)
		if !ok || math.IsInf(got[i], 0) {
			continue // lapses, or given up
		}
		var s mat.SymDense
		s.SymOuterK(1, x)
		for k := range n {
			s.SetSym(k, k, s.At(k, k)+r.NoiseVar)
		}
		var chol mat.Cholesky
		if !chol.Factorize(&s) {
			t.Fatal("not a covariance")
		}
		var z mat.VecDense
		must.Do(t, chol.SolveVecTo(&z, y))
		want = append(want, -chol.LogDet()/2-mat.Dot(y, &z)/2-math.Pow(math.Log2(r.NoiseVar/(noise*noise))/2/priorOctaves, 2)/2)
		kept = append(kept, got[i])
	}
	if len(kept) < 4 {
		t.Fatalf("only %d assumptions without lapses are left", len(kept))
	}
	for k := range kept {
		within(t, fmt.Sprint("log ratio ", k), kept[k]-kept[0], want[k]-want[0], 1e-9)
	}
}

// Of one feature, compared over and over, the evidence is an integral over its weight.
func TestEvidenceOfComparisons(t *testing.T) {
	m := Model{Start: Isotropic(1, 1), Comparison: Probit{NoiseStd: 0.5, TieBand: 0.125}}
	v := averaged(t, m, idrl.CompareClips)
	var qs []idrl.QueryVector
	var as []idrl.Answer
	for _, c := range []idrl.Choice{idrl.ChoseA, idrl.ChoseA, idrl.ChoseB, idrl.ChoseA, idrl.Equal, idrl.ChoseA, idrl.ChoseA, idrl.ChoseA} {
		qs, as = append(qs, comparison(1)), append(as, idrl.Answer{Choice: c})
	}
	got, want := logWeights(v, updateAll(t, v, qs, as)), make([]float64, len(v.assumptions))
	for i, a := range v.assumptions {
		z := integrate(func(u float64) float64 {
			p := distuv.UnitNormal.Prob(u)
			for _, a := range as {
				logZ, _, _ := v.assumptions[i].model.Comparison.LogZ(a, u, 0)
				p *= math.Exp(logZ)
			}
			return p
		}, -8, 8)
		want[i] = a.log + math.Log(z)
	}
	floats.AddConst(-floats.LogSumExp(want), want)
	apart := 0.0
	for i := range got {
		apart += math.Abs(math.Exp(got[i])-math.Exp(want[i])) / 2
	}
	t.Logf("%.3f of the weight is elsewhere", apart)
	if apart > 0.06 { // filtering makes too little of assumptions with little noise
		t.Error("want at most 0.06")
	}
}

// share returns the weight of the assumptions that is says.
func share(v Averaged, p idrl.Posterior, is func(Model) bool) (sum float64) {
	for _, p := range p.(*Mixture).parts {
		if is(v.assumptions[p.assumption].model) {
			sum += p.weight
		}
	}
	return sum
}

// The answers of annotators who are not as the model assumes tell so.
func TestAverageFindsTheAnnotator(t *testing.T) {
	const d, n = 4, 1500
	lapses := func(m Model) bool {
		_, c := m.Comparison.(Lapse)
		_, r := m.Rating.(Lapse)
		return c || r
	}
	probit := func(m Model) Probit {
		if l, ok := m.Comparison.(Lapse); ok {
			return l.Of.(Probit)
		}
		return m.Comparison.(Probit)
	}
	comparing := Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}
	rating := Model{Start: Isotropic(d, 1), Rating: RatingClipped{NoiseVar: 0.05}}
	for _, test := range []struct {
		name   string
		m      Model
		kind   idrl.QueryKind
		answer func(u, noise, uniform float64) idrl.Answer
		is     func(Model) bool
	}{
		{
			"a quarter of the noise", comparing, idrl.CompareClips, func(u, noise, _ float64) idrl.Answer { return compared(u+0.25*noise, 0.0625) },
			func(m Model) bool { return probit(m).NoiseStd < 0.6 },
		},
		{
			"twice the noise", comparing, idrl.CompareClips, func(u, noise, _ float64) idrl.Answer { return compared(u+2*noise, 0.5) },
			func(m Model) bool { return probit(m).NoiseStd > 1.2 },
		},
		{
			"never equal", comparing, idrl.CompareClips, func(u, noise, _ float64) idrl.Answer { return compared(u+noise, 0) },
			func(m Model) bool { return probit(m).TieBand < 0.1*probit(m).NoiseStd },
		},
		{
			"as assumed", comparing, idrl.CompareClips, func(u, noise, _ float64) idrl.Answer { return compared(u+noise, 0.25) },
			func(m Model) bool {
				p := probit(m)
				return p.TieBand > 0.2*p.NoiseStd && p.NoiseStd > 0.6 && p.NoiseStd < 1.6
			},
		},
		{"a lapse in five", rating, idrl.RateClip, func(u, noise, uniform float64) idrl.Answer {
			if uniform < 0.2 {
				return rate(10*uniform - 1)
			}
			return rate(min(1, max(-1, u+math.Sqrt(0.05)*noise)))
		}, lapses},
		{
			"no lapses", rating, idrl.RateClip, func(u, noise, _ float64) idrl.Answer { return rate(min(1, max(-1, u+math.Sqrt(0.05)*noise))) },
			func(m Model) bool { return !lapses(m) },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, stream := averaged(t, test.m, test.kind), rng.New(1, test.name, 0)
			truth := normals(d, stream)
			var qs []idrl.QueryVector
			var as []idrl.Answer
			for range n {
				q := idrl.QueryVector{Query: idrl.Query{Kind: test.kind}, X: normals(d, stream)}
				qs, as = append(qs, q), append(as, test.answer(floats.Dot(q.X, truth), stream.NormFloat64(), stream.Float64()))
			}
			p, report, err := v.Fit(t.Context(), v.Prior(), qs, as)
			if err != nil {
				t.Fatal(err)
			}
			if w := share(v, p, test.is); w < 0.8 {
				t.Errorf("weight %.2f of what is so", w)
			}
			if report.Answers != n || report.Sweeps < 2 {
				t.Errorf("report %+v", report)
			}
		})
	}
}

// compared is the answer of one who perceives the difference p.
func compared(p, band float64) idrl.Answer {
	switch {
	case p > band:
		return idrl.Answer{Choice: idrl.ChoseA}
	case p < -band:
		return idrl.Answer{Choice: idrl.ChoseB}
	}
	return idrl.Answer{Choice: idrl.Equal}
}

// Without an answer an average believes what its model does.
func TestAveragePrior(t *testing.T) {
	m := model(3)
	v := averaged(t, m, idrl.CompareClips)
	p := v.Prior()
	if diff := floats.Distance(p.Mean(nil), m.Start.mean, 2); diff > 1e-15 || p.Dim() != 3 {
		t.Errorf("mean %v in %d dimensions", p.Mean(nil), p.Dim())
	}
	if median := share(v, p, func(m Model) bool { return m.noise() < model(3).noise() }); math.Abs(median+share(v, p, func(m Model) bool { return m.noise() == model(3).noise() })/2-0.5) > 0.05 {
		t.Errorf("weight %v of less noise than assumed", median)
	}
}

// noise returns that of comparisons.
func (m Model) noise() float64 {
	if l, ok := m.Comparison.(Lapse); ok {
		return l.Of.(Probit).NoiseStd
	}
	return m.Comparison.(Probit).NoiseStd
}

func TestNoAverage(t *testing.T) {
	for name, m := range map[string]Model{
		"gaussian":  {Start: Isotropic(2, 1), Comparison: PlusMinus{NoiseVar: 1}},
		"bernoulli": {Start: Isotropic(2, 1), Comparison: BernoulliLinear{}},
		"wide":      {Start: Isotropic(widest+1, 1), Comparison: Probit{NoiseStd: 1}},
	} {
		if _, ok := m.Averaged(idrl.CompareClips); ok {
			t.Errorf("%s has an average", name)
		}
	}
}

func TestAverageRefusesWhatItsModelDoes(t *testing.T) {
	v := averaged(t, model(2), idrl.CompareClips)
	if _, err := v.Condition(v.Prior(), comparison(1, 2, 3), choseA); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("three features for two: %v", err)
	}
	if _, _, err := v.Fit(t.Context(), v.Prior(), []idrl.QueryVector{comparison(1, 2)}, []idrl.Answer{rate(0)}); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a rating of a comparison: %v", err)
	}
	if _, err := v.Condition(Isotropic(2, 1), comparison(1, 2), choseA); err == nil {
		t.Error("a Gaussian is taken for a mixture")
	}
}
