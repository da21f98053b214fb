package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tiebreak/internal/check/waittest"
)

// patience bounds every wait for the page, also for a training beside all other tests on two
// cores. It is only used up by a failure.
const patience = waittest.Limit

// Names of Chromium, and of Chromium without windows: the same engine, which draws a page at a third of the processor's time.
var (
	wholeBrowsers = []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	}
	bareBrowsers = []string{"chromium-headless-shell", "headless-shell"}
)

// startBrowser starts a headless Chromium that ends with the test, without windows where it is found so.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	return startBrowserOf(t, slices.Concat(bareBrowsers, wholeBrowsers))
}

// startBrowserOf starts the first of several browsers that is found.
func startBrowserOf(t *testing.T, names []string) context.Context {
	t.Helper()
	path := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	const missing = "no Chromium found: install the package chromium (Debian) or google-chrome (macOS)"
	if path == "" && os.Getenv("CI") != "" {
		t.Fatal(missing)
	} else if path == "" {
		t.Skip(missing)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
	// As root, and only then, chromedp runs it without a sandbox.
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// A tab is a page that is used by keyboard. Every fault that its console
// reports fails the test.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex // guards those below
	faults  []string
	frames  []string       // what went over its sockets, either way
	sockets int            // that its pages opened
	away    bool           // the server is away: failed requests are no faults
	excuse  *regexp.Regexp // what the console says that is no fault; nil for nothing
}

// newPerson opens a tab of somebody who has no cookies yet.
func newPerson(t *testing.T, browser context.Context) *tab {
	t.Helper()
	return newTab(t, browser, chromedp.WithNewBrowserContext())
}

// newTab opens a tab of 1280x800 beside the one of parent, of the same person
// unless options say otherwise.
func newTab(t *testing.T, parent context.Context, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Errorf("the console says: %s", fault)
		}
	})
	must.Do(t, chromedp.Listen(ctx, b.hear))
	// A tab without the focus would let go of the keys that are held.
	must.Get(chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))(t)
	b.resize(1280, 800)
	return b
}

// hear runs on the goroutine that reads from the browser.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			args, _ := json.Marshal(e.Args)
			b.faults = append(b.faults, fmt.Sprintf("%s %s", e.Type, args))
		}
	case *log.EventEntryAdded:
		excused := b.away && strings.Contains(e.Entry.Text, "net::ERR_") || b.excuse != nil && b.excuse.MatchString(e.Entry.Text)
		if e.Entry.Level == log.EntryLevelError && !excused {
			b.faults = append(b.faults, fmt.Sprintf("%s (%s) %s", e.Entry.Text, e.Entry.Source, e.Entry.URL))
		}
	case *network.EventWebSocketCreated:
		b.sockets++
	case *network.EventWebSocketFrameReceived:
		b.frames = append(b.frames, string(e.Response.PayloadData))
	case *network.EventWebSocketFrameSent:
		b.frames = append(b.frames, string(e.Response.PayloadData))
	}
}

// part runs a part of the test as a subtest that reports on its own.
func (b *tab) part(name string, f func()) {
	whole := b.t
	whole.Helper()
	defer func() { b.t = whole }()
	whole.Run(name, func(t *testing.T) {
		b.t = t
		f()
	})
}

func (b *tab) expectAway(away bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

// pardon makes what the console says no fault where it matches a pattern.
func (b *tab) pardon(pattern *regexp.Regexp) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.excuse = pattern
}

// opened returns how many sockets the pages opened.
func (b *tab) opened() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sockets
}

// overheard returns everything that went over the sockets of the page, in order.
func (b *tab) overheard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.frames...)
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.fatalf("the browser: %v", err)
	}
}

func (b *tab) open(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
}

// resize makes the view that many pixels wide and high, and waits until the page has been
// laid out for it.
func (b *tab) resize(width, height int64, options ...chromedp.EmulateViewportOption) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height, options...))
	if len(options) == 0 { // else the width is the page's until it has said that it fits a telephone
		b.wait(fmt.Sprintf("innerWidth === %d && innerHeight === %d", width, height))
	}
	b.laidOut()
}

