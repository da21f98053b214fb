package settings_test

import (
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
)

// The longest text of a setting is counted in characters, as messages and the served schema say, and not in bytes.
func TestTextsAreCountedInCharacters(t *testing.T) {
	for _, s := range settings.All() {
		most, ok := s.Schema()["maxLength"].(int)
		if !ok {
			continue
		}
		spec := settings.Complete(idrl.SessionSpec{Title: "t", Env: "driver"})
		text := strings.Repeat("好,", most/2)
		must.Do(t, s.Set(&spec, text))
		if got := settings.Problems(spec); len(got) > 0 {
			t.Errorf("%s of %d characters: %s", s.Key, most, got[0])
		}
		must.Do(t, s.Set(&spec, text+"好"))
		if got := settings.Problems(spec); len(got) == 0 || !strings.Contains(got[0].String(), "characters") {
			t.Errorf("%s of %d characters: %v", s.Key, most+1, got)
		}
	}
}
