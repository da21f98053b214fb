package bradley_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// Turned answers are in an arena what they count as, later ones what they say.
func TestTurnedOutcomes(t *testing.T) {
	clips := map[idrl.ClipID]idrl.Clip{"c1": {From: "e1.0"}, "c2": {From: "e2.0"}, "c3": {From: "e1.1"}, "c4": {From: "e1.2"}}
	rec := record.Record{Clips: clips, Spec: idrl.SessionSpec{Arena: idrl.Arena{Entrants: make([]idrl.Entrant, 2)}}}
	rec.Settings.Turned = map[idrl.AnnotatorID]int64{"bad": 3}
	choices := []idrl.Choice{idrl.ChoseA, idrl.Equal, "", idrl.ChoseA}
	for i, c := range []idrl.ClipID{"c2", "c3", "c2", "c2"} {
		id := idrl.AssignmentID(rune('a' + i))
		first := []idrl.ClipID{"c1", "c2", "c1", "c4"}[i]
		rec.Assignments = append(rec.Assignments, record.Assignment{ID: id, Query: idrl.NewComparison(idrl.Clip{ID: first}, idrl.Clip{ID: c})})
		a := idrl.Answer{ID: idrl.AnswerID(id), Seq: int64(i + 1), Assignment: id, Annotator: "bad", Choice: choices[i]}
		if a.Choice == "" {
			a.Choice = idrl.Turned
		}
		rec.Log = append(rec.Log, a)
	}
	got, err := bradley.Outcomes(rec)
	want := []bradley.Outcome{
		{Seq: 1, A: 0, B: 1, Choice: idrl.ChoseB, Person: "bad"},
		{Seq: 2, A: 1, B: 0, Choice: idrl.Equal, Person: "bad"},
		{Seq: 4, A: 0, B: 1, Choice: idrl.ChoseA, Person: "bad"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}