// laidOut waits until the page has been laid out for the size it has: what watches sizes
// runs before a frame is painted.
func (b *tab) laidOut() {
	b.t.Helper()
	evaluate[bool](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// phone makes the tab one of a telephone of 390x844.
func (b *tab) phone() {
	b.t.Helper()
	b.resize(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2), chromedp.EmulatePortrait)
}

// press presses keys and lets go of them, one after another.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// evaluate returns the value of a JavaScript expression, awaited.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// until waits until done returns true.
func (b *tab) until(what string, done func(ctx context.Context) bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	retry := time.NewTicker(15 * time.Millisecond)
	defer retry.Stop()
	for !done(ctx) {
		select {
		case <-ctx.Done():
			b.fatalf("after %v it is not true that %s", patience, what)
		case <-retry.C:
		}
	}
}

// wait waits until a JavaScript expression is true, also across pages.
func (b *tab) wait(condition string) {
	b.t.Helper()
	b.until(condition, func(ctx context.Context) bool {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](condition))
		return ok && err == nil // it may fail on the way to another page
	})
}

// insist does something again and again until a condition is true. In its first
// quarter of a second a question takes no answer and no skip.
func (b *tab) insist(condition string, do func()) {
	b.t.Helper()
	b.until(condition, func(context.Context) bool {
		do()
		return evaluate[bool](b, condition)
	})
}

// waitFor waits until an element that matches a selector is visible on a page that has been read to its end: a
// busy browser shows the head of a page before its rest is there.
func (b *tab) waitFor(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.readyState !== 'loading' && document.querySelector(%q)?.checkVisibility() === true", selector))
}

// goesOn has the person go on from now on whenever the page says that they can stop.
func (b *tab) goesOn() {
	b.t.Helper()
	evaluate[int](b, "setInterval(() => { const on = document.querySelector('[data-resume]'); if (on?.checkVisibility()) on.click(); }, 50)")
}

// tabTo presses Tab until an element that matches a selector has the focus.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	b.waitFor(selector)
	for range 120 {
		if evaluate[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		b.press(kb.Tab)
	}
	b.fatalf("Tab does not lead to %s", selector)
}

// enter goes to an element by Tab and presses Enter on it.
func (b *tab) enter(selector string) {
	b.t.Helper()
	b.tabTo(selector)
	b.press(kb.Enter)
}

// choose goes to a group of radio buttons by Tab and to one of them by arrows.
func (b *tab) choose(name, value string) {
	b.t.Helper()
	b.tabTo(fmt.Sprintf("input[name=%s]", name))
	for range 20 {
		if evaluate[string](b, "document.activeElement.value") == value {
			return
		}
		b.press(kb.ArrowDown)
	}
	b.fatalf("the arrow keys do not lead to %s of %s", value, name)
}

// data returns the state that the annotator's page keeps on its body.
func (b *tab) data() map[string]string {
	b.t.Helper()
	return evaluate[map[string]string](b, "({...document.body.dataset})")
}

// painted waits until a question is on screen and everything is saved, and
// returns the state of the page.
func (b *tab) painted() map[string]string {
	b.t.Helper()
	const there = "(({state, painted, unsent, answered}) => state === 'ready' && painted === 'true' && unsent === '0' && answered !== undefined)(document.body.dataset)"
	b.wait(there)
	if b.skipPractice() {
		b.wait(there)
	}
	return b.data()
}

// skipPractice leaves out the practice questions that the program chose. It reports whether there were any.
func (b *tab) skipPractice() bool {
	b.t.Helper()
	if !evaluate[bool](b, `((skip) => { const is = skip?.checkVisibility() ?? false; if (is) skip.click(); return is; })(document.querySelector("[data-practice-skip]"))`) {
		return false
	}
	b.wait("document.body.dataset.practice === ''")
	return true
}

// commit presses a key until it counts. It returns the assignment that it
// answered.
func (b *tab) commit(key string) string {
	b.t.Helper()
	b.wait("document.body.dataset.assignment !== '' && document.body.dataset.painted === 'true'")
	was := b.data()["assignment"]
	b.insist(fmt.Sprintf("document.body.dataset.assignment !== %q", was), func() { b.press(key) })
	return was
}

// answer answers the question on screen by a key and waits until that is saved
// and the next one is painted. It returns the assignment that it answered.
func (b *tab) answer(key string) string {
	b.t.Helper()
	before, err := strconv.Atoi(b.painted()["answered"])
	if err != nil {
		b.fatalf("data-answered: %v", err)
	}
	was := b.commit(key)
	b.wait(fmt.Sprintf("document.body.dataset.answered === '%d' && document.body.dataset.unsent === '0'", before+1))
	if now := b.painted()["assignment"]; now == was {
		b.fatalf("after %q the question %s is still there", key, was)
	}
	return was
}

