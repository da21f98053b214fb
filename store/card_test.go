package store_test

import (
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

// A data card is changed as a whole, is a part of the settings from then on, and is refused if it cannot be shown.
func TestSetCard(t *testing.T) {
	db := open(t, t.TempDir())
	is := spec("s")
	is.Seed = 1<<63 + 3 // which no detour over floating-point numbers may change
	must.Do(t, db.CreateSession(t.Context(), is))
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	card := idrl.DataCard{Authors: `Ada "A" <ada@example.org>; Bob`, Licence: "CC-BY-4.0", Recruitment: "A notice.\nIn the lab.", Payment: "12 €"}
	must.Do(t, db.SetCard(t.Context(), "s", card, "ada", now))
	got, err := db.Spec(t.Context(), "s")
	if err != nil || got.Card() != card || got.Seed != is.Seed || got.Title != is.Title {
		t.Errorf("%+v, %v", got, err)
	}
	must.Do(t, db.SetCard(t.Context(), "s", idrl.DataCard{}, "ada", now))
	if got, err = db.Spec(t.Context(), "s"); err != nil || got.Card() != (idrl.DataCard{}) {
		t.Errorf("emptied: %+v, %v", got.Card(), err)
	}
	for _, bad := range []idrl.DataCard{{Authors: "a\nb"}, {Licence: strings.Repeat("x", idrl.MaxLicence+1)}, {Recruitment: "\u202e"}, {Payment: strings.Repeat("x", idrl.MaxCardText+1)}} {
		if err := db.SetCard(t.Context(), "s", bad, "ada", now); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := db.SetCard(t.Context(), "none", card, "ada", now); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("of no session: %v", err)
	}
}
