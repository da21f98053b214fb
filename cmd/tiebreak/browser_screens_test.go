package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/web"

	"github.com/chromedp/chromedp/kb"
)

// A screen is a page in a state that people meet.
type screen struct {
	name    string
	address string // of web.Addresses; "" for a page that any address may answer with
	tab     *tab
	show    func() // leads the tab from the screen before to this one
}

// A visit is a server with the people who look at its screens.
type visit struct {
	server *process
	base   string // of addresses

	stranger, researcher, comparer, rater, agreeing *tab

	pairs, asking                                                     string // ids of sessions
	pairLink, rateLink, networkLink, consentLink, moreLink, groupLink string // of annotators

	newConsent func() // puts another consent text into use
}

// newVisit makes sessions and opens tabs.
func newVisit(t *testing.T) *visit {
	browser := startBrowserOf(t, wholeBrowsers)
	data, addr := t.TempDir(), freeAddr(t)
	v := &visit{base: "http://" + addr}
	v.pairs, v.pairLink = newLink(t, data, addr, "--env", "driver", "--title", "Drive", "--budget", "11", "--show-learnt", "--completion-code", "TB-42")
	_, v.rateLink = newLink(t, data, addr, "--env", "gridworld", "--kind", "state_rating", "--title", "Walk")
	_, v.networkLink = newLink(t, data, addr, "--env", "driver", "--model", "network", "--title", "Swing")
	_, v.moreLink = newLink(t, data, addr, "--env", "driver", "--title", "Say more", "--strength", "--remarks")
	_, v.groupLink = newLink(t, data, addr, "--env", "driver", "--kind", "clip_group", "--title", "Six at once")
	consent := filepath.Join(t.TempDir(), "consent.md")
	write := func(text string) {
		must.Do(t, os.WriteFile(consent, []byte(text), 0o600))
	}
	write("Your answers are kept for **ten** years.")
	v.asking, v.consentLink = newLink(t, data, addr, "--env", "gridworld", "--title", "Agree", "--withdraw-days", "30", "--consent-file", consent)
	v.newConsent = func() {
		write("Your answers are kept for **two** years.")
		if status, _, stderr := cli(t, "session", "set", "--data", data, "--session", v.asking, "--consent-file", consent); status != 0 {
			t.Fatalf("session set: %s", stderr)
		}
	}
	films := t.TempDir()
	must.Do(t, (lerobottest.Dataset{Lengths: []int{6, 6}}).Write(filepath.Join(films, "pens")))
	v.server = startServer(t, "serve", "--data", data, "--addr", addr, "--recordings", films)
	for _, tab := range []**tab{&v.stranger, &v.researcher, &v.comparer, &v.rater, &v.agreeing} {
		*tab = newPerson(t, browser)
		(*tab).pardon(regexp.MustCompile(`status of 4\d\d|WebSocket`)) // the pages of errors are looked at too
	}
	return v
}

// ofStrangers lists what is seen by people whom the site does not know.
func (v *visit) ofStrangers() []screen {
	b := v.stranger
	open := func(path, selector string) func() {
		return func() {
			b.open(v.base + path)
			b.waitFor(selector)
		}
	}
	return []screen{
		{"welcome", "/", b, open("/", "h1")},
		{"page that does not exist", "", b, open("/nothing", "main[data-status='404']")},
		{"page for researchers", "", b, open("/sessions", "main[data-status='403']")},
		{"labelling without a link", "", b, open("/sessions/"+v.pairs+"/label", "main[data-status='403']")},
		{"sign-in link that is used up", "/signin", b, open("/signin?token=none", "[role=alert]")},
		{"annotator link that is no more", "/join/:token", b, open("/join/none", "[role=alert]")},
		{"annotator link", "/join/:token", b, open(strings.TrimPrefix(v.pairLink, v.base), ".guide .legend svg")},
	}
}

// ofConsent lists what is seen where people are asked for their consent.
func (v *visit) ofConsent() []screen {
	b := v.agreeing
	session := v.base + "/sessions/" + v.asking
	return []screen{
		{"annotator link with consent", "/join/:token", b, func() {
			b.open(v.consentLink)
			b.waitFor("[data-agree]")
		}},
		{"no consent", "/join/:token/declined", b, func() {
			b.enter("[data-decline]")
			b.waitFor("[data-notice]")
		}},
		{"withdrawal", "/sessions/:id/withdraw", b, func() {
			b.open(v.consentLink)
			b.tabTo("[data-agree]")
			b.press(" ")
			b.enter("[data-start]")
			b.painted()
			b.open(session + "/withdraw")
			b.waitFor("main form")
		}},
		{"consent to another text", "/sessions/:id/consent", b, func() {
			v.newConsent()
			b.open(session + "/consent")
			b.waitFor("[data-agree]")
		}},
		{"no consent to another text", "/sessions/:id/declined", b, func() {
			b.enter("[data-decline]")
			b.waitFor("[data-notice]")
		}},
		{"withdrawn", "/sessions/:id/withdrawn/:annotator/:receipt", b, func() {
			b.open(session + "/withdraw")
			b.tabTo("input[name=sure]")
			b.press(" ")
			b.enter("[data-withdraw]")
			b.wait("location.pathname.includes('/withdrawn/')")
		}},
	}
}

