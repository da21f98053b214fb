package web_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
)

// fakeImporter has two data sets and the imports that it was asked for.
type fakeImporter struct {
	none  bool // no folder is allowed
	kept  []web.ImportState
	turns []web.ImportTurn

	uploads []web.UploadState
}

func (f *fakeImporter) Allows() bool { return !f.none }

func (f *fakeImporter) Recordings(context.Context, string) ([]recordings.Found, bool, error) {
	return []recordings.Found{
		{Name: "datasets/old", Wrong: "lerobot-version: the layout \"v9\" is not known"},
		{Name: "datasets/pick", Summary: lerobot.Summary{Version: "v3.0", Robot: "arm", FPS: 30, Episodes: 50, Frames: 4000, Cameras: []string{"front", "wrist"}}},
	}, true, nil
}

func (f *fakeImporter) PlanImport(_ context.Context, ask web.ImportAsk) ([]string, error) {
	if ask.Set != "datasets/pick" {
		return nil, idrl.Errorf(idrl.Invalid, "rollouts-folder: %q is no data set", ask.Set)
	}
	return []string{"50 episodes", "This takes about 4s"}, nil
}

func (f *fakeImporter) StartImport(_ context.Context, ask web.ImportAsk, owner string, turn web.ImportTurn) error {
	f.turns = append(f.turns, turn)
	f.kept = slices.Insert(f.kept, 0, web.ImportState{Ask: ask, Owner: owner, Began: time.Date(2026, 11, 28, 9, 5, 0, 0, time.UTC), Says: "Checking video 1 of 2."})
	return nil
}

func (f *fakeImporter) Imports(owner string) (out []web.ImportState, err error) {
	for _, s := range f.kept {
		if owner == "" || s.Owner == owner {
			out = append(out, s)
		}
	}
	if owner == "" {
		out = append(out, web.ImportState{Ask: web.ImportAsk{Set: "datasets/walks", Values: map[string]string{"name": "walks"}}, Wrong: "It was interrupted.", Again: true})
	}
	return out, nil
}

func (f *fakeImporter) Receive(up web.Upload, body io.Reader, _ web.ImportTurn) (string, error) {
	b, err := io.ReadAll(body)
	if err == nil && up.Name == "" {
		err = idrl.Errorf(idrl.Invalid, "an upload needs a name")
	}
	if err == nil {
		f.uploads = append(f.uploads, web.UploadState{Name: up.Name, Set: "uploaded/" + up.Name, Owner: up.Owner, Says: string(b)})
	}
	return "uploaded/" + up.Name, err
}

func (f *fakeImporter) Uploads(owner string) (out []web.UploadState, err error) {
	for _, u := range f.uploads {
		if owner == "" || u.Owner == owner {
			out = append(out, u)
		}
	}
	return out, nil
}

func (f *fakeImporter) Discard(name string) error {
	f.uploads = slices.DeleteFunc(f.uploads, func(u web.UploadState) bool { return u.Name == name })
	return nil
}

func (f *fakeImporter) StopImport(name string) error {
	for i := range f.kept {
		if f.kept[i].Ask.Name() == name {
			f.kept[i].Says, f.kept[i].Wrong, f.kept[i].Again = "", "It was stopped.", true
		}
	}
	return nil
}

func (f *fakeImporter) ForgetImport(name string) error {
	f.kept = slices.DeleteFunc(f.kept, func(s web.ImportState) bool { return s.Ask.Name() == name })
	return nil
}

func importingBench(t *testing.T) (*bench, *fakeImporter) {
	t.Helper()
	f := new(fakeImporter)
	return newBench(t, func(c *web.Config) { c.Importer = f }), f
}

