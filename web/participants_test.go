package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/live"
	"tiebreak/store"
	"tiebreak/web/wire"
)

// Nobody joins without a deliberate yes to the consent text in use; who declines leaves
// nothing behind.
func TestConsentAtTheLink(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	link := b.link("s1")
	must.Get(b.db.SetConsent(ctx, "s1", "You **may** stop. <script>alert(1)</script>", "grace", time.Now()))(t)
	c := b.browser()
	r := b.get(c, link)
	if r.lacks("You <strong>may</strong> stop.", `name="consent_version" value="1"`, "I do not agree", "/declined\"") != nil || strings.Contains(r.body, "<script>alert") {
		t.Errorf("the page of the link: %s", r.body)
	}
	if box := r.body[strings.Index(r.body, "name=\"agree\""):]; strings.Contains(box[:120], "checked") {
		t.Error("the box is ticked before")
	}
	for name, form := range map[string]url.Values{
		"no box":         {"consent_version": {"1"}},
		"no version":     {"agree": {"yes"}},
		"an old version": {"agree": {"yes"}, "consent_version": {"0"}},
		"a later one":    {"agree": {"yes"}, "consent_version": {"2"}},
		"another word":   {"agree": {"no"}, "consent_version": {"1"}},
	} {
		if r := b.post(c, link, form); r.status != 400 {
			t.Errorf("%s: status %d", name, r.status)
		}
	}
	if r := b.get(c, link+"/declined"); r.status != 200 || r.lacks("nothing about you was recorded") != nil {
		t.Errorf("who declines: status %d", r.status)
	}
	if people, err := b.db.Annotators(ctx, "s1"); len(people) != 0 || err != nil {
		t.Errorf("%d people are recorded, %v; want none", len(people), err)
	}
	if links, err := b.db.Invitations(ctx, "s1"); err != nil || links[0].UsesLeft != links[0].Uses {
		t.Errorf("a use of the link is gone: %+v, %v", links, err)
	}
	if r := b.post(c, link, url.Values{"agree": {"yes"}, "consent_version": {"1"}}); r.status != 303 {
		t.Fatalf("who agrees: status %d", r.status)
	}
	if _, agreed, err := b.db.Consent(ctx, "s1", "a1"); agreed != 1 || err != nil {
		t.Errorf("agreed to %d, %v; want 1", agreed, err)
	}
}

