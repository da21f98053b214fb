package settings_test

import (
	"strings"
	"testing"

	"tiebreak/internal/study/settings"
)

// Sessions of every audience can be made, and its defaults are what it says; those of the lab are the
// defaults of all commands.
func TestAudiences(t *testing.T) {
	for _, a := range settings.Audiences() {
		spec := settings.Complete(a.Defaults())
		if err := settings.Check(spec); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		for _, p := range a.Sets {
			s := settings.Get(p.Key)
			if s.Text(spec) != p.Value || a.Default(s) != p.Value {
				t.Errorf("%s sets %s to %q, a session has %q", a.Name, p.Key, p.Value, s.Text(spec))
			}
			if p.Value == s.Default {
				t.Errorf("%s sets %s to its default", a.Name, p.Key)
			}
			if !strings.Contains(a.Says(), s.Label+": ") {
				t.Errorf("%s does not say that it sets %s: %s", a.Name, p.Key, a.Says())
			}
		}
		if got := settings.Fits(a.Defaults()); got.Name != a.Name {
			t.Errorf("the defaults of %s are taken for those of %s", a.Name, got.Name)
		}
	}
	if len(settings.FindAudience(settings.Lab).Sets) > 0 {
		t.Error("the lab has defaults of its own")
	}
}

// Each setting under a heading has a reason for its default, in one line.
func TestWhy(t *testing.T) {
	for _, s := range settings.All() {
		if why := s.Why(); (s.Group != "") != (why != "") || len(why) > 90 || why != "" && !strings.HasSuffix(why, ".") {
			t.Errorf("the reason for the default of %s is %q", s.Key, why)
		}
	}
}