// A frame is a message from the server, as far as these tests look at it.
type frame struct {
	T, Assignment, Left, Before string
	Clips, Open                 []string
}

// asked returns the questions that came over the socket, by assignment, and the
// assignments that are open now.
func (b *tab) asked() (queries map[string]frame, open []string) {
	b.t.Helper()
	queries = map[string]frame{}
	for _, text := range b.overheard() {
		var f frame
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			b.fatalf("not a message: %q: %v", text, err)
		}
		switch f.T {
		case "query":
			queries[f.Assignment] = f
		case "status":
			open = f.Open
		}
	}
	return queries, open
}

// ahead waits until the page holds n questions and all their clips.
func (b *tab) ahead(n int) {
	b.t.Helper()
	b.until(fmt.Sprintf("%d questions are here", n), func(context.Context) bool {
		queries, open := b.asked()
		var clips []string
		for _, a := range open {
			clips = append(clips, queries[a].Clips...)
		}
		list, _ := json.Marshal(clips) // strings always encode
		return len(open) >= n && evaluate[bool](b, fmt.Sprintf(`(() => {
			const loaded = new Set(performance.getEntriesByType("resource").map((e) => e.name.split("?")[0]));
			return %s.every((url) => loaded.has(location.origin + url));
		})()`, list))
	})
}

// moving waits until at least some of the canvases that match a selector show
// something else than now.
func (b *tab) moving(selector string, canvases, some int) {
	b.t.Helper()
	pictures := fmt.Sprintf("[...document.querySelectorAll(%q)].map((c) => c.toDataURL())", selector)
	first := evaluate[[]string](b, pictures)
	if len(first) != canvases {
		b.fatalf("%d canvases match %s, want %d", len(first), selector, canvases)
	}
	const before = "window.testedPictures" // too long to send each time
	evaluate[int](b, before+" = "+pictures+"; "+before+".length")
	b.wait(fmt.Sprintf("%s.filter((p, i) => p !== %s[i]).length >= %d", pictures, before, some))
}

// noSideways reports a page that is wider than its window.
func (b *tab) noSideways(width int) {
	b.t.Helper()
	b.laidOut()
	if w := evaluate[int](b, "Math.max(innerWidth, document.documentElement.scrollWidth)"); w != width {
		b.t.Errorf("%s is %d pixels wide in a window of %d", evaluate[string](b, "location.pathname"), w, width)
	}
}

// fits reports what is cut off or makes the page scroll.
func (b *tab) fits(width, height int) {
	b.t.Helper()
	cut := evaluate[[]string](b, fmt.Sprintf(`((w, h) => {
		const cut = [], root = document.documentElement;
		if (innerWidth !== w || innerHeight !== h) cut.push("the view is " + innerWidth + "x" + innerHeight);
		for (const e of [root, document.body]) {
			if (e.scrollWidth > w) cut.push(e.tagName + " scrolls sideways: " + e.scrollWidth);
			if (e.scrollHeight > h) cut.push(e.tagName + " scrolls down: " + e.scrollHeight);
		}
		for (const e of document.querySelectorAll("button, h1, canvas, header *, .answers *")) {
			const r = e.getBoundingClientRect();
			if (!e.checkVisibility({ visibilityProperty: true }) || r.width === 0 || e.matches(".sr")) continue;
			if (r.left < -0.5 || r.top < -0.5 || r.right > w + 0.5 || r.bottom > h + 0.5)
				cut.push("outside the view: " + e.outerHTML.slice(0, 120) + JSON.stringify(r));
			if (e.matches("button") && (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight))
				cut.push("too small for its text: " + e.outerHTML.slice(0, 120));
		}
		return cut;
	})(%d, %d)`, width, height))
	for _, what := range cut {
		b.t.Errorf("%dx%d: %s", width, height, what)
	}
}

// shot saves a picture of what is in view, if a folder of screenshots is named: each takes tenths of a second.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("TIEBREAK_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("screenshot %s: %v", name, err)
	}
	path := filepath.Join(dir, name+".png")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fatalf ends the test and says where the page stood.
func (b *tab) fatalf(format string, args ...any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	where, _ := chromedp.Run(ctx, chromedp.Evaluate[string](
		"location.href + ' ' + JSON.stringify({...document.body.dataset}) + '\\n' + document.body.innerText.slice(0, 800)"))
	b.t.Fatalf("%s\nat %s", fmt.Sprintf(format, args...), where)
}
