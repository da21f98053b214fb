package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/quality"
	"tiebreak/store"
)

// fakeQuality reports on what is recorded, with what a posterior would know of a1.
type fakeQuality struct{ db *store.DB }

func (f fakeQuality) Quality(ctx context.Context, id idrl.SessionID) (quality.Report, error) {
	rec, err := f.db.Load(ctx, id)
	if err != nil {
		return quality.Report{}, err
	}
	q := quality.Of(rec.Log, rec.Assignments, rec.Spec.Seed)
	q.KnowGold(rec.Log, idrl.GoldRight(rec.Log, rec.Assignments, rec.Settings.Gold.Questions))
	q.Know([]idrl.Manner{{Annotator: "a1", Random: 0.31, Noise: idrl.Range{Middle: 1.25, Low: 0.5, High: 2.75}, Lapse: idrl.Range{Middle: 0.04, Low: 0.01, High: 0.2}}})
	return q, nil
}

// answered records n answers of who to gold question c1, c2 and as many to c1, c3, of which
// the first is right, all for the left clip.
func (b *bench) answered(who idrl.AnnotatorID, n int) {
	b.t.Helper()
	ctx, now := b.t.Context(), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	rec, err := b.db.Load(ctx, "s1")
	if err != nil {
		b.t.Fatal(err)
	}
	seq, number := int64(len(rec.Log)), int64(len(rec.Assignments))
	for i := range 2 * n {
		q := idrl.NewComparison(rec.Generation.Clips["c1"], rec.Generation.Clips[idrl.ClipID([]string{"c2", "c3"}[i%2])])
		seq, number = seq+1, number+1
		as := idrl.Assignment{
			ID: idrl.AssignmentID(fmt.Sprintf("s1.%d", number)), N: number, Query: q, Annotator: who, Left: idrl.SideA, IssuedAt: now, LeaseUntil: now,
			Gold: int64(1 - i%2),
		}
		a := idrl.Answer{
			ID: idrl.AnswerID(fmt.Sprintf("%s-%d", who, i)), Seq: seq, Assignment: as.ID, Query: q.ID, Annotator: who, Choice: idrl.ChoseA, Left: idrl.SideA,
			ShownAt: now, AnsweredAt: now, ReceivedAt: now, ResponseMS: 1200, Input: "mouse", Instructions: 1,
		}
		for _, err := range []error{
			b.db.Issue(ctx, "s1", []idrl.Assignment{as}),
			b.db.Append(ctx, "s1", idrl.Row{Answer: a, After: idrl.Snapshot{Seq: seq, Belief: []byte("x")}}),
		} {
			if err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

func TestQualityPage(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.get(c, "/sessions/s1/quality"); r.status != 200 || r.lacks("Nobody has answered yet.", "0 people, 0 answers") != nil {
		t.Errorf("before anybody answers: status %d, %s", r.status, r.body)
	}
	b.annotator("s1")
	b.annotator("s1")
	b.record() // one answer of a1
	r := b.get(c, "/sessions/s1/quality")
	if lacks := r.lacks("Nothing to compare yet: 1 answer of one person.", "one person, 1 answer;"); lacks != nil {
		t.Errorf("with one answer it lacks %q", lacks)
	}
	b.know([]idrl.ClipID{"c1", "c2"}, idrl.Known{Use: idrl.AsGold, Choice: idrl.ChoseB})
	b.answered("a2", quality.Enough)
	r = b.get(c, "/sessions/s1/quality")
	if lacks := r.lacks(
		"2 people, 41 answers; 38 questions came again, 20 gold answers", "<b>0 %</b> 0 of 20 <small>(0 to 16 %)</small>", // gold: Wilson's interval of 0 of 20
		"<b>100 %</b> 38 of 38 <small>(91 to 100 %)</small>", // the same again
		"<b>100 %</b>  <small>(91 to 100 %)</small>",         // the left clip
		"Answers fewer than three in four gold questions as the researcher does.", "Chooses the left clip too often.",
		"<b>1.25</b>  <small>(0.50 to 2.75)</small>", "31 %", // what the posterior knows
		"Raw agreement", "Krippendorff", "Over 1 question", "1.2s",
	); lacks != nil {
		t.Errorf("it lacks %q:\n%s", lacks, r.body)
	}
	if strings.Count(r.body, "data-warning") != 2 {
		t.Errorf("%d warnings, want 2, both of a2", strings.Count(r.body, "data-warning"))
	}
	if strings.Contains(r.body, "xclude") {
		t.Error("the page speaks of excluding people")
	}
	var q quality.Report
	r = b.get(c, "/sessions/s1/quality?format=json")
	if err := json.Unmarshal([]byte(r.body), &q); err != nil || len(q.People) != 2 || q.People[1].Gold != 20 || !strings.Contains(r.header.Get("Content-Disposition"), "tiebreak-s1-quality.json") {
		t.Errorf("as JSON, %v: %s", err, r.body)
	}
}

// The buttons of the page leave a person's answers out, count them again, and lead back.
func TestLeaveOutOnTheQualityPage(t *testing.T) {
	b := newBench(t, nil)
	annotator := b.annotator("s1")
	b.record()
	c := b.researcher()
	for _, step := range []struct{ say, then string }{{"leave out", "data-count"}, {"count", "data-leave-out"}} {
		r := b.post(c, "/sessions/s1/annotators/a1/answers", url.Values{"answers": {step.say}, "back": {"quality"}})
		if r.status != 303 || r.header.Get("Location") != "/sessions/s1/quality" {
			t.Errorf("%s: status %d to %q", step.say, r.status, r.header.Get("Location"))
		}
		people, err := b.db.Annotators(t.Context(), "s1")
		if err != nil || people[0].LeftOut != (step.say == "leave out") {
			t.Errorf("after %q: %+v, %v", step.say, people, err)
		}
	}
	for _, path := range []string{"/sessions/s1/quality", "/sessions/s1/quality?format=json"} {
		if r := b.get(annotator, path); r.status != 401 && r.status != 403 {
			t.Errorf("an annotator gets %s: status %d", path, r.status)
		}
	}
}
