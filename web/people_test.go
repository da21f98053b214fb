package web_test

import (
	"net/url"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/gorilla/websocket"

	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/web/wire"
)

func TestBudgetForm(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.get(c, "/sessions/s1/settings"); r.lacks(`action="/sessions/s1/budget"`, `name="budget" value="40"`) != nil {
		t.Errorf("the page lacks %q", r.lacks(`action="/sessions/s1/budget"`, `name="budget" value="40"`))
	}
	for _, value := range []string{"", "many", "-1", "10001", "1e3"} {
		if r := b.post(c, "/sessions/s1/budget", url.Values{"budget": {value}}); r.status != 400 || r.lacks("0 to 10000") != nil {
			t.Errorf("budget %q: status %d", value, r.status)
		}
	}
	r := b.post(c, "/sessions/s1/budget", url.Values{"budget": {"55"}})
	set, err := b.db.Settings(t.Context(), "s1")
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1/settings#budget" || set.Budget != 55 || b.s1.follows != 1 || err != nil {
		t.Errorf("status %d to %q, budget %d, followed %d times, %v", r.status, r.header.Get("Location"), set.Budget, b.s1.follows, err)
	}
}

func TestRevokeLink(t *testing.T) {
	b := newBench(t, nil)
	c, link := b.researcher(), b.link("s1")
	one := b.browser()
	if r := b.post(one, link, nil); r.status != 303 {
		t.Fatalf("join: status %d", r.status)
	}
	if r := b.post(c, "/sessions/s1/invitations/2/revoke", nil); r.status != 303 || r.header.Get("Location") != "/sessions/s1/people#links" {
		t.Errorf("revoke: status %d to %q", r.status, r.header.Get("Location"))
	}
	for range 2 {
		if r := b.post(b.browser(), link, nil); r.status != 404 {
			t.Errorf("a revoked link lets in: status %d", r.status)
		}
	}
	// Who has joined by it goes on.
	for _, r := range []reply{b.get(one, link), b.post(one, link, nil)} {
		if r.status != 303 || r.header.Get("Location") != "/sessions/s1/label" {
			t.Errorf("to one who has joined: status %d to %q", r.status, r.header.Get("Location"))
		}
	}
	if r := b.get(one, "/sessions/s1/label"); r.status != 200 {
		t.Errorf("label: status %d", r.status)
	}
}

// A used sign-in link leads a browser that is signed in to the sessions.
func TestUsedSignInLink(t *testing.T) {
	b := newBench(t, nil)
	token := must.Get(b.auth.NewResearcherLink(t.Context(), "Ada"))(t)
	c := b.browser()
	b.post(c, "/signin", url.Values{"token": {token}})
	for _, r := range []reply{b.get(c, "/signin?token="+token), b.post(c, "/signin", url.Values{"token": {token}})} {
		if r.status != 303 || r.header.Get("Location") != "/sessions" {
			t.Errorf("status %d to %q, want the sessions", r.status, r.header.Get("Location"))
		}
	}
	if r := b.get(b.browser(), "/signin?token="+token); r.status != 404 || r.lacks("tiebreak user link") != nil {
		t.Errorf("in another browser: status %d: %s", r.status, r.body)
	}
}

// TestRemovedAnnotator: the socket ends at once, every page says what happened, and
// no link leads back in.
func TestRemovedAnnotator(t *testing.T) {
	b := newBench(t, nil)
	researcher, link := b.researcher(), b.link("s1")
	c, other := b.browser(), b.annotator("s1")
	if r := b.post(c, link, url.Values{"name": {"Bo"}}); r.status != 303 {
		t.Fatalf("join: status %d", r.status)
	}
	mine, theirs := b.open(c, "/sessions/s1/ws"), b.open(other, "/sessions/s1/ws")
	for _, tab := range []tab{mine, theirs} {
		tab.send(&wire.ClientHello{})
		wait[*wire.Status](tab)
	}
	if r := b.get(researcher, "/sessions/s1/people"); r.lacks(`data-person="a2"`, "Bo (a2)", `data-joined="2"`) != nil {
		t.Errorf("the page lacks %q", r.lacks(`data-person="a2"`, "Bo (a2)", `data-joined="2"`))
	}
	for path, want := range map[string]int{"a9/remove": 404, "a2/remove": 400} {
		form := url.Values{"answers": {"leave out"}}
		if want == 400 {
			form = url.Values{"answers": {"perhaps"}}
		}
		if r := b.post(researcher, "/sessions/s1/annotators/"+path, form); r.status != want {
			t.Errorf("%s: status %d, want %d", path, r.status, want)
		}
	}
	r := b.post(researcher, "/sessions/s1/annotators/a2/remove", url.Values{"answers": {"leave out"}})
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1/people#people" || b.s1.follows != 1 {
		t.Errorf("remove: status %d to %q, followed %d times", r.status, r.header.Get("Location"), b.s1.follows)
	}
	if code := mine.closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("close code = %d, want 1008", code)
	}
	theirs.send(answerTo(0, "id1"))
	wait[*wire.Ack](theirs)
	for _, r := range []reply{
		b.get(c, "/sessions/s1/label"), b.get(c, link), b.post(c, link, nil), b.get(c, "/sessions/s1/clips/c1"),
		b.post(c, "/sessions/s1/key", nil),
	} {
		if r.status != 410 || r.lacks("ended your part") != nil {
			t.Errorf("status %d, want 410: %s", r.status, r.body)
		}
	}
	if r := b.get(researcher, "/sessions/s1/people"); r.lacks("; answers left out", "Count answers again") != nil {
		t.Errorf("the page lacks %q", r.lacks("; answers left out", "Count answers again"))
	}
	b.post(researcher, "/sessions/s1/annotators/a2/answers", url.Values{"answers": {"count"}})
	set, err := b.db.Settings(t.Context(), "s1")
	if err != nil || len(set.Revoked) != 1 || len(set.LeftOut) != 0 || b.s1.follows != 2 {
		t.Errorf("settings %+v, followed %d times, %v", set, b.s1.follows, err)
	}
}