// The page lists data sets, says what an import takes before it is begun, and follows it to its end.
func TestImportPage(t *testing.T) {
	b, f := importingBench(t)
	b.researcher()
	c := b.account("bo", identity.Researcher)
	for _, form := range []string{"/sessions/new", "/arenas/new"} {
		if r := b.get(c, form); r.lacks(`href="/recordings"`) != nil {
			t.Errorf("%s does not lead to the page", form)
		}
	}
	if r := b.get(c, "/recordings"); r.lacks(`value="datasets/pick"`, "50 episodes · 30 frames a second · cameras front, wrist · robot arm", "The layout &#34;v9&#34; is not known. (lerobot-version)", "data-more", "names the policy which acted", `value="check"`) != nil || strings.Contains(r.body, "data-import-now") {
		t.Errorf("the list: %s", r.body)
	}
	form := url.Values{"set": {"datasets/pick"}, "name": {"pick"}, "policy_column": {"who"}, "clip_seconds": {"2"}, "do": {"check"}}
	if r := b.post(c, "/recordings", form); r.status != http.StatusOK || r.lacks("data-planned", "This takes about 4s", "data-import-now", `value="who"`, "<details class=\"more-fields\" open>") != nil || len(f.kept) != 0 {
		t.Errorf("checked: status %d\n%s", r.status, r.body)
	}
	for field, wrong := range map[string]string{"set": "../../etc", "name": "", "clip_seconds": "long", "policy_column": strings.Repeat("x", 201), "cameras": "a\x00b"} {
		bad := url.Values{"do": {"import"}}
		for k, v := range form {
			if k != "do" {
				bad[k] = v
			}
		}
		bad[field] = []string{wrong}
		if field == "set" {
			bad.Set("do", "check")
		}
		if r := b.post(c, "/recordings", bad); r.status != http.StatusBadRequest || r.lacks("data-error", `value="datasets/pick"`) != nil || len(f.kept) != 0 {
			t.Errorf("%s = %q: status %d\n%s", field, wrong, r.status, r.body)
		}
	}
	form.Set("do", "import")
	if r := b.post(c, "/recordings", form); r.status != http.StatusSeeOther || r.header.Get("Location") != "/recordings" || len(f.kept) != 1 || f.kept[0].Owner != "bo" {
		t.Fatalf("begun: status %d, %+v", r.status, f.kept)
	}
	if r := b.get(c, "/recordings"); r.lacks("data-busy", "Checking video 1 of 2.", "data-stop", "recordings.js") != nil || strings.Contains(r.body, "data-form") {
		t.Errorf("under way: %s", r.body)
	}
	f.kept[0].Says, f.kept[0].Ended = "", f.kept[0].Began
	if r := b.get(c, "/recordings"); r.lacks("rollouts-pick", `href="/sessions/new?env=rollouts-pick"`, `href="/arenas/new"`, "data-form") != nil {
		t.Errorf("ended: %s", r.body)
	}
	f.none = true
	if r := b.get(c, "/recordings"); r.lacks("data-none-allowed", "tiebreak serve --recordings", `data-upload="/recordings/upload"`) != nil {
		t.Errorf("no folder: %s", r.body)
	}
}

// A new session can begin with an environment.
func TestNewSessionOfAnEnvironment(t *testing.T) {
	b, _ := importingBench(t)
	c := b.researcher()
	if r := b.get(c, "/sessions/new?env=gridworld"); r.lacks(`value="gridworld" checked`) != nil {
		t.Error(r.body)
	}
	if r := b.get(c, "/sessions/new?env=none"); r.status != http.StatusOK || r.lacks(`value="driver" checked`) != nil {
		t.Errorf("one that there is not: status %d", r.status)
	}
}

