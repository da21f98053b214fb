package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
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
	q.KnowGold(rec.Log, record.GoldRight(rec.Log, rec.Assignments, rec.Settings.Gold.Questions))
	q.KnowSpent(rec.Log, map[int64]bool{2: true, 3: false})
	q.Know([]idrl.Manner{
		{Annotator: "a1", Random: 0.31, Reversed: 0.07, Noise: idrl.Range{Middle: 1.25, Low: 0.5, High: 2.75}, Lapse: idrl.Range{Middle: 0.04, Low: 0.01, High: 0.2}},
		{Annotator: "a2", Lapse: idrl.Range{Middle: 0.02, Low: 0, High: 1}},
	})
	return q, nil
}

// answered records n answers of who to gold question c1, c2 and as many to c1, c3, all a, which is
// always on the left.
func (b *bench) answered(who idrl.AnnotatorID, n int) {
	b.t.Helper()
	b.answeredWith(who, n, func(int) idrl.Side { return idrl.SideA })
}

// answeredWith is answered where the left side of each answer to both is that of left.
func (b *bench) answeredWith(who idrl.AnnotatorID, n int, left func(i int) idrl.Side) {
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
		as := record.Assignment{
			ID: idrl.AssignmentID(fmt.Sprintf("s1.%d", number)), N: number, Query: q, Annotator: who, Left: left(i / 2), IssuedAt: now, LeaseUntil: now,
			Gold: int64(1 - i%2),
		}
		a := idrl.Answer{
			ID: idrl.AnswerID(fmt.Sprintf("%s-%d", who, i)), Seq: seq, Assignment: as.ID, Query: q.ID, Annotator: who, Choice: idrl.ChoseA, Left: left(i / 2),
			ShownAt: now, AnsweredAt: now, ReceivedAt: now, ResponseMS: 1200, Input: "mouse", Instructions: 1,
		}
		for _, err := range []error{
			b.db.Issue(ctx, "s1", []record.Assignment{as}),
			b.db.Append(ctx, "s1", record.Row{Answer: a, After: record.Snapshot{Seq: seq, Belief: []byte("x")}}),
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
	if r := b.get(c, "/sessions/s1/quality"); r.status != 200 || r.lacks("There are no answers yet.", "0 people, 0 answers") != nil {
		t.Errorf("before anybody answers: status %d, %s", r.status, r.body)
	}
	b.annotator("s1")
	b.annotator("s1")
	b.record() // one answer of a1
	r := b.get(c, "/sessions/s1/quality")
	if lacks := r.lacks("Nothing to compare yet: 1 answer of one person.", "one person, 1 answer;"); lacks != nil {
		t.Errorf("with one answer it lacks %q", lacks)
	}
	b.know([]idrl.ClipID{"c1", "c2"}, record.Known{Use: record.AsGold, Choice: idrl.ChoseB})
	b.answered("a2", quality.Enough)
	r = b.get(c, "/sessions/s1/quality")
	if lacks := r.lacks(
		"2 people, 41 answers; 38 questions repeated, 20 gold answers", "<b>0 %</b> 0 of 20 <small>(0 to 16 %)</small>", // gold: Wilson's interval of 0 of 20
		"<b>100 %</b> 38 of 38 <small>(91 to 100 %)</small>", // the same again
		"<b>100 %</b>  <small>(91 to 100 %)</small>",         // the left clip
		"Agrees with the researcher on fewer than three in four gold questions.", "Chooses the left clip too often.",
		"<b>1.25</b>  <small>(0.50 to 2.75)</small>", "31 %", "<td data-label=\"Confuses the answers\">7 %</td>", // what the posterior knows
		"<b>4 %</b>  <small>(1 to 20 %)</small>", "too few answers to tell", "narrower than 50 percentage points, for reliable people after about 20 answers",
		"Raw agreement", "Krippendorff", "over 1 question", "1.2 s", "Where the time went", ">48.0 s<", "0 of 40",
	); lacks != nil {
		t.Errorf("it lacks %q:\n%s", lacks, r.body)
	}
	if strings.Count(r.body, "data-warning") != 2 {
		t.Errorf("%d warnings, want 2, both of a2", strings.Count(r.body, "data-warning"))
	}
	if strings.Contains(r.body, "0 to 100 %") {
		t.Error("the page has an interval that says nothing")
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

// Where a person is named who answers the other way round, a researcher turns their answers and turns
// them back; the page says what that does, and what was done.
func TestTurnOnTheQualityPage(t *testing.T) {
	b := newBench(t, nil)
	annotator := b.annotator("s1")
	b.annotator("s1")
	b.record() // one answer of a1
	c := b.researcher()
	b.know([]idrl.ClipID{"c1", "c2"}, record.Known{Use: record.AsGold, Choice: idrl.ChoseB})
	post := func(say string, status int) reply {
		t.Helper()
		r := b.post(c, "/sessions/s1/annotators/a2/answers", url.Values{"answers": {say}, "back": {"quality"}})
		if r.status != status {
			t.Fatalf("%s: status %d, want %d: %s", say, r.status, status, r.body)
		}
		return r
	}
	if r := post("turn", 400); r.lacks("Annotator a2 has given no answer yet that could be turned") != nil {
		t.Errorf("without answers: %s", r.body)
	}
	b.answeredWith("a2", quality.Enough, func(i int) idrl.Side { return idrl.SideOf(i % 2) })
	if r := b.get(c, "/sessions/s1/quality"); r.lacks(
		"Answers gold questions the other way round", "All answers of SECRET-OTHER (a2) until now then count with the sides exchanged", "Later answers count as they are given",
		"The recorded answers stay as they are", "(a2) does not see it", "Turn the answers of SECRET-OTHER (a2)", "0 of 20",
	) != nil {
		t.Errorf("the page lacks what is to be turned: %s", r.body)
	}
	if r := post("turn", 303); r.header.Get("Location") != "/sessions/s1/quality" || b.s1.follows != 1 {
		t.Errorf("turned: to %q, followed %d times", r.header.Get("Location"), b.s1.follows)
	}
	rec := must.Get(b.db.Load(t.Context(), "s1"))(t)
	seq := int64(len(rec.Log) + 1) // what a session that is none of a test does
	row := record.Row{Answer: idrl.Answer{ID: "turned", Seq: seq, Annotator: "a2", Choice: idrl.Turned}, After: record.Snapshot{Seq: seq, Belief: []byte("x")}}
	must.Do(t, b.db.Append(t.Context(), "s1", row))
	r := b.get(c, "/sessions/s1/quality")
	if lacks := r.lacks("40 answers turned", "Turn answers back", "20 of 20"); lacks != nil || strings.Contains(r.body, "data-warning") || strings.Contains(r.body, "data-turning") {
		t.Errorf("turned, the page lacks %q:\n%s", lacks, r.body)
	}
	if lacks := b.get(c, "/sessions/s1/people").lacks(fmt.Sprintf("may answer; answers turned up to row %d", seq), "Turn answers back", "count as now, turned"); lacks != nil {
		t.Errorf("the page of the people lacks %q", lacks)
	}
	if b.get(c, "/sessions/s1/settings").lacks("turn answers a2") != nil {
		t.Error("what was done lacks that answers were turned")
	}
	if r := b.get(c, "/sessions/s1/export?format=jsonl"); strings.Count(r.body, `"turned":true`) != 40 || strings.Count(r.body, `"choice":"a","prob_a":0,`) != 40 {
		t.Errorf("the export has %d answers that are turned", strings.Count(r.body, `"turned":true`))
	}
	for _, path := range []string{"/sessions/s1/label", "/sessions/s1/quality"} {
		if r := b.get(annotator, path); strings.Contains(r.body, "turned") || strings.Contains(r.body, "Turn ") {
			t.Errorf("an annotator reads of turning at %s", path)
		}
	}
	post("count", 303)
	if set, err := b.db.Settings(t.Context(), "s1"); err != nil || len(set.Turned) != 0 {
		t.Errorf("turned back: %+v, %v", set, err)
	}
	if r := b.post(c, "/sessions/s1/annotators/a2/remove", url.Values{"answers": {"turn"}}); r.status != 400 {
		t.Errorf("to turn is no way to remove: status %d", r.status)
	}
}