// A new version is asked about before the next question; what is open stays answerable
// under the version agreed to before, and each answer tells it.
func TestNewConsentWhileLabelling(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	c := b.annotator("s1") // joined before there was a text
	tab := b.open(c, "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	first := waitFor(tab, func(s *wire.Status) bool { return len(s.Open) == 2 })
	set := func(text string) {
		t.Helper()
		must.Get(b.db.SetConsent(ctx, "s1", text, "grace", time.Now()))(t)
		b.s1.set(live.EventSettings, func() {})
	}
	set("One.")
	tab.send(answerTo(0, "c-1"))
	if s := waitFor(tab, func(s *wire.Status) bool { return s.Mine == 1 }); len(s.Open) != 1 || s.Open[0] != first.Open[1] || s.Consent != "" {
		t.Errorf("while a question is open: %+v", s)
	}
	tab.send(answerTo(1, "c-2"))
	if s := waitFor(tab, func(s *wire.Status) bool { return s.Mine == 2 }); s.Consent != "/sessions/s1/consent" || len(s.Open) != 0 {
		t.Errorf("with nothing open: %+v", s)
	}
	for i, a := range b.s1.given() {
		if a.Consent != 0 {
			t.Errorf("answer %d is under version %d, but nobody had agreed", i, a.Consent)
		}
	}
	if r := b.get(c, "/sessions/s1/label"); r.status != 303 || r.header.Get("Location") != "/sessions/s1/consent" {
		t.Errorf("the label page: status %d to %q", r.status, r.header.Get("Location"))
	}
	if r := b.get(c, "/sessions/s1/consent"); r.lacks("One.", "you gave your earlier answers without it") != nil {
		t.Errorf("the page lacks %q", r.lacks("One.", "you gave your earlier answers without it"))
	}
	if r := b.get(c, "/sessions/s1/declined"); r.status != 200 || r.lacks("Read the text again") != nil {
		t.Errorf("who declines: status %d", r.status)
	}
	set("Two.")
	if r := b.post(c, "/sessions/s1/consent", url.Values{"agree": {"yes"}, "consent_version": {"1"}}); r.status != 400 || r.lacks("consent text has changed", "Two.") != nil {
		t.Errorf("to the version before: status %d", r.status)
	}
	if r := b.post(c, "/sessions/s1/consent", url.Values{"agree": {"yes"}, "consent_version": {"2"}}); r.status != 303 {
		t.Fatalf("agree: status %d", r.status)
	}
	tab = b.open(c, "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	wait[*wire.Query](tab)
	tab.send(answerTo(2, "c-3"))
	waitFor(tab, func(s *wire.Status) bool { return s.Mine == 3 })
	rows := b.s1.given()
	if last := rows[len(rows)-1]; last.Consent != 2 {
		t.Errorf("the answer after it is under version %d, want 2", last.Consent)
	}
	if r := b.post(b.browser(), "/sessions/s1/consent", url.Values{"agree": {"yes"}, "consent_version": {"2"}}); r.status != 403 {
		t.Errorf("a stranger agrees: status %d", r.status)
	}
}

// People withdraw their data themselves for as long as the session offers it, also when a
// researcher has ended their part; nobody else can do it for them.
func TestWithdrawMyData(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	link := b.link("s1")
	join := func(name string) func(path string, form url.Values) reply {
		c := b.browser()
		b.post(c, link, url.Values{"name": {name}})
		return func(path string, form url.Values) reply {
			if form == nil {
				return b.get(c, path)
			}
			return b.post(c, path, form)
		}
	}
	ada := join("Adalberta")
	bob := join("Bobinette")
	sure := url.Values{"sure": {"yes"}}
	if r := ada("/sessions/s1/withdraw", sure); r.status != 403 {
		t.Errorf("where it is not offered: status %d", r.status)
	}
	if r := ada("/sessions/s1/label", nil); r.lacks("/sessions/s1/withdraw") == nil {
		t.Error("the page offers it all the same")
	}
	b.s1.spec.WithdrawDays = 30
	if r := ada("/sessions/s1/label", nil); r.lacks("/sessions/s1/withdraw") != nil {
		t.Error("the page does not offer it")
	}
	if r := ada("/sessions/s1/withdraw", nil); r.status != 200 || r.lacks("cannot be undone") != nil {
		t.Errorf("the page: status %d", r.status)
	}
	if r := ada("/sessions/s1/withdraw", url.Values{}); r.status != 400 || r.lacks("Nothing was erased") != nil {
		t.Errorf("without the box: status %d", r.status)
	}
	if r := b.post(b.browser(), "/sessions/s1/withdraw", sure); r.status != 403 {
		t.Errorf("a stranger: status %d", r.status)
	}
	if r := ada("/sessions/s1/withdraw", sure); r.status != 303 || !strings.HasPrefix(r.header.Get("Location"), "/sessions/s1/withdrawn/a1/") {
		t.Errorf("withdraw: status %d to %q", r.status, r.header.Get("Location"))
	}
	if r := ada("/sessions/s1/label", nil); r.status != 403 {
		t.Errorf("afterwards the questions: status %d", r.status)
	}
	must.Do(t, b.db.RevokeAnnotator(ctx, "s1", "a2", false, "grace", time.Now()))
	if r := bob("/sessions/s1/label", nil); r.status != 410 {
		t.Errorf("somebody whose part has ended: status %d", r.status)
	}
	if r := bob("/sessions/s1/withdraw", nil); r.status != 200 {
		t.Errorf("their page: status %d", r.status)
	}
	if r := bob("/sessions/s1/withdraw", sure); r.status != 303 {
		t.Errorf("they withdraw: status %d", r.status)
	}
	people, err := b.db.Annotators(ctx, "s1")
	if err != nil || people[0].Name+people[1].Name != "" || people[0].WithdrawnAt.IsZero() || people[1].WithdrawnAt.IsZero() {
		t.Errorf("people: %+v, %v", people, err)
	}
}

// The page after a withdrawal says that the data are being erased for as long as a file may hold some of them, and then that
// they are erased. It needs its whole address and no login; the form sent once more, as after a lost reply, leads to it.
func TestErasingIsTold(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	b.s1.spec.WithdrawDays = 30
	c := b.browser()
	b.post(c, b.link("s1"), url.Values{"name": {"Adalberta"}})
	receipt := must.Get(b.db.Receipt(ctx, "s1", "a1"))(t)
	page := "/sessions/s1/withdrawn/a1/" + receipt
	if r := b.get(c, page); r.status != 404 {
		t.Errorf("before the withdrawal: status %d", r.status)
	}
	form := url.Values{"sure": {"yes"}, "annotator": {"a1"}, "receipt": {receipt}}
	if r := b.get(c, "/sessions/s1/withdraw"); r.lacks(`name="annotator" value="a1"`, `name="receipt" value="`+receipt) != nil {
		t.Errorf("the form lacks its receipt: status %d", r.status)
	}
	must.Do(t, b.db.Read(ctx, "s2", func(*store.Reading) error { // an export of another session
		for range 2 {
			if r := b.post(c, "/sessions/s1/withdraw", form); r.status != 303 || r.header.Get("Location") != page {
				t.Errorf("withdraw: status %d to %q", r.status, r.header.Get("Location"))
			}
		}
		if err := b.db.Erase(ctx); err == nil {
			t.Error("erased beside a reader")
		}
		if r := b.get(b.browser(), page); r.status != 200 || r.lacks("Your data are being erased", `data-forget="s1"`) != nil || r.header.Get("Refresh") == "" {
			t.Errorf("beside a reader: status %d, refresh %q: %s", r.status, r.header.Get("Refresh"), r.body)
		}
		if r := b.get(b.researcher(), "/sessions/s1/people"); r.lacks("data withdrawn, being erased") != nil {
			t.Error("the list of people says something else")
		}
		return nil
	}))
	must.Do(t, b.db.Erase(ctx))
	if r := b.get(b.browser(), page); r.status != 200 || r.lacks("Your data are erased", `data-forget="s1"`) != nil || r.header.Get("Refresh") != "" {
		t.Errorf("afterwards: status %d, refresh %q: %s", r.status, r.header.Get("Refresh"), r.body)
	}
	for _, wrong := range []string{"/sessions/s1/withdrawn/a1/" + strings.Repeat("0", len(receipt)), "/sessions/s2/withdrawn/a1/" + receipt, "/sessions/s1/withdrawn/a2/" + receipt} {
		if r := b.get(c, wrong); r.status != 404 {
			t.Errorf("%s: status %d", wrong, r.status)
		}
	}
	form.Set("receipt", "wrong")
	if r := b.post(c, "/sessions/s1/withdraw", form); r.status != 403 {
		t.Errorf("a form with a wrong receipt: status %d", r.status)
	}
}