// ofResearchers lists what is seen by people who run studies.
func (v *visit) ofResearchers() []screen {
	b := v.researcher
	return []screen{
		{"sign in", "/signin", b, func() {
			b.open(signInLink.FindString(v.server.out.String()))
			b.waitFor("[data-signin]")
		}},
		{"sessions", "/sessions", b, func() {
			b.enter("[data-signin]")
			b.waitFor("[data-new]")
		}},
		{"new session", "/sessions/new", b, func() {
			b.enter("[data-new]")
			b.waitFor("[data-create]")
		}},
		{"rehearsal", "/rehearsals/:name", b, func() {
			b.tabTo("input[name=title]")
			b.press("Pilot")
			b.tabTo("input[name=budget]")
			b.press("4")
			b.enter("[data-rehearse-menu] summary")
			b.enter("[data-rehearse]")
			b.waitFor("[data-progress]")
			b.enter("[data-stop]")
			b.waitFor("[data-wrong]")
		}},
		{"new session after a rehearsal", "", b, func() {
			b.open(v.base + "/sessions/new")
			b.waitFor("[data-create]")
			b.enter("[data-last-rehearsals] summary")
			b.waitFor("[data-last-rehearsals][open] a[href^='/rehearsals/']")
		}},
		{"new session with preview and mistakes", "", b, func() {
			b.tabTo("textarea[name=instructions]")
			b.press("Stay on the **road**.")
			b.tabTo("input[name=budget]")
			b.press("many")
			b.enter("[data-create]")
			b.waitFor("[aria-invalid]")
		}},
		{"new session with all settings and the pages of annotators", "", b, func() {
			b.open(v.base + "/sessions/new")
			b.enter("[data-show-preview]")
			b.waitFor("[data-preview] iframe")
			b.enter("[data-everything] summary")
			b.waitFor("[data-everything][open] input[name=candidates]")
		}},
		{"session without a reward network", "/sessions/:id", b, func() {
			b.open(v.base + "/sessions/" + v.pairs)
			b.wait("(({connection, seq}) => connection === 'open' && Number(seq) > 0)(document.querySelector('main').dataset)")
			b.wait("document.querySelector('[data-stop]').innerText !== ''")
		}},
		{"what a session has learnt", "/sessions/:id/learning", b, func() {
			b.page("learning")
			b.waitFor("[data-place=candidates] svg")
			b.waitFor("[data-chart=calibration]")
		}},
		{"what it learnt, by clips", "/sessions/:id/learnt", b, func() {
			b.page("learnt")
			b.waitFor("[data-candidates] .interval-row")
			b.waitFor("[data-taste] figure")
			b.wait("!document.querySelector('[data-compared] duo-player, .unsure duo-player').hasAttribute('data-empty')")
		}},
		{"questions of a session", "/sessions/:id/asked", b, func() {
			b.page("asked")
			b.waitFor("[data-recent] tbody tr")
			b.waitFor("[data-question] h2")
			b.waitFor("[data-chart=leases]")
		}},
		{"trainings of a session", "/sessions/:id/training", b, func() {
			b.page("training")
			b.waitFor("[data-chart=trainings]")
		}},
		{"data of a session", "/sessions/:id/data", b, func() { b.page("data") }},
		{"settings of a session", "/sessions/:id/settings", b, func() { b.page("settings") }},
		{"people of a session, one to be removed", "/sessions/:id/people", b, func() {
			b.page("people")
			b.enter("[data-person=a1] summary")
			b.waitFor("[data-person=a1] [data-remove]")
		}},
		{"questions that were asked", "/sessions/:id/questions", b, func() {
			b.open(v.base + "/sessions/" + v.pairs + "/questions")
			b.waitFor("[data-question] canvas")
			b.enter("[data-question] .play")
		}},
		{"new annotator link", "/sessions/:id", b, func() {
			b.open(v.base + "/sessions/" + v.pairs)
			b.enter("[data-invite]")
			b.waitFor("[data-invite-link]")
		}},
		{"session that nobody has joined, with a reward network", "/sessions/:id", b, func() {
			b.open(v.base + "/sessions")
			b.waitFor("[data-session]")
			b.open(evaluate[string](b, "[...document.querySelectorAll('[data-session] a')].find((a) => a.innerText.includes('Swing')).href"))
			b.wait("document.querySelector('main').dataset.connection === 'open'")
			b.waitFor("[data-no-regret]")
			b.page("learning")
			b.waitFor("[data-network]")
		}},
		{"instructions", "/sessions/:id/instructions", b, func() {
			b.open(v.base + "/sessions/" + v.pairs + "/instructions")
			b.waitFor("textarea")
		}},
		{"how people answer", "/sessions/:id/quality", b, func() {
			b.open(v.base + "/sessions/" + v.pairs + "/quality")
			b.waitFor("[data-quality] [data-leave-out]")
		}},
		{"practice and gold questions", "/sessions/:id/known", b, func() {
			b.open(v.base + "/sessions/" + v.pairs + "/known")
			b.wait("document.querySelectorAll('[data-judge] clip-loop:not([data-empty])').length === 2")
			b.tabTo("[data-judge] input[value=a]")
			b.press(" ")
			b.enter("[data-judge] button[value=gold]")
			b.waitFor("[data-known=gold] [data-stop-using]")
		}},
		{"tokens", "/tokens", b, func() {
			b.open(v.base + "/tokens")
			b.enter("[data-new-token]")
			b.waitFor("[data-token]")
		}},
		{"workers", "/workers", b, func() {
			b.open(v.base + "/workers")
			b.waitFor("[data-workers] [data-start]")
		}},
		{"before people are invited", "/before", b, func() {
			b.open(v.base + "/before")
			b.waitFor("[data-before] [data-is=missing]")
		}},
		{"audit trail", "/audit", b, func() {
			b.open(v.base + "/audit")
			b.waitFor("[data-audit] [data-position]")
		}},
		{"accounts", "/users", b, func() {
			b.open(v.base + "/users")
			b.waitFor("[data-user-table] [data-user]")
		}},
		{"one's own account", "/account", b, func() {
			b.open(v.base + "/account")
			b.waitFor("[data-set-password]")
		}},
		{"who may see a session", "/sessions/:id/sharing", b, func() {
			b.open(v.base + "/sessions/" + v.pairs + "/sharing")
			b.waitFor("[data-sharing] h1")
		}},
		{"new arena", "/arenas/new", b, func() {
			b.open(v.base + "/arenas/new")
			b.waitFor("main form")
		}},
		{"recordings that can be imported", "/recordings", b, func() {
			b.open(v.base + "/recordings")
			b.waitFor("[data-form=recordings]")
		}},
		{"what an import of recordings takes", "/recordings", b, func() {
			evaluate[bool](b, "(document.querySelector('[data-form=recordings] [name=name]').value = 'pens', true)")
			b.enter("[data-check]")
			b.waitFor("[data-planned]")
		}},
		{"sessions that are compared", "/compare", b, func() {
			b.open(v.base + "/sessions")
			b.waitFor("[data-session] .compare-tick")
			evaluate[bool](b, "([...document.querySelectorAll('.compare-tick input')].filter((i) => /Drive|Say more/.test(i.parentElement.innerText)).forEach((i) => { i.checked = true; }), true)")
			b.enter("[data-compare]")
			b.waitFor("[data-compared] [data-session]")
		}},
		{"session that does not exist", "", b, func() {
			b.open(v.base + "/sessions/none")
			b.waitFor("main[data-status='404']")
		}},
	}
}

