package posterior_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
)

// averaging returns the Config of a history with an average around m.
func averaging(t testing.TB, m belief.Model) posterior.Config {
	t.Helper()
	average, ok := m.Averaged(idrl.CompareClips)
	if !ok {
		t.Fatal("there is no average")
	}
	return posterior.Config{Model: m, Averaged: average, Go: beside(t)}
}

// draws returns what the average says of a few standard normal numbers, to the last bit.
func draws(h *posterior.History) string {
	p, stream := h.Averaged(), rng.New(1, "draws", 0)
	out := fmt.Sprintf("%T %x", p, p.Mean(nil))
	for range 20 {
		out += fmt.Sprintf(" %x", p.Sample(nil, stream))
	}
	return out
}

// However a list came to be, its average is the same, bit for bit.
func TestAverageIsAFunctionOfTheList(t *testing.T) {
	for _, test := range []struct{ d, n, step int }{{3, 150, 1}, {25, 60, 7}, {100, 20, 5}} {
		t.Run(fmt.Sprint(test.d, " weights"), func(t *testing.T) {
			m, items := answers(test.d, test.n, 1)
			h := posterior.New(averaging(t, m))
			for n, i := range items {
				before := draws(h)
				next := grow(t, h, i)
				if n%test.step == 0 {
					if back := replace(t, next, i.Seq, nil); draws(back) != before {
						t.Fatalf("after answer %d and its withdrawal the average is another", n+1)
					}
				}
				if h = next; n%(7*test.step) > 0 {
					continue
				}
				whole := replace(t, posterior.New(averaging(t, m)), 0, items[:n+1])
				if draws(h) != draws(whole) {
					t.Fatalf("after %d answers, one by one, the average is not that of all", n+1)
				}
				last := h.Posterior()
				again, err := posterior.Restore(t.Context(), averaging(t, m), items[:n+1], last, func(int64) idrl.Posterior { return nil })
				if err != nil || draws(again) != draws(h) {
					t.Fatalf("restored after %d answers the average is another, %v", n+1, err)
				}
			}
			if test.n > 50 {
				gone := replace(t, h, items[3].Seq, h.After(items[4].Seq))
				if all := slices.Delete(slices.Clone(items), 3, 4); draws(gone) != draws(replace(t, posterior.New(averaging(t, m)), 0, all)) {
					t.Error("without an early answer the average is not that of the others")
				}
			}
		})
	}
}

// The average says something else than the posterior, which it leaves as it is.
func TestAverageBesideThePosterior(t *testing.T) {
	m, items := answers(4, 40, 2)
	h, plain := grow(t, posterior.New(averaging(t, m)), items...), grow(t, posterior.New(posterior.Config{Model: m}), items...)
	if string(encode(t, h)) != string(encode(t, plain)) {
		t.Error("with an average the posterior is another")
	}
	if plain.Averaged() != plain.Posterior() {
		t.Error("without an average, that is not the posterior")
	}
	if _, ok := h.Averaged().(*belief.Mixture); !ok {
		t.Errorf("the average is a %T", h.Averaged())
	}
}

// refusing is an average that cannot take in the answers to one query.
type refusing struct {
	belief.Averaged
	id idrl.QueryID
}

func (r refusing) Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error) {
	if q.ID == r.id {
		return nil, errors.New("beyond computing")
	}
	return r.Averaged.Condition(p, q, a)
}

// An answer that the average cannot take in is taken in all the same, and ends the
// average until it is withdrawn.
func TestAverageThatFails(t *testing.T) {
	m, items := answers(3, 9, 4)
	average, _ := m.Averaged(idrl.CompareClips)
	h := grow(t, posterior.New(posterior.Config{Model: m, Averaged: refusing{average, "q6"}}), items...)
	if h.Len() != 9 || h.Averaged() != h.Posterior() {
		t.Errorf("%d answers, and an average by %T", h.Len(), h.Averaged())
	}
	back := replace(t, h, items[6].Seq, items[7:])
	if draws(back) != draws(replace(t, posterior.New(averaging(t, m)), 0, slices.Delete(slices.Clone(items), 6, 7))) {
		t.Error("after its withdrawal the average is not that of the others")
	}
}
