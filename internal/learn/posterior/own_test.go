package posterior_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
)

// peopled returns n answers, of which the first alone are by one annotator and the others by three
// in turn, and the Config of a history that learns how noisy each of them is.
func peopled(t testing.TB, d, n, alone int, seed uint64) (belief.Own, posterior.Config, []posterior.Item) {
	t.Helper()
	m, items := answers(d, n, seed)
	for k := alone; k < n; k++ {
		items[k].Annotator = idrl.AnnotatorID(fmt.Sprint(k % 3))
	}
	own, ok := m.Own(idrl.CompareClips)
	if !ok {
		t.Fatal("there is no model of annotators")
	}
	return own, posterior.Config{Model: own, Averaged: own.Always(), Go: beside(t)}, items
}

// said returns the posterior and the average of h, to the last bit.
func said(t testing.TB, own belief.Own, h *posterior.History) []byte {
	t.Helper()
	var out []byte
	for _, p := range []idrl.Posterior{h.Posterior(), h.Averaged()} {
		b := must.Get(own.Encode(p))(t)
		out = append(out, b...)
	}
	return out
}

// Also where fits go on from one another the posterior is a function of the list: however it
// came to be, after withdrawals that are recent and early ones, and after a restart.
func TestOwnPosteriorIsAFunctionOfTheList(t *testing.T) {
	for _, test := range []struct{ d, n, alone, step int }{{3, 120, 0, 3}, {3, 60, 12, 1}, {25, 260, 30, 37}} {
		t.Run(fmt.Sprint(test.n, " answers"), func(t *testing.T) {
			own, cfg, items := peopled(t, test.d, test.n, test.alone, 1)
			whole := func(items []posterior.Item) []byte {
				return said(t, own, replace(t, posterior.New(cfg), 0, items))
			}
			h, stored := posterior.New(cfg), map[int64]idrl.Posterior{}
			for n, i := range items {
				before := said(t, own, h)
				next := grow(t, h, i)
				stored[i.Seq] = next.Posterior()
				if n%test.step == 0 {
					if back := replace(t, next, i.Seq, nil); !bytes.Equal(said(t, own, back), before) {
						t.Fatalf("after answer %d and its withdrawal the posterior is another", n+1)
					}
				}
				if h = next; n%(7*test.step) > 0 {
					continue
				}
				if !bytes.Equal(said(t, own, h), whole(items[:n+1])) {
					t.Fatalf("after %d answers, one by one, the posterior is not that of all", n+1)
				}
				again := must.Get(posterior.Restore(t.Context(), cfg, items[:n+1], h.Posterior(), func(seq int64) idrl.Posterior { return stored[seq] }))(t)
				more := items[n+1 : min(test.n, n+1+2*test.step+10)]
				if !bytes.Equal(said(t, own, grow(t, again, more...)), said(t, own, grow(t, h, more...))) {
					t.Fatalf("restored after %d answers it goes on differently", n+1)
				}
				for _, k := range []int{n / 3, max(0, n-20)} {
					gone := replace(t, h, items[k].Seq, items[k+1:n+1])
					if !bytes.Equal(said(t, own, gone), whole(slices.Delete(slices.Clone(items[:n+1]), k, k+1))) {
						t.Fatalf("without answer %d of %d the posterior is not that of the others", k+1, n+1)
					}
				}
			}
		})
	}
}

// Between fits that go on from one another the posterior stays near that of a fit of all answers, which
// converged, in every weight.
func TestOwnNoDrift(t *testing.T) {
	const d, runs = 5, 6
	for _, n := range []int{60, 125, 250} {
		worst, mean := 0.0, 0.0
		for seed := range uint64(runs) {
			own, cfg, items := peopled(t, d, n, 0, seed)
			qs, as := make([]idrl.QueryVector, n), make([]idrl.Answer, n)
			for i, item := range items {
				qs[i], as[i] = *item.Query, item.Answer()
			}
			var best idrl.Posterior
			var left posterior.Factors
			for range 40 {
				var err error
				if best, left, _, err = own.Resume(t.Context(), own.Prior(), left, qs, as); err != nil {
					t.Fatal(err)
				}
			}
			got, unit, cov := grow(t, posterior.New(cfg), items...).Posterior().Mean(nil), make([]float64, d), make([]float64, d)
			for k := range d {
				clear(unit)
				unit[k] = 1
				best.CovMul(cov, unit)
				off := math.Abs(got[k]-best.Mean(nil)[k]) / math.Sqrt(cov[k])
				worst, mean = max(worst, off), mean+off/(d*runs)
			}
		}
		t.Logf("%d answers: off by %.3f standard deviations on average, at most %.3f", n, mean, worst)
		if mean > 0.05 || worst > 0.2 {
			t.Error("want at most 0.05 on average and 0.2 at most")
		}
	}
}
