package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// refusedLoads matches what the console says of a request or a socket that the
// server refuses because the login has ended, or the person's part.
var refusedLoads = regexp.MustCompile(`\b(403|410)\b`)

// loseCookies removes every cookie of the person, as a login that has run out or
// a tidy browser does.
func (b *tab) loseCookies() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		b.fatalf("clear the cookies: %v", err)
	}
}

// givenBy returns how many answers that stand each annotator has in the export.
func givenBy(t *testing.T, data string) map[string]int {
	t.Helper()
	_, list, _ := cli(t, "export", "--data", data)
	status, out, stderr := cli(t, "export", "--data", data, "--session", strings.Fields(list)[0], "--format", "jsonl")
	if status != 0 {
		t.Fatalf("export: %s", stderr)
	}
	given := map[string]int{}
	for line := range strings.Lines(out) {
		var r struct {
			Annotator string `json:"annotator_id"`
			Withdrawn bool
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if !r.Withdrawn {
			given[r.Annotator]++
		}
	}
	return given
}

// TestBrowserExpiredLogin: the login ends and the server is killed; answers given
// meanwhile arrive, once and under the same annotator, after the same browser
// has opened the annotators' link again.
func TestBrowserExpiredLogin(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	server := startServer(t, "demo", "--data", data, "--addr", addr)
	link := server.find(t, `Annotator:\s+(\S+)`)
	b := newPerson(t, browser)
	b.pardon(refusedLoads)
	b.join(link, "Ada")
	b.answer(kb.ArrowLeft)
	b.answer(kb.ArrowRight)

	b.ahead(3)
	b.loseCookies()
	b.expectAway(true)
	server.kill()
	b.wait("document.body.dataset.state === 'offline'")
	b.commit(kb.ArrowLeft)
	b.commit(kb.ArrowUp)
	startServer(t, "demo", "--data", data, "--addr", addr)
	b.wait("/signed out/.test(document.querySelector('[data-banner]:not([hidden])')?.innerText)")
	if saved := evaluate[string](b, "document.querySelector('[data-saved]').innerText"); !strings.Contains(saved, "2 unsent") {
		t.Errorf("with two answers that are not saved the page says %q: %v", saved, b.data())
	}
	b.fits(1280, 800)
	b.shot("signed-out-1280x800")

	second := newTab(t, b.ctx)
	second.pardon(refusedLoads)
	second.open(link)
	second.waitFor("[data-continue]")
	second.shot("rejoin-1280x800")
	second.enter("[data-continue]")
	second.wait("document.body.dataset.answered === '4' && document.body.dataset.unsent === '0'")
	b.enter("[data-banner] button:not([hidden])") // the old tab goes on, too
	b.wait("document.body.dataset.answered === '4' && document.body.dataset.unsent === '0'")
	b.expectAway(false)
	b.answer(kb.ArrowRight)
	second.wait(fmt.Sprintf("document.body.dataset.assignment === %q", b.painted()["assignment"]))
	if given := givenBy(t, data); len(given) != 1 || given["a1"] != 5 {
		t.Errorf("the export has answers of %v, want 5 of a1", given)
	}
}

// shellKept is true once the service worker holds the page and all its files.
const shellKept = `(async () => {
	const copies = (await caches.keys()).filter((k) => k === "tiebreak.page." + location.pathname);
	return copies.length === 1 && await (await caches.open(copies[0])).match(location.pathname) !== undefined;
})()`

// clipsKept is true once the service worker holds the clips of so many questions.
const clipsKept = `(async () => (await (await caches.open("tiebreak.clips." + location.pathname)).keys()).length >= %d)()`

// TestBrowserOffline: without the server the page goes on for ten questions, also after a
// reload in between, and then says what it waits for; all answers arrive when the server is back.
func TestBrowserOffline(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--ahead", "10")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Cyd")
	b.answer(kb.ArrowLeft)
	b.until("the page is kept", func(context.Context) bool { return evaluate[bool](b, shellKept) })
	b.ahead(10)
	different := evaluate[int](b, "new Set(performance.getEntriesByType('resource').map((e) => e.name.split('?')[0]).filter((n) => n.includes('/clips/'))).size") - 2
	b.until("the clips are kept", func(context.Context) bool { return evaluate[bool](b, fmt.Sprintf(clipsKept, different)) })

	b.expectAway(true)
	server.kill()
	b.wait("document.body.dataset.state === 'offline'")
	for range 4 {
		b.commit(kb.ArrowLeft)
	}
	evaluate[bool](b, "window.beforeReload = true")
	b.do(chromedp.Reload())
	b.wait("window.beforeReload === undefined && /not reachable.*4 unsent/.test(document.querySelector('[data-banner]:not([hidden])')?.innerText)")
	for range 6 {
		b.commit(kb.ArrowUp)
	}
	b.wait("/answered all loaded questions/.test(document.querySelector('[data-note]:not([hidden])')?.innerText)")
	if state := b.data(); state["state"] != "offline" || state["unsent"] != "10" {
		t.Errorf("opened without the server the page is %v", state)
	}
	if got := b.buttons(); !slices.Equal(got, []string{"Z Undo"}) {
		t.Errorf("the page without questions has the buttons %q; an answer that is not sent can be taken back", got)
	}
	b.fits(1280, 800)
	b.shot("offline-1280x800")

	startServer(t, "serve", "--data", data, "--addr", addr)
	b.wait("document.body.dataset.unsent === '0' && document.body.dataset.answered === '11'")
	b.painted()
	b.expectAway(false)
	if rows := records(t, data, id); len(rows) != 11 {
		t.Errorf("%d answers are recorded, want 11", len(rows))
	}
	b.answer(kb.ArrowRight)
	if given := givenBy(t, data); len(given) != 1 || given["a1"] != 12 {
		t.Errorf("the export has answers of %v, want 12 of a1", given)
	}
	b.keepsOnlyItself(addr)
}

