package insight_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/stat"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/session/insight"
)

// learnt returns a posterior of d weights after some answers, and samples with small whole numbers as features, many of which are equal.
func learnt(t *testing.T, seed uint64, d, n int) (idrl.Posterior, []insight.Sample) {
	t.Helper()
	r := rng.New(seed, "taste", 0)
	var samples []insight.Sample
	for i := range n {
		phi := make([]float64, d)
		for k := range phi {
			phi[k] = float64(r.IntN(4) - 1)
		}
		phi[d-1] = 3 // no two samples differ in it
		samples = append(samples, insight.Sample{ID: idrl.ClipID(fmt.Sprintf("c%02d", i)), Phi: phi})
	}
	m := belief.Model{Start: belief.Isotropic(d, 2), Comparison: belief.Probit{NoiseStd: 0.5, TieBand: 0.1}}
	p := m.Prior()
	for range 12 {
		a, b := samples[r.IntN(n)], samples[r.IntN(n)]
		if slices.Equal(a.Phi, b.Phi) {
			continue
		}
		v := idrl.ComparisonVector(idrl.Clip{ID: a.ID, Phi: a.Phi}, idrl.Clip{ID: b.ID, Phi: b.Phi})
		next := must.Get(m.Condition(p, v, idrl.Answer{Choice: []idrl.Choice{idrl.ChoseA, idrl.ChoseB}[r.IntN(2)]}))(t)
		p = next
	}
	return p, samples
}

// What is said of clips is what a second computation gives that compares all of them, and no other clip has a higher or a
// lower value; the choice does not depend on the order in which the clips come.
func TestTastes(t *testing.T) {
	const d, n = 5, 30
	names, scale := []string{"a", "b", "c", "d", "e"}, []float64{1, 2, 3, 4, 5}
	for seed := range uint64(20) {
		p, samples := learnt(t, seed, d, n)
		got := insight.Tastes(p, scale, names, samples)
		mixed := slices.Clone(samples)
		rng.New(seed, "mix", 0).Shuffle(n, func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if again := insight.Tastes(p, scale, names, mixed); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Fatalf("seed %d: in another order\n%v\ninstead of\n%v", seed, again, got)
		}
		if len(got) != 1+d {
			t.Fatalf("seed %d: %d tastes", seed, len(got))
		}
		checkWhole(t, p, got[0], samples)
		sure := math.Inf(1)
		for _, taste := range got[1:] {
			k := slices.Index(names, taste.Name)
			m, s := weight(p, k)
			if !near(taste.Mean, m/scale[k]) || !near(taste.Std, s/scale[k]) || taste.Verdict != verdict(m, s) {
				t.Errorf("seed %d: weight %s is %v ± %v (%v), want %v ± %v", seed, taste.Name, taste.Mean, taste.Std, taste.Verdict, m/scale[k], s/scale[k])
			}
			if math.Abs(m)/s > sure+1e-9 {
				t.Errorf("seed %d: weight %s is surer than the one before", seed, taste.Name)
			}
			sure = math.Abs(m) / s
			if k == d-1 {
				if len(taste.Most)+len(taste.Least) > 0 {
					t.Errorf("seed %d: a feature that is the same in all clips has clips", seed)
				}
				continue
			}
			part := func(s insight.Sample) float64 { return m * s.Phi[k] }
			check(t, p, taste.Most, samples, part, func(i int) []float64 { return only(samples[i].Phi, k) }, 1)
			check(t, p, taste.Least, samples, part, func(i int) []float64 { return only(samples[i].Phi, k) }, -1)
		}
	}
}

// Before anything is learnt there is nothing to show, and a reward without named features has a taste as a whole.
func TestTastesOfNothing(t *testing.T) {
	p, samples := learnt(t, 1, 3, 10)
	prior := belief.Model{Start: belief.Isotropic(3, 2), Comparison: belief.Probit{NoiseStd: 0.5, TieBand: 0.1}}.Prior()
	if got := insight.Tastes(prior, []float64{1, 1, 1}, []string{"a", "b", "c"}, samples); got != nil {
		t.Errorf("of the prior: %v", got)
	}
	if got := insight.Tastes(p, nil, nil, nil); got != nil {
		t.Errorf("of no clips: %v", got)
	}
	if got := insight.Tastes(p, nil, nil, samples); len(got) != 1 || got[0].Name != "" || len(got[0].Most) == 0 {
		t.Errorf("without names: %v", got)
	}
	same := []insight.Sample{{ID: "x", Phi: samples[0].Phi}, {ID: "y", Phi: samples[0].Phi}}
	if got := insight.Tastes(p, []float64{1, 1, 1}, []string{"a", "b", "c"}, same); got != nil {
		t.Errorf("of two clips that are alike: %v", got)
	}
}

// Of clips with equal values the one is shown that is not shown above, and then the first.
func TestTastesOfEqualClips(t *testing.T) {
	p, _ := learnt(t, 3, 3, 10)
	samples := []insight.Sample{{ID: "d", Phi: []float64{1, 0, 3}}, {ID: "b", Phi: []float64{1, 0, 3}}, {ID: "c", Phi: []float64{0, 0, 3}}, {ID: "a", Phi: []float64{0, 0, 3}}}
	got := insight.Tastes(p, []float64{1, 1, 1}, []string{"x", "y", "z"}, samples)
	if len(got[0].Most) != 1 || len(got[0].Least) != 1 {
		t.Fatalf("two clips that differ are shown as %v", got[0])
	}
	shown := []idrl.ClipID{got[0].Most[0].Clip, got[0].Least[0].Clip}
	slices.Sort(shown)
	for _, taste := range got[1:] {
		if taste.Name == "x" {
			other := []idrl.ClipID{taste.Most[0].Clip, taste.Least[0].Clip}
			slices.Sort(other)
			if !slices.Equal(shown, []idrl.ClipID{"a", "b"}) || !slices.Equal(other, []idrl.ClipID{"c", "d"}) {
				t.Errorf("the whole shows %v, the weight %v; want a and b, c and d", shown, other)
			}
		}
	}
}

