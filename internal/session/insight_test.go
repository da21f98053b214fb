package session_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The questions that were answered come newest first and in parts; each prediction is that of
// the report, which is made from the answers before. After an undo the report is that of a
// session that never had the answer, and so it is after a restart.
func TestInsight(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	var ids []idrl.AnswerID
	for n := range 9 {
		as := claim(t, s, "ann").Open[0]
		id := idrl.AnswerID(fmt.Sprint("i", n))
		mustAnswer(t, s, "ann", idrl.Answer{ID: id, Assignment: as.ID, Choice: []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}[n%3], Left: as.Left, Input: "api", ResponseMS: 500})
		ids = append(ids, id)
	}
	report := func() *insight.Report {
		t.Helper()
		r := must.Get(s.Insight(t.Context()))(t)
		return r
	}
	before := report()
	if before.Seq != 9 || len(before.Forecasts) != 9 || before.Labour.Replies != 9 || len(before.Posterior.Trace) != 10 {
		t.Fatalf("report of row %d: %d predictions, %d replies, %d points", before.Seq, len(before.Forecasts), before.Labour.Replies, len(before.Posterior.Trace))
	}
	if report() != before {
		t.Error("a second look at the same moment makes the report again")
	}
	list, more, err := s.Questions(t.Context(), insight.Wanted{N: 4, Best: true})
	if err != nil || !more || len(list) != 4 || list[0].Answer.Seq != 9 {
		t.Fatalf("%d questions, more %v, %v", len(list), more, err)
	}
	rest, more, err := s.Questions(t.Context(), insight.Wanted{Before: 6, N: 10})
	if err != nil || more || len(rest) != 5 || rest[0].Answer.Seq != 5 {
		t.Fatalf("then %d questions, more %v, %v", len(rest), more, err)
	}
	for i, q := range append(list, rest...) {
		if want := before.Forecasts[8-i]; !q.Forecast || !slices.Equal(q.Predicted.Reply, want.P) || q.Answer.Seq != want.Seq {
			t.Errorf("question of row %d was predicted %v, the report has %v", q.Answer.Seq, q.Predicted, want)
		}
	}
	for _, q := range list {
		if w := q.Assignment.Why; w.First != "" && (len(q.Policies) < 2 || q.Policies[0].ID != w.First || !q.Policies[0].Known || q.Policies[0].Now <= 0) {
			t.Errorf("policies of the question of row %d: %+v", q.Answer.Seq, q.Policies)
		}
	}

	must.Get(s.Undo(t.Context(), "ann", "u1", ids[8]))(t)
	after := report()
	earlier := before.Forecasts[:8]
	if diff := cmp.Diff(earlier, after.Forecasts); diff != "" || after.Answers != 8 || after.Labour.Replies != 8 {
		t.Errorf("after an undo %d answers, predictions differ (-want +got):\n%s", after.Answers, diff)
	}
	list, _, err = s.Questions(t.Context(), insight.Wanted{N: 1})
	if err != nil || len(list) != 1 || !list[0].Undone || !slices.Equal(list[0].Predicted.Reply, before.Forecasts[8].P) {
		t.Errorf("the undone question: %+v, %v", list, err)
	}
	stop()
	s, _ = b.start(t)
	if diff := cmp.Diff(after, report(), cmpopts.IgnoreUnexported(insight.Posterior{})); diff != "" {
		t.Errorf("after a restart the report differs (-before +after):\n%s", diff)
	}
	if open, err := s.Open(t.Context()); err != nil || len(open) != s.Spec().Ahead+1 { // that of the undone answer is asked again
		t.Errorf("%d questions are held, %v", len(open), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Insight(ctx); err == nil {
		t.Error("a cancelled call gives a report")
	}
}

// The table of questions has the predictions of the report: of answers after the first that are
// predicted again those that were recorded, where they are still true.
func TestQuestionsAsRecorded(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	const last = insight.Followed + 12
	for n := range last {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], n))
	}
	undo := func(row int) {
		t.Helper()
		must.Get(s.Undo(t.Context(), "ann", idrl.AnswerID(fmt.Sprint("undo-", row)), idrl.AnswerID(fmt.Sprintf("answer-%d", row-1))))(t)
	}
	undo(last - 4) // what was predicted of rows after it is not true any more
	r, err := s.Insight(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64][]float64{}
	for _, f := range r.Forecasts {
		want[f.Seq] = f.P
	}
	for before, more := int64(0), true; more; {
		var list []insight.Question
		if list, more, err = s.Questions(t.Context(), insight.Wanted{Before: before, N: 5, Recorded: true}); err != nil {
			t.Fatal(err)
		}
		for _, q := range list {
			before = q.Answer.Seq
			if q.Forecast != (want[before] != nil) && !q.Undone || want[before] != nil && !slices.Equal(q.Predicted.Reply, want[before]) {
				t.Errorf("the answer of row %d was predicted %v (%v), the report has %v", before, q.Predicted.Reply, q.Forecast, want[before])
			}
		}
		more = more && before > last-30
	}
	if r.Left != 4 {
		t.Errorf("%d predictions are not known, want those of the four answers after the one that is undone", r.Left)
	}
}