// keepsOnlyItself checks what the service worker holds: nothing of other pages, no clips but
// those of ten questions of its own, and nothing after the browser was signed out.
func (b *tab) keepsOnlyItself(addr string) {
	b.t.Helper()
	label := evaluate[string](b, "location.pathname")
	clips := 0
	for _, path := range evaluate[[]string](b, `(async () => {
		const paths = [];
		for (const k of await caches.keys()) for (const r of await (await caches.open(k)).keys()) paths.push(new URL(r.url).pathname);
		return paths;
	})()`) {
		switch {
		case strings.HasPrefix(path, strings.TrimSuffix(label, "label")+"clips/"):
			clips++
		case path != label && !strings.HasPrefix(path, "/static/"):
			b.t.Errorf("the service worker keeps %s", path)
		}
	}
	if clips == 0 || clips > 20 {
		b.t.Errorf("the service worker keeps %d clips, want those of the ten open questions", clips)
	}
	other := newTab(b.t, b.ctx)
	other.pardon(refusedLoads)
	for _, path := range []string{"/", "/sessions", strings.TrimSuffix(label, "/label")} {
		other.open("http://" + addr + path)
		if evaluate[bool](other, "navigator.serviceWorker.controller !== null") {
			b.t.Errorf("the service worker controls %s", path)
		}
	}
	b.pardon(refusedLoads)
	b.loseCookies()
	b.do(chromedp.Reload())
	b.waitFor("[data-continue]")
	kept := ""
	defer func() {
		if kept != "" {
			b.t.Logf("caches, and scopes of service workers, that are left: %s", kept)
		}
	}()
	b.until("the kept page is removed", func(context.Context) bool {
		kept = evaluate[string](b, "(async () => [...await caches.keys(), ...(await navigator.serviceWorker.getRegistrations()).map((r) => r.scope)].join(' '))()")
		return kept == ""
	})
	b.shot("signed-out-page-1280x800")
	b.enter("[data-continue]")
	b.painted()
}

// says waits until the banner is there and what it says matches a pattern.
func (b *tab) says(pattern string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("/%s/.test(document.querySelector('[data-banner]:not([hidden])')?.innerText)", pattern))
}