// Nearly the same clip is shown once as liked by the whole, and its place is another one's.
func TestTastesOfAlikeClips(t *testing.T) {
	p, samples := learnt(t, 5, 5, 30)
	names, scale := []string{"a", "b", "c", "d", "e"}, []float64{1, 1, 1, 1, 1}
	was := insight.Tastes(p, scale, names, samples)[0]
	for _, l := range slices.Concat(was.Most, was.Least) {
		i := slices.IndexFunc(samples, func(s insight.Sample) bool { return s.ID == l.Clip })
		near := insight.Sample{ID: "z" + l.Clip, Phi: slices.Clone(samples[i].Phi)}
		near.Phi[0] += 1e-3
		samples = append(samples, near)
	}
	is := insight.Tastes(p, scale, names, samples)[0]
	for i, want := range slices.Concat(was.Most, was.Least) {
		if got := slices.Concat(is.Most, is.Least)[i].Clip; got != want.Clip && got != "z"+want.Clip {
			t.Errorf("place %d: %s, want %s or the one like it", i, got, want.Clip)
		}
	}
}

// checkWhole holds the taste of the whole to the samples.
func checkWhole(t *testing.T, p idrl.Posterior, taste insight.Taste, samples []insight.Sample) {
	t.Helper()
	mean := p.Mean(nil)
	reward := func(s insight.Sample) (v float64) {
		for k, m := range mean {
			v += m * s.Phi[k]
		}
		return v
	}
	of := func(i int) []float64 { return samples[i].Phi }
	check(t, p, taste.Most, samples, reward, of, 1)
	check(t, p, taste.Least, samples, reward, of, -1)
	if len(taste.Most) != insight.WholeLikings || len(taste.Least) != insight.WholeLikings {
		t.Errorf("%d and %d clips", len(taste.Most), len(taste.Least))
	}
	var seen [][]float64
	for _, l := range slices.Concat(taste.Most, taste.Least) {
		phi := samples[slices.IndexFunc(samples, func(s insight.Sample) bool { return s.ID == l.Clip })].Phi
		if slices.ContainsFunc(seen, func(o []float64) bool { return slices.Equal(o, phi) }) {
			t.Errorf("clip %s is like another one that is shown", l.Clip)
		}
		seen = append(seen, phi)
	}
}

// check holds likings to values of samples, the highest first if sign is 1. x gives the vector whose product with the weights is the
// value of a sample.
func check(t *testing.T, p idrl.Posterior, got []insight.Liking, samples []insight.Sample, value func(insight.Sample) float64, x func(i int) []float64, sign float64) {
	t.Helper()
	mean := p.Mean(nil)
	var all, rewards []float64
	for _, s := range samples {
		all = append(all, sign*value(s))
		v := 0.0
		for k, m := range mean {
			v += m * s.Phi[k]
		}
		rewards = append(rewards, v)
	}
	unit := stat.PopStdDev(rewards, nil)
	average := make([]float64, len(mean))
	for i := range samples {
		for k, v := range x(i) {
			average[k] += v / float64(len(samples))
		}
	}
	values := slices.Compact(slices.SortedFunc(slices.Values(all), func(a, b float64) int {
		if near(a, b) {
			return 0
		}
		if a > b {
			return -1
		}
		return 1
	}))
	if v := all[slices.IndexFunc(samples, func(s insight.Sample) bool { return s.ID == got[0].Clip })]; !near(v, values[0]) {
		t.Errorf("clip %s has the value %v, another %v", got[0].Clip, v, values[0])
	}
	last := math.Inf(1)
	for _, l := range got {
		i := slices.IndexFunc(samples, func(s insight.Sample) bool { return s.ID == l.Clip })
		if all[i] > last+1e-12 {
			t.Errorf("clip %s comes after one with a smaller value", l.Clip)
		}
		last = all[i]
		diff := slices.Clone(x(i))
		for k := range diff {
			diff[k] -= average[k]
		}
		m, v := 0.0, 0.0 // Σ m_k x_k, Σ x_j x_k cov_jk
		axis, cov := make([]float64, len(mean)), make([]float64, len(mean))
		for k := range diff {
			m += mean[k] * diff[k]
			clear(axis)
			axis[k] = 1
			p.CovMul(cov, axis)
			for j := range diff {
				v += diff[k] * diff[j] * cov[j]
			}
		}
		if s := math.Sqrt(v); !near(l.Value, m/unit) || !near(l.Std, s/unit) || l.Verdict != verdict(m, s) {
			t.Errorf("clip %s: %v ± %v (%v), want %v ± %v", l.Clip, l.Value, l.Std, l.Verdict, m/unit, s/unit)
		}
	}
}

// weight returns mean and standard deviation of weight k.
func weight(p idrl.Posterior, k int) (mean, std float64) {
	axis, cov := make([]float64, p.Dim()), make([]float64, p.Dim())
	axis[k] = 1
	p.CovMul(cov, axis)
	return p.Mean(nil)[k], math.Sqrt(cov[k])
}

func verdict(m, s float64) insight.Verdict {
	if math.Abs(m) <= 1.96*s {
		return insight.Unknown
	}
	if m > 0 {
		return insight.Likes
	}
	return insight.Dislikes
}

// only returns phi with feature k alone.
func only(phi []float64, k int) []float64 {
	out := make([]float64, len(phi))
	out[k] = phi[k]
	return out
}

// near allows for rounding of sums of some dozens of products.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)) }
