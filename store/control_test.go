package store_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// TestControl: what researchers do to a session is kept with who did it, over a restart, and
// cannot be changed afterwards; nobody joins a session that has ended.
func TestControl(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	ctx := t.Context()
	act := func(action string, want record.SessionState) {
		t.Helper()
		_, after, err := db.Control(ctx, "s", action, "grace", t0)
		if after != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", action, after, err, want)
		}
	}
	before, err := db.Changes(ctx)
	must.Do(t, err)
	act(record.ActPause, record.StatePaused)
	act(record.ActPause, record.StatePaused) // changes nothing
	must.Do(t, db.Rename(ctx, "s", "Pilot", "ada", t0.Add(time.Minute)))
	must.Do(t, db.Rename(ctx, "s", "Pilot", "ada", t0.Add(time.Hour))) // nor does this
	act(record.ActClose, record.StateClosed)
	_, _, err = db.Control(ctx, "s", record.ActPause, "grace", t0)
	wantKind(t, err, idrl.Conflict)
	if _, err := db.CreateAnnotator(ctx, "s", "Late"); !errors.Is(err, record.ErrEnded) {
		t.Errorf("joins a closed session: %v", err)
	}
	_, err = db.Invite(ctx, hash("link"), identity.Invitation{Session: "s", Uses: 3, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
	must.Do(t, err)
	if _, err := db.SignIn(ctx, hash("link"), hash("cookie"), "Late", limit, t0); !errors.Is(err, record.ErrEnded) {
		t.Errorf("joins a closed session by a link: %v", err)
	}
	act(record.ActArchive, record.StateArchived)
	_, _, err = db.Control(ctx, "s", "explode", "grace", t0)
	wantKind(t, err, idrl.Invalid)
	_, _, err = db.Control(ctx, "x", record.ActPause, "grace", t0)
	wantKind(t, err, idrl.NotFound)
	for _, title := range []string{"", " ", "two\nlines", strings.Repeat("x", idrl.MaxTitle+1)} {
		wantKind(t, db.Rename(ctx, "s", title, "ada", t0), idrl.Invalid)
	}
	wantKind(t, db.Rename(ctx, "x", "Title", "ada", t0), idrl.NotFound)
	if after, err := db.Changes(ctx); after != before+4 || err != nil {
		t.Errorf("%d changes, %v; want 4", after-before, err)
	}
	must.Do(t, db.Close())

	db, err = store.Open(context.WithoutCancel(ctx), dir)
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	want := []record.Control{
		{At: t0, Actor: "grace", Action: record.ActPause, State: record.StatePaused, Title: spec("s").Title},
		{At: t0.Add(time.Minute), Actor: "ada", Action: record.ActRename, State: record.StatePaused, Title: "Pilot"},
		{At: t0, Actor: "grace", Action: record.ActClose, State: record.StateClosed, Title: "Pilot"},
		{At: t0, Actor: "grace", Action: record.ActArchive, State: record.StateArchived, Title: "Pilot"},
	}
	got, err := db.Controls(ctx, "s")
	must.Do(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	rec, err := db.Load(ctx, "s")
	if rec.Spec.Title != "Pilot" || rec.Settings.Title != "Pilot" || rec.Settings.State != record.StateArchived || err != nil {
		t.Errorf("record: titles %q and %q, state %q, %v", rec.Spec.Title, rec.Settings.Title, rec.Settings.State, err)
	}
	list, err := db.Sessions(ctx)
	if len(list) != 1 || list[0].State != record.StateArchived || list[0].Spec.Title != "Pilot" || err != nil {
		t.Errorf("list: %+v, %v", list, err)
	}
	act(record.ActResume, record.StateRunning)
	if _, err := db.CreateAnnotator(ctx, "s", "Cy"); err != nil {
		t.Errorf("after it was resumed: %v", err)
	}
	raw, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	must.Do(t, err)
	defer raw.Close()
	for _, tamper := range []string{`UPDATE control SET actor = 'eve'`, `DELETE FROM control`} {
		if _, err := raw.ExecContext(ctx, tamper); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", tamper, err)
		}
	}
}

// TestClone: a copy has the settings and the pictures, and nothing that people did.
func TestClone(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	picture := record.Picture{ID: "0123456789abcdef", Type: "image/png", Content: []byte("png")}
	must.Do(t, db.AddPicture(ctx, "s", picture, "ada", t0))
	must.Get(db.SetInstructions(ctx, "s", idrl.Markdown, "Look *closely*.", "ada", t0))(t)
	of := must.Get(db.Spec(ctx, "s"))(t)
	made := of.Clone(record.CloneTitle(of.Title), 99)
	made.ID, made.CreatedAt = "copy", t0
	must.Do(t, db.CloneSession(ctx, made, "s", "ada"))
	got := must.Get(db.Picture(ctx, "copy", picture.ID))(t)
	if d := cmp.Diff(picture, got); d != "" {
		t.Error(d)
	}
	rec := must.Get(db.Load(ctx, "copy"))(t)
	if rec.Spec.Instructions != "Look *closely*." || rec.Spec.Seed != 99 || rec.Spec.Title != "Copy of "+of.Title || len(rec.Log) != 0 || rec.Generation != nil {
		t.Errorf("the copy: %+v", rec.Spec)
	}
	wantKind(t, db.CloneSession(ctx, made, "s", "ada"), idrl.Conflict)
}

// What nothing else records is kept in the audit trail with who did it.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	must.Do(t, db.Audit(t.Context(), "s", "ada", "cancel training", "from answer 5", t0))
	wantKind(t, db.Audit(t.Context(), "gone", "ada", "cancel training", "", t0), idrl.NotFound)
	raw := must.Get(sql.Open("sqlite", filepath.Join(dir, store.FileName)))(t)
	defer raw.Close()
	var who, what string
	must.Do(t, raw.QueryRowContext(t.Context(), `SELECT actor, object FROM audit WHERE action = 'cancel training'`).Scan(&who, &what))
	if who != "ada" || what != "from answer 5" {
		t.Errorf("the audit trail says %q, %q", who, what)
	}
}
