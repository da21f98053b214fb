package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
)

// by answers a question by values of clips, by their names.
func by(values map[idrl.ClipID]float64, a idrl.Answer, q idrl.Query) idrl.Answer {
	if a.Choice = idrl.ChoseA; values[q.Clips[0]] < values[q.Clips[1]] {
		a.Choice = idrl.ChoseB
	}
	return a
}

// People who judge by what no feature tells raise an objection, which names answers, withholds the proposal to
// stop, and is a function of the log: it is there after a restart, and gone without the answers that raised it.
// People who judge by a feature raise none.
func TestFeaturesThatCannotSayIt(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64 // of the clips, whose feature x is −10, −6, … 10
		alarm  bool
	}{
		{"by a feature", []float64{-10, -6, -2, 2, 6, 10}, false},
		{"by something else", []float64{5, 0, 4, 1, 3, 2}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			values := map[idrl.ClipID]float64{}
			for k, v := range test.values {
				values[idrl.ClipID(fmt.Sprintf("clip-%d", k))] = v
			}
			b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.NoiseStd, s.TieBand = 1, 1, 0.5, 0.1 })
			b.trainer = trainerFunc(func(_ context.Context, job idrl.TrainJob) (idrl.Generation, error) { return alive(job.BasedOn), nil })
			b.model = belief.Model{Start: belief.Isotropic(dim, 1), Comparison: belief.Probit{NoiseStd: 0.5, TieBand: 0.1}}
			b.rival = func(stds []float64) posterior.Personal {
				own, _ := b.model.Beside(stds).Own(idrl.CompareClips)
				return own.Always()
			}
			s, stop := b.start(t)
			var last idrl.AnswerID
			after := 0 // answers at the first objection
			for i := range 60 {
				as := claim(t, s, "ann").Open[0]
				a := by(values, reply(as, i), as.Query)
				mustAnswer(t, s, "ann", a)
				if last = a.ID; objects(status(t, s)) {
					after = i + 1
					break
				}
			}
			if (after > 0) != test.alarm {
				t.Fatalf("an objection after %d answers, want one: %t", after, test.alarm)
			}
			if !test.alarm {
				return
			}
			st := status(t, s)
			if st.Stopping.Propose || st.Stopping.Left.Known || !strings.Contains(st.Stopping.Objections[0].Words, "answers ") {
				t.Errorf("%+v", st.Stopping)
			}
			words := st.Stopping.Objections
			stop()
			s, _ = b.start(t)
			if again := status(t, s).Stopping.Objections; !slices.Equal(again, words) {
				t.Errorf("after a restart %+v, want %+v", again, words)
			}
			must.Get(s.Undo(t.Context(), "ann", "undo", last))(t)
			if objects(status(t, s)) {
				t.Error("the objection stays without the answer that raised it")
			}
		})
	}
}

func objects(st view.Status) bool { return slices.Contains(codes(st), stopping.ByFeatures) }
