package store_test

import (
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Consent texts have versions, of which people agree to the one in use; an empty one asks
// nobody; an agreement goes with the data of its person.
func TestConsent(t *testing.T) {
	dir := t.TempDir()
	db := studied(t, dir, 4)
	ctx := t.Context()
	state := func(who idrl.AnnotatorID, version, agreed int64, asked bool) {
		t.Helper()
		c, has, err := db.Consent(ctx, "s", who)
		if err != nil || c.Version != version || has != agreed || c.Awaits(has) != asked {
			t.Errorf("%s: version %d, agreed to %d, asked %v, %v; want %d, %d, %v", who, c.Version, has, c.Awaits(has), err, version, agreed, asked)
		}
	}
	state("a1", 0, 0, false)
	wantKind(t, db.Agree(ctx, "s", "a1", 0, t0), idrl.Conflict)
	set := func(text string, want int64) {
		t.Helper()
		if v, err := db.SetConsent(ctx, "s", text, "grace", t0); v != want || err != nil {
			t.Errorf("version %d, %v; want %d", v, err, want)
		}
	}
	before, err := db.Changes(ctx)
	must.Do(t, err)
	set("", 0)
	set("One.", 1)
	set("One.", 1)
	if now, err := db.Changes(ctx); now != before+1 || err != nil {
		t.Errorf("%d changes, %v; want one", now-before, err)
	}
	state("a1", 1, 0, true)
	wantKind(t, db.Agree(ctx, "s", "a1", 2, t0), idrl.Conflict)
	wantKind(t, db.Agree(ctx, "s", "a7", 1, t0), idrl.NotFound)
	for range 2 {
		must.Do(t, db.Agree(ctx, "s", "a1", 1, t0))
	}
	state("a1", 1, 1, false)
	state("a2", 1, 0, true)
	set("Two.", 2)
	state("a1", 2, 1, true)
	wantKind(t, db.Agree(ctx, "s", "a1", 1, t0), idrl.Conflict)
	must.Do(t, db.Agree(ctx, "s", "a1", 2, t0))
	set("", 3)
	state("a2", 3, 0, false)
	set("Four.", 4)
	state("a1", 4, 2, true)
	all, err := db.ConsentVersions(ctx, "s")
	must.Do(t, err)
	if d := cmp.Diff([]idrl.Consent{{Version: 1, Text: "One."}, {Version: 2, Text: "Two."}, {Version: 3}, {Version: 4, Text: "Four."}}, all); d != "" {
		t.Error(d)
	}
	if spec, err := db.Spec(ctx, "s"); err != nil || spec.Consent != "Four." || spec.ConsentVersion != 4 {
		t.Errorf("the spec has version %d: %q (%v)", spec.ConsentVersion, spec.Consent, err)
	}
	if s, err := db.Settings(ctx, "s"); err != nil || s.Consent.Version != 4 {
		t.Errorf("the settings have version %d (%v)", s.Consent.Version, err)
	}
	_, err = db.SetConsent(ctx, "s", string(make([]byte, idrl.MaxConsent+1)), "grace", t0)
	wantKind(t, err, idrl.Invalid)

	must.Get(db.Withdraw(ctx, "s", "a1", "a1", t0.Add(time.Hour)))(t)
	state("a1", 4, 0, true)
	wantKind(t, db.Agree(ctx, "s", "a1", 4, t0), idrl.NotFound)
	must.Do(t, db.Close())
}

// A session that is made with a consent text has it as version 1, and answers tell what
// their annotator had agreed to.
func TestConsentOfASpec(t *testing.T) {
	db := studied(t, t.TempDir(), 2)
	defer db.Close()
	s := spec("c")
	s.Consent = "Made with it."
	must.Do(t, db.CreateSession(t.Context(), s))
	if c, _, err := db.Consent(t.Context(), "c", "a1"); err != nil || c != (idrl.Consent{Version: 1, Text: "Made with it."}) {
		t.Errorf("%+v, %v", c, err)
	}
	if v, err := db.SetConsent(t.Context(), "c", "Changed.", "grace", t0); v != 2 || err != nil {
		t.Errorf("version %d, %v; want 2", v, err)
	}
	if all, err := db.ConsentVersions(t.Context(), "c"); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	rec := must.Get(db.Load(t.Context(), "s"))(t)
	seq := int64(len(rec.Log)) + 1
	as := assignment(500, generation(0).Queries[0], "a2")
	must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
	a := answer(seq, as)
	a.Consent = 7
	must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: a, After: snapshot(seq)}))
	rec = must.Get(db.Load(t.Context(), "s"))(t)
	if got := rec.Log[seq-1].Consent; got != 7 {
		t.Errorf("the answer is recorded under version %d, want 7", got)
	}
}
