package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// exact compares records; what is not stored is left out.
var exact = cmp.Options{
	cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(idrl.Clip{}, "Media", "Snapshots"), cmpopts.IgnoreFields(idrl.Candidate{}, "Policy"),
}

func TestRecordSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	g := generation(0)
	as := []idrl.Assignment{assignment(1, g.Queries[0], "a1"), assignment(2, g.Queries[1], "a2"), assignment(3, g.Queries[2], "a1")}
	as[1].Why.PairStd = math.NaN() // an acquisition without a pair
	as[2].Left, as[2].Reopens = "", "id1"
	must(t, db.Issue(t.Context(), "s", as))
	rows := []idrl.Answer{answer(1, as[0]), {ID: "u", Seq: 2, Query: as[0].Query.ID, Annotator: "a1", Undoes: "id1", ReceivedAt: t0}, answer(3, as[2])}
	rows[2].Choice, rows[2].Rating, rows[2].Left = idrl.Rated, -0.3, ""
	snaps := []idrl.Snapshot{snapshot(1), snapshot(2), snapshot(3)}
	snaps[1].Regret.Mean = math.NaN()
	for i, a := range rows {
		must(t, db.Append(t.Context(), "s", idrl.Row{Answer: a, After: snaps[i]}))
	}
	as[0].Answer, as[2].Answer = "id1", "id3"
	as[1].LeaseUntil = t0.Add(time.Hour)
	must(t, db.Renew(t.Context(), "s", "s2", as[1].LeaseUntil))
	next := generation(3)
	must(t, db.Adopt(t.Context(), "s", next, 4))
	want := idrl.Record{
		Spec: spec("s"), Settings: idrl.Settings{Budget: 30}, Log: rows, Assignments: as, Snapshots: snaps, Generation: &next, AdoptedAt: 4,
		Pool: g.Pool, Archive: [][]idrl.Candidate{nil},
	}
	for _, c := range g.Candidates {
		want.Archive[0] = append(want.Archive[0], idrl.Candidate{ID: c.ID, Origin: c.Origin, Mu: c.Mu, Clip: c.Clip})
	}

	for _, when := range []string{"before", "after"} {
		got, err := db.Load(t.Context(), "s")
		must(t, err)
		if d := cmp.Diff(want, got, exact); d != "" {
			t.Errorf("%s reopening (-want +got):\n%s", when, d)
		}
		if got.Generation.Clips["c0"].Media != nil {
			t.Error("a loaded clip carries media")
		}
		must(t, db.Close())
		db = open(t, dir)
	}
}

func TestLoadOfNothing(t *testing.T) {
	db := open(t, t.TempDir())
	_, err := db.Load(t.Context(), "s")
	wantKind(t, err, idrl.NotFound)
	must(t, db.CreateSession(t.Context(), spec("s")))
	got, err := db.Load(t.Context(), "s")
	must(t, err)
	if d := cmp.Diff(idrl.Record{Spec: spec("s"), Settings: idrl.Settings{Budget: 30}}, got); d != "" {
		t.Error(d)
	}
}

