package belief

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// group returns a query about clips with these features.
func group(each ...[]float64) idrl.QueryVector {
	clips := make([]idrl.ClipID, len(each))
	for i := range clips {
		clips[i] = idrl.ClipID(rune('a' + i))
	}
	return idrl.QueryVector{Query: idrl.Query{ID: "g", Kind: idrl.GroupClips, Clips: clips}, Each: each}
}

// picked is the answer that names two clips of a group.
func picked(best, worst int) idrl.Answer {
	return idrl.Answer{Choice: idrl.BestWorst, Best: idrl.SideOf(best), Worst: idrl.SideOf(worst)}
}

// pick returns the best and the worst of clips by an annotator who sees each as good as its
// reward and some noise of its own, or, with some probability, two at random.
func pick(rewards []float64, l BestWorst, stream *rand.Rand) idrl.Answer {
	n, seen := len(rewards), make([]float64, len(rewards))
	for i, r := range rewards {
		seen[i] = r + l.NoiseStd/math.Sqrt2*stream.NormFloat64()
	}
	best, worst := floats.MaxIdx(seen), floats.MinIdx(seen)
	if stream.Float64() < l.Lapse {
		best = stream.IntN(n)
		if worst = stream.IntN(n - 1); worst >= best {
			worst++
		}
	}
	return picked(best, worst)
}

// groupsLog returns answers to groups of clips with normal features, of an annotator as l describes
// them.
func groupsLog(n, d int, theta []float64, l BestWorst, stream *rand.Rand) (qs []idrl.QueryVector, as []idrl.Answer) {
	for range n {
		each, rewards := make([][]float64, idrl.GroupSize), make([]float64, idrl.GroupSize)
		for i := range each {
			each[i] = normals(d, stream)
			rewards[i] = floats.Dot(each[i], theta)
		}
		qs, as = append(qs, group(each...)), append(as, pick(rewards, l, stream))
	}
	return qs, as
}

// covered returns the share of the directions of drawn weights whose value lies within the 90 %
// interval of the belief that fit gives, over runs of answers to groups.
func covered(t *testing.T, runs, n, d int, l BestWorst, fit func(*Gaussian, []idrl.QueryVector, []idrl.Answer) idrl.Posterior) float64 {
	t.Helper()
	const directions = 8
	z, hits := distuv.UnitNormal.Quantile(0.95), 0
	for run := range runs {
		stream := rng.New(7, "coverage", uint64(run))
		start := Isotropic(d, 1)
		theta := normals(d, stream)
		qs, as := groupsLog(n, d, theta, l, stream)
		p := fit(start, qs, as)
		mean, work := p.Mean(nil), make([]float64, d)
		for range directions {
			x := normals(d, stream)
			m, v := idrl.Moments(p, x, mean, work)
			if math.Abs(floats.Dot(theta, x)-m) <= z*math.Sqrt(v) {
				hits++
			}
		}
	}
	return float64(hits) / float64(runs*directions)
}

