package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/web"
)

// fakeRehearser keeps what it is asked to rehearse, the newest first.
type fakeRehearser struct{ kept []web.RehearsalState }

func (f *fakeRehearser) Rehearse(_ context.Context, ask web.Rehearsal, owner string) (string, error) {
	name := fmt.Sprint("r", len(f.kept))
	f.kept = slices.Insert(f.kept, 0, web.RehearsalState{Name: name, Owner: owner, Title: ask.Spec.Title, Asked: ask, Began: time.Date(2026, 11, 28, 9, 5, 0, 0, time.UTC), Says: "It begins."})
	return name, nil
}

func (f *fakeRehearser) Rehearsed(_ context.Context, name string) (web.RehearsalState, error) {
	for _, r := range f.kept {
		if r.Name == name {
			return r, nil
		}
	}
	return web.RehearsalState{}, idrl.Errorf(idrl.NotFound, "none")
}

func (f *fakeRehearser) Rehearsals(_ context.Context, owner string) (out []web.RehearsalState, err error) {
	for _, r := range f.kept {
		if owner == "" || owner == r.Owner {
			out = append(out, r)
		}
	}
	return out, nil
}

func (f *fakeRehearser) StopRehearsal(name string) error {
	for i := range f.kept {
		if f.kept[i].Name == name {
			f.kept[i].Says, f.kept[i].Wrong, f.kept[i].Ended = "", "The rehearsal was stopped.", f.kept[i].Began
		}
	}
	return nil
}

func rehearsingBench(t *testing.T) (*bench, *fakeRehearser) {
	t.Helper()
	f := new(fakeRehearser)
	return newBench(t, func(c *web.Config) { c.Rehearser = f }), f
}

// A researcher sees, stops and repeats their own rehearsals, an admin those of all.
func TestRightsOfRehearsals(t *testing.T) {
	b, f := rehearsingBench(t)
	admin := b.researcher() // the first account
	owner, other := b.account("bo", identity.Researcher), b.account("cy", identity.Researcher)
	r := b.post(owner, "/sessions", url.Values{"title": {"Walk"}, "env": {"driver"}, "budget": {"4"}, "do": {"rehearse"}})
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/rehearsals/r0" {
		t.Fatalf("status %d, %v", r.status, r.header)
	}
	for _, change := range []url.Values{{}, {"do": {"again"}}} {
		if r := b.post(other, "/rehearsals/r0", change); r.status != http.StatusNotFound || len(f.kept) != 1 || f.kept[0].Says == "" {
			t.Errorf("another account sends %v: status %d", change, r.status)
		}
	}
	if r := b.get(other, "/rehearsals/r0"); r.status != http.StatusNotFound || strings.Contains(r.body, "Walk") {
		t.Errorf("another account: status %d", r.status)
	}
	for name, c := range map[string]*http.Client{"owner": owner, "admin": admin} {
		if r := b.get(c, "/rehearsals/r0"); r.status != http.StatusOK || r.lacks("Rehearsal of Walk", "Begun 28 Nov 2026, 09:05 UTC, by bo.", "data-stop") != nil {
			t.Errorf("%s: status %d\n%s", name, r.status, r.body)
		}
	}
	for _, form := range []string{"/sessions/new", "/arenas/new"} {
		link := `href="/rehearsals/r0"`
		if b.get(owner, form).lacks(link, "28 Nov 2026, 09:05 UTC, under way<") != nil || b.get(admin, form).lacks(link, "under way, by bo<") != nil || b.get(other, form).lacks(link) == nil {
			t.Errorf("%s lists rehearsals to others than the owner and admins, or not to these", form)
		}
	}
	if r := b.post(owner, "/rehearsals/r0", nil); r.status != http.StatusSeeOther || f.kept[0].Says != "" {
		t.Errorf("it is not stopped: status %d", r.status)
	}
	if r := b.post(admin, "/rehearsals/r0", url.Values{"do": {"again"}}); r.header.Get("Location") != "/rehearsals/r1" || f.kept[0].Owner != "Ada" || f.kept[0].Asked.Spec.Seed != f.kept[1].Asked.Spec.Seed {
		t.Errorf("an admin rehearses it again: status %d, %+v", r.status, f.kept[0])
	}
}

