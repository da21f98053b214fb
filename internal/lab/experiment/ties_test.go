package experiment

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/stat/distuv"
)

// tieInstances returns one instance as each treatment meets it.
func tieInstances(t *testing.T) map[string]*instance {
	t.Helper()
	_, w := instanceOf(t, Config{Figure: "ties"}, 4)
	out := map[string]*instance{}
	for _, name := range treatments() {
		out[name] = w.withVariant("idrl:" + name)
	}
	return out
}

// The treatments say what they say of one and the same perception.
func TestTreatments(t *testing.T) {
	w := tieInstances(t)
	count := map[idrl.Choice]int{}
	equal, sideA := 0, 0
	for q := range w[interval].queries {
		a := w[interval].answer(q, 0)
		count[a.Choice]++
		got := map[string]idrl.Choice{}
		for name, v := range w {
			got[name] = v.answer(q, 0).Choice
			if again := v.answer(q, 0).Choice; again != got[name] {
				t.Fatalf("query %d, %s: %s and then %s to the same question", q, name, got[name], again)
			}
		}
		sides := []idrl.Choice{idrl.ChoseA, idrl.ChoseB}
		if !slices.Contains(sides, got[forced]) || !slices.Contains(sides, got[randomSide]) {
			t.Fatalf("query %d: forced %s and random side %s, want sides", q, got[forced], got[randomSide])
		}
		if a.Choice != idrl.Equal {
			for name, c := range got {
				if c != a.Choice {
					t.Fatalf("query %d, %s: %s, where the expert chose %s", q, name, c, a.Choice)
				}
			}
			continue
		}
		if got[droppedTies] != idrl.CantTell {
			t.Fatalf("query %d, dropped: %s, where the expert found both equal", q, got[droppedTies])
		}
		equal++
		if got[randomSide] == idrl.ChoseA {
			sideA++
		}
	}
	if count[idrl.Equal] == 0 || count[idrl.ChoseA] == 0 || count[idrl.ChoseB] == 0 || len(count) != 3 {
		t.Errorf("answers %v, want each of three", count)
	}
	// A coin that is tossed n times shows heads n/2 times with a standard deviation of √n/2.
	n := float64(equal)
	if math.Abs(float64(sideA)-n/2) > 4*math.Sqrt(n)/2 {
		t.Errorf("a random side was a in %d of %d cases", sideA, equal)
	}
}

// Two states of one reward are found equal as often as logistic noise of scale 1/3
// stays within the band: 2σ(3·0.25) − 1.
func TestTieBand(t *testing.T) {
	w := tieInstances(t)[interval]
	same := slices.IndexFunc(w.queries, func(q idrl.QueryVector) bool { return dot(w.theta, q.X) == 0 })
	const n = 4000
	equal := 0
	for k := range uint64(n) {
		if w.answer(same, k).Choice == idrl.Equal {
			equal++
		}
	}
	p := 2/(1+math.Exp(-0.75)) - 1
	if got := float64(equal) / n; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/n) {
		t.Errorf("share of 'equal' %v, want %v", got, p)
	}
}

// A dropped answer leaves the belief as it is; 'equal' in the interval model does
// not.
func TestDropped(t *testing.T) {
	instances := tieInstances(t)
	e, _ := instanceOf(t, Config{Figure: "ties"}, 4)
	for name, changes := range map[string]bool{droppedTies: false, interval: true} {
		w := instances[name]
		q := slices.IndexFunc(w.queries, func(q idrl.QueryVector) bool { return dot(q.X, q.X) > 0 })
		n := uint64(0)
		for ; instances[interval].answer(q, n).Choice != idrl.Equal; n++ {
		}
		l := w.learner(e.Method("idrl:" + name))
		before := l.core.Posterior()
		must.Do(t, l.observe(q, w.answer(q, n)))
		if (l.core.Posterior() != before) != changes || l.n != 1 || l.asked[q] != 1 {
			t.Errorf("%s: the belief changed: %v, want %v; %d answers", name, l.core.Posterior() != before, changes, l.n)
		}
	}
}

// The interval model gives 'equal' the probability that u + noise lies within the
// band, the others do not know it.
func TestIntervalModel(t *testing.T) {
	cdf := distuv.UnitNormal.CDF
	s := math.Sqrt(8/math.Pi) / 3
	for name, w := range tieInstances(t) {
		l := w.model.Likelihood(w.queries[0].Query)
		for _, m := range []float64{-0.7, 0, 0.2} {
			const v = 0.5
			r, band := math.Sqrt(s*s+v), 0.0
			if name == interval {
				band = 0.25
			}
			for choice, want := range map[idrl.Choice]float64{
				idrl.Equal:  cdf((band-m)/r) - cdf((-band-m)/r),
				idrl.ChoseA: cdf((m - band) / r),
				idrl.ChoseB: cdf((-m - band) / r),
			} {
				logZ, _, _ := l.LogZ(idrl.Answer{Choice: choice}, m, v)
				within(t, name+": probability of "+string(choice), math.Exp(logZ), want, 1e-12)
			}
		}
	}
}
