package store_test

import (
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

// Tags are changed as a whole, kept without doubles, and refused if they cannot be shown; the audit trail says who changed them.
func TestSetTags(t *testing.T) {
	db := open(t, t.TempDir())
	is := spec("s")
	is.Seed = 1<<63 + 3 // which no detour over floating-point numbers may change
	must.Do(t, db.CreateSession(t.Context(), is))
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	must.Do(t, db.SetTags(t.Context(), "s", " pilot,b ,Pilot", "ada", now))
	got, err := db.Spec(t.Context(), "s")
	if err != nil || got.Tags != "pilot, b" || got.Seed != is.Seed || got.Title != is.Title {
		t.Errorf("%+v, %v", got, err)
	}
	acts, err := db.Acts(t.Context(), "s", 1)
	if err != nil || len(acts) != 1 || acts[0].Action != "set tags" || acts[0].Object != "pilot, b" || acts[0].Actor != "ada" {
		t.Errorf("acts %+v, %v", acts, err)
	}
	must.Do(t, db.SetTags(t.Context(), "s", "", "ada", now))
	if got, err = db.Spec(t.Context(), "s"); err != nil || got.Tags != "" {
		t.Errorf("emptied: %q, %v", got.Tags, err)
	}
	for _, bad := range []string{"a\nb", "\u202e", strings.Repeat("x", idrl.MaxTag+1)} {
		if err := db.SetTags(t.Context(), "s", bad, "ada", now); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := db.SetTags(t.Context(), "none", "a", "ada", now); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("of no session: %v", err)
	}
}
