package web_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
)

// fakeArenas makes every session an arena of two policies, and notes what it is asked to make.
type fakeArenas struct{ b *bench }

func (f fakeArenas) NewArena(_ context.Context, spec idrl.SessionSpec, entrants []web.Entrant, _ string) (idrl.SessionID, error) {
	if len(entrants) < 2 {
		return "", idrl.Errorf(idrl.Invalid, "an arena compares 2 to 20 policies; got %d", len(entrants))
	}
	f.b.arena, f.b.entrants = spec, entrants
	return "s1", nil
}

func (f fakeArenas) Recorded() []web.RecordedSet {
	return []web.RecordedSet{{Env: "rollouts-reach", Title: "Reaching", Policies: []string{"act", "pi: 0"}, Tasks: 4, Started: 2}}
}

func (f fakeArenas) Uploaded(context.Context, idrl.SessionID) (web.RecordedSet, error) {
	return web.RecordedSet{Env: "s3", Policies: f.b.uploaded, Tasks: 2, Started: 1, Unnamed: 1}, nil
}

func (f fakeArenas) Arena(ctx context.Context, id idrl.SessionID) (bradley.Report, []bradley.Outcome, error) {
	rec, err := f.b.db.Load(ctx, id)
	if err != nil {
		return bradley.Report{}, nil, err
	}
	if !rec.Spec.IsArena() {
		rec.Spec.Arena = idrl.Arena{Entrants: []idrl.Entrant{{Title: "Alpha <b>"}, {Title: "Beta"}}}
		rec.Log = nil
	}
	return bradley.NewReport(rec)
}

// The form of an arena keeps what was typed when something is wrong, and says what.
func TestArenaForm(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	page := b.get(c, "/arenas/new")
	if page.status != http.StatusOK || !strings.Contains(page.body, `name="now" value="s1"`) || !strings.Contains(page.body, `name="detect" value="0.7"`) {
		t.Fatalf("status %d:\n%s", page.status, page.body)
	}
	for _, test := range []struct {
		form url.Values
		want string
	}{
		{url.Values{"title": {"Mine"}, "now": {"s1"}}, "An arena compares 2 to 20 policies; got 1."},
		{url.Values{"title": {"Mine"}, "now": {"s1", "s2"}, "after-s1": {"x"}}, "must be a whole number"},
		{url.Values{"title": {"Mine"}, "now": {"s1", "s2"}, "after-s1": {"-1"}}, "must be a whole number"},
		{url.Values{"title": {"Mine"}, "now": {"s1", "s2"}, "budget": {"many"}}, "Answers wanted must be a whole number"},
		{url.Values{"title": {"Mine"}, "now": {"s1", "s2"}, "detect": {"most"}}, "The smallest preference to find must be a share such as 0.7"},
		{url.Values{"title": {""}, "now": {"s1", "s2"}}, "title must have 1 to"},
	} {
		r := b.post(c, "/arenas", test.form)
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, test.want) || !strings.Contains(r.body, `value="s1" checked`) {
			t.Errorf("%v: status %d, want %q", test.form, r.status, test.want)
		}
	}
	r := b.post(c, "/arenas", url.Values{"title": {" Mine "}, "now": {"s2", "s1"}, "after-s1": {"0"}, "name-s1": {"First"}, "budget": {"12"}, "detect": {"0,8"}})
	if r.status != http.StatusSeeOther || b.arena.Title != "Mine" || b.arena.Budget != 12 || b.arena.Arena.Detect != 0.8 || len(b.entrants) != 3 {
		t.Fatalf("status %d, %+v of %+v", r.status, b.arena, b.entrants)
	}
	if e := b.entrants[2]; b.entrants[0].Title != "First" || b.entrants[0].After != -1 || e.Session != "s1" || e.After != 0 || e.Title != "First, row 0" {
		t.Errorf("entrants %+v", b.entrants)
	}
	if r := b.post(b.browser(), "/arenas", nil); r.status == http.StatusSeeOther && r.header.Get("Location") != "/" {
		t.Errorf("a stranger makes an arena: %d %v", r.status, r.header)
	}
}

// Recorded policies are ticked by the form, which keeps them when something is wrong.
func TestArenaFormOfRecordings(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if page := b.get(c, "/arenas/new"); !strings.Contains(page.body, `name="policy" value="rollouts-reach:pi: 0"`) || !strings.Contains(page.body, "2 policies, 4 tasks, 2 with starts in common") {
		t.Fatalf("the form:\n%s", page.body)
	}
	both := []string{"rollouts-reach:act", "rollouts-reach:pi: 0"}
	for _, test := range []struct{ groups, want string }{
		{"open the drawer", "must be lines of CSV with a task and its group"},
		{"drawer,a\ndrawer,b", "is in two groups"},
	} {
		r := b.post(c, "/arenas", url.Values{"title": {"Mine"}, "policy": both, "task_groups": {test.groups}})
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, test.want) || !strings.Contains(r.body, `value="rollouts-reach:act" checked`) {
			t.Errorf("%q: status %d, want %q\n%s", test.groups, r.status, test.want, r.body)
		}
	}
	r := b.post(c, "/arenas", url.Values{"title": {"Mine"}, "policy": both, "task_groups": {"task,group\nopen the drawer, doors\n"}})
	if r.status != http.StatusSeeOther || len(b.entrants) != 2 || b.entrants[1].Set != "rollouts-reach" || b.entrants[1].Policy != "pi: 0" || len(b.arena.Arena.Tasks) != 1 || b.arena.Arena.Tasks[0].Group != "doors" {
		t.Errorf("status %d, %+v of %+v", r.status, b.arena.Arena, b.entrants)
	}
}