func TestAppendRefusals(t *testing.T) {
	g := generation(0)
	for _, test := range []struct {
		name    string
		session idrl.SessionID
		change  func(*idrl.Answer)
		want    idrl.Kind
	}{
		{"id taken", "s", func(a *idrl.Answer) { a.ID = "id1" }, idrl.Conflict},
		{"seq taken", "s", func(a *idrl.Answer) { a.Seq = 1 }, idrl.Conflict},
		{"seq leaves a gap", "s", func(a *idrl.Answer) { a.Seq = 3 }, idrl.Conflict},
		{"assignment closed", "s", func(a *idrl.Answer) { a.Assignment, a.Query = "s1", g.Queries[0].ID }, idrl.Conflict},
		{"assignment unknown", "s", func(a *idrl.Answer) { a.Assignment = "s9" }, idrl.NotFound},
		{"assignment of another", "s", func(a *idrl.Answer) { a.Annotator = "a2" }, idrl.Forbidden},
		{"query of another assignment", "s", func(a *idrl.Answer) { a.Query = g.Queries[0].ID }, idrl.Invalid},
		{"session unknown", "x", func(a *idrl.Answer) {}, idrl.NotFound},
		{"no id", "s", func(a *idrl.Answer) { a.ID = "" }, idrl.Internal}, // the session checks it first
		{"withdraws nothing", "s", func(a *idrl.Answer) { a.Undoes = "id9" }, idrl.NotFound},
		{"year 20000", "s", func(a *idrl.Answer) { a.ShownAt = t0.AddDate(18000, 0, 0) }, idrl.Invalid},
		{"rating not a number", "s", func(a *idrl.Answer) { a.Rating = math.NaN() }, idrl.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := seeded(t, t.TempDir())
			as := []idrl.Assignment{assignment(1, g.Queries[0], "a1"), assignment(2, g.Queries[1], "a1")}
			must(t, db.Issue(t.Context(), "s", as))
			must(t, db.Append(t.Context(), "s", idrl.Row{Answer: answer(1, as[0]), After: snapshot(1)}))
			before, err := db.Load(t.Context(), "s")
			must(t, err)
			a := answer(2, as[1])
			test.change(&a)
			wantKind(t, db.Append(t.Context(), test.session, idrl.Row{Answer: a, After: snapshot(a.Seq)}), test.want)
			after, err := db.Load(t.Context(), "s")
			must(t, err)
			if d := cmp.Diff(before, after, exact); d != "" {
				t.Errorf("the refusal changed the record:\n%s", d)
			}
			must(t, db.Append(t.Context(), "s", idrl.Row{Answer: answer(2, as[1]), After: snapshot(2)}))
		})
	}
}

func TestAnswerIsWithdrawnOnce(t *testing.T) {
	db := seeded(t, t.TempDir())
	as := assignment(1, generation(0).Queries[0], "a1")
	must(t, db.Issue(t.Context(), "s", []idrl.Assignment{as}))
	must(t, db.Append(t.Context(), "s", idrl.Row{Answer: answer(1, as), After: snapshot(1)}))
	undo := idrl.Answer{ID: "u1", Seq: 2, Annotator: "a1", Undoes: "id1", ReceivedAt: t0}
	must(t, db.Append(t.Context(), "s", idrl.Row{Answer: undo, After: snapshot(2)}))
	undo.ID, undo.Seq = "u2", 3
	wantKind(t, db.Append(t.Context(), "s", idrl.Row{Answer: undo, After: snapshot(3)}), idrl.Conflict)
}

// One question has one id in both orders, but its x points the other way.
func TestIssueKeepsTheOrderOfClips(t *testing.T) {
	db := seeded(t, t.TempDir())
	a, b := clip("c0", 1, 2), clip("c1", -0.5, 1e-300)
	as := []idrl.Assignment{assignment(1, idrl.NewComparison(a, b), "a1"), assignment(2, idrl.NewComparison(b, a), "a2")}
	if as[0].Query.ID != as[1].Query.ID {
		t.Fatal("the premise is wrong")
	}
	must(t, db.Issue(t.Context(), "s", as))
	rec, err := db.Load(t.Context(), "s")
	must(t, err)
	if d := cmp.Diff(as, rec.Assignments, exact); d != "" {
		t.Error(d)
	}
}

