package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
)

// An annotator sees which of their own answers were expected least, where the researcher lets them see what is
// learnt: no answer of others, none that does not count, no probability and no policy.
func TestTelling(t *testing.T) {
	b := newBench(t, nil)
	mine, stranger := b.annotator("s1"), b.annotator("s2")
	if r := b.get(mine, "/sessions/s1/telling"); r.status != 404 {
		t.Errorf("where it is not allowed: status %d, %q", r.status, r.body)
	}
	order := idrl.Outcomes()
	asked := func(seq int64, who idrl.AnnotatorID, choice idrl.Choice, p float64) insight.Question {
		q := insight.Question{Forecast: true, Predicted: insight.Prediction{Reply: []float64{(1 - p) / 2, (1 - p) / 2, (1 - p) / 2}}}
		for i, o := range order {
			if o == choice {
				q.Predicted.Reply[i] = p
			}
		}
		q.Answer = idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("answer", seq)), Seq: seq, Annotator: who, Choice: choice, Left: "a"}
		q.Assignment = record.Assignment{Query: idrl.Query{Clips: []idrl.ClipID{"c1", "c2"}}}
		q.Policies = []insight.Policy{{ID: "g0.p1"}}
		return q
	}
	list := []insight.Question{
		asked(9, "a1", idrl.ChoseA, 0.9), asked(8, "a1", idrl.ChoseB, 0.1), asked(7, "a2", idrl.ChoseB, 0.01),
		asked(6, "a1", idrl.Equal, 0.3), asked(5, "a1", idrl.ChoseA, 0.2), asked(4, "a1", idrl.CantTell, 0), asked(3, "a1", idrl.ChoseA, 0.001),
	}
	list[6].Undone = true
	b.s1.set(live.EventAnswered, func() { b.s1.spec.ShowLearnt, b.s1.questions = true, list })
	r := b.get(mine, "/sessions/s1/telling")
	var got struct {
		Of, Unexpected int
		Answers        []struct {
			ID, Choice string
			Clips      []string
		}
	}
	if err := json.Unmarshal([]byte(r.body), &got); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	if got.Of != 4 || got.Unexpected != 3 || len(got.Answers) != 3 || got.Answers[0].ID != "answer8" || got.Answers[1].ID != "answer5" || got.Answers[2].ID != "answer6" || len(got.Answers[0].Clips) != 2 {
		t.Errorf("the most telling answers are %+v", got)
	}
	for _, secret := range []string{"g0.p1", "0.1", "predicted", "answer7"} {
		if strings.Contains(r.body, secret) {
			t.Errorf("the annotator reads %q in %s", secret, r.body)
		}
	}
	if r := b.get(stranger, "/sessions/s1/telling"); r.status != 403 {
		t.Errorf("of another session: status %d", r.status)
	}
}