// What an arena has found out comes in four forms, for researchers alone.
func TestArenaFiles(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	for format, want := range map[string]string{
		"json": `"title": "Alpha <b>"`, "csv": "rank,title,session", "tasks": "kind,name,group,title", "answers": "seq,annotator,a,b,preferred",
	} {
		if r := b.get(c, "/sessions/s1/arena?format="+format); r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("%s: status %d\n%s", format, r.status, r.body)
		}
	}
	if r := b.get(c, "/sessions/s1/arena?format=xml"); r.status != http.StatusBadRequest {
		t.Errorf("an unknown format: status %d", r.status)
	}
	for _, who := range []*http.Client{b.browser(), b.annotator("s1")} {
		if r := b.get(who, "/sessions/s1/arena?format=json"); r.status == http.StatusOK || strings.Contains(r.body, "Alpha") {
			t.Errorf("somebody else reads it: status %d", r.status)
		}
	}
}

// legend is the part of the form with recorded policies.
var legend = regexp.MustCompile(`(?s)<legend>Recorded.*?</fieldset>`)

// The form offers the policies of what was uploaded to a session, or says what to upload.
func TestArenaFormOffersUploads(t *testing.T) {
	b := newBench(t, nil)
	b.addUploads()
	spec, err := b.db.Spec(t.Context(), "s3")
	if err != nil {
		t.Fatal(err)
	}
	b.sessions.listed = []record.Summary{{Spec: spec, State: record.StateRunning}}
	c := b.researcher()
	b.uploaded = []string{"only"}
	if r := b.get(c, "/arenas/new"); r.status != http.StatusOK || !strings.Contains(r.body, "no two policies are named") || !strings.Contains(r.body, "&#34;policy&#34;, of two policies or more") || strings.Contains(r.body, `value="s3:only"`) {
		t.Errorf("an upload of one policy: status %d\n%s", r.status, legend.FindString(r.body))
	}
	b.uploaded = []string{"old", "new"}
	r := b.get(c, "/arenas/new")
	for _, want := range []string{`value="s3:old"`, `value="s3:new"`, "2 policies, 2 tasks, 1 with starts in common; 1 clip without a policy", "Later uploads do not change an arena."} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the form lacks %q:\n%s", want, legend.FindString(r.body))
		}
	}
	if strings.Contains(r.body, `name="now" value="s3"`) {
		t.Error("the form offers the recommended policy of uploads")
	}
	b.post(c, "/arenas", url.Values{"title": {"Mine"}, "policy": {"s3:old", "s3:new"}})
	if e := b.entrants; len(e) != 2 || e[0] != (web.Entrant{Set: "s3", Policy: "old"}) || e[1].Of() != "s3" {
		t.Errorf("the entrants are %+v", b.entrants)
	}
}

// A program makes an arena as the form does, of sessions that it may watch.
func TestAPIArena(t *testing.T) {
	b := newBench(t, nil)
	b.addUploads()
	token := b.token(identity.ScopeUpload, "")
	call := func(body string) reply {
		return b.send(http.DefaultClient, "POST", "/api/v1/arenas", strings.NewReader(body), http.Header{"Authorization": {"Bearer " + token}})
	}
	for body, want := range map[string]string{
		`{"title":"x","entrants":[]}`:                                     "ntrants must be a list of 1 to 20",
		`{"title":"x","entrants":[{"session":"s1","set":"s3"}]}`:          "either",
		`{"title":"x","entrants":[{"session":"s1","policy":"old"}]}`:      "either",
		`{"title":"x","entrants":[{"policy":"old"}]}`:                     "either",
		`{"title":"x","entrants":[{"set":"s3","policy":"old"}]}`:          "2 to 20 policies; got 1",
		`{"title":"x","entrants":[{"set":"s3"}],"task_groups":"a,b,c"}`:   "lines of CSV",
		`{"title":"x","entrants":[{"set":"s3"}],"budget":"many"}`:         "budget",
		`{"title":"x\ny","entrants":[{"set":"s3"},{"set":"rollouts-x"}]}`: "one line",
	} {
		if r := call(body); r.status != http.StatusBadRequest || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d %s, want %q", body, r.status, r.body, want)
		}
	}
	wantCode(t, "a session that is not there", call(`{"title":"x","entrants":[{"set":"s3"},{"set":"s9"}]}`), 404, "not_found")
	r := call(`{"title":" Mine ","entrants":[{"set":"s3","policy":"old","title":"Old one"},{"set":"rollouts-x","policy":"act"},{"session":"s1"}],"budget":9,"detect":0,"seed":5,"task_groups":"push,doors"}`)
	if a := b.arena; r.status != http.StatusOK || !strings.Contains(r.body, `"id":"s1"`) || a.Title != "Mine" || a.Budget != 9 || a.Arena.Detect != 0 || a.Seed != 5 || len(a.Arena.Tasks) != 1 {
		t.Fatalf("%d %s: %+v", r.status, r.body, b.arena)
	}
	if e := b.entrants; e[0] != (web.Entrant{Set: "s3", Policy: "old", Title: "Old one", After: -1}) || e[1].Of() != "" || e[2].Session != "s1" {
		t.Errorf("the entrants are %+v", b.entrants)
	}
}
