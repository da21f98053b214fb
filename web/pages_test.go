package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/session/notice"
	"tiebreak/internal/study/settings"
	"tiebreak/web"
)

// TestWhoMaySeeWhat is the matrix of roles and routes. A token lets in only by
// the cookie that it was made for: an annotator's in the researcher's cookie, and
// a researcher's in an annotator's, are worth nothing.
func TestWhoMaySeeWhat(t *testing.T) {
	b := newBench(t, nil)
	clip := b.adoptClip("s1")
	roles := []struct {
		name    string
		browser *http.Client
	}{
		{"nobody", b.browser()},
		{"researcher", b.researcher()},
		{"annotator", b.annotator("s1")},
		{"other's annotator", b.annotator("s2")},
		{"annotator in the researcher's cookie", b.disguised(b.annotator("s1"), "tb_s_s1", "tb_user")},
		{"researcher in the annotator's cookie", b.disguised(b.researcher(), "tb_user", "tb_s_s1")},
	}
	for _, test := range []struct {
		method, path string
		want         [6]int // by role
	}{
		{"GET", "/", [6]int{200, 303, 200, 200, 200, 200}},
		{"GET", "/healthz", [6]int{200, 200, 200, 200, 200, 200}},
		{"GET", "/sessions", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/sessions/new", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/workers", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/audit", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/audit?before=x", [6]int{403, 400, 403, 403, 403, 403}},
		{"GET", "/audit/csv", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/audit/jsonl", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/audit/xml", [6]int{403, 404, 403, 403, 403, 403}},
		{"POST", "/workers", [6]int{403, 400, 403, 403, 403, 403}},  // 400: the form is empty
		{"POST", "/sessions", [6]int{403, 303, 403, 403, 403, 403}}, // an empty form makes a session of the defaults
		{"GET", "/sessions/s1", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/sessions/gone", [6]int{403, 404, 403, 403, 403, 403}},
		{"GET", "/sessions/<b>", [6]int{404, 404, 404, 404, 404, 404}},
		{"POST", "/sessions/s1/invitations", [6]int{403, 303, 403, 403, 403, 403}},
		{"POST", "/sessions/gone/invitations", [6]int{403, 404, 403, 403, 403, 403}},
		{"POST", "/sessions/s2/invitations/2/revoke", [6]int{403, 404, 403, 403, 403, 403}}, // of another session
		{"POST", "/sessions/s1/invitations/x/revoke", [6]int{403, 404, 403, 403, 403, 403}},
		{"POST", "/sessions/s1/budget", [6]int{403, 400, 403, 403, 403, 403}},          // 400: the forms are empty
		{"POST", "/sessions/s1/training/cancel", [6]int{403, 400, 403, 403, 403, 403}}, // 400: not sure
		{"GET", "/sessions/s1/questions", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/questions?part=1", [6]int{403, 204, 403, 403, 403, 403}}, // 204: none is answered
		{"GET", "/sessions/s1/questions?answer=1", [6]int{403, 404, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/questions?before=0", [6]int{403, 400, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/charts?page=learning", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/charts", [6]int{403, 404, 403, 403, 403, 403}}, // of no page
		{"GET", "/sessions/s1/charts/calibration", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/charts/gone", [6]int{403, 404, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/training/cancel", [6]int{303, 303, 303, 303, 303, 303}},
		{"POST", "/sessions/s1/annotators/a1/remove", [6]int{403, 400, 403, 403, 403, 403}},
		{"POST", "/sessions/s1/annotators/a1/answers", [6]int{403, 400, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/invitations", [6]int{303, 303, 303, 303, 303, 303}}, // to the session's page
		{"GET", "/sessions/s1/budget", [6]int{303, 303, 303, 303, 303, 303}},
		{"GET", "/sessions/s1/watch", [6]int{403, 403, 403, 403, 403, 403}}, // no origin
		{"GET", "/sessions/s1/export", [6]int{403, 200, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/export?format=xml", [6]int{403, 400, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/answers", [6]int{403, 403, 200, 403, 403, 403}},
		{"GET", "/sessions/s1/learnt/now", [6]int{403, 403, 404, 403, 403, 403}}, // 404: it is not allowed
		{"GET", "/sessions/s1/label", [6]int{403, 403, 200, 403, 403, 403}},
		{"GET", "/sessions/gone/label", [6]int{403, 403, 403, 403, 403, 403}},
		{"GET", "/sessions/s1/ws", [6]int{403, 403, 403, 403, 403, 403}}, // no origin
		{"POST", "/sessions/s1/key", [6]int{403, 403, 200, 403, 403, 403}},
		{"POST", "/sessions/s1/rejoin", [6]int{403, 403, 403, 403, 403, 403}}, // no key
		{"GET", "/sessions/s1/clips/none", [6]int{403, 404, 404, 403, 403, 403}},
		{"GET", "/sessions/s1/clips/" + clip, [6]int{403, 200, 404, 403, 403, 403}},
		{"GET", "/nothing/here", [6]int{404, 404, 404, 404, 404, 404}},
		{"DELETE", "/sessions/s1", [6]int{405, 405, 405, 405, 405, 405}},
		{"GET", "/static/none.js", [6]int{404, 404, 404, 404, 404, 404}},
	} {
		for i, role := range roles {
			r := b.send(role.browser, test.method, test.path, nil, nil)
			if r.status != test.want[i] {
				t.Errorf("%s %s by %s: status %d, want %d", test.method, test.path, role.name, r.status, test.want[i])
			}
			if len(r.header.Values("Content-Security-Policy")) != 1 || r.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s by %s: headers %v", test.method, test.path, role.name, r.header)
			}
		}
	}
}

// disguised is a browser that holds the token of c's cookie from under the name to.
func (b *bench) disguised(c *http.Client, from, to string) *http.Client {
	b.t.Helper()
	u, err := url.Parse(b.url)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, k := range c.Jar.Cookies(u) {
		if k.Name == from {
			d := b.browser()
			d.Jar.SetCookies(u, []*http.Cookie{{Name: to, Value: k.Value, Path: "/"}})
			return d
		}
	}
	b.t.Fatalf("the browser has no cookie %s", from)
	return nil
}

// adoptClip gives a session a generation with one clip, and returns its name.
func (b *bench) adoptClip(id idrl.SessionID) string {
	b.t.Helper()
	clip := idrl.Clip{ID: "c0ffee", From: "t1", Steps: 1, Phi: []float64{1, 0}, Media: []byte("media")}
	g := idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{clip.ID: clip}}
	if err := b.db.Adopt(b.t.Context(), id, g, 0); err != nil {
		b.t.Fatal(err)
	}
	return string(clip.ID)
}

func TestHeaders(t *testing.T) {
	b := newBench(t, nil)
	r := b.get(b.browser(), "/")
	for name, want := range map[string]string{
		"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Strict-Transport-Security": "",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src blob:; " +
			"connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	for _, unsafe := range []string{"<script>", " style=", " onclick=", "javascript:"} {
		if strings.Contains(r.body, unsafe) {
			t.Errorf("the page holds %q, which the policy forbids", unsafe)
		}
	}
}

func TestStaticFilesMayBeKept(t *testing.T) {
	b := newBench(t, nil)
	page := b.get(b.browser(), "/").body
	_, rest, _ := strings.Cut(page, `rel="stylesheet" href="`)
	href, _, _ := strings.Cut(rest, `"`)
	if r := b.get(b.browser(), href); r.status != 200 || !strings.Contains(r.header.Get("Cache-Control"), "immutable") {
		t.Errorf("GET %s: status %d, Cache-Control %q", href, r.status, r.header.Get("Cache-Control"))
	}
}

// A path that leaves the folder of static files, however it is written, leads to no file.
func TestStaticPathsStayInside(t *testing.T) {
	b := newBench(t, nil)
	page := b.get(b.browser(), "/").body
	_, rest, _ := strings.Cut(page, `rel="stylesheet" href="`)
	href, _, _ := strings.Cut(rest, `"`)
	folder := href[:strings.LastIndex(href, "/")]
	for _, path := range []string{"/..%2fgo.mod", "/..%2f..%2fgo.mod", "/%2e%2e/go.mod", "/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/..%5cgo.mod", "/%2fetc%2fpasswd", "/x%00", "/%252e%252e%252fgo.mod"} {
		if r := b.get(b.browser(), folder+path); r.status < 400 || r.status >= 500 {
			t.Errorf("GET %s: status %d", folder+path, r.status)
		}
	}
}

func TestSignInTakesAClickAndWorksOnce(t *testing.T) {
	b := newBench(t, nil)
	token := must.Get(b.auth.NewResearcherLink(t.Context(), "Ada"))(t)
	c := b.browser()
	for range 2 { // looking does not use it up
		if r := b.get(c, "/signin?token="+token); r.status != 200 || r.lacks("data-signin", token) != nil {
			t.Fatalf("look: status %d, lacks %q", r.status, r.lacks("data-signin", token))
		}
	}
	r := b.post(c, "/signin", url.Values{"token": {token}})
	if r.status != 303 || r.header.Get("Location") != "/sessions" {
		t.Fatalf("sign-in: status %d to %q", r.status, r.header.Get("Location"))
	}
	cookie := r.header.Get("Set-Cookie")
	for _, part := range []string{"tb_user=", "Path=/", "HttpOnly", "SameSite=Lax", "Max-Age="} {
		if !strings.Contains(cookie, part) {
			t.Errorf("cookie %q lacks %s", cookie, part)
		}
	}
	if strings.Contains(cookie, "Secure") {
		t.Errorf("cookie %q would not come back over HTTP", cookie)
	}
	again := b.post(b.browser(), "/signin", url.Values{"token": {token}})
	if again.status != 404 || again.lacks("ask for a new one", "tiebreak user link") != nil {
		t.Errorf("second use: status %d: %s", again.status, again.body)
	}
	if r := b.get(c, "/sessions"); r.status != 200 || r.lacks("Ada", `data-session="s1"`, "3 of 40 answers", "20 Nov 2026") != nil {
		t.Errorf("sessions: status %d, lacks %q", r.status, r.lacks("Ada", `data-session="s1"`, "3 of 40 answers", "20 Nov 2026"))
	}
	if r := b.post(c, "/signout", nil); r.status != 303 {
		t.Errorf("sign-out: status %d", r.status)
	}
	if r := b.get(c, "/sessions"); r.status != 403 {
		t.Errorf("after sign-out: status %d, want 403", r.status)
	}
}

func TestSecureCookies(t *testing.T) {
	b := newBench(t, func(c *web.Config) { c.SecureCookies = true })
	token := must.Get(b.auth.NewResearcherLink(t.Context(), "Ada"))(t)
	r := b.post(b.browser(), "/signin", url.Values{"token": {token}})
	if c := r.header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-tb_user=") || !strings.Contains(c, "Secure") {
		t.Errorf("cookie = %q", c)
	}
	if r.header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

// TestJoinComplete: who opens a link after the last answer reads it before they give their consent.
func TestJoinComplete(t *testing.T) {
	b := newBench(t, nil)
	link := b.link("s1")
	const over = "All questions are answered already"
	for _, answers := range []int{39, 40} {
		b.s1.log = make([]idrl.Answer, answers)
		if told := b.get(b.browser(), link).lacks(over) == nil; told != (answers == 40) {
			t.Errorf("after %d of 40 answers the page says that all are there: %t", answers, told)
		}
	}
}

func TestJoin(t *testing.T) {
	b := newBench(t, nil)
	link, c := b.link("s1"), b.browser()
	if r := b.get(c, link); r.status != 200 || r.lacks("Session s1", "Choose.", "data-start", "two short clips", `name="name"`) != nil {
		t.Errorf("welcome: status %d, lacks %q", r.status, r.lacks("Session s1", "Choose.", "data-start", "two short clips", `name="name"`))
	}
	long := strings.Repeat("n", 300)
	if r := b.post(c, link, url.Values{"name": {long}}); r.status != 400 || r.lacks(long, "at most 80") != nil {
		t.Errorf("long name: status %d, lacks %q", r.status, r.lacks(long, "at most 80"))
	}
	r := b.post(c, link, url.Values{"name": {"Bo"}})
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1/label" || !strings.HasPrefix(r.header.Get("Set-Cookie"), "tb_s_s1=") {
		t.Fatalf("join: status %d, headers %v", r.status, r.header)
	}
	page := b.get(c, "/sessions/s1/label")
	want := []string{`data-session="s1"`, `data-annotator="a1"`, `data-socket="/sessions/s1/ws"`, `data-kind="clip_comparison"`, "Choose."}
	if page.status != 200 || page.lacks(want...) != nil {
		t.Errorf("label: status %d, lacks %q", page.status, page.lacks(want...))
	}
	if r := b.get(c, link); r.lacks("Welcome back, Bo") != nil {
		t.Error("who comes back is not greeted")
	}
	again := b.post(c, link, url.Values{"name": {"Somebody else"}})
	if again.status != 303 || again.header.Get("Set-Cookie") != "" {
		t.Errorf("joining again: status %d, cookie %q, want the same annotator", again.status, again.header.Get("Set-Cookie"))
	}
	names := must.Get(b.db.AnnotatorNames(t.Context(), "s1"))(t)
	if diff := cmp.Diff(map[idrl.AnnotatorID]string{"a1": "Bo"}, names); diff != "" {
		t.Errorf("annotators (-want +got):\n%s", diff)
	}
}

func TestDeadLinks(t *testing.T) {
	b := newBench(t, nil)
	for _, path := range []string{"/join/nonsense", "/join/AAAAAAAAAAAAAAAAAAAAAA", "/signin?token=AAAAAAAAAAAAAAAAAAAAAA"} {
		if r := b.get(b.browser(), path); r.status != 404 || r.lacks("link is not valid") != nil {
			t.Errorf("GET %s: status %d: %s", path, r.status, r.body)
		}
	}
	if r := b.post(b.browser(), "/join/nonsense", nil); r.status != 404 {
		t.Errorf("POST of a dead link: status %d", r.status)
	}
}

// TestOneBrowserCanBeBoth: a researcher who tries the annotators' page stays
// signed in.
func TestOneBrowserCanBeBoth(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.get(c, "/sessions/s1/label"); r.status != 403 || r.lacks("annotator link") != nil {
		t.Errorf("label by a researcher: status %d without a hint", r.status)
	}
	b.post(c, b.link("s1"), nil)
	if r := b.get(c, "/sessions/s1/label"); r.status != 200 || strings.Contains(r.body, "Ada") {
		t.Errorf("label by both: status %d, or it names the researcher", r.status)
	}
	if r := b.get(c, "/sessions/s1"); r.status != 200 {
		t.Errorf("dashboard by both: status %d", r.status)
	}
}

func TestDashboardAndInvitation(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	want := []string{`data-session="s1"`, `data-watch="/sessions/s1/watch"`, "Session s1"}
	if r := b.get(c, "/sessions/s1"); r.lacks(want...) != nil {
		t.Errorf("dashboard lacks %q", r.lacks(want...))
	}
	r := b.post(c, "/sessions/s1/invitations", url.Values{"uses": {"7"}, "days": {"3"}})
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1/people" {
		t.Fatalf("new link: status %d to %q", r.status, r.header.Get("Location"))
	}
	handed := r.header.Get("Set-Cookie")
	for _, part := range []string{"tb_link_s1=", "Path=/sessions/s1;", "HttpOnly", "SameSite=Strict", "Max-Age=60"} {
		if !strings.Contains(handed, part) {
			t.Errorf("cookie %q lacks %s", handed, part)
		}
	}
	r = b.get(c, "/sessions/s1/people")
	_, rest, ok := strings.Cut(r.body, b.url+"/join/")
	if !ok {
		t.Fatalf("no link on the page: %s", r.body)
	}
	token := rest[:22]
	if r := b.get(b.browser(), "/join/"+token); r.status != 200 {
		t.Errorf("the link leads to status %d", r.status)
	}
	if r := b.get(c, "/sessions/s1/people"); strings.Contains(r.body, token) || r.lacks("0 of 7", "valid", `data-link="2"`) != nil {
		t.Errorf("the page shows the link a second time, or does not list it: lacks %q", r.lacks("0 of 7", "valid", `data-link="2"`))
	}
	for _, path := range []string{"/sessions/s1/invitations", "/sessions/s1/annotators/a1/remove"} {
		if r := b.get(c, path); r.status != 303 || r.header.Get("Location") != "/sessions/s1" {
			t.Errorf("GET %s: status %d to %q", path, r.status, r.header.Get("Location"))
		}
	}
	for field, value := range map[string]string{"uses": "0", "days": "366"} {
		if r := b.post(c, "/sessions/s1/invitations", url.Values{field: {value}}); r.status != 400 || r.lacks("whole number") != nil {
			t.Errorf("%s = %s: status %d", field, value, r.status)
		}
	}
}

// form is a filled-in form for a new session.
func form(change map[string]string) url.Values {
	v := url.Values{
		"title": {"Calm driving"}, "env": {"gridworld"}, "kind": {"state_rating"}, "instructions": {"One.\r\nTwo."}, "budget": {"12"},
		"acquisition": {"uniform"}, "prior": {"kernel"}, "likelihood": {"gaussian"}, "seed": {"42"}, "candidates": {"7"}, "ahead": {"2"},
		"train_every": {"4"}, "prior_var": {"2,5"}, "noise_std": {""}, "tie_band": {"0.5"}, "rating_var": {"0.1"},
	}
	for k, s := range change {
		v.Set(k, s)
	}
	return v
}

func TestCreateSession(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.get(c, "/sessions/new"); r.lacks("A car on a road.", "Gridworld", `value="clip_comparison"`, `value="idrl"`) != nil {
		t.Errorf("form lacks %q", r.lacks("A car on a road.", "Gridworld", `value="clip_comparison"`, `value="idrl"`))
	}
	r := b.post(c, "/sessions", form(nil))
	if r.status != 303 || r.header.Get("Location") != "/sessions/s9" {
		t.Fatalf("status %d to %q: %s", r.status, r.header.Get("Location"), r.body)
	}
	want := settings.Complete(idrl.SessionSpec{
		Title: "Calm driving", Env: "gridworld", Kind: idrl.RateState, Instructions: "One.\nTwo.", Budget: 12, Acquisition: "uniform",
		Prior: "kernel", Likelihood: "gaussian", Seed: 42, Candidates: 7, Ahead: 2, TrainEvery: 4, PriorVar: 2.5, TieBand: 0.5, RatingVar: 0.1,
		InstructionsFormat: idrl.Markdown, GoldEvery: record.DefaultGoldEvery, MinDwell: record.DefaultMinDwell, MaxRate: record.DefaultMaxRate,
	})

	if diff := cmp.Diff(want, b.sessions.created[0]); diff != "" {
		t.Errorf("spec differs (-want +got):\n%s", diff)
	}
	b.post(c, "/sessions", form(map[string]string{"seed": "", "kind": "clip_comparison", "conditions": "igr=0.25, lvar = 0.1", "held_out": "0,2"}))
	if got := b.sessions.created[1]; got.Controls.String() != "igr=0.25, lvar=0.1" || got.HeldOut != 0.2 {
		t.Errorf("conditions %q, %v held out", got.Controls, got.HeldOut)
	}
	if got := b.sessions.created[1].Seed; got == 0 || got > 1<<53 {
		t.Errorf("drawn seed = %d", got)
	}
}

func TestCreateSessionRefuses(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	for _, test := range []struct{ name, field, value, says string }{
		{"long title", "title", strings.Repeat("x", 121), "Must have at most 120 characters; it has 121."},
		{"unknown environment", "env", "moon", "driver, gridworld"},
		{"unknown question", "kind", "guess", "clip_comparison, clip_rating"},
		{"unknown acquisition function", "acquisition", "magic", "Available strategies: lvar, idrl, uniform, igr, tt, err, kg-star, vids, leader."},
		{"acquisition function for comparisons", "acquisition", "evr", "EVR cannot choose questions of this type."}, // state_rating
		{"unknown model", "model", "magic", "features, network"},
		{"a network of ratings", "model", "network", "Is a network, which learns from comparisons of clips only"}, // state_rating
		{"unknown solver", "solver", "magic", "own, sac"},
		{"unknown prior", "prior", "magic", "linear, kernel"},
		{"unknown likelihood", "likelihood", "magic", "probit, gaussian, bradley-terry, bernoulli"},
		{"budget of words", "budget", "many", "whole number from 1 to 10000, or 0"},
		{"budget too large", "budget", "10001", "whole number from 1 to 10000, or 0"},
		{"negative seed", "seed", "-1", "Must be a whole number"},
		{"one candidate", "candidates", "1", "whole number from 2 to 50"},
		{"noise of nothing", "noise_std", "0", "number above 0"},
		{"noise that is none", "noise_std", "NaN", "number above 0"},
		{"endless variance", "prior_var", "1e999", "number above 0"},
		{"a condition without a share", "conditions", "igr", "such as uniform=0.25, igr=0.1"},
		{"an unknown condition", "conditions", "magic=0.1", "There is no strategy &#34;magic&#34; for questions of this type."},
		{"a condition for comparisons", "conditions", "evr=0.1", "There is no strategy &#34;evr&#34; for questions of this type."}, // state_rating
		{"a negative share", "conditions", "igr=-0.1", "must be above 0 and below 1"},
		{"too large shares", "conditions", "igr=0.6, lvar=0.5", "must add up to less than 1"},
		{"a condition twice", "conditions", "igr=0.1, igr=0.1", "is given twice"},
		{"the own strategy as a condition", "conditions", "uniform=0.1", "own strategy"},
		{"too much held out", "held_out", "0.6", "Must be a number from 0 to 0.5; got 0.6."},
		{"ratings held out", "held_out", "0.1", "Is possible for comparisons only"}, // state_rating
		{"a picture that is not there", "instructions", "![a car](picture:00ff)", "is not here; upload it"},
		{"long instructions", "instructions", strings.Repeat("x", 4001), "Must have at most 4000 characters"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := b.post(c, "/sessions", form(map[string]string{test.field: test.value}))
			kept := `value="12"` // another field's
			if r.status != 400 || r.lacks(test.says) != nil || test.field != "budget" && r.lacks(kept) != nil {
				t.Errorf("status %d, lacks %q", r.status, r.lacks(test.says, kept))
			}
		})
	}
	b.sessions.refuse = idrl.Errorf(idrl.Invalid, "environment gridworld has no kernel")
	if r := b.post(c, "/sessions", form(nil)); r.status != 400 || r.lacks("Environment gridworld has no kernel.") != nil {
		t.Errorf("parts that do not fit: status %d", r.status)
	}
	if n := len(b.sessions.created); n != 1 {
		t.Errorf("sessions that reached Create = %d, want only the last", n)
	}
}

// TestUnavailableEnvironments stand last on the form, cannot be chosen, and say
// why; whoever asks for one all the same is told beside the field.
func TestUnavailableEnvironments(t *testing.T) {
	b := newBench(t, func(c *web.Config) {
		c.Catalogue = func() []web.EnvChoice {
			return append([]web.EnvChoice{
				{ID: "ant", Title: "Ant", Description: "Four legs.", Unavailable: "needs the library: install it"},
			}, catalogue...)
		}
	})
	c := b.researcher()
	page := b.get(c, "/sessions/new")
	var ids, open, chosen []string
	for _, input := range strings.Split(page.body, "<input ")[1:] {
		tag, _, _ := strings.Cut(input, ">")
		if _, rest, ok := strings.Cut(tag, `name="env" value="`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			ids = append(ids, id)
			if !strings.Contains(tag, " disabled") {
				open = append(open, id)
			}
			if strings.Contains(tag, " checked") {
				chosen = append(chosen, id)
			}
		}
	}
	if diff := cmp.Diff([][]string{{"driver", "gridworld", "ant"}, {"driver", "gridworld"}, {"driver"}}, [][]string{ids, open, chosen}); diff != "" {
		t.Errorf("environments, those that may be chosen, and the one that is (-want +got):\n%s", diff)
	}
	if page.lacks("Needs the library: install it.") != nil {
		t.Error("the form does not say why")
	}
	r := b.post(c, "/sessions", form(map[string]string{"env": "ant"}))
	if r.status != 400 || r.lacks("Ant needs the library: install it. Choose another environment.", `value="12"`) != nil || len(b.sessions.created) != 0 {
		t.Errorf("asked for: status %d, %d sessions, lacks %q", r.status, len(b.sessions.created), r.lacks("Ant needs the library: install it.", `value="12"`))
	}
	r = b.post(c, "/sessions", form(map[string]string{"env": "moon"}))
	if r.status != 400 || r.lacks("Choose one of: driver, gridworld.") != nil {
		t.Errorf("unknown environment: status %d, or it offers what is not available", r.status)
	}
	if r := b.post(c, "/sessions", form(map[string]string{"env": ""})); r.status != 303 || b.sessions.created[0].Env != "driver" {
		t.Errorf("by default: status %d", r.status)
	}
}

func TestForms(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	large := b.send(c, "POST", "/sessions", strings.NewReader("title="+strings.Repeat("x", 257<<10)), header)
	if large.status != 413 || large.lacks("at most 256 KiB") != nil {
		t.Errorf("large form: status %d", large.status)
	}
	if r := b.send(c, "POST", "/sessions", strings.NewReader("title=%zz"), header); r.status != 400 || r.lacks("could not be read") != nil {
		t.Errorf("broken form: status %d", r.status)
	}
	for name, h := range map[string]http.Header{
		"by fetch metadata": {"Sec-Fetch-Site": {"cross-site"}},
		"by origin":         {"Origin": {"https://evil.example"}},
	} {
		if r := b.send(c, "POST", "/signout", nil, h); r.status != 403 || r.lacks("another site") != nil {
			t.Errorf("form of another site, %s: status %d", name, r.status)
		}
	}
}

func TestTrustedOriginMaySendForms(t *testing.T) {
	b := newBench(t, func(c *web.Config) { c.Origins = []string{"https://study.example"} })
	if r := b.send(b.browser(), "POST", "/signout", nil, http.Header{"Origin": {"https://study.example"}}); r.status != 303 {
		t.Errorf("status %d, want 303", r.status)
	}
}

// TestErrorPages: each kind has its status, and a fault keeps its secrets.
func TestErrorPages(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	for _, test := range []struct {
		err    error
		status int
		says   string
	}{
		{idrl.Errorf(idrl.Invalid, "this is wrong"), 400, "This is wrong."},
		{idrl.Errorf(idrl.NotFound, "not there"), 404, "Not there."},
		{fmt.Errorf("list: %w", idrl.Errorf(idrl.Conflict, "taken")), 409, "Taken."},
		{idrl.Errorf(idrl.Forbidden, "no"), 403, "No."},
		{idrl.Errorf(idrl.Unavailable, "too many at once"), 503, "Too many at once."},
		{fmt.Errorf("SECRET-FAULT: %w", idrl.Errorf(idrl.Damaged, "a part of the database cannot be read")), 500, "A part of the database cannot be read."},
		{errors.New("SECRET-FAULT"), 500, "Something went wrong"},
	} {
		b.sessions.fail = test.err
		r := b.get(c, "/sessions")
		if r.status != test.status || r.lacks(test.says, fmt.Sprintf(`data-status="%d"`, test.status)) != nil {
			t.Errorf("%v: status %d, want %d saying %q", test.err, r.status, test.status, test.says)
		}
		if strings.Contains(r.body, "SECRET-FAULT") || strings.Contains(r.body, "list:") {
			t.Errorf("%v: the page shows the inside", test.err)
		}
	}
	if !strings.Contains(b.logs.String(), "SECRET-FAULT") {
		t.Error("the log does not name the fault")
	}
	b.sessions.fail, b.sessions.panics = nil, true
	if r := b.get(c, "/sessions"); r.status != 500 || strings.Contains(r.body, "SECRET-FAULT") {
		t.Errorf("panic: status %d", r.status)
	}
}

// Pages of errors tell annotators, and people who are not signed in, what to do, without the number of the status. Researchers see it.
func TestAnnotatorsSeeNoStatusNumber(t *testing.T) {
	b := newBench(t, nil)
	const number = `class="status"`
	c, removed := b.researcher(), b.annotator("s1")
	if r := b.post(c, "/sessions/s1/annotators/a1/remove", url.Values{"answers": {"leave out"}}); r.status != 303 {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	stranger, busy := b.browser(), b.browser()
	show := func(c *http.Client, path string, status int, says ...string) {
		t.Helper()
		r := b.get(c, path)
		if r.status != status || r.lacks(says...) != nil || strings.Contains(r.body, number) {
			t.Errorf("%s: status %d, want %d, without the number: %s", path, r.status, status, r.body)
		}
	}
	show(stranger, "/nothing", 404, "Check the address, or open again the link")
	show(stranger, "/join/none", 404, "This link does not work")
	show(stranger, "/sessions/s1/label", 403, "You are not signed in here", "Open the annotator link that you were sent")
	show(removed, "/sessions/s1/label", 410, "Your part has ended", "There is nothing more to do")
	show(b.annotator("s1"), "/sessions/s1/nothing", 404, "Check the address")
	web.Tighten(b.web, 30, 0)
	for b.get(busy, "/join/none").status != 429 {
	}
	show(busy, "/join/none", 429, "Wait some seconds, then load the page again")
	b.sessions.fail = errors.New("SECRET-FAULT")
	if r := b.get(c, "/sessions"); r.status != 500 || r.lacks(number, "Load the page again") != nil {
		t.Errorf("a researcher: status %d, %s", r.status, r.body)
	}
}

// The list of sessions is searched by words and sorted; sessions that cannot run come first.
func TestListOfSessions(t *testing.T) {
	noticed := map[idrl.SessionID][]notice.Notice{}
	b := newBench(t, func(c *web.Config) {
		c.Notices = func(id idrl.SessionID) []notice.Notice { return noticed[id] }
	})
	c := b.researcher()
	at := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	b.sessions.listed = []record.Summary{
		{Spec: idrl.SessionSpec{ID: "n1", Title: "Zebra crossing", Env: "driver", Budget: 40, CreatedAt: at}, Answers: 39, Last: at.Add(3 * time.Hour)},
		{Spec: idrl.SessionSpec{ID: "n2", Title: "apples", Env: "driver", CreatedAt: at}, Answers: 5, Last: at.Add(4 * time.Hour)},
		{Spec: idrl.SessionSpec{ID: "n3", Title: "Bridges", Env: "driver", Budget: 40, CreatedAt: at}, State: record.StatePaused},
		{Spec: idrl.SessionSpec{ID: "n4", Title: "Chairs", Env: "gone", CreatedAt: at}, Paused: "the environment gone is not on this server"},
	}
	order := regexp.MustCompile(`data-session="(\w+)"`)
	for query, want := range map[string]string{
		"": "n4 n1 n2 n3", "?sort=last": "n4 n2 n1 n3", "?sort=missing": "n4 n3 n1 n2", "?sort=title": "n4 n2 n3 n1", "?sort=x": "n4 n1 n2 n3",
		"?q=ZEBRA": "n1", "?q=driver+paused": "n3", "?q=zebra+paused": "", "?q=paused": "n3", "?q=driver+zebra": "n1", "?q=nothing": "",
	} {
		r := b.get(c, "/sessions"+query)
		var got []string
		for _, m := range order.FindAllStringSubmatch(r.body, -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want || (want == "") != strings.Contains(r.body, "data-none") {
			t.Errorf("%q lists %v, want %s: status %d", query, got, want, r.status)
		}
	}
	if r := b.get(c, "/sessions?q=%3Cb%3E"); r.lacks(`value="&lt;b&gt;"`) != nil {
		t.Error("words of a search are not kept, or not escaped")
	}
	noticed["n2"] = []notice.Notice{{Session: "n2", Kind: notice.MayStop, Text: "It <can> stop."}}
	if r := b.get(c, "/sessions?q=stop."); r.lacks(`data-session="n2"`, `data-notice="may_stop"`, "It &lt;can&gt; stop.") != nil {
		t.Error("a notice is not listed, escaped or searched")
	}
	if first := order.FindAllStringSubmatch(b.get(c, "/sessions").body, 2); len(first) != 2 || first[0][1] != "n4" || first[1][1] != "n2" {
		t.Errorf("sessions with notices are not before others: %v", first)
	}
	arena := idrl.SessionSpec{ID: "n5", Title: "Duel", Env: "driver", CreatedAt: at, Arena: idrl.Arena{Entrants: []idrl.Entrant{{Title: "A"}, {Title: "B"}}}}
	b.sessions.listed = []record.Summary{{Spec: arena, Answers: 9}}
	if r := b.get(c, "/sessions"); r.lacks("2 policies") != nil || strings.Contains(r.body, "data-state") {
		t.Errorf("an arena that asks has a badge of its state: %s", r.body)
	}
	noticed["n5"] = []notice.Notice{{Session: "n5", Kind: notice.MayStop, Text: "It has ended: the test of the arena is over."}}
	if r := b.get(c, "/sessions?q=test+over"); r.lacks(`data-state="over">test over<`) != nil {
		t.Errorf("the list does not say that the test of an arena is over: %s", r.body)
	}
	b.sessions.listed[0].Spec.Budget, noticed["n5"] = 9, nil
	if r := b.get(c, "/sessions"); r.lacks(`data-state="over">all answered<`) != nil {
		t.Errorf("the list does not say that an arena asks no more: %s", r.body)
	}
	b.sessions.listed[0].State = record.StateClosed
	if r := b.get(c, "/sessions"); r.lacks(`data-state="closed"`) != nil || strings.Contains(r.body, "all answered") {
		t.Errorf("a closed arena: %s", r.body)
	}
}

// What a strategy asks stands in the list with its name, in the words of the form of a new session, and is no title that only a pointer finds.
func TestListExplainsStrategies(t *testing.T) {
	b := newBench(t, nil)
	b.sessions.listed = []record.Summary{
		{Spec: idrl.SessionSpec{ID: "n1", Env: "driver", Acquisition: "lvar"}}, {Spec: idrl.SessionSpec{ID: "n2", Env: "driver", Acquisition: "kg"}}, // kg: no longer offered
	}
	lvar := must.Get(acquisition.Find("lvar"))(t).Hint
	r := b.get(b.researcher(), "/sessions")
	if lacks := r.lacks("Strategy </span>LVAR</summary><p>"+lvar+"</p>", "Strategy </span>KG</summary><p>Knowledge gradient: the expected gain"); lacks != nil {
		t.Errorf("the list lacks %q: %s", lacks, r.body)
	}
	if regexp.MustCompile(`(?s)<a [^>]*>[^<]*<details`).MatchString(r.body) {
		t.Error("what opens stands in a link")
	}
}

// The list says when the last answer came.
func TestListSaysWhenTheLastAnswerCame(t *testing.T) {
	b := newBench(t, nil)
	c, at := b.researcher(), time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	b.sessions.listed = []record.Summary{{Spec: idrl.SessionSpec{ID: "n2", Env: "driver", CreatedAt: at}, Answers: 5, Last: at.Add(4 * time.Hour)}}
	if r := b.get(c, "/sessions"); r.lacks("last answer 23 Nov 2026, 13:30 UTC") != nil {
		t.Error("the list does not say when the last answer came")
	}
}
