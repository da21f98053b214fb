package store_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

func hash(s string) []byte {
	h := sha256.Sum256([]byte(s))
	return h[:]
}

// limit is that of the logins of a test.
var limit = identity.LoginLimit{Idle: 24 * time.Hour, Absolute: 48 * time.Hour, Narrow: 3}

// TestBeside: a command changes a little while a server uses the folder, and
// without one; it takes no lock and makes no folder.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	_, err := store.OpenBeside(t.Context(), dir)
	wantKind(t, err, idrl.NotFound)
	db := seeded(t, dir)
	for _, when := range []string{"beside a server", "without one"} {
		t.Run(when, func(t *testing.T) {
			beside := must.Get(store.OpenBeside(t.Context(), dir))(t)
			must.Do(t, beside.SetMeta(t.Context(), "k", when))
			must.Do(t, beside.Close())
			must.Do(t, beside.Close())
			ro := must.Get(store.OpenReadOnly(t.Context(), dir))(t)
			if v, err := ro.Meta(t.Context(), "k"); v != when || err != nil {
				t.Errorf("k = %q, %v", v, err)
			}
			must.Do(t, ro.Close())
		})
		if when == "beside a server" {
			must.Do(t, db.SetMeta(t.Context(), "server", "writes on"))
			must.Do(t, db.Close())
		}
	}
}

// Names that an earlier version took in are shown without invisible characters.
func TestNamesAreShownVisibly(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	who := must.Get(db.CreateAnnotator(ctx, "s", "Ada\u202E\u200B"))(t)
	people := must.Get(db.Annotators(ctx, "s"))(t)
	a := must.Get(db.Joined(ctx, "s", who))(t)
	names := must.Get(db.AnnotatorNames(ctx, "s"))(t)
	for _, got := range []string{people[len(people)-1].Name, a.Name, names[who]} {
		if got != "Ada" {
			t.Errorf("shown as %q", got)
		}
	}
}

func TestUsers(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	signedIn := func(want bool) {
		t.Helper()
		if got, err := db.SignedIn(ctx); got != want || err != nil {
			t.Errorf("signed in: %v, %v; want %v", got, err, want)
		}
	}
	must.Do(t, db.AddUser(ctx, "grace", identity.Researcher, t0))
	invite := func(token string) {
		t.Helper()
		must.Get(db.Invite(ctx, hash(token), identity.Invitation{User: "grace", Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)}))(t)
	}
	invite("one")
	signedIn(false)
	_, err := db.SignIn(ctx, hash("one"), hash("cookie"), "", limit, t0.Add(time.Minute))
	must.Do(t, err)
	signedIn(true)
	invite("two")
	got, err := db.Users(ctx)
	must.Do(t, err)
	if d := cmp.Diff([]identity.User{{Name: "grace", Role: identity.Admin, AddedAt: t0, Logins: 1, SeenAt: t0.Add(time.Minute)}}, got); d != "" {
		t.Error(d)
	}

	_, _, err = db.LogOut(ctx, "eve", "grace", t0)
	wantKind(t, err, idrl.NotFound)
	before, err := db.Changes(ctx)
	must.Do(t, err)
	logins, links, err := db.LogOut(ctx, "grace", "grace", t0.Add(2*time.Minute))
	if logins != 1 || links != 1 || err != nil {
		t.Errorf("ended %d logins and %d links, %v; want 1 and 1", logins, links, err)
	}
	_, err = db.Login(ctx, hash("cookie"))
	wantKind(t, err, idrl.NotFound)
	_, _, err = db.Invitation(ctx, hash("two"), t0.Add(2*time.Minute))
	wantKind(t, err, idrl.NotFound)
	if after, err := db.Changes(ctx); after != before+1 || err != nil {
		t.Errorf("changes: %d after %d, %v", after, before, err)
	}
	signedIn(true)
}