// TestBrowserSomebodyElse: a browser that has become another annotator says
// which answers of the one before are not saved, and keeps them until they are.
func TestBrowserSomebodyElse(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	server := startServer(t, "demo", "--data", data, "--addr", addr)
	link := server.find(t, `Annotator:\s+(\S+)`)
	ada := newPerson(t, browser)
	ada.pardon(refusedLoads)
	ada.join(link, "Ada")
	ada.answer(kb.ArrowLeft)
	ada.ahead(3)
	ada.loseCookies()
	ada.expectAway(true)
	server.kill()
	ada.wait("document.body.dataset.state === 'offline'")
	ada.commit(kb.ArrowLeft)
	ada.commit(kb.ArrowUp)
	server = startServer(t, "demo", "--data", data, "--addr", addr) // its link replaces that of the first start, which was not used
	ada.says("signed out")
	ada.expectAway(false)

	bob := newTab(t, ada.ctx)
	bob.pardon(refusedLoads)
	bob.open(link)
	bob.enter("[data-other]")
	bob.tabTo("input[name=name]")
	bob.press("Bob")
	bob.enter("[data-start]")
	bob.wait("document.body.dataset.painted === 'true'")
	bob.skipPractice()
	bob.says(`2 answers given as Ada \(a1\) are kept in this browser and not saved`)
	bob.commit(kb.ArrowRight)
	bob.wait("document.body.dataset.answered === '1' && /2 unsent/.test(document.querySelector('[data-saved]').innerText)")
	bob.fits(1280, 800)
	bob.shot("somebody-else-1280x800")
	bob.phone()
	bob.wait("innerWidth === 390")
	bob.fits(390, 844)
	bob.shot("somebody-else-390x844")
	if given := givenBy(t, data); given["a1"] != 1 || given["a2"] != 1 {
		t.Errorf("the export has answers of %v, want one of each", given)
	}

	ada.enter("[data-continue]") // finds that the browser is Bob now
	ada.says(`now answers as Bob \(a2\).*2 unsent`)
	ada.shot("somebody-else-before-1280x800")
	ada.enter("[data-continue]")
	ada.wait("document.body.dataset.answered === '3' && document.body.dataset.unsent === '0'")
	if given := givenBy(t, data); given["a1"] != 3 || given["a2"] != 1 {
		t.Errorf("the export has answers of %v, want 3 of a1 and 1 of a2", given)
	}

	queries, open := bob.asked()
	ada.keepsRefused(open[0], queries[open[0]].Left)

	researcher := newPerson(t, browser)
	researcher.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	researcher.enter("[data-signin]")
	researcher.waitFor("[data-new]")
	remove := strings.Replace(evaluate[string](ada, "location.pathname"), "/label", "/annotators/a1/remove", 1)
	evaluate[int](researcher, fmt.Sprintf("fetch(%q, { method: 'POST', body: new URLSearchParams({ answers: 'count' }) }).then((r) => r.status)", remove))
	ada.wait("/A researcher has ended your part/.test(document.querySelector('[data-note]:not([hidden])')?.innerText)")
}

// keepsRefused checks that an answer that the server will not record stays, is
// shown as not saved, and can be saved as a file.
func (b *tab) keepsRefused(assignment, left string) {
	b.t.Helper()
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const { session, annotator } = document.querySelector("main").dataset;
		const answer = { t: "answer", id: "test-1", assignment: %q, choice: "equal", shown_left: %q, shown_at: new Date().toISOString(),
			answered_ms: 1500, hidden_ms: 0, loops: 1, input: "keyboard", instructions_version: 1 };
		localStorage.setItem("tiebreak.outbox." + session + "." + annotator + "." + "0".repeat(21) + "test-1", JSON.stringify(answer));
		return window.beforeReload = true;
	})()`, assignment, left))
	const kept = "Object.keys(localStorage).filter((k) => k.startsWith('tiebreak.outbox.')).length"
	for range 2 { // it is sent again each time the page opens, and refused
		b.do(chromedp.Reload())
		b.wait("window.beforeReload === undefined")
		b.says("1 answer not saved: This question was given to another annotator")
		b.wait("/1 unsent/.test(document.querySelector('[data-saved]').innerText)")
		if n := evaluate[int](b, kept); n != 1 || b.data()["unsent"] != "1" {
			b.t.Errorf("%d answers are kept and the page is %v, want 1", n, b.data())
		}
		evaluate[bool](b, "window.beforeReload = true")
	}
	b.shot("refused-1280x800")
	evaluate[bool](b, `(() => {
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { blob.text().then((text) => window.saved = text); return make(blob); };
		return HTMLAnchorElement.prototype.click = () => {}, true;
	})()`)
	b.enter("[data-download]")
	b.wait("/test-1/.test(window.saved) && JSON.parse(window.saved).annotator === 'a1'")
	b.enter("[data-remove]")
	b.wait("document.body.dataset.unsent === '0' && document.querySelector('[data-banner]').hidden")
	if n := evaluate[int](b, kept); n != 0 {
		b.t.Errorf("%d answers are kept after they were removed", n)
	}
}

// TestBrowserClosedTab: what a closed tab had not sent is sent by another one,
// without a reload; what a tab takes back is sent by none.
func TestBrowserClosedTab(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	server := startServer(t, "demo", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(server.find(t, `Annotator:\s+(\S+)`), "Dee")
	other := newTab(t, b.ctx)
	other.open(evaluate[string](b, "location.href"))
	other.painted()
	other.ahead(3)
	b.expectAway(true)
	other.expectAway(true)
	server.kill()
	other.wait("document.body.dataset.state === 'offline'")
	other.commit(kb.ArrowLeft)
	other.commit(kb.ArrowUp)
	b.wait("document.body.dataset.unsent === '2'") // it shows them, too
	other.press("z")
	b.wait("document.body.dataset.unsent === '1'")
	other.open("about:blank")
	startServer(t, "demo", "--data", data, "--addr", addr)
	b.wait("document.body.dataset.unsent === '0' && document.body.dataset.answered === '1'")
	b.painted()
	if rows := records(t, data, ""); len(rows) != 1 || rows[0].Choice == "equal" {
		t.Errorf("the export has %+v, want the answer that was not taken back", rows)
	}
}