// An import belongs to the account that began it: others neither see nor change it, but for admins.
func TestRightsOfImports(t *testing.T) {
	b, f := importingBench(t)
	admin := b.researcher()
	owner, other := b.account("bo", identity.Researcher), b.account("cy", identity.Researcher)
	form := url.Values{"set": {"datasets/pick"}, "name": {"pick"}, "do": {"import"}}
	b.post(owner, "/recordings", form)
	for _, do := range []string{"stop", "forget", "continue"} {
		if r := b.post(other, "/recordings", url.Values{"name": {"pick"}, "do": {do}}); r.status != http.StatusNotFound || len(f.kept) != 1 || f.kept[0].Says == "" {
			t.Errorf("another account sends %s: status %d, %+v", do, r.status, f.kept)
		}
	}
	if r := b.get(other, "/recordings"); strings.Contains(r.body, `data-import="pick"`) {
		t.Errorf("another account sees it: %s", r.body)
	}
	if r := b.get(admin, "/recordings"); r.lacks(`data-import="pick"`, "by bo") != nil {
		t.Errorf("an admin does not see it: %s", r.body)
	}
	if r := b.post(owner, "/recordings", url.Values{"name": {"pick"}, "do": {"continue"}}); r.status != http.StatusConflict {
		t.Errorf("one that is under way goes on: status %d", r.status)
	}
	if r := b.post(owner, "/recordings", url.Values{"name": {"pick"}, "do": {"stop"}}); r.status != http.StatusSeeOther || !f.kept[0].Again {
		t.Errorf("stopped: status %d, %+v", r.status, f.kept)
	}
	if r := b.get(owner, "/recordings"); r.lacks("It was stopped.", "data-continue", "data-forget") != nil {
		t.Errorf("it cannot go on: %s", r.body)
	}
	if r := b.post(owner, "/recordings", url.Values{"name": {"pick"}, "do": {"continue"}}); r.status != http.StatusSeeOther || len(f.kept) != 2 || f.kept[0].Ask.Set != "datasets/pick" {
		t.Errorf("it goes on: status %d, %+v", r.status, f.kept)
	}
	if r := b.post(owner, "/recordings", url.Values{"name": {"pick"}, "do": {"forget"}}); r.status != http.StatusSeeOther || len(f.kept) != 0 {
		t.Errorf("forgotten: status %d, %+v", r.status, f.kept)
	}
}

// An upload belongs to the account that sent it: others neither see nor discard it, but for admins. A viewer sends none, and no other site does.
func TestUploadsOfDataSets(t *testing.T) {
	b, f := importingBench(t)
	admin := b.researcher()
	owner, other, viewer := b.account("bo", identity.Researcher), b.account("cy", identity.Researcher), b.account("vi", identity.Viewer)
	send := func(c *http.Client, name string, header http.Header) reply {
		return b.send(c, http.MethodPost, "/recordings/upload?name="+name, strings.NewReader("a=b&do=import"), header)
	}
	page := http.Header{"Content-Type": {"application/octet-stream"}, "Sec-Fetch-Site": {"same-origin"}}
	if r := send(owner, "pens", page); r.status != http.StatusOK || r.lacks(`"set":"uploaded/pens"`) != nil || len(f.uploads) != 1 || f.uploads[0].Says != "a=b&do=import" || f.uploads[0].Owner != "bo" {
		t.Fatalf("status %d, %s, %+v", r.status, r.body, f.uploads)
	}
	if r := send(owner, "", page); r.status != http.StatusBadRequest || r.lacks(`"error":"An upload needs a name."`) != nil {
		t.Errorf("without a name: status %d, %s", r.status, r.body)
	}
	if r := send(viewer, "one", page); r.status != http.StatusForbidden && r.status != http.StatusNotFound {
		t.Errorf("a viewer: status %d", r.status)
	}
	if r := send(new(http.Client), "two", page); r.status == http.StatusOK {
		t.Errorf("without an account: status %d", r.status)
	}
	for _, header := range []http.Header{
		{"Content-Type": {"application/octet-stream"}, "Origin": {"https://elsewhere.example"}, "Sec-Fetch-Site": {"cross-site"}},
		{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"https://elsewhere.example"}, "Sec-Fetch-Site": {"cross-site"}},
	} {
		if r := send(owner, "three", header); r.status != http.StatusForbidden {
			t.Errorf("another site: status %d", r.status)
		}
	}
	if len(f.uploads) != 1 {
		t.Errorf("there are %+v", f.uploads)
	}
	if r := b.get(other, "/recordings"); strings.Contains(r.body, `data-uploaded="pens"`) {
		t.Error("another account sees it")
	}
	for _, c := range []*http.Client{owner, admin} {
		if r := b.get(c, "/recordings"); r.lacks(`data-uploaded="pens"`, "data-busy", "a=b&amp;do=import") != nil {
			t.Errorf("it is not seen: %s", r.body)
		}
	}
	f.uploads[0].Says = ""
	if r := b.post(other, "/recordings", url.Values{"upload": {"pens"}, "do": {"discard"}}); r.status != http.StatusNotFound || len(f.uploads) != 1 {
		t.Errorf("another account discards it: status %d", r.status)
	}
	if r := b.post(owner, "/recordings", url.Values{"upload": {"pens"}, "do": {"discard"}}); r.status != http.StatusSeeOther || len(f.uploads) != 0 {
		t.Errorf("it is not discarded: status %d", r.status)
	}
}