func TestInvitations(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	must.Do(t, db.CreateSession(ctx, spec("other")))
	for i, token := range []string{"one", "two"} {
		id, err := db.Invite(ctx, hash(token), identity.Invitation{Session: "s", Uses: 3, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
		if id != int64(i+1) || err != nil {
			t.Errorf("link %d, %v", id, err)
		}
	}
	login, err := db.SignIn(ctx, hash("one"), hash("cookie"), "Cy", limit, t0)
	must.Do(t, err)
	who := login.Annotator
	later := t0.Add(time.Minute)
	wantKind(t, db.RevokeInvitation(ctx, "other", 2, "grace", later), idrl.NotFound)
	must.Do(t, db.RevokeInvitation(ctx, "s", 2, "grace", later))
	must.Do(t, db.RevokeInvitation(ctx, "s", 2, "grace", later.Add(time.Hour))) // stays as it was
	got, err := db.Invitations(ctx, "s")
	must.Do(t, err)
	want := []identity.Invitation{
		{ID: 2, Session: "s", Uses: 3, UsesLeft: 3, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour), RevokedAt: later},
		{ID: 1, Session: "s", Uses: 3, UsesLeft: 2, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	_, _, err = db.Invitation(ctx, hash("two"), later)
	wantKind(t, err, idrl.NotFound)
	if id, err := db.InvitationSession(ctx, hash("two")); id != "s" || err != nil {
		t.Errorf("a revoked link leads to %q, %v", id, err)
	}
	people, err := db.Annotators(ctx, "s")
	must.Do(t, err)
	i := slices.IndexFunc(people, func(a identity.Annotator) bool { return a.ID == who })
	if d := cmp.Diff(identity.Annotator{ID: who, Name: "Cy", JoinedAt: t0, SeenAt: t0, Invitation: 1}, people[i]); d != "" {
		t.Error(d)
	}
}

func TestSettings(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	settings := func(want record.Settings) {
		t.Helper()
		got := must.Get(db.Settings(ctx, "s"))(t)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		rec := must.Get(db.Load(ctx, "s"))(t)
		if d := cmp.Diff(want, rec.Settings); d != "" || rec.Spec.Budget != want.Budget {
			t.Errorf("record: budget %d, settings %s", rec.Spec.Budget, d)
		}
	}
	settings(record.Settings{Title: spec("s").Title, State: record.StateRunning, Told: spec("s").CurrentInstructions(), Budget: spec("s").Budget})
	wantKind(t, db.SetBudget(ctx, "x", 5, "grace", t0), idrl.NotFound)
	wantKind(t, db.SetBudget(ctx, "s", -1, "grace", t0), idrl.Invalid)
	wantKind(t, db.SetBudget(ctx, "s", idrl.MaxBudget+1, "grace", t0), idrl.Invalid)
	must.Do(t, db.SetBudget(ctx, "s", 77, "grace", t0))
	must.Do(t, db.RevokeAnnotator(ctx, "s", "a2", true, "grace", t0))
	settings(record.Settings{Title: spec("s").Title, State: record.StateRunning, Told: spec("s").CurrentInstructions(), Budget: 77, Revoked: []idrl.AnnotatorID{"a2"}, LeftOut: []idrl.AnnotatorID{"a2"}})
	must.Do(t, db.DecideAnswers(ctx, "s", "a2", idrl.TakenIn, "grace", t0))
	must.Do(t, db.SetBudget(ctx, "s", 0, "grace", t0))
	settings(record.Settings{Title: spec("s").Title, State: record.StateRunning, Told: spec("s").CurrentInstructions(), Revoked: []idrl.AnnotatorID{"a2"}})
	wantKind(t, db.RevokeAnnotator(ctx, "s", "a9", false, "grace", t0), idrl.NotFound)
	wantKind(t, db.DecideAnswers(ctx, "s", "a9", idrl.TakenIn, "grace", t0), idrl.NotFound)
	_, err := db.Settings(ctx, "x")
	wantKind(t, err, idrl.NotFound)
}

// TestDecisions: rows that decide whose replies count are kept in the log, and the
// numbers of the list of sessions and the export follow what is wanted.
func TestDecisions(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	g := generation(0)
	choices := []idrl.Choice{idrl.ChoseA, idrl.Skip, idrl.Rated, idrl.CantTell, idrl.Equal}
	for i, choice := range choices {
		n := int64(i + 1)
		as := assignment(n, g.Queries[i%2], idrl.AnnotatorID([]string{"a1", "a2"}[i%2]))
		must.Do(t, db.Issue(ctx, "s", []record.Assignment{as}))
		a := answer(n, as)
		a.Choice = choice
		must.Do(t, db.Append(ctx, "s", record.Row{Answer: a, After: snapshot(n)}))
	}
	summary := func(answers, skipped, rows int) {
		t.Helper()
		list := must.Get(db.Sessions(ctx))(t)
		if got := list[len(list)-1]; got.Answers != answers || got.Skipped != skipped {
			t.Errorf("%d answers and %d skipped, want %d and %d", got.Answers, got.Skipped, answers, skipped)
		}
		n := 0
		must.Do(t, db.Rows(ctx, "s", func(r record.Labelled) error {
			if !r.LeftOut {
				n++
			}
			return nil
		}))
		if n != rows {
			t.Errorf("%d rows count, want %d", n, rows)
		}
	}
	summary(3, 2, 5) // a1: a, rated, equal; a2: skip, can't tell
	must.Do(t, db.Append(ctx, "s", record.Row{Answer: idrl.Answer{ID: "u", Seq: 6, Annotator: "a1", Undoes: "id3", ReceivedAt: t0}, After: snapshot(6)}))
	summary(2, 2, 5)
	must.Do(t, db.DecideAnswers(ctx, "s", "a1", idrl.LeftOut, "grace", t0))
	summary(0, 2, 2)
	decision := idrl.Answer{ID: "d", Seq: 7, Annotator: "a1", Choice: idrl.LeftOut, ReceivedAt: t0}
	must.Do(t, db.Append(ctx, "s", record.Row{Answer: decision, After: snapshot(7)}))
	summary(0, 2, 2)
	must.Do(t, db.DecideAnswers(ctx, "s", "a1", idrl.TakenIn, "grace", t0))
	summary(2, 2, 5)
	rec := must.Get(db.Load(ctx, "s"))(t)
	if d := cmp.Diff(decision, rec.Log[6]); d != "" {
		t.Error(d)
	}
	replies := must.Get(db.Replies(ctx, "s"))(t)
	if d := cmp.Diff(map[idrl.AnnotatorID]int{"a1": 2, "a2": 2}, replies); d != "" {
		t.Error(d)
	}
	wantKind(t, db.Append(ctx, "s", record.Row{Answer: idrl.Answer{ID: "e", Seq: 8, Annotator: "a9", Choice: idrl.LeftOut, ReceivedAt: t0}, After: snapshot(8)}), idrl.NotFound)
}

// TestTurnedSettings: turning is about the answers until it is decided, then until the row of the log that
// follows; it is recorded with its author, and taken back by every other decision but the end of a part.
func TestTurnedSettings(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	g := generation(0)
	seq := int64(0)
	reply := func(who idrl.AnnotatorID) {
		t.Helper()
		seq++
		as := assignment(seq, g.Queries[0], who)
		must.Do(t, db.Issue(ctx, "s", []record.Assignment{as}))
		must.Do(t, db.Append(ctx, "s", record.Row{Answer: answer(seq, as), After: snapshot(seq)}))
	}
	decide := func(how idrl.Choice) {
		t.Helper()
		must.Do(t, db.DecideAnswers(ctx, "s", "a1", how, "grace", t0))
	}
	follow := func(how idrl.Choice) {
		t.Helper()
		seq++
		a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("d", seq)), Seq: seq, Annotator: "a1", Choice: how, ReceivedAt: t0}
		must.Do(t, db.Append(ctx, "s", record.Row{Answer: a, After: snapshot(seq)}))
	}
	turned := func(when string, to int64, rows ...int64) {
		t.Helper()
		set := must.Get(db.Settings(ctx, "s"))(t)
		people := must.Get(db.Annotators(ctx, "s"))(t)
		if set.Turned["a1"] != to || people[0].Turned != to || len(set.Turned) > 1 {
			t.Errorf("%s: turned up to %v, %d; want %d", when, set.Turned, people[0].Turned, to)
		}
		var got []int64
		must.Do(t, db.Rows(ctx, "s", func(r record.Labelled) error {
			if r.Turned {
				got = append(got, r.Answer.Seq)
			}
			return nil
		}))
		if !slices.Equal(got, rows) {
			t.Errorf("%s: rows %v are turned, want %v", when, got, rows)
		}
	}
	wantKind(t, db.DecideAnswers(ctx, "s", "a9", idrl.Turned, "grace", t0), idrl.NotFound)
	wantKind(t, db.DecideAnswers(ctx, "s", "a1", idrl.Turned, "grace", t0), idrl.Invalid) // there are no answers
	wantKind(t, db.DecideAnswers(ctx, "s", "a1", idrl.ChoseA, "grace", t0), idrl.Invalid)
	reply("a1")
	reply("a2")
	reply("a1")
	decide(idrl.Turned)
	turned("decided", 3, 1, 3)
	reply("a1")
	turned("with a later answer", 3, 1, 3)
	follow(idrl.Turned)
	turned("followed", 5, 1, 3, 4) // which came before the session followed
	reply("a1")
	turned("with one after that", 5, 1, 3, 4)
	must.Do(t, db.RevokeAnnotator(ctx, "s", "a1", false, "grace", t0))
	turned("removed", 5, 1, 3, 4)
	if people, err := db.Annotators(ctx, "s"); err != nil || people[0].State() != "removed; answers turned up to row 5" {
		t.Errorf("%q, %v", people[0].State(), err)
	}
	decide(idrl.TakenIn)
	turned("turned back", 0)
	decide(idrl.Turned)
	decide(idrl.TakenIn)
	follow(idrl.Turned) // decided otherwise meanwhile
	turned("turned back before it was followed", 0)
	decide(idrl.Turned)
	decide(idrl.LeftOut)
	turned("left out", 0)
	decide(idrl.Turned)
	if set, err := db.Settings(ctx, "s"); err != nil || len(set.LeftOut) != 0 {
		t.Errorf("turned, and left out: %+v, %v", set, err)
	}
	if list, err := db.Sessions(ctx); err != nil || list[len(list)-1].Answers != 5 {
		t.Errorf("%+v, %v; want 5 answers", list[len(list)-1], err)
	}
	acts := must.Get(db.Acts(ctx, "s", 1))(t)
	if d := cmp.Diff([]record.Act{{At: t0, Actor: "grace", Action: "turn answers", Object: "a1"}}, acts); d != "" {
		t.Error(d)
	}
	follow(idrl.Turned)
	must.Get(db.Withdraw(ctx, "s", "a1", "grace", t0))(t)
	turned("withdrawn", 0)
	if rec, err := db.Load(ctx, "s"); err != nil || len(record.Countings(rec.Log)) != 0 {
		t.Errorf("the log says of somebody who withdrew how their answers count: %v, %v", record.Countings(rec.Log), err)
	}
}
