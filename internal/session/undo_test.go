package session_test

import (
	"context"
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
)

// longRecord gives the bench a record of n answers by one annotator, without stored
// beliefs.
func (b *bench) longRecord(n, d int) {
	stream := rng.New(1, "long", 0)
	rec := &b.journal.rec
	nothing := idrl.Clip{ID: "nothing", Steps: 1, Phi: make([]float64, d)}
	rec.Clips = map[idrl.ClipID]idrl.Clip{nothing.ID: nothing}
	for i := range n {
		shown := idrl.Clip{ID: idrl.ClipID(fmt.Sprint("old", i)), Steps: 1, Phi: belief.Isotropic(d, 1).Sample(nil, stream)}
		rec.Clips[shown.ID] = shown
		q := idrl.NewComparison(shown, nothing)
		id := idrl.AssignmentID(fmt.Sprint("s1.", i+1))
		a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("answer-", i)), Seq: int64(i + 1), Assignment: id, Query: q.ID, Annotator: "ann", Choice: idrl.ChoseA, Left: idrl.SideA}
		if shown.Phi[0] < 0 {
			a.Choice = idrl.ChoseB
		}
		rec.Assignments = append(rec.Assignments, record.Assignment{ID: id, N: int64(i + 1), Query: q, Annotator: "ann", Left: idrl.SideA, Answer: a.ID})
		rec.Log = append(rec.Log, a)
	}
}

// A forgetful journal takes all writes and keeps none: what is measured is the session.
type forgetful struct{ *journal }

func (forgetful) Append(context.Context, idrl.SessionID, ...record.Row) error { return nil }

func (forgetful) Issue(context.Context, idrl.SessionID, []record.Assignment) error { return nil }

// BenchmarkUndo withdraws the last answer of a long log and gives another: both requests
// of the session together.
func BenchmarkUndo(b *testing.B) {
	for _, n := range []int{1_000, 33_000, 100_000} {
		b.Run(fmt.Sprint(n, " answers"), func(b *testing.B) {
			const d = 11
			x := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 0 })
			x.trainer, x.model.Start = fakeTrainer{d: d}, belief.Isotropic(d, 1)
			x.longRecord(n, d)
			s, stop := x.startOn(b, forgetful{x.journal})
			defer stop()
			k := n
			give := func() idrl.AnswerID {
				a := reply(claim(b, s, "ann").Open[0], k)
				mustAnswer(b, s, "ann", a)
				k++
				return a.ID
			}
			last := give()
			for b.Loop() {
				must.Get(s.Undo(b.Context(), "ann", "undo-"+last, last))(b)
				last = give()
			}
		})
	}
}
