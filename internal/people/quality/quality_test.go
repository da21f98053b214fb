package quality_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// row is a comparison answered by who in ms, with clip left on the left.
func row(id idrl.AnswerID, who idrl.AnnotatorID, c idrl.Choice, left idrl.Side, ms int64) idrl.Answer {
	return idrl.Answer{ID: id, Annotator: who, Choice: c, Left: left, ResponseMS: ms}
}

func TestSummarise(t *testing.T) {
	log := []idrl.Answer{
		row("1", "bo", idrl.ChoseA, idrl.SideA, 1000),
		row("2", "al", idrl.ChoseB, idrl.SideA, 3000),
		row("3", "bo", idrl.ChoseA, idrl.SideB, 2000),
		row("4", "bo", idrl.Equal, idrl.SideB, 4000),
		row("5", "bo", idrl.ChoseB, idrl.SideB, 900),
		{ID: "6", Annotator: "bo", Undoes: "5"},
		row("7", "bo", idrl.CantTell, idrl.SideA, 7000),
		row("8", "al", idrl.Skip, idrl.SideA, 100),
		row("9", "al", idrl.TechnicalFailure, idrl.SideA, 200),
		{ID: "10", Annotator: "cy", Undoes: "none"},
		{ID: "11", Annotator: "di", Choice: idrl.Rated, Rating: 0.5, ResponseMS: 50},
	}
	log[1].Doubts, log[4].Doubts = idrl.DoubtSide|idrl.DoubtClock, idrl.DoubtHaste // the second is withdrawn
	for i := range log {
		log[i].Seq = int64(i) + 1
	}
	predicted := []quality.Hit{{Seq: 1, Hit: true}, {Seq: 3}, {Seq: 4, Hit: true}, {Seq: 5, Hit: true}}
	want := []quality.AnnotatorStats{
		{
			Annotator: "bo", Answers: 4, Decisive: 2, Equal: 1, CantTell: 1, Undone: 1, MedianTime: 3 * time.Second,
			Sided: 2, LeftShare: 0.5, LeftLow: 0.0945, LeftHigh: 0.9055, Predicted: 0.5, PredictedSize: 2,
		},
		{
			Annotator: "al", Answers: 3, Decisive: 1, Skipped: 2, Marked: 1, MedianTime: 200 * time.Millisecond,
			Sided: 1, LeftShare: 0, LeftLow: 0, LeftHigh: 0.7935,
		},
		{Annotator: "cy", Undone: 1, LeftHigh: 1},
		{Annotator: "di", Answers: 1, Decisive: 1, MedianTime: 50 * time.Millisecond, LeftHigh: 1},
	}
	got := quality.Summarise(log, predicted)
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 5e-5)); diff != "" {
		t.Errorf("statistics differ (-want +got):\n%s", diff)
	}
}

func TestSummariseOfNothing(t *testing.T) {
	if got := quality.Summarise(nil, nil); len(got) != 0 {
		t.Errorf("statistics = %v, want none", got)
	}
}

// Somebody who is left out keeps their statistics, marked, so that it can be seen why.
func TestLeftOut(t *testing.T) {
	log := []idrl.Answer{
		{ID: "1", Annotator: "ann", Choice: idrl.ChoseA},
		{ID: "2", Annotator: "bob", Choice: idrl.Skip},
		{ID: "3", Annotator: "bob", Choice: idrl.LeftOut},
		{ID: "4", Annotator: "bob", Choice: idrl.ChoseB},
		{ID: "5", Annotator: "ann", Choice: idrl.LeftOut},
		{ID: "6", Annotator: "ann", Choice: idrl.TakenIn},
	}
	got := quality.Summarise(log, nil)
	if len(got) != 2 || got[0].LeftOut || !got[1].LeftOut || got[1].Answers != 2 || got[1].Skipped != 1 || got[0].Answers != 1 {
		t.Errorf("statistics %+v", got)
	}
	if counted := record.Effective(log); len(counted) != 1 || counted[0].ID != "1" {
		t.Errorf("answers that count: %+v", counted)
	}
}