// A page of a rehearsal shows what was asked, and how it ended.
func TestRehearsalPages(t *testing.T) {
	b, f := rehearsingBench(t)
	c := b.researcher()
	b.post(c, "/sessions", url.Values{"title": {"Walk"}, "env": {"driver"}, "budget": {"40"}, "seed": {"17"}, "wage": {"12,5"}, "seconds": {"7.18"}, "rehearse_right": {"75"}, "rehearse_people": {"3"}, "do": {"rehearse"}})
	if len(f.kept) != 1 {
		t.Fatal("nothing is rehearsed")
	}
	asked := []string{"Driver, ", "<dd>40", "at most 3", "75 % of random pairs", "6 s, the median", "12.50 for an hour", "<dd>17"} // the mean 7.18 s is 6 s · e^0.18
	report := rehearsed.Report{Title: "Expected", Lines: []rehearsed.Line{{Name: "answers", Value: "40 (38 to 42)", Note: "of people"}}, Notes: []string{"Simulated."}}
	for _, test := range []struct {
		name  string
		state func(*web.RehearsalState)
		has   []string
		lacks []string
	}{
		{"under way", func(r *web.RehearsalState) { r.Says = "2 of 5." }, []string{"data-progress", "2 of 5.", "data-stop"}, []string{"data-again", "data-interrupted", "data-lines=\"expected\""}},
		{"interrupted", func(r *web.RehearsalState) { r.Says = "" }, []string{"data-interrupted", "data-again"}, []string{"data-stop", "data-lines=\"expected\""}},
		{"ended", func(r *web.RehearsalState) { r.Says, r.Ended, r.Report = "", r.Began.Add(time.Hour), report }, []string{"ended 28 Nov 2026, 10:05 UTC, by Ada.", "40 (38 to 42)", "Simulated.", "data-again"}, []string{"data-interrupted", "data-stop"}},
		{"wrong", func(r *web.RehearsalState) {
			r.Says, r.Ended, r.Wrong = "", r.Began, "The rehearsal was stopped."
		}, []string{"data-wrong", "The rehearsal was stopped.", "data-again"}, []string{"data-interrupted", "data-lines=\"expected\""}},
	} {
		test.state(&f.kept[0])
		r := b.get(c, "/rehearsals/r0")
		if missing := r.lacks(append(test.has, asked...)...); missing != nil || r.status != http.StatusOK {
			t.Errorf("%s: status %d, %v", test.name, r.status, missing)
		}
		for _, word := range test.lacks {
			if strings.Contains(r.body, word) {
				t.Errorf("%s: has %s", test.name, word)
			}
		}
		if reloads := r.header.Get("Refresh") != ""; reloads != (test.name == "under way") {
			t.Errorf("%s: it reloads itself: %v", test.name, reloads)
		}
	}
}

// The form of an arena has a wage, of its rehearsal alone, and keeps it; what may no longer be watched is not rehearsed again.
func TestRehearsalOfAnArenaForm(t *testing.T) {
	b, f := rehearsingBench(t)
	b.researcher() // an admin
	c := b.account("bo", identity.Researcher)
	b.give("bo", identity.RightView)
	form := url.Values{"title": {"Mine"}, "now": {"s1"}, "after-s1": {"0"}, "budget": {"12"}, "wage": {"15"}, "do": {"rehearse"}}
	if r := b.post(c, "/arenas", form); r.status != http.StatusSeeOther || len(f.kept) != 1 || f.kept[0].Asked.Wage != 15 || len(f.kept[0].Asked.Entrants) != 2 {
		t.Fatalf("status %d, %+v", r.status, f.kept)
	}
	if r := b.get(c, "/rehearsals/r0"); r.lacks("of 2 policies", "15.00 for an hour") != nil {
		t.Error(r.body)
	}
	for _, wrong := range []string{"much", "-1", "0"} {
		form.Set("wage", wrong)
		if r := b.post(c, "/arenas", form); r.status != http.StatusBadRequest || r.lacks("The wage for an hour must be a number above 0", `name="wage" value="`+wrong+`"`) != nil {
			t.Errorf("wage %q: status %d", wrong, r.status)
		}
	}
	form.Set("wage", "")
	if r := b.post(c, "/arenas", form); r.status != http.StatusSeeOther || f.kept[0].Asked.Wage != 0 {
		t.Errorf("no wage: status %d", r.status)
	}
	b.give("bo", identity.NoRight)
	if r := b.post(c, "/rehearsals/r0", url.Values{"do": {"again"}}); r.status != http.StatusNotFound || len(f.kept) != 2 {
		t.Errorf("sessions that are no longer shared: status %d, %d rehearsals", r.status, len(f.kept))
	}
}
