package posterior

import (
	"context"
	"fmt"
	"testing"

	"tiebreak/internal/idrl"
)

// marked is a posterior that says how it came to be.
type marked struct {
	idrl.Posterior
	says string
}

func (marked) Dim() int { return 3 }

// marking is a model whose posteriors say how they came to be.
type marking struct{ name string }

func (m marking) Prior() idrl.Posterior { return marked{says: m.name} }

func (m marking) Condition(p idrl.Posterior, q idrl.QueryVector, _ idrl.Answer) (idrl.Posterior, error) {
	return marked{says: fmt.Sprintf("%s %s", p.(marked).says, q.ID)}, nil
}

func (m marking) Fit(_ context.Context, from idrl.Posterior, qs []idrl.QueryVector, _ []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	return marked{says: fmt.Sprintf("%s fit of %d", from.(marked).says, len(qs))}, idrl.FitReport{Converged: true}, nil
}

// An average is based on fits at positions of its own plan. In a long list there is
// none; a withdrawal that makes the list short again brings it back.
func TestAverageEnds(t *testing.T) {
	const limit = 20
	h := New(Config{Model: marking{"model"}, Averaged: marking{"average"}, longestAverage: limit * averagedCost * (9 + overhead)})
	var err error
	want := func(text string) {
		t.Helper()
		if got := h.Averaged().(marked).says; got != text {
			t.Errorf("with %d items %q, want %q", h.Len(), got, text)
		}
	}
	for k := range limit + 3 {
		if h, err = h.With(t.Context(), Item{Seq: int64(k + 1), Query: &idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", k+1))}}}); err != nil {
			t.Fatal(err)
		}
		switch h.Len() {
		case 4:
			want("average q1 q2 q3 q4")
		case 5:
			want("average fit of 5")
		case limit:
			want("average fit of 20")
		case limit + 1:
			want("model fit of 20 q21")
		}
	}
	if seq := int64(limit - 1); h.Light(seq, 0) {
		t.Error("to bring it back counts as light")
	} else if h, err = h.Replace(t.Context(), seq, nil); err != nil {
		t.Fatal(err)
	}
	want("average fit of 15 q16 q17 q18")
}
