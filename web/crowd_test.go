package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
	"tiebreak/web/wire"
)

// crowdLink makes a crowd link for some people.
func (b *bench) crowdLink(uses int, platform string, change func(*identity.Crowd)) string {
	b.t.Helper()
	c, err := identity.CrowdOf(platform)
	if err != nil {
		b.t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	token, err := b.auth.NewCrowdInvitation(b.t.Context(), "s1", uses, time.Hour, c)
	if err != nil {
		b.t.Fatal(err)
	}
	return "/join/" + token
}

// One person an id: in the browser in which they began they are who they were; in another
// one they can go on answering, and see nothing of what was before.
func TestCrowdLink(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	link := b.crowdLink(1, "prolific", nil) + "?PROLIFIC_PID=5a9dSECRET&STUDY_ID=st1&SESSION_ID=sub1SECRET"
	first, other := b.browser(), b.browser()
	if r := b.get(first, link); r.status != 200 || r.lacks("Start") != nil || r.lacks(`name="name"`) == nil {
		t.Errorf("the page of the link: status %d, or it asks for a name", r.status)
	}
	for range 2 { // the second time nothing is used up
		if r := b.post(first, link, nil); r.status != 303 || r.header.Get("Location") != "/sessions/s1/label" {
			t.Fatalf("join: status %d to %q", r.status, r.header.Get("Location"))
		}
	}
	tab := b.open(first, "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	wait[*wire.Query](tab)
	tab.send(answerTo(0, "c-1"))
	if s := waitFor(tab, func(s *wire.Status) bool { return s.Mine == 1 }); s.Undo == "" {
		t.Error("the first browser cannot undo")
	}

	if r := b.get(other, link); r.status != 200 || r.lacks("Welcome back") == nil {
		t.Errorf("another browser: status %d, or it is told that somebody was here", r.status)
	}
	if r := b.post(other, link, nil); r.status != 303 { // the link is used up
		t.Fatalf("another browser comes back: status %d", r.status)
	}
	people, err := b.db.Annotators(ctx, "s1")
	if err != nil || len(people) != 1 {
		t.Fatalf("%d people, %v; want one", len(people), err)
	}
	b.s1.spec.WithdrawDays = 30
	for path, want := range map[string]int{"/sessions/s1/label": 200, "/sessions/s1/answers": 403, "/sessions/s1/withdraw": 403} {
		if r := b.get(other, path); r.status != want {
			t.Errorf("%s in another browser: status %d, want %d", path, r.status, want)
		}
	}
	for path, form := range map[string]url.Values{"/sessions/s1/withdraw": {"sure": {"yes"}}, "/sessions/s1/key": {"key": {""}}} {
		if r := b.post(other, path, form); r.status != 403 {
			t.Errorf("post to %s in another browser: status %d", path, r.status)
		}
	}
	second := b.open(other, "/sessions/s1/ws")
	second.send(&wire.ClientHello{})
	if s := wait[*wire.Status](second); s.Mine != 0 || s.Undo != "" || len(s.Open) == 0 {
		t.Errorf("the socket of another browser: %+v", s)
	}
	second.send(&wire.Undo{ID: "u-1", Of: "c-1"})
	if n := wait[*wire.Nak](second); n.Code != wire.Forbidden || n.ID != "u-1" {
		t.Errorf("undo in another browser: %+v", n)
	}
	second.send(answerTo(1, "c-2"))
	if a := wait[*wire.Ack](second); a.ID != "c-2" {
		t.Errorf("an answer in another browser: %+v", a)
	}

	// Another person with the same browser does not go on as the one before.
	more := b.crowdLink(5, "prolific", nil)
	if r := b.post(first, more+"?PROLIFIC_PID=someoneelse", nil); r.status != 303 {
		t.Fatalf("another person: status %d", r.status)
	}
	if people, err = b.db.Annotators(ctx, "s1"); len(people) != 2 || err != nil {
		t.Errorf("%d people, %v; want two", len(people), err)
	}
	if r := b.post(b.browser(), strings.SplitN(link, "?", 2)[0]+"?PROLIFIC_PID=third", nil); r.status != 404 {
		t.Errorf("a link that is used up lets in: status %d", r.status)
	}
	who, err := b.db.Participants(ctx, "s1")
	if p := who["a1"]; err != nil || len(p.ID) != 32 || strings.Contains(p.ID+p.Submission, "SECRET") || p.Study != "st1" {
		t.Errorf("recorded as %+v, %v; want hashes, and the study", p, err)
	}
}

// What a crowd platform may get wrong, and what it previews, lets nobody in.
func TestCrowdLinkRefuses(t *testing.T) {
	b := newBench(t, nil)
	prolific, mturk := b.crowdLink(5, "prolific", nil), b.crowdLink(5, "mturk", nil)
	for name, address := range map[string]string{
		"no id": prolific, "markup": prolific + "?PROLIFIC_PID=%3Cscript%3Ealert(1)%3C/script%3E", "two": prolific + "?PROLIFIC_PID=a&PROLIFIC_PID=b",
		"of another platform": prolific + "?workerId=A1", "preview": mturk + "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&workerId=A1",
	} {
		if r := b.post(b.browser(), address, nil); r.status != 400 || strings.Contains(r.body, "<script>alert") {
			t.Errorf("%s: status %d", name, r.status)
		}
	}
	if r := b.get(b.browser(), mturk+"?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE"); r.status != 200 || r.lacks("This is a preview", "What to look for") != nil || r.lacks("data-start") == nil {
		t.Errorf("a preview: status %d, or it can be started", r.status)
	}
	if people, err := b.db.Annotators(t.Context(), "s1"); len(people) != 0 || err != nil {
		t.Errorf("%d people, %v; want none", len(people), err)
	}
}

// At the end people go back to the address that the researcher gave, whatever their own says,
// and their ids are exported only where that is asked for.
func TestCrowdReturnAndExport(t *testing.T) {
	b := newBench(t, nil)
	link := b.crowdLink(5, "own", func(c *identity.Crowd) {
		c.Participant, c.Study, c.AsGiven, c.Return = "pid", "study", true, "https://platform.example/done?cc={code}"
	})
	c := b.browser()
	if r := b.post(c, link+"?pid=Worker-77&study=S9&return=https://evil.example&Return=https://evil.example", nil); r.status != 303 {
		t.Fatalf("join: status %d", r.status)
	}
	tab := b.open(c, "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	wait[*wire.Query](tab)
	tab.send(answerTo(0, "id1"))
	if s := waitFor(tab, func(s *wire.Status) bool { return s.Mine == 1 }); s.Return != "" {
		t.Errorf("before the end the address is %q", s.Return)
	}
	b.s1.set(live.EventSettings, func() { b.s1.done, b.s1.spec.CompletionCode = true, "A&1" })
	if s := waitFor(tab, func(s *wire.Status) bool { return s.Done }); s.Return != "https://platform.example/done?cc=A%261" || s.Code != "A&1" {
		t.Errorf("at the end the address is %q", s.Return)
	}
	if who, err := b.db.Participants(t.Context(), "s1"); err != nil || who["a1"] != (record.Participant{ID: "Worker-77", Study: "S9"}) {
		t.Errorf("recorded as %+v, %v", who["a1"], err)
	}
	r := b.researcher()
	if e := b.get(r, "/sessions/s1/export?format=csv"); e.status != 200 || strings.Contains(e.body, "participant") {
		t.Errorf("an export without being asked: status %d", e.status)
	}
	if e := b.get(r, "/sessions/s1/export?format=csv&participants=1"); e.status != 200 || e.lacks(",participant,study,submission") != nil {
		t.Errorf("an export that is asked for them: status %d: %s", e.status, e.body)
	}
}

// Whoever comes back by a crowd link is charged for it, as the link does not bound how often
// they do; who is new is not.
func TestComingBackIsCharged(t *testing.T) {
	b := newBench(t, nil)
	link := b.crowdLink(100, "prolific", nil) + "?PROLIFIC_PID="
	const burst = 10
	web.Tighten(b.web, burst, 0)
	for n := range 2 * burst {
		c, visit := b.browser(), link+"new"+strconv.Itoa(n)
		if page, r := b.get(c, visit), b.post(c, visit, nil); page.status != 200 || r.status != 303 {
			t.Fatalf("new participant %d: status %d, then %d", n, page.status, r.status)
		}
	}
	in := 0
	for b.post(b.browser(), link+"new1", nil).status == 303 {
		if in++; in > burst {
			t.Fatal("a participant signs in without limit")
		}
	}
	people, err := b.db.Annotators(t.Context(), "s1")
	if err != nil || len(people) != 2*burst {
		t.Errorf("%d people, %v; want %d", len(people), err, 2*burst)
	}
}

// A participant whom a researcher removed is told so by the link, and can withdraw their data
// in the browser in which they began, whether they opened the link again or not.
func TestRemovedParticipantCanWithdraw(t *testing.T) {
	b := newBench(t, nil)
	b.s1.spec.WithdrawDays = 30
	link := b.crowdLink(5, "prolific", nil) + "?PROLIFIC_PID="
	c, shared := b.browser(), b.browser()
	b.post(c, link+"p1", nil)
	b.post(shared, link+"p2", nil)
	must.Do(t, b.db.RevokeAnnotator(t.Context(), "s1", "a1", false, "Ada", time.Now()))
	for name, c := range map[string]*http.Client{"their browser": c, "that of another participant": shared, "another": b.browser()} {
		r := b.post(c, link+"p1", nil)
		if r.status != 410 || r.lacks("ended your part") != nil || r.header.Get("Set-Cookie") != "" {
			t.Errorf("the link in %s: status %d, cookie %q", name, r.status, r.header.Get("Set-Cookie"))
		}
	}
	if r := b.get(c, link+"p1"); r.status != 410 {
		t.Errorf("the page of the link: status %d", r.status)
	}
	if r := b.get(shared, "/sessions/s1/label"); r.status != 200 {
		t.Errorf("the other participant's page: status %d", r.status)
	}
	if r := b.get(c, "/sessions/s1/withdraw"); r.status != 200 {
		t.Errorf("the page of withdrawal: status %d", r.status)
	}
	if r := b.post(c, "/sessions/s1/withdraw", url.Values{"sure": {"yes"}}); r.status != 303 {
		t.Errorf("withdrawal: status %d: %s", r.status, r.body)
	}
	if r := b.post(c, link+"p3", nil); r.status != 303 { // somebody else
		t.Errorf("another person in that browser: status %d", r.status)
	}
}

// Who has withdrawn their data begins no new part with the same id, also in another browser, by another link, and where that keeps
// ids as they are given; others do.
func TestWithdrawnParticipantDoesNotJoinAgain(t *testing.T) {
	b := newBench(t, nil)
	b.s1.spec.WithdrawDays = 30
	keyed := b.crowdLink(9, "prolific", nil)
	given := b.crowdLink(9, "prolific", func(c *identity.Crowd) { c.AsGiven = true })
	for link, id := range map[string]string{keyed: "p1", given: "p2"} {
		c := b.browser()
		b.post(c, link+"?PROLIFIC_PID="+id, nil)
		if r := b.post(c, "/sessions/s1/withdraw", url.Values{"sure": {"yes"}}); r.status != 303 {
			t.Fatalf("%s withdraws: status %d", id, r.status)
		}
		for _, again := range []string{keyed, given} {
			for name, c := range map[string]*http.Client{"their browser": c, "another": b.browser()} {
				page, r := b.get(c, again+"?PROLIFIC_PID="+id), b.post(c, again+"?PROLIFIC_PID="+id, nil)
				if page.status != 410 || page.lacks("You have withdrawn your data") != nil || r.status != 410 || r.header.Get("Set-Cookie") != "" {
					t.Errorf("%s comes again in %s: status %d, then %d", id, name, page.status, r.status)
				}
			}
		}
	}
	people, err := b.db.Annotators(t.Context(), "s1")
	if err != nil || len(people) != 2 {
		t.Errorf("%d people, %v; want two", len(people), err)
	}
	if r := b.post(b.browser(), keyed+"?PROLIFIC_PID=p3", nil); r.status != 303 {
		t.Errorf("somebody else: status %d", r.status)
	}
	var unsigned identity.Crowd
	if unsigned, err = identity.CrowdOf("prolific"); err != nil {
		t.Fatal(err)
	}
	if did, err := b.db.Withdrew(t.Context(), "s2", unsigned, record.Participant{ID: "p1"}); did || err != nil {
		t.Errorf("in another session: %v, %v", did, err)
	}
}