// ofAnnotators lists what is seen by people who answer.
func (v *visit) ofAnnotators() []screen {
	const label = "/sessions/:id/label"
	b, r := v.comparer, v.rater
	dialog := func(key, name string) func() {
		return func() {
			b.insist("document.querySelector('[data-"+name+"-dialog]').open", func() { b.press(key) })
		}
	}
	closed := func(then func()) func() {
		return func() {
			b.press(kb.Escape)
			b.wait("!document.querySelector('dialog[open]')")
			then()
		}
	}
	return []screen{
		{"comparison", label, b, func() { b.join(v.pairLink, "Ann") }},
		{"instructions of annotators", label, b, dialog("?", "help")},
		{"reasons to skip", label, b, closed(dialog("s", "skip"))},
		{"no last answers", label, b, closed(dialog("l", "last"))},
		{"last answers", label, b, closed(func() {
			b.answer(kb.ArrowLeft)
			b.answer(kb.ArrowUp)
			dialog("l", "last")()
			b.waitFor("[data-last-list] li:nth-child(2) button")
		})},
		{"answer withdrawn", label, b, closed(func() {
			b.answer(kb.ArrowRight)
			b.press("z")
			b.wait("document.querySelector('[data-toast]').textContent !== '' && document.body.dataset.answered === '2'")
		})},
		{"what was learnt", label, b, func() {
			for range 8 {
				b.answer(kb.ArrowRight)
			}
			b.waitFor("[data-learnt-dialog][open] clip-loop")
		}},
		{"break", label, b, closed(func() {
			evaluate[bool](b, "(sessionStorage.setItem('tiebreak.sitting.' + document.querySelector('main').dataset.session + '.' + document.querySelector('main').dataset.annotator, JSON.stringify({ last: Date.now(), active: 1.3e6, answers: 150 })), true)")
			b.open(evaluate[string](b, "location.href"))
			b.waitFor("[data-rest]")
		})},
		{"link again", "/join/:token", b, func() {
			b.open(v.pairLink)
			b.waitFor("[data-start]")
		}},
		{"end", label, b, func() {
			b.enter("[data-start]")
			b.wait("document.body.dataset.state === 'ready' || document.querySelector('dialog[open]') !== null")
			b.press(kb.Escape)
			b.wait("!document.querySelector('dialog[open]')")
			b.painted()
			b.commit(kb.ArrowLeft)
			b.wait("document.body.dataset.state === 'done'")
			b.waitFor("[data-code]")
			b.waitFor("[data-end] clip-loop")
		}},
		{"comparison with more to say", label, b, func() {
			b.join(v.moreLink, "Ann")
			b.ready()
			b.press("b")
		}},
		{"note for the researcher", label, b, dialog("f", "flag")},
		{"best of six", label, b, func() { b.join(v.groupLink, "Ann") }},
		{"worst of six", label, b, func() {
			b.ready()
			b.press("3")
			b.wait("document.body.dataset.picking === 'worst'")
		}},
		{"rating", label, r, func() { r.join(v.rateLink, "Bo") }},
		{"instructions of a rating", label, r, func() {
			r.press("?")
			r.waitFor("dialog[data-help-dialog]")
		}},
		{"server is away", label, r, func() {
			r.press(kb.Escape)
			r.wait("!document.querySelector('dialog[open]')")
			for _, tab := range []*tab{v.stranger, v.researcher, v.comparer, v.agreeing, r} {
				tab.expectAway(true)
			}
			v.server.kill()
			r.wait("document.body.dataset.state === 'offline'")
			r.commit("7")
			r.waitFor("[data-banner]")
		}},
	}
}

