package acquisition_test

import (
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
)

func TestFind(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range acquisition.Methods() {
		if got, err := acquisition.Find(m.Name); err != nil || got.Title != m.Title || got.New(true) == nil || got.New(false) == nil {
			t.Errorf("%s: found %+v, error %v", m.Name, got, err)
		}
		if seen[m.Name] || m.Title == "" || m.About == "" {
			t.Errorf("%s is there twice or says nothing of itself", m.Name)
		}
		seen[m.Name] = true
	}
	for i, m := range acquisition.Live() {
		if i == 0 != (m.Name == idrl.DefaultAcquisition) || m.Hint == "" || m.Why == "" || m.NoPair == "" {
			t.Errorf("%s, which sessions offer at place %d, does not say enough", m.Name, i)
		}
	}
	_, err := acquisition.Find("best")
	if idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), "idrl, uniform") {
		t.Errorf("error %v, want one of kind Invalid that lists the known ones", err)
	}
}

// What every method can value, by kind of query: whole trajectories, clips that
// are compared, clips that are rated, states that are compared, and rated.
func TestFits(t *testing.T) {
	const all = "whole compare rate-whole rate compare-states rate-states"
	for name, want := range map[string]string{
		"idrl": all, "uniform": all, "igr": all, "epd": all, "lvar": all, "tt": all, "err": all,
		"kg": all, "kg-star": all, "vids": all, "leader": all,
		"eir":  "rate-whole rate rate-states",
		"pi":   "rate-whole rate rate-states",
		"evr":  "whole compare compare-states",
		"mr":   "whole",
		"eubo": "whole", "mr-simple": "whole",
	} {
		m := must.Get(acquisition.Find(name))(t)
		var fits []string
		for _, query := range []struct {
			name  string
			kind  idrl.QueryKind
			whole bool
		}{
			{"whole", idrl.CompareClips, true},
			{"compare", idrl.CompareClips, false},
			{"rate-whole", idrl.RateClip, true},
			{"rate", idrl.RateClip, false},
			{"compare-states", idrl.CompareStates, false},
			{"rate-states", idrl.RateState, false},
		} {
			switch err := m.Fits(query.kind, query.whole); {
			case err == nil:
				fits = append(fits, query.name)
			case idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), m.Title+" does not apply here: it "):
				t.Errorf("%s, %s: error %v", name, query.name, err)
			}
		}
		if got := strings.Join(fits, " "); got != want {
			t.Errorf("%s fits %q, want %q", name, got, want)
		}
	}
	mr := must.Get(acquisition.Find("mr"))(t)
	if err := mr.Fits(idrl.RateState, false); err == nil || !strings.Contains(err.Error(), "these questions are about states") {
		t.Errorf("maximum regret of states: %v", err)
	}
}

// A session names a method that is live and can value its questions.
func TestForSession(t *testing.T) {
	for _, kind := range idrl.QueryKinds() {
		for _, m := range acquisition.LiveFor(kind) {
			got, err := acquisition.ForSession(idrl.SessionSpec{Acquisition: m.Name, Kind: kind})
			if err != nil || got.Name != m.Name {
				t.Errorf("%s for %s: %q, %v", m.Name, kind, got.Name, err)
			}
		}
	}
	for _, test := range []struct {
		name, method string
		kind         idrl.QueryKind
		want         string // in the error
	}{
		{"unknown", "guess", idrl.CompareClips, "lvar, idrl, uniform, igr, evr, tt, err, kg-star, vids, leader"},
		{"of experiments only", "epd", idrl.CompareClips, "known: lvar, idrl, uniform"},
		{"for comparisons", "evr", idrl.RateState, "those that can: lvar, idrl, uniform, igr, tt"},
	} {
		_, err := acquisition.ForSession(idrl.SessionSpec{Acquisition: test.method, Kind: test.kind})
		if idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one of kind Invalid with %q", test.name, err, test.want)
		}
	}
}

// Methods that look at the policy for the mean or at an archive say so.
func TestNeeds(t *testing.T) {
	for _, m := range acquisition.Methods() {
		if n := m.Needs; n.Archive && !n.Candidates.Mean() || m.Live && m.New(false) == nil {
			t.Errorf("%s: %+v", m.Name, n)
		}
	}
}

// What sessions with people offer, and what looks at an archive.
func TestFlags(t *testing.T) {
	var live, archive []string
	for _, m := range acquisition.Methods() {
		if m.Live {
			live = append(live, m.Name)
		}
		if m.Needs.Archive {
			archive = append(archive, m.Name)
		}
	}
	if got := strings.Join(live, " "); got != "idrl uniform igr evr lvar tt err kg-star vids leader" {
		t.Errorf("live: %s", got)
	}
	if got := strings.Join(archive, " "); got != "lvar tt err kg kg-star vids" {
		t.Errorf("with an archive: %s", got)
	}
}