// byFit is the belief after answers to groups, as sessions fit it.
func byFit(t *testing.T, l BestWorst) func(*Gaussian, []idrl.QueryVector, []idrl.Answer) idrl.Posterior {
	return func(g *Gaussian, qs []idrl.QueryVector, as []idrl.Answer) idrl.Posterior {
		p, _, err := Model{Start: g, Group: l}.ep(t.Context(), g, qs, as, rough)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// byComparisons takes the nine comparisons that an answer implies for answers of their own.
func byComparisons(t *testing.T, l BestWorst) func(*Gaussian, []idrl.QueryVector, []idrl.Answer) idrl.Posterior {
	return func(g *Gaussian, qs []idrl.QueryVector, as []idrl.Answer) idrl.Posterior {
		var pairs []idrl.QueryVector
		for i, q := range qs {
			for _, c := range as[i].Implied(len(q.Each)) {
				pairs = append(pairs, comparison(floats.SubTo(make([]float64, g.Dim()), q.Each[c[0]], q.Each[c[1]])...))
			}
		}
		m := Model{Start: g, Comparison: Lapse{Probit{NoiseStd: l.NoiseStd}, l.Lapse, 2}}
		p, _, err := m.ep(t.Context(), g, pairs, slices.Repeat([]idrl.Answer{choseA}, len(pairs)), rough)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// What the 90 % intervals say is true: they hold the true value in 90 % of the runs, of
// annotators who never lapse and of those who do. The product of the implied comparisons takes
// one answer for nine, so that its intervals hold it far less often.
func TestIntervalsAfterGroups(t *testing.T) {
	for _, test := range []struct {
		runs, n int
		l       BestWorst
	}{{60, 6, BestWorst{NoiseStd: 0.5}}, {60, 7, BestWorst{NoiseStd: 1, Lapse: 0.05}}} {
		const tolerance = 0.06 // two and a half standard errors of 60 runs of eight directions in three dimensions
		if share := covered(t, test.runs, test.n, 3, test.l, byFit(t, test.l)); math.Abs(share-0.9) > tolerance {
			t.Errorf("%+v: the 90 %% intervals hold the truth in %.1f %% of the runs", test, 100*share)
		}
	}
	l := BestWorst{NoiseStd: 1, Lapse: 0.05}
	if share := covered(t, 40, 12, 3, l, byComparisons(t, l)); share > 0.82 {
		t.Errorf("nine comparisons an answer: the 90 %% intervals hold the truth in %.1f %% of the runs, want far fewer", 100*share)
	}
}

// The fit has the mean and the standard deviations of the exact posterior, which importance
// sampling gives.
func TestFitOfGroupsIsNearTheExactPosterior(t *testing.T) {
	const d, n, draws = 3, 5, 900
	for _, l := range []BestWorst{{NoiseStd: 0.8}, {NoiseStd: 1.5, Lapse: 0.05}} {
		stream := rng.New(3, "exact groups", 0)
		m := Model{Start: Isotropic(d, 1), Group: l}
		qs, as := groupsLog(n, d, normals(d, stream), l, stream)
		fit, report := fitted(t, m, qs, as, epOptions{})
		if !report.Converged {
			t.Errorf("%+v: report %+v", l, report)
		}
		mean, std, share := importance(m, fit, qs, as, draws)
		if share < 0.3 {
			t.Fatalf("%+v: only %.0f %% of the draws count", l, 100*share)
		}
		for i := range d {
			got := math.Sqrt(fit.cov[i*d+i])
			if math.Abs(fit.mean[i]-mean[i]) > 0.15*std[i] || math.Abs(got/std[i]-1) > 0.15 {
				t.Errorf("%+v, weight %d: %.3f ± %.3f, exact %.3f ± %.3f", l, i, fit.mean[i], got, mean[i], std[i])
			}
		}
	}
}

// The probability given the rewards is a double integral over what the annotator sees of the
// best and of the worst.
func TestBestWorstByQuadrature(t *testing.T) {
	stream := rng.New(1, "quadrature", 0)
	for range 8 {
		n := 2 + stream.IntN(5)
		l, r := BestWorst{NoiseStd: 1.3}, normals(n, stream)
		best, worst := stream.IntN(n), stream.IntN(n-1)
		if worst >= best {
			worst++
		}
		std := l.NoiseStd / math.Sqrt2
		rule, want := legendre(60), 0.0
		lowest := min(r[best], r[worst]) - 6*std
		for k, at := range rule.x {
			x := lowest + at*(r[best]+6*std-lowest)
			for j, below := range rule.x {
				y := lowest + below*(x-lowest)
				p := rule.w[k] * (r[best] + 6*std - lowest) * rule.w[j] * (x - lowest) * bell((x-r[best])/std) * bell((y-r[worst])/std) / (std * std)
				for i := range r {
					if i != best && i != worst {
						p *= mass((y-r[i])/std, (x-r[i])/std)
					}
				}
				want += p
			}
		}
		m := make([]float64, n-1)
		for i := range m {
			m[i] = r[i+1] - r[0]
		}
		logZ, _, _ := l.LogZ(best, worst, m, mat.NewSymDense(n-1, nil))
		if got := math.Exp(logZ); math.Abs(got/want-1) > 0.05 {
			t.Errorf("%d clips, rewards %.2f, best %d, worst %d: %.5f, by quadrature %.5f", n, r, best, worst, got, want)
		}
	}
}

// Two clips are a comparison without ties, also where the annotator lapses.
// The probabilities of rare answers under a wide belief are those of a simulation, whose standard error is 1 %
// at 0.0025.
func TestRareGroupsBySimulation(t *testing.T) {
	const k, d, draws, wide, noise = 5, 6, 4_000_000, 4.0, 1.0
	for seed := range uint64(3) {
		stream := rng.New(seed, "rare groups", 0)
		x, m, v := make([][]float64, k), make([]float64, k), mat.NewSymDense(k, nil)
		for i := range x {
			x[i], m[i] = normals(d, stream), 2*wide*stream.NormFloat64()
			for j := range i + 1 {
				v.SetSym(i, j, wide*wide*floats.Dot(x[i], x[j]))
			}
		}
		var counts [k + 1][k + 1]float64
		seen, theta := make([]float64, k+1), make([]float64, d)
		for range draws {
			for i := range theta {
				theta[i] = wide * stream.NormFloat64()
			}
			for i := range seen {
				seen[i] = noise / math.Sqrt2 * stream.NormFloat64()
				if i > 0 {
					seen[i] += m[i-1] + floats.Dot(x[i-1], theta)
				}
			}
			counts[floats.MaxIdx(seen)][floats.MinIdx(seen)]++
		}
		for best := range counts {
			for worst, n := range counts[best] {
				if want := n / draws; best != worst && want > 0.0025 {
					logZ, _, _ := BestWorst{NoiseStd: noise}.LogZ(best, worst, m, v)
					within(t, "probability of a rare answer", math.Exp(logZ), want, 0.03*want)
				}
			}
		}
	}
}

func TestGroupOfTwoIsAComparison(t *testing.T) {
	for _, rate := range []float64{0, 0.2} {
		for _, m := range []float64{-3, 0, 0.4, 8} {
			logZ, d1, d2 := BestWorst{NoiseStd: 0.7, Lapse: rate}.LogZ(1, 0, []float64{m}, mat.NewSymDense(1, []float64{2}))
			want, w1, w2 := Lapse{Probit{NoiseStd: 0.7}, rate, 2}.LogZ(choseA, m, 2)
			within(t, "log Z", logZ, want, 1e-9)
			within(t, "gradient", d1[0], w1, 1e-9)
			within(t, "second derivative", d2.At(0, 0), -w2, 1e-8)
		}
	}
}

// The moments of the rewards given an answer are those of a simulation.
func TestMomentsAfterAGroup(t *testing.T) {
	stream := rng.New(2, "moments", 0)
	for range 3 {
		const k, draws = 5, 300_000
		loads, m := mat.NewDense(k, 3, normals(3*k, stream)), normals(k, stream)
		v := mat.NewSymDense(k, nil)
		v.SymOuterK(4, loads)
		l := BestWorst{NoiseStd: 1}
		u, rewards := make([]float64, k), make([]float64, k+1)
		best, worst, hits := -1, -1, 0.
		sum, squares := make([]float64, k), make([]float64, k)
		for range draws {
			z := normals(3, stream)
			for i := range u {
				u[i] = m[i] + 2*floats.Dot(loads.RawRowView(i), z)
			}
			copy(rewards[1:], u)
			a := pick(rewards, l, stream)
			if best < 0 { // the first answer of the simulation is the one that is looked at
				q := group(make([][]float64, k+1)...)
				best, worst = q.Place(a.Best), q.Place(a.Worst)
			}
			if a == picked(best, worst) {
				hits++
				floats.Add(sum, u)
				floats.AddScaled(squares, 1, floats.MulTo(make([]float64, k), u, u))
			}
		}
		logZ, d1, d2 := l.LogZ(best, worst, m, v)
		if p := hits / draws; math.Abs(math.Exp(logZ)/p-1) > 0.02+3/math.Sqrt(hits) {
			t.Errorf("best %d, worst %d: probability %.4f, in the simulation %.4f", best, worst, math.Exp(logZ), p)
		}
		after := viewOf(m, v).times(d1, d2)
		for i := range k {
			mean := sum[i] / hits
			std := math.Sqrt(squares[i]/hits - mean*mean)
			got := math.Sqrt(after.cov.At(i, i))
			if math.Abs(after.mean[i]-mean) > 0.05*std+3*std/math.Sqrt(hits) || math.Abs(got/std-1) > 0.08+3/math.Sqrt(hits) {
				t.Errorf("difference %d: %.3f ± %.3f, in the simulation %.3f ± %.3f", i, after.mean[i], got, mean, std)
			}
		}
	}
}

// An answer that is next to impossible under the belief was a lapse: it says nothing.
func TestSurprisingGroupIsALapse(t *testing.T) {
	m := []float64{40, 80, 120, 160, 200}
	v := mat.NewSymDense(5, nil)
	for i := range m {
		v.SetSym(i, i, 1)
	}
	logZ, d1, d2 := BestWorst{NoiseStd: 1, Lapse: 0.3}.LogZ(0, 5, m, v)
	within(t, "log Z", logZ, math.Log(0.3/30), 1e-6)
	if floats.Norm(d1, 2) > 1e-6 || mat.Norm(d2, 1) > 1e-6 {
		t.Errorf("it moves the belief by %v and %v", d1, mat.Formatted(d2))
	}
}

// However far apart the clips are, what an answer tells can be computed.
func TestGroupsFarFromEqual(t *testing.T) {
	// Of a session about Driver, in which a probability of 1e-308 had no derivatives.
	v := mat.NewSymDense(5, []float64{
		9600.100593491852, 772.5277719974271, 758.1706449408969, -571.4790918709978, 818.8557225677314,
		0, 81.31687827523452, 79.61092409955013, -42.835236293004414, 84.29743046531833,
		0, 0, 81.41804089305975, -40.00080185052865, 86.07102622022865,
		0, 0, 0, 37.7943291584029, -43.62760535114518,
		0, 0, 0, 0, 91.11048785214103,
	})
	m := []float64{2080.036048080678, 80.06537425428647, 80.0513962663122, -149.81212538109915, 94.18096355984986}
	stream := rng.New(1, "far", 0)
	for k := range 300 {
		l := BestWorst{NoiseStd: 0.34169848981957124, Lapse: GroupLapse * float64(k%2)}
		for _, info := range []*mat.SymDense{l.Info(m, v), l.RoughInfo(m, v)} {
			var e mat.EigenSym
			if norm := mat.Norm(info, 1); math.IsNaN(norm) || math.IsInf(norm, 0) || !e.Factorize(info, false) || e.Values(nil)[0] < -1e-9*norm {
				t.Fatalf("at means %v: %v", m, mat.Formatted(info))
			}
		}
		for best := range 6 {
			worst := (best + 1 + k%5) % 6
			logZ, d1, d2 := l.LogZ(best, worst, m, v)
			if math.IsNaN(logZ) || slices.ContainsFunc(d1, math.IsNaN) || math.IsNaN(mat.Norm(d2, 1)) {
				t.Fatalf("best %d, worst %d at means %v: %v %v", best, worst, m, logZ, d1)
			}
		}
		for i := range m {
			m[i] = math.Exp(9*stream.Float64()) * stream.NormFloat64()
		}
	}
}

// What is expected of an answer is the mean over the answers of what they do: to the
// covariance, and nothing to the mean.
func TestExpectedAfterAGroup(t *testing.T) {
	const d = 4
	stream := rng.New(5, "expected", 0)
	l := BestWorst{NoiseStd: 1, Lapse: 0.05}
	m := Model{Start: correlated(t, d, stream), Group: l}
	qs, _ := groupsLog(1, d, normals(d, stream), l, stream)
	q := qs[0]
	mean, cov := make([]float64, d), make([]float64, d*d)
	v, _ := m.Start.see(newBlock(q.Each))
	for best := range q.Each {
		for worst := range q.Each {
			if best == worst {
				continue
			}
			p := must.Get(m.Condition(m.Start, q, picked(best, worst)))(t)
			logZ, _, _ := l.LogZ(best, worst, v.mean, v.cov)
			floats.AddScaled(mean, math.Exp(logZ), p.Mean(nil))
			floats.AddScaled(cov, math.Exp(logZ), p.(*Gaussian).cov)
		}
	}
	pending := m.ConditionOnPending(m.Start, q).(*Gaussian)
	if !floats.EqualApprox(mean, m.Start.mean, 0.01) || !floats.EqualApprox(pending.mean, m.Start.mean, 1e-12) {
		t.Errorf("the mean moves from %.3f to %.3f on the whole, and to %.3f while the question is pending", m.Start.mean, mean, pending.mean)
	}
	for i := range d {
		was, got, want := m.Start.cov[i*d+i], pending.cov[i*d+i], cov[i*d+i]
		if math.Abs(got-want) > 0.08*(was-want) { // what the lattices leave
			t.Errorf("variance of weight %d: %.4f while the question is pending, %.4f on the whole, %.4f before", i, got, want, was)
		}
	}
}

// Answers that are beyond computing, or do not fit, are errors and leave no trace.
func TestGroupsThatDoNotFit(t *testing.T) {
	m := Model{Start: Isotropic(2, 1), Group: BestWorst{NoiseStd: 1}, Comparison: Probit{1, 0.2}}
	each := [][]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}}
	wide, infinite := slices.Clone(each), slices.Clone(each)
	wide[3], infinite[3] = []float64{1, 2, 3}, []float64{math.Inf(1), 0}
	for _, test := range []struct {
		name string
		q    idrl.QueryVector
		a    idrl.Answer
	}{
		{"the best is the worst", group(each...), picked(2, 2)},
		{"no such clip", group(each...), picked(2, 6)},
		{"a choice between two", group(each...), choseA},
		{"a group's answer to a comparison", comparison(1, 0), picked(0, 1)},
		{"features of another length", group(wide...), picked(0, 1)},
		{"features that are not finite", group(infinite...), picked(0, 1)},
	} {
		if _, err := m.Condition(m.Start, test.q, test.a); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", test.name, err)
		}
	}
	p, err := m.Condition(m.Start, group(each...), idrl.Answer{Choice: idrl.CantTell})
	if err != nil || p != idrl.Posterior(m.Start) {
		t.Errorf("can't tell makes %v of the belief, error %v", p, err)
	}
}

// A group under a model that averages over the noise: answers at random speak for much noise
// and lapses.
func TestAveragedGroups(t *testing.T) {
	const d, n = 2, 12
	stream := rng.New(9, "averaged groups", 0)
	theta := []float64{3, -2}
	m := Model{Start: Isotropic(d, 4), Group: BestWorst{NoiseStd: 1, Lapse: GroupLapse}}
	v, ok := m.Averaged(idrl.GroupClips)
	if !ok || len(v.assumptions) != len(noises)*len(lapses) {
		t.Fatalf("%d assumptions", len(v.assumptions))
	}
	lapsing := map[bool]float64{}
	for _, random := range []bool{false, true} {
		l := BestWorst{NoiseStd: 1}
		if random {
			l.Lapse = 0.99
		}
		p := v.Prior()
		qs, as := groupsLog(n, d, theta, l, stream)
		for i, q := range qs {
			var err error
			if p, err = v.Condition(p, q, as[i]); err != nil {
				t.Fatal(err)
			}
		}
		lapsing[random] = share(v, p, func(m Model) bool { return m.Group.Lapse == lapses[len(lapses)-1] || m.Group.NoiseStd >= 2 })
	}
	if !(lapsing[false] < 0.15 && lapsing[true] > 0.35) {
		t.Errorf("much noise or many lapses have the probability %v of an annotator who means the answers, %v of one at random", lapsing[false], lapsing[true])
	}
}

func BenchmarkConditionOnAGroup(b *testing.B) {
	const d = 50
	stream := rng.New(1, "bench", 0)
	l := BestWorst{NoiseStd: 1, Lapse: 0.05}
	m := Model{Start: Isotropic(d, 1), Group: l}
	qs, as := groupsLog(1, d, normals(d, stream), l, stream)
	b.Run("answer", func(b *testing.B) {
		for b.Loop() {
			must.Get(m.Condition(m.Start, qs[0], as[0]))(b)
		}
	})
	b.Run("pending", func(b *testing.B) {
		for b.Loop() {
			m.ConditionOnPending(m.Start, qs[0])
		}
	})
}