// TestBrowserAccessible: axe finds nothing wrong with any screen, and no page is missing from the
// screens.
func TestBrowserAccessible(t *testing.T) {
	t.Parallel()
	if axeSource(t) == "" {
		t.Skip(noAxe)
	}
	v := newVisit(t)
	seen := map[string]bool{}
	look := func(s screen) {
		s.show()
		s.tab.accessible(s.name)
		seen[s.address] = true
	}
	annotators := v.ofAnnotators()
	for _, s := range slices.Concat(v.ofStrangers(), v.ofConsent(), annotators[:len(annotators)-1], v.ofResearchers()) {
		look(s)
	}
	for _, address := range web.Addresses() {
		if !seen[address] {
			v.isNoPage(address)
		}
	}
	look(annotators[len(annotators)-1]) // ends the server
}

// isNoPage fails if the server answers a GET of the address with a page.
func (v *visit) isNoPage(address string) {
	b := v.researcher
	b.t.Helper()
	if slices.Contains([]string{
		"/sessions/:id/ws", "/sessions/:id/watch", // sockets
		"/join/:token/example",                                                      // a clip
		"/environments/:env/clips/:n",                                               // a clip
		"/sessions/:id/report",                                                      // a file: TestBrowserReport looks at it
		"/compare/:file",                                                            // the chart of a comparison and its data
		"/sessions/:id/charts",                                                      // a part of the session's page
		"/sessions/:id/pictures/:picture", "/sessions/:id/clips/:clip", "/static/*", // files that have to be named
	}, address) || strings.HasPrefix(address, "/api/") { // for programs, by a token
		return
	}
	path := strings.NewReplacer(":id", v.pairs, ":when", "now", ":link", "1", ":annotator", "a1", ":table", "rate", ":format", "csv").Replace(address)
	got := ""
	for _, who := range []*tab{v.researcher, v.comparer} {
		got += evaluate[string](who, fmt.Sprintf("fetch(%q).then((r) => !r.ok ? '' : r.redirected ? 'leads to ' + r.url : r.headers.get('Content-Type') + ' ')", path))
	}
	switch {
	case got == "":
		b.t.Errorf("nobody may fetch %s: say here that it is no page, or add it to the screens", address)
	case strings.Contains(got, "text/html"):
		b.t.Errorf("%s is a page (%s): add it to the screens", address, got)
	}
}
