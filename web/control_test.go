package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/web"
)

func TestControlOfASession(t *testing.T) {
	b := newBench(t, nil)
	c, annotator, link := b.researcher(), b.annotator("s1"), b.link("s1")
	state := func(want record.SessionState) {
		t.Helper()
		set, err := b.db.Settings(t.Context(), "s1")
		if err != nil || set.State != want {
			t.Errorf("the session is %s, %v; want %s", set.State, err, want)
		}
	}
	do := func(form url.Values, status int) reply {
		t.Helper()
		r := b.post(c, "/sessions/s1/control", form)
		if r.status != status {
			t.Errorf("%v: status %d, want %d: %s", form, r.status, status, r.body)
		}
		return r
	}
	if r := b.get(c, "/sessions/s1"); r.lacks(`data-state="running"`, `data-do="pause"`) != nil || r.lacks(`data-do="close"`) == nil {
		t.Error("the overview does not pause the session, or does more")
	}
	if r := b.get(c, "/sessions/s1/settings"); r.lacks(`data-state="running"`, `data-do="pause"`, `data-do="close"`, `data-do="archive"`, `data-rename`, `data-clone`) != nil {
		t.Errorf("the page lacks %q", r.lacks(`data-state="running"`, `data-do="pause"`, `data-do="close"`, `data-do="archive"`, `data-rename`, `data-clone`))
	}
	for _, path := range []string{"control", "title", "clone"} {
		if r := b.post(annotator, "/sessions/s1/"+path, url.Values{"do": {"pause"}, "title": {"Mine"}, "seed": {"new"}}); r.status != 403 {
			t.Errorf("an annotator may post to %s: status %d", path, r.status)
		}
	}
	do(url.Values{"do": {"explode"}}, 400)
	do(url.Values{"do": {"close"}}, 400) // not sure
	do(url.Values{"do": {"archive"}}, 400)
	state(record.StateRunning)
	if r := do(url.Values{"do": {"pause"}, "page": {"overview"}}, 303); r.header.Get("Location") != "/sessions/s1#control" || b.s1.follows != 1 {
		t.Errorf("pause leads to %q, followed %d times", r.header.Get("Location"), b.s1.follows)
	}
	state(record.StatePaused)
	if r := b.get(c, "/sessions/s1/settings"); r.lacks(`data-state="paused"`, `data-do="resume"`, "paused by Ada") != nil || r.lacks(`data-do="pause"`) == nil {
		t.Errorf("the page of a paused session lacks %q", r.lacks(`data-state="paused"`, `data-do="resume"`, "paused by Ada"))
	}
	if r := do(url.Values{"do": {"close"}, "sure": {"yes"}, "page": {"https://elsewhere.example"}}, 303); r.header.Get("Location") != "/sessions/s1/settings#control" {
		t.Errorf("close leads to %q", r.header.Get("Location"))
	}
	state(record.StateClosed)
	do(url.Values{"do": {"pause"}}, 409)
	if r := b.get(b.browser(), link); r.status != 409 || r.lacks("<h1>This session has ended</h1>") != nil {
		t.Errorf("the link into a closed session: status %d", r.status)
	}
	if r := b.post(b.browser(), link, url.Values{"name": {"Late"}}); r.status != 409 || r.lacks("<h1>This session has ended</h1>") != nil {
		t.Errorf("joining a closed session: status %d", r.status)
	}
	do(url.Values{"do": {"archive"}, "sure": {"yes"}}, 303)
	state(record.StateArchived)
	do(url.Values{"do": {"resume"}}, 303)
	state(record.StateRunning)
}

// What was done lists the changes of settings beside what controls the session, the last one
// first.
func TestWhatWasDone(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	at := time.Now()
	for i, do := range []func(time.Time) error{
		func(at time.Time) error {
			_, _, err := b.db.Control(t.Context(), "s1", record.ActPause, "Ada", at)
			return err
		},
		func(at time.Time) error { return b.db.SetBudget(t.Context(), "s1", 60, "Ada", at) },
		func(at time.Time) error { return b.db.SetGoldEvery(t.Context(), "s1", 7, "the command line", at) },
		func(at time.Time) error {
			_, err := b.db.SetInstructions(t.Context(), "s1", "markdown", "Look closely.", "Ada", at)
			return err
		},
	} {
		must.Do(t, do(at.Add(time.Duration(i)*time.Second)))
	}
	page := b.get(c, "/sessions/s1/settings").body
	last := len(page)
	for _, want := range []string{"paused by Ada", "answers wanted set to 60, was ", "gold questions: one in 7, was 0", "set instructions: version 2 by Ada"} {
		i := strings.LastIndex(page, want)
		if i < 0 || i > last {
			t.Errorf("%q is not listed, or before what came before it", want)
		}
		last = i
	}
}

func TestRenameAndClone(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	for _, title := range []string{"", "two\nlines"} {
		if r := b.post(c, "/sessions/s1/title", url.Values{"title": {title}}); r.status != 400 {
			t.Errorf("title %q: status %d", title, r.status)
		}
	}
	if r := b.post(c, "/sessions/s1/title", url.Values{"title": {" Pilot "}}); r.status != 303 {
		t.Errorf("rename: status %d", r.status)
	}
	if spec, err := b.db.Spec(t.Context(), "s1"); spec.Title != "Pilot" || err != nil {
		t.Errorf("title %q, %v", spec.Title, err)
	}
	if r := b.post(c, "/sessions/s1/clone", url.Values{"title": {"Second"}, "seed": {"perhaps"}}); r.status != 400 {
		t.Errorf("clone: status %d", r.status)
	}
	for _, seed := range []string{"same", "new"} {
		if r := b.post(c, "/sessions/s1/clone", url.Values{"title": {"Second"}, "seed": {seed}}); r.status != 303 || r.header.Get("Location") != "/sessions/s9" {
			t.Errorf("clone: status %d to %q", r.status, r.header.Get("Location"))
		}
		made := b.sessions.created[len(b.sessions.created)-1]
		if made.Title != "Second" || (made.Seed == 7) != (seed == "same") || made.ID != "" {
			t.Errorf("the copy with the %s seed: %+v", seed, made)
		}
	}
}

// Archived sessions are listed on demand.
func TestArchivedSessionsAreListedOnDemand(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.sessions.states = map[idrl.SessionID]record.SessionState{"s1": record.StateArchived, "s2": record.StatePaused}
	if r := b.get(c, "/sessions"); r.lacks(`data-session="s2"`, `data-state="paused"`, "/sessions?archived=1") != nil || r.lacks(`data-session="s1"`) == nil {
		t.Errorf("the list: %s", r.body)
	}
	if r := b.get(c, "/sessions?archived=1"); r.lacks(`data-session="s1"`, `data-state="archived"`, `data-session="s2"`) != nil {
		t.Errorf("the whole list: %s", r.body)
	}
}

// The form has the fields that it reads, and says what empty ones stand for.
func TestFormHasItsFields(t *testing.T) {
	b := newBench(t, nil)
	r := b.get(b.researcher(), "/sessions/new")
	for _, name := range web.FormFields() {
		if r.lacks(`name="`+name+`"`) != nil {
			t.Errorf("the form has no field %q", name)
		}
	}
	if miss := r.lacks(`name="candidates" value="" inputmode="numeric" placeholder="5"`, `placeholder="0.25"`, `placeholder="a quarter of the noise"`); miss != nil {
		t.Errorf("the form lacks %q", miss)
	}
}