func TestIssueRefusals(t *testing.T) {
	g := generation(0)
	for _, test := range []struct {
		name   string
		change func(*idrl.Assignment)
		want   idrl.Kind
	}{
		{"id taken", func(a *idrl.Assignment) { a.ID = "s1" }, idrl.Conflict},
		{"n taken", func(a *idrl.Assignment) { a.N = 1 }, idrl.Conflict},
		{"annotator unknown", func(a *idrl.Assignment) { a.Annotator = "a9" }, idrl.NotFound},
		{"clip unknown", func(a *idrl.Assignment) { a.Query = idrl.NewRating(clip("c9", 1, 2)) }, idrl.NotFound},
		{"query changed", func(a *idrl.Assignment) { a.Query = g.Queries[0]; a.Query.X = []float64{9, 9} }, idrl.Conflict},
		{"no clip", func(a *idrl.Assignment) { a.Query.Clips = nil }, idrl.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := seeded(t, t.TempDir())
			must(t, db.Issue(t.Context(), "s", []idrl.Assignment{assignment(1, g.Queries[0], "a1")}))
			good, bad := assignment(2, g.Queries[1], "a1"), assignment(3, g.Queries[2], "a1")
			test.change(&bad)
			wantKind(t, db.Issue(t.Context(), "s", []idrl.Assignment{good, bad}), test.want)
			rec, err := db.Load(t.Context(), "s")
			must(t, err)
			if len(rec.Assignments) != 1 {
				t.Errorf("%d assignments; half of the batch was kept", len(rec.Assignments))
			}
		})
	}
}

func TestRenewRefusals(t *testing.T) {
	db := seeded(t, t.TempDir())
	as := assignment(1, generation(0).Queries[0], "a1")
	must(t, db.Issue(t.Context(), "s", []idrl.Assignment{as}))
	wantKind(t, db.Renew(t.Context(), "s", "s9", t0), idrl.NotFound)
	must(t, db.Append(t.Context(), "s", idrl.Row{Answer: answer(1, as), After: snapshot(1)}))
	wantKind(t, db.Renew(t.Context(), "s", "s1", t0), idrl.Conflict)
}

func TestAdoptAgain(t *testing.T) {
	db := seeded(t, t.TempDir())
	must(t, db.Adopt(t.Context(), "s", generation(0), 5))
	rec, err := db.Load(t.Context(), "s")
	must(t, err)
	if rec.AdoptedAt != 0 {
		t.Errorf("adopted at %d, want 0", rec.AdoptedAt)
	}
	other := generation(0)
	other.Queries = other.Queries[:1]
	wantKind(t, db.Adopt(t.Context(), "s", other, 5), idrl.Conflict)
	wantKind(t, db.Adopt(t.Context(), "x", generation(0), 0), idrl.NotFound)
	lost := generation(7)
	delete(lost.Clips, "c1")
	wantKind(t, db.Adopt(t.Context(), "s", lost, 7), idrl.Invalid)
	lost.Queries, lost.Candidates[0].Clip = nil, "c9"
	wantKind(t, db.Adopt(t.Context(), "s", lost, 7), idrl.NotFound)
}

// Many sessions write at once. A bad write fails alone.
func TestWritersDoNotDisturbOneAnother(t *testing.T) {
	db := open(t, t.TempDir())
	const sessions, answers = 24, 15
	var wg sync.WaitGroup
	for k := range sessions {
		id := idrl.SessionID(fmt.Sprintf("s%d", k))
		must(t, db.CreateSession(t.Context(), spec(string(id))))
		_, err := db.CreateAnnotator(t.Context(), id, "")
		must(t, err)
		must(t, db.Adopt(t.Context(), id, generation(0), 0))
		wg.Go(func() {
			for n := range int64(answers) {
				as := assignment(n+1, generation(0).Queries[n%3], "a1")
				err := errors.Join(db.Issue(t.Context(), id, []idrl.Assignment{as}), db.Append(t.Context(), id, idrl.Row{Answer: answer(n+1, as), After: snapshot(n + 1)}))
				if err != nil {
					t.Error(err)
				}
				wantKind(t, db.Append(t.Context(), id, idrl.Row{Answer: answer(n+1, as), After: snapshot(n + 1)}), idrl.Conflict)
			}
		})
	}
	wg.Wait()
	all, err := db.Sessions(t.Context())
	must(t, err)
	for _, s := range all {
		if s.Answers != answers {
			t.Errorf("session %s has %d answers, want %d", s.Spec.ID, s.Answers, answers)
		}
	}
}

func TestNothingIsRecordedAfterCancel(t *testing.T) {
	db := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.CreateSession(ctx, spec("s")); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	_, err := db.Spec(t.Context(), "s")
	wantKind(t, err, idrl.NotFound)
}
