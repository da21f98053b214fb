package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
	"tiebreak/store"
)

// asked opens a store with a session of comparisons with a generation, of which the first
// question was asked of a1 and not answered, and then an annotator a2.
func asked(t *testing.T) (*store.DB, string, idrl.Generation) {
	t.Helper()
	dir := t.TempDir()
	db, g := open(t, dir), journaltest.Generation(0)
	ctx, last := t.Context(), journaltest.Clip("c3", 5, 6)
	g.Clips[last.ID] = last
	g.Queries[2] = idrl.NewComparison(g.Clips["c1"], g.Clips["c2"])
	g.Queries = append(g.Queries, idrl.NewComparison(g.Clips["c2"], last))
	for _, err := range []error{db.CreateSession(ctx, journaltest.Spec("s")), db.Adopt(ctx, "s", g, 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		must.Get(db.CreateAnnotator(ctx, "s", ""))(t)
	}
	must.Do(t, db.Issue(ctx, "s", []record.Assignment{journaltest.Assignment(1, g.Queries[0], "a1")}))
	return db, dir, g
}

// gold and practice return what a researcher says of a question.
func gold(choice idrl.Choice) record.Known { return record.Known{Use: record.AsGold, Choice: choice} }

func practice(choice idrl.Choice, note string) record.Known {
	return record.Known{Use: record.ForPractice, Choice: choice, Note: note}
}

func TestKnownQuestions(t *testing.T) {
	db, dir, g := asked(t)
	ctx, now := t.Context(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	set := func(clips []idrl.ClipID, k record.Known) int64 {
		t.Helper()
		v := must.Get(db.SetKnown(ctx, "s", clips, k, "ada", now))(t)
		return v
	}
	first := g.Queries[0].Clips
	swapped := []idrl.ClipID{first[1], first[0]}
	changes, _ := db.Changes(ctx)
	for i, step := range []struct {
		clips []idrl.ClipID
		known record.Known
		want  int64
	}{
		{first, gold(idrl.ChoseA), 1},
		{first, gold(idrl.ChoseA), 1},
		{swapped, gold(idrl.ChoseB), 1},         // the same said the other way round
		{swapped, gold(idrl.ChoseA), 2},         // the opposite
		{first, practice(idrl.ChoseB, "so"), 3}, // the same, for another use
		{first, record.Known{Use: record.Unused, Choice: idrl.ChoseB, Note: "so"}, 4},
		{first, record.Known{Use: record.Unused, Choice: idrl.ChoseB, Note: "so"}, 0}, // there is nothing to end
		{first, gold(idrl.ChoseA), 5},
	} {
		if got := set(step.clips, step.known); got != step.want {
			t.Errorf("step %d: version %d, want %d", i, got, step.want)
		}
	}
	if after, _ := db.Changes(ctx); after != changes+5 {
		t.Errorf("%d changes for a running server, want 5", after-changes)
	}
	must.Do(t, db.SetGoldEvery(ctx, "s", 7, "ada", now))
	must.Do(t, db.Close())
	db = open(t, dir)
	want := record.Known{Version: 5, Query: g.Queries[0], Use: record.AsGold, Choice: idrl.ChoseA, By: "ada", At: now}
	for _, id := range first {
		c := g.Clips[id]
		c.Media, c.Snapshots = nil, nil
		want.Clips = append(want.Clips, c)
	}
	got, err := db.Known(ctx, "s")
	if diff := cmp.Diff([]record.Known{want}, got); diff != "" || err != nil {
		t.Errorf("known (-want +got), %v:\n%s", err, diff)
	}
	rec, err := db.Load(ctx, "s")
	if diff := cmp.Diff(record.GoldSettings{Every: 7, Questions: got}, rec.Settings.Gold); diff != "" || err != nil || rec.Spec.GoldEvery != 7 {
		t.Errorf("settings, every %d (-want +got), %v:\n%s", rec.Spec.GoldEvery, err, diff)
	}
	for _, id := range first {
		if _, has := rec.Clips[id]; !has {
			t.Errorf("clip %s is not loaded with the session", id)
		}
	}
}

func TestKnownRefuses(t *testing.T) {
	db, _, g := asked(t)
	first := g.Queries[0].Clips
	for _, test := range []struct {
		name    string
		session idrl.SessionID
		clips   []idrl.ClipID
		known   record.Known
		want    idrl.Kind
	}{
		{"no such session", "t", first, gold(idrl.ChoseA), idrl.NotFound},
		{"no such clip", "s", []idrl.ClipID{first[0], "../x"}, gold(idrl.ChoseA), idrl.NotFound},
		{"one clip in a session of comparisons", "s", first[:1], record.Known{Use: record.AsGold, Choice: idrl.Rated}, idrl.Invalid},
		{"no clip", "s", nil, gold(idrl.ChoseA), idrl.Invalid},
		{"a clip with itself", "s", []idrl.ClipID{first[0], first[0]}, gold(idrl.ChoseA), idrl.Invalid},
		{"an answer that says nothing", "s", first, gold(idrl.Skip), idrl.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := db.SetKnown(t.Context(), test.session, test.clips, test.known, "ada", time.Now())
			wantKind(t, err, test.want)
		})
	}
	wantKind(t, db.SetGoldEvery(t.Context(), "s", 1, "ada", time.Now()), idrl.Invalid)
	wantKind(t, db.SetGoldEvery(t.Context(), "t", 20, "ada", time.Now()), idrl.NotFound)
}

// What was asked comes with the most different first; the rest is of the generation in use.
func TestAskable(t *testing.T) {
	db, _, g := asked(t)
	as := journaltest.Assignment(2, g.Queries[1], "a1")
	as.Why.Apart = 5
	must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
	list := func(asked bool) []idrl.Query {
		t.Helper()
		out := must.Get(db.Askable(t.Context(), "s", asked))(t)
		return out
	}
	if diff := cmp.Diff([]idrl.Query{g.Queries[1], g.Queries[0]}, list(true)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(g.Queries[2:], list(false)); diff != "" {
		t.Errorf("not asked (-want +got):\n%s", diff)
	}
	must.Get(db.SetKnown(t.Context(), "s", g.Queries[1].Clips, gold(idrl.ChoseA), "ada", time.Now()))(t)
	if diff := cmp.Diff([]idrl.Query{g.Queries[0]}, list(true)); diff != "" {
		t.Errorf("asked, without a known one (-want +got):\n%s", diff)
	}
}

func TestPractice(t *testing.T) {
	db, _, g := asked(t)
	ctx, now := t.Context(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	due := func(who idrl.AnnotatorID) []int64 {
		t.Helper()
		_, due, err := db.Practice(ctx, "s", who)
		if err != nil {
			t.Fatal(err)
		}
		return due
	}
	for i, k := range []record.Known{practice(idrl.ChoseA, "It runs."), gold(idrl.ChoseA), practice(idrl.Equal, "Both fall.")} {
		must.Get(db.SetKnown(ctx, "s", g.Queries[i].Clips, k, "ada", now))(t)
	}
	if got := due("a1"); !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("due %v, want 1 and 3", got)
	}
	p := record.Practice{ID: "p1", Annotator: "a1", Version: 1, ReceivedAt: now, Answer: idrl.Answer{
		Choice: idrl.ChoseB, Left: idrl.SideA, ShownAt: now, ResponseMS: 700, HiddenMS: 20, Loops: 1, Input: "keyboard",
	}}
	for range 2 { // sent again
		must.Do(t, db.AddPractice(ctx, "s", p))
	}
	if got := due("a1"); !slices.Equal(got, []int64{3}) {
		t.Errorf("after an answer to 1, due are %v", got)
	}
	if got := due("a2"); len(got) != 2 {
		t.Errorf("of somebody else are due %v", got)
	}
	other := p
	other.ID, other.Version, other.Answer.Choice, other.Answer.Reason = "p2", 3, idrl.Skip, "broken"
	must.Do(t, db.AddPractice(ctx, "s", other))
	var got []string
	err := db.PracticeAnswers(ctx, "s", func(p record.Practice, k record.Known) error {
		got = append(got, fmt.Sprintf("%s of %s to %d: %s %s %d ms, right %t, judged %t; %s", p.ID, p.Annotator, k.Version, p.Answer.Choice, p.Answer.Left, p.Answer.ResponseMS, p.Right, p.Judged, k.Note))
		return nil
	})
	want := []string{"p1 of a1 to 1: b a 700 ms, right false, judged true; It runs.", "p2 of a1 to 3: skip a 700 ms, right false, judged false; Both fall."}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("answers (-want +got), %v:\n%s", err, diff)
	}
	// Somebody who has answered a question practises only if they ask for it.
	answered := journaltest.Assignment(2, g.Queries[3], "a2")
	must.Do(t, db.Issue(ctx, "s", []record.Assignment{answered}))
	must.Do(t, db.Append(ctx, "s", record.Row{Answer: journaltest.Answer(1, answered), After: journaltest.Snapshot(1)}))
	if got := due("a2"); len(got) != 0 {
		t.Errorf("due in the midst of the work: %v", got)
	}
	rec, err := db.Load(ctx, "s")
	if err != nil || len(rec.Log) != 1 {
		t.Errorf("the log has %d rows, want 1: practice is none; %v", len(rec.Log), err)
	}
}

func TestPracticeRefuses(t *testing.T) {
	db, _, g := asked(t)
	ctx := t.Context()
	for i, k := range []record.Known{practice(idrl.ChoseA, ""), gold(idrl.ChoseA)} {
		must.Get(db.SetKnown(ctx, "s", g.Queries[i].Clips, k, "ada", time.Now()))(t)
	}
	for _, test := range []struct {
		name   string
		change func(*record.Practice)
		want   idrl.Kind
	}{
		{"a gold question", func(p *record.Practice) { p.Version = 2 }, idrl.NotFound},
		{"no such question", func(p *record.Practice) { p.Version = 9 }, idrl.NotFound},
		{"a rating", func(p *record.Practice) { p.Answer.Choice = idrl.Rated }, idrl.Invalid},
		{"no id", func(p *record.Practice) { p.ID = "" }, idrl.Invalid},
		{"no sides", func(p *record.Practice) { p.Answer.Left = "" }, idrl.Invalid},
		{"somebody else", func(p *record.Practice) { p.Annotator = "a9" }, idrl.NotFound},
		{"a year that has no four digits", func(p *record.Practice) { p.Answer.ShownAt = p.Answer.ShownAt.AddDate(9000, 0, 0) }, idrl.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := record.Practice{ID: "p", Annotator: "a1", Version: 1, ReceivedAt: time.Now(), Answer: idrl.Answer{Choice: idrl.ChoseA, Left: idrl.SideA, ShownAt: time.Now()}}
			test.change(&p)
			wantKind(t, db.AddPractice(ctx, "s", p), test.want)
		})
	}
	for i := range 201 {
		p := record.Practice{ID: idrl.AnswerID(fmt.Sprint("again", i)), Annotator: "a1", Version: 1, Answer: idrl.Answer{Choice: idrl.ChoseA, Left: idrl.SideA}}
		if err := db.AddPractice(ctx, "s", p); (err != nil) != (i == 200) {
			t.Fatalf("answer %d: %v", i+1, err)
		} else if i == 200 {
			wantKind(t, err, idrl.Conflict)
		}
	}
}

// The clips of practice questions are for everybody of the session, those of gold questions
// for whom they were asked.
func TestClipsOfKnownQuestions(t *testing.T) {
	db, _, g := asked(t)
	ctx := t.Context()
	for i, k := range map[int]record.Known{0: practice(idrl.ChoseA, ""), 3: gold(idrl.ChoseA)} {
		must.Get(db.SetKnown(ctx, "s", g.Queries[i].Clips, k, "ada", time.Now()))(t)
	}
	for _, id := range slices.Concat(g.Queries[0].Clips, g.Queries[3].Clips) {
		may, err := db.AnnotatorMayFetch(ctx, "s", "a2", id)
		if want := slices.Contains(g.Queries[0].Clips, id); may != want || err != nil {
			t.Errorf("a2 may fetch %s: %t, %v; want %t", id, may, err, want)
		}
		if may, err := db.AnnotatorMayFetch(ctx, "s", "nobody", id); may || err != nil {
			t.Errorf("nobody may fetch %s: %t, %v", id, may, err)
		}
	}
}
