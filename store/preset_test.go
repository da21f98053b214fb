package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// An account keeps presets by name and sees no others; there are at most MaxPresets.
func TestPresets(t *testing.T) {
	db := open(t, t.TempDir())
	now := time.Now()
	for _, user := range []string{"ada", "bo"} {
		must.Do(t, db.AddUser(t.Context(), user, identity.Researcher, now))
	}
	must.Do(t, db.SavePreset(t.Context(), "ada", "pilot", []byte("budget: 20\n"), now))
	must.Do(t, db.SavePreset(t.Context(), "ada", "pilot", []byte("budget: 30\n"), now))
	if file, err := db.Preset(t.Context(), "ada", "pilot"); err != nil || string(file) != "budget: 30\n" {
		t.Errorf("the preset is %q, %v", file, err)
	}
	if _, err := db.Preset(t.Context(), "bo", "pilot"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("another account gets %v", err)
	}
	if err := db.SavePreset(t.Context(), "nobody", "pilot", nil, now); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("an account that is not there: %v", err)
	}
	var err error
	for n := range store.MaxPresets {
		err = db.SavePreset(t.Context(), "ada", fmt.Sprintf("preset %02d", n), nil, now)
	}
	names, listed := db.Presets(t.Context(), "ada")
	if must.Do(t, listed); idrl.KindOf(err) != idrl.Conflict || len(names) != store.MaxPresets || !slices.IsSorted(names) {
		t.Errorf("the last is refused with %v; there are %d", err, len(names))
	}
	must.Do(t, db.DeletePreset(t.Context(), "ada", "pilot"))
	must.Do(t, db.DeletePreset(t.Context(), "ada", "pilot"))
	if names, err := db.Presets(t.Context(), "ada"); err != nil || slices.Contains(names, "pilot") {
		t.Errorf("after it was deleted: %q, %v", names, err)
	}
}