// The page and the API say how large an upload is, which recordings show it and which sessions are about these, of those that the account may watch. What is
// used has no Discard; a program discards uploads as its account may.
func TestUploadsSayWhatUsesThem(t *testing.T) {
	b, f := importingBench(t)
	c := b.researcher()
	f.uploads = []web.UploadState{
		{Name: "pens", Set: "uploaded/pens", Bytes: 47_377_463_886, Sets: []string{"rollouts-pen", "driver"}, Imports: []string{"again"}},
		{Name: "free", Set: "uploaded/free", Owner: "bo", Bytes: 12},
	}
	page := b.get(c, "/recordings")
	if page.lacks("uploaded/pens</code>: 47.4 GB.", "The recordings rollouts-pen and driver show its videos", `href="/sessions/s1"`, "The import again reads it", "uploaded/free</code>: 12 bytes.", `aria-label="Discard the upload free"`) != nil || strings.Contains(page.body, `aria-label="Discard the upload pens"`) {
		t.Error(page.body)
	}
	token := http.Header{"Authorization": {"Bearer " + b.token(identity.ScopeUpload, "")}}
	if r := b.send(http.DefaultClient, "GET", "/api/v1/recordings", nil, token); r.lacks(`"bytes":47377463886,"recordings":["rollouts-pen","driver"],"imports":["again"],"sessions":["s1"`, `"bytes":12,"recordings":[],"imports":[],"sessions":[]`) != nil {
		t.Error(r.body)
	}
	reads := http.Header{"Authorization": {"Bearer " + b.token(identity.ScopeRead, "")}}
	if r := b.send(http.DefaultClient, "DELETE", "/api/v1/recordings/uploads/free", nil, reads); r.status != http.StatusForbidden || len(f.uploads) != 2 {
		t.Errorf("by a token that reads: status %d", r.status)
	}
	for _, test := range []struct {
		name, code   string
		status, left int
	}{{"nowhere", "not_found", http.StatusNotFound, 2}, {"free", "", http.StatusOK, 1}, {"free", "not_found", http.StatusNotFound, 1}} {
		r := b.send(http.DefaultClient, "DELETE", "/api/v1/recordings/uploads/"+test.name, nil, token)
		if test.code != "" {
			wantCode(t, test.name, r, test.status, test.code)
		}
		if r.status != test.status || len(f.uploads) != test.left {
			t.Errorf("%s: status %d, %s; %d are left", test.name, r.status, r.body, len(f.uploads))
		}
	}
}

// Forms of other sites begin nothing.
func TestImportsOfOtherSites(t *testing.T) {
	b, f := importingBench(t)
	c := b.researcher()
	body := url.Values{"set": {"datasets/pick"}, "name": {"pick"}, "do": {"import"}}.Encode()
	r := b.send(c, http.MethodPost, "/recordings", strings.NewReader(body), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"https://elsewhere.example"}, "Sec-Fetch-Site": {"cross-site"}})
	if r.status != http.StatusForbidden || len(f.kept) != 0 {
		t.Errorf("status %d, %+v", r.status, f.kept)
	}
}

// An import works in a turn of the scheduler, which other heavy work shares with it.
func TestImportsTakeTurns(t *testing.T) {
	b, f := importingBench(t)
	c := b.researcher()
	b.post(c, "/recordings", url.Values{"set": {"datasets/pick"}, "name": {"pick"}, "do": {"import"}})
	if len(f.turns) != 1 {
		t.Fatal("it was not begun")
	}
	pause, leave, err := f.turns[0](t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken := web.Taken(b.web)
	pause()
	leave()
	if taken != 1 || web.Taken(b.web) != 0 {
		t.Errorf("it takes %d places, and %d after its end", taken, web.Taken(b.web))
	}
}
