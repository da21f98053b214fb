package posterior_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"

	"gonum.org/v1/gonum/floats"
)

// answers returns n answers by a probit annotator about random queries, and their
// model.
func answers(d, n int, seed uint64) (belief.Model, []posterior.Item) {
	m := belief.Model{Start: belief.Isotropic(d, 1), Comparison: belief.Probit{NoiseStd: 0.5, TieBand: 0.1}}
	stream := rng.New(seed, "answers", 0)
	truth := m.Start.Sample(nil, stream)
	items := make([]posterior.Item, n)
	for i := range items {
		x := m.Start.Sample(nil, stream)
		items[i] = posterior.Item{Seq: int64(2*i + 1), Query: &idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", i)), Kind: idrl.CompareClips}, X: x}, Choice: idrl.Equal}
		if u := floats.Dot(x, truth) + 0.5*stream.NormFloat64(); u > 0.1 {
			items[i].Choice = idrl.ChoseA
		} else if u < -0.1 {
			items[i].Choice = idrl.ChoseB
		}
	}
	return m, items
}

func encode(t testing.TB, h *posterior.History) []byte {
	t.Helper()
	b := must.Get(h.Posterior().(*belief.Gaussian).MarshalBinary())(t)
	return b
}

// grow adds items one by one, as a session does.
func grow(t testing.TB, h *posterior.History, items ...posterior.Item) *posterior.History {
	t.Helper()
	for _, i := range items {
		var err error
		if h, err = h.With(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func replace(t testing.TB, h *posterior.History, seq int64, later []posterior.Item) *posterior.History {
	t.Helper()
	next := must.Get(h.Replace(t.Context(), seq, later))(t)
	return next
}

// whole returns the history of items from nothing.
func whole(t testing.TB, m idrl.RewardModel, items []posterior.Item) *posterior.History {
	t.Helper()
	return replace(t, posterior.New(posterior.Config{Model: m}), 0, items)
}

// beside is a Config.Go that runs fits in the background until the test ends.
func beside(t testing.TB) func(func(context.Context)) {
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	return func(fit func(context.Context)) { running.Go(func() { fit(context.Background()) }) }
}

// However a list came to be, its posterior is the same, bit for bit: grown answer by
// answer, made at once, or with an answer more that was withdrawn at once; with fits
// in the background or not.
func TestPosteriorIsAFunctionOfTheList(t *testing.T) {
	for _, test := range []struct{ d, n, step int }{{3, 330, 1}, {25, 500, 1}, {4, 1700, 37}, {100, 90, 1}} {
		t.Run(fmt.Sprint(test.n, " answers"), func(t *testing.T) {
			m, items := answers(test.d, test.n, 1)
			h := posterior.New(posterior.Config{Model: m, Go: beside(t)})
			for n, i := range items {
				before := encode(t, h)
				next := grow(t, h, i)
				if n%test.step == 0 {
					if back := replace(t, next, i.Seq, nil); !bytes.Equal(encode(t, back), before) || back.Len() != n {
						t.Fatalf("after answer %d and its withdrawal the posterior is another", n+1)
					}
				}
				h = next
				if n%(7*test.step) == 0 && !bytes.Equal(encode(t, h), encode(t, whole(t, m, items[:n+1]))) {
					t.Fatalf("after %d answers, one by one, the posterior is not that of all", n+1)
				}
			}
		})
	}
}

// Histories that begin alike share memory, and yet each has its own items.
func TestHistoriesGoOnFromOne(t *testing.T) {
	m, items := answers(3, 90, 4)
	for _, n := range []int{0, 1, 17, 31, 32, 40} {
		from := grow(t, posterior.New(posterior.Config{Model: m}), items[:n]...)
		one, other := grow(t, from, items[n:n+35]...), grow(t, from, items[n+40:n+42]...)
		for _, test := range []struct {
			h    *posterior.History
			want []posterior.Item
		}{{one, items[:n+35]}, {other, slices.Concat(items[:n], items[n+40:n+42])}, {from, items[:n]}} {
			if got := test.h.After(0); !slices.Equal(got, test.want) {
				t.Errorf("after %d answers in common: %d answers that are not the %d of the history", n, len(got), len(test.want))
			}
		}
	}
}

// Withdrawals anywhere, in any order, with answers between them.
func TestWithdrawals(t *testing.T) {
	const n = 1500
	m, items := answers(4, n, 2)
	stream := rng.New(2, "withdrawals", 0)
	h := grow(t, posterior.New(posterior.Config{Model: m, Go: beside(t)}), items[:n/2]...)
	list := slices.Clone(items[:n/2])
	for _, i := range items[n/2:] {
		h, list = grow(t, h, i), append(list, i)
		if stream.IntN(20) > 0 {
			continue
		}
		k := len(list) - 1 - stream.IntN(min(len(list), 1<<(1+stream.IntN(10))))
		gone := list[k].Seq
		list = slices.Delete(list, k, k+1)
		h = replace(t, h, gone, h.After(gone+1))
		if h.Len() != len(list) || !bytes.Equal(encode(t, h), encode(t, whole(t, m, list))) {
			t.Fatalf("after the withdrawal of answer %d of %d the posterior is not that of the others", k+1, len(list)+1)
		}
	}
	if !bytes.Equal(encode(t, h), encode(t, whole(t, m, list))) {
		t.Error("at the end the posterior is not that of the list")
	}
}

// Taken out and in again, the answers make the posterior that was.
func TestTakenOutAndIn(t *testing.T) {
	m, items := answers(4, 400, 3)
	h := grow(t, posterior.New(posterior.Config{Model: m}), items...)
	var others []posterior.Item
	for k, i := range items {
		if k%3 > 0 {
			others = append(others, i)
		}
	}
	out := replace(t, h, 0, others)
	if !bytes.Equal(encode(t, out), encode(t, grow(t, posterior.New(posterior.Config{Model: m}), others...))) {
		t.Error("without some answers: not the posterior of the others")
	}
	if in := replace(t, out, 0, items); !bytes.Equal(encode(t, in), encode(t, h)) {
		t.Error("with them again: not the posterior that was")
	}
}

// A history made from stored posteriors goes on like the one that stored them; also
// where a part of them is missing.
func TestRestore(t *testing.T) {
	for _, n := range []int{0, 1, 99, 100, 101, 640, 1200} {
		m, items := answers(4, n+300, 4)
		cfg := posterior.Config{Model: m, Go: beside(t)}
		stored := map[int64]idrl.Posterior{}
		h := posterior.New(cfg)
		for _, i := range items[:n] {
			h = grow(t, h, i)
			stored[i.Seq] = h.Posterior()
		}
		want := grow(t, h, items[n:]...)
		for _, lost := range []int64{1, 2, 3, math.MaxInt64} { // all, every other, every third, none
			known := func(seq int64) idrl.Posterior {
				if seq/2%lost == lost-1 {
					return nil
				}
				return stored[seq]
			}
			last := h.Posterior()
			if lost == 1 {
				last = nil
			}
			again := must.Get(posterior.Restore(t.Context(), cfg, items[:n], last, known))(t)
			if !bytes.Equal(encode(t, again), encode(t, h)) || again.Len() != n {
				t.Fatalf("%d answers, 1 in %d lost: another posterior", n, lost)
			}
			if n > 50 {
				back := replace(t, again, items[n-40].Seq, items[n-39:n])
				if all := slices.Delete(slices.Clone(items[:n]), n-40, n-39); !bytes.Equal(encode(t, back), encode(t, whole(t, m, all))) {
					t.Fatalf("%d answers, 1 in %d lost: another posterior after a withdrawal", n, lost)
				}
			}
			if again = grow(t, again, items[n:]...); !bytes.Equal(encode(t, again), encode(t, want)) {
				t.Fatalf("%d answers, 1 in %d lost: goes on differently", n, lost)
			}
		}
	}
}

// counting counts the answers that a model takes in and fits.
type counting struct {
	belief.Model
	updates, fitted int
}

func (c *counting) Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error) {
	c.updates++
	return c.Model.Condition(p, q, a)
}

func (c *counting) Fit(ctx context.Context, from idrl.Posterior, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	c.fitted += len(qs)
	return c.Model.Fit(ctx, from, qs, as)
}

// The work after the withdrawal of one of the last 250 answers does not grow with the
// list, and all fits together take a few times as long as one of the whole list.
func TestWorkIsBounded(t *testing.T) {
	const n = 12_000
	m, items := answers(2, n, 5)
	c := &counting{Model: m}
	h := grow(t, posterior.New(posterior.Config{Model: c}), items...)
	if c.fitted > 6*n || c.fitted < n {
		t.Errorf("%d answers fitted in all for %d", c.fitted, n)
	}
	for _, back := range []int{1, 2, 31, 32, 33, 100, 250} {
		c.updates, c.fitted = 0, 0
		seq := items[n-back].Seq
		later := h.After(seq + 1)
		if !h.Light(seq, len(later)) {
			t.Errorf("the withdrawal of answer %d of %d counts as heavy", n-back+1, n)
		}
		replace(t, h, seq, later)
		if c.fitted > 0 || c.updates > 300 {
			t.Errorf("the withdrawal of answer %d of %d took %d updates and fits of %d", n-back+1, n, c.updates, c.fitted)
		}
	}
	if h.Light(items[0].Seq, n-1) {
		t.Error("the withdrawal of the first answer counts as light")
	}
}

// Every fit is noted.
func TestNote(t *testing.T) {
	m, items := answers(3, 60, 6)
	var notes []idrl.FitReport
	h := posterior.New(posterior.Config{Model: m, Note: func(r idrl.FitReport) { notes = append(notes, r) }})
	grow(t, h, items...)
	if len(notes) != 12 || notes[0].Answers != 5 || notes[11].Answers != 60 {
		t.Errorf("notes %+v, want one every five answers", notes)
	}
	for _, r := range notes {
		if !r.Converged || r.Change > 1e-6 {
			t.Errorf("%+v, want it converged", r)
		}
	}
}

func TestReplaceEndsWithItsContext(t *testing.T) {
	m, items := answers(3, 300, 7)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := posterior.New(posterior.Config{Model: m}).Replace(ctx, 0, items); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// Updates one by one drift away from the posterior; with fits they stay near it.
func TestNoDrift(t *testing.T) {
	const d, n = 8, 900
	m, items := answers(d, n, 8)
	qs, as := make([]idrl.QueryVector, n), make([]idrl.Answer, n)
	updates := m.Prior()
	for i, item := range items {
		qs[i], as[i] = *item.Query, idrl.Answer{Choice: item.Choice}
		var err error
		if updates, err = m.Condition(updates, qs[i], as[i]); err != nil {
			t.Fatal(err)
		}
	}
	best, _, err := m.Fit(t.Context(), m.Prior(), qs, as)
	if err != nil {
		t.Fatal(err)
	}
	off := func(p idrl.Posterior) (most float64) {
		unit, cov := make([]float64, d), make([]float64, d)
		for k := range d {
			clear(unit)
			unit[k] = 1
			best.CovMul(cov, unit)
			most = max(most, math.Abs(p.Mean(nil)[k]-best.Mean(nil)[k])/math.Sqrt(cov[k]))
		}
		return most
	}
	kept, once := off(whole(t, m, items).Posterior()), off(updates)
	t.Logf("off by %.3f standard deviations; updates alone by %.3f", kept, once)
	if kept > 0.1 || once < 2*kept {
		t.Error("want at most 0.1, and updates alone to be worse")
	}
}

func BenchmarkWithdrawal(b *testing.B) {
	for _, n := range []int{33_000, 100_000} {
		m, items := answers(11, n, 9)
		h := grow(b, whole(b, m, items[:n-300]), items[n-300:]...)
		for _, back := range []int{1, 30, 200} {
			b.Run(fmt.Sprintf("%d answers, %d back", n, back), func(b *testing.B) {
				seq := items[n-back].Seq
				for b.Loop() {
					replace(b, h, seq, h.After(seq+1))
				}
			})
		}
	}
}