// TestLogOutEndsSockets: what a command ends beside the server is cut off when the
// server looks.
func TestLogOutEndsSockets(t *testing.T) {
	b := newBench(t, nil)
	tab := b.open(b.researcher(), "/sessions/s1/watch")
	tab.hear()
	if _, _, err := b.db.LogOut(t.Context(), "Ada", "test", idrl.Answer{}.ShownAt); err != nil {
		t.Fatal(err)
	}
	b.web.Recheck()
	if code := tab.closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("close code = %d, want 1008", code)
	}
}

// TestSettingsReachAnnotators: more answers wanted bring new questions at once.
func TestSettingsReachAnnotators(t *testing.T) {
	b := newBench(t, nil)
	b.s1.empty = true
	tab := b.open(b.annotator("s1"), "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	wait[*wire.Status](tab)
	b.s1.set(live.EventSettings, func() { b.s1.empty = false })
	if s := wait[*wire.Status](tab); len(s.Open) != 2 {
		t.Errorf("status = %+v, want two questions", *s)
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.annotator("s1")
	for _, path := range []string{"budget", "invitations", "invitations/1/revoke", "annotators/a1/remove", "annotators/a1/answers"} {
		for _, origin := range []string{"https://evil.example", "null"} {
			r := b.send(c, "POST", "/sessions/s1/"+path, strings.NewReader("budget=1&answers=count"),
				map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin}})
			if r.status != 403 {
				t.Errorf("POST %s from %s: status %d, want 403", path, origin, r.status)
			}
		}
	}
}

// A researcher erases what is recorded of a person, once they say that they are sure.
func TestEraseAnnotator(t *testing.T) {
	b := newBench(t, nil)
	c, link := b.researcher(), b.link("s1")
	person := b.browser()
	if r := b.post(person, link, url.Values{"name": {"Zenobia"}}); r.status != 303 {
		t.Fatalf("join: status %d", r.status)
	}
	if r := b.post(c, "/sessions/s1/annotators/a1/withdraw", nil); r.status != 400 || r.lacks("Nothing was erased") != nil {
		t.Errorf("without the box ticked: status %d", r.status)
	}
	if r := b.get(c, "/sessions/s1/people"); r.lacks("Zenobia (a1)", `data-erase`) != nil {
		t.Errorf("before, the page lacks %q", r.lacks("Zenobia (a1)", `data-erase`))
	}
	for range 2 {
		if r := b.post(c, "/sessions/s1/annotators/a1/withdraw", url.Values{"sure": {"yes"}}); r.status != 303 || r.header.Get("Location") != "/sessions/s1/people#people" {
			t.Errorf("status %d to %q", r.status, r.header.Get("Location"))
		}
	}
	if r := b.get(c, "/sessions/s1/people"); r.lacks("data withdrawn") != nil || r.lacks("Zenobia") == nil || r.lacks("data-erase") == nil {
		t.Errorf("afterwards the page still tells of the person, or does not say that their data were withdrawn")
	}
	if r := b.get(person, "/sessions/s1/label"); r.status != 403 {
		t.Errorf("the person's page: status %d, want that they are not signed in", r.status)
	}
	if r := b.post(person, "/sessions/s1/annotators/a1/withdraw", url.Values{"sure": {"yes"}}); r.status != 403 {
		t.Errorf("an annotator erases by the researcher's address: status %d", r.status)
	}
}
