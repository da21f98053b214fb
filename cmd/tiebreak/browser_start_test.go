package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"

	"github.com/chromedp/chromedp/kb"
)

// usual are the windows in which people begin: a laptop, a telephone in both ways, and a small one.
var usual = []window{{width: 1280, height: 800}, {width: 390, height: 844, touch: true}, {width: 844, height: 390, touch: true}, {width: 320, height: 640, touch: true}}

// startFaults is a JavaScript expression for what keeps somebody from starting at once, or from
// reading the page to its end.
const startFaults = `(() => {
	const faults = [], start = document.querySelector("[data-start]");
	const seen = (at) => {
		const r = start.getBoundingClientRect();
		if (r.top < 0 || r.left < 0 || r.bottom > innerHeight || r.right > innerWidth) faults.push(at + ": Start is at " + JSON.stringify(r));
		else if (!start.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2))) faults.push(at + ": Start is covered");
	};
	scrollTo(0, 0);
	seen("at the top");
	scrollTo(0, document.documentElement.scrollHeight);
	seen("at the end");
	const bar = start.closest(".start-bar").getBoundingClientRect();
	const last = [...document.querySelectorAll("main :is(p, li, input)")].filter((e) => e.checkVisibility() && !e.closest(".start-bar"));
	const end = Math.max(...last.map((e) => e.getBoundingClientRect().bottom));
	if (end > bar.top) faults.push("the end of the page lies under the bar: " + [end, bar.top]);
	scrollTo(0, 0);
	return faults;
})()`

// TestBrowserStart: in every environment, and also with a text to agree to, Start is in view
// without scrolling.
func TestBrowserStart(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	links := map[string]string{}
	for _, e := range envs.Catalogue() {
		if e.Unavailable == nil {
			_, links[e.ID] = newLink(t, data, addr, "--env", e.ID, "--title", e.Title)
		}
	}
	consent := filepath.Join(t.TempDir(), "consent.md")
	must.Do(t, os.WriteFile(consent, []byte("Answers are kept for ten years.\n\n- You can stop at any time."), 0o600))
	_, links["consent"] = newLink(t, data, addr, "--env", "driver", "--consent-file", consent)
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	for name, link := range links {
		b.part(name, func() {
			b.open(link)
			for _, w := range usual {
				b.arranged(w)
				b.noSideways(int(w.width))
				for _, fault := range evaluate[[]string](b, startFaults) {
					b.t.Errorf("%dx%d, %s", w.width, w.height, fault)
				}
				b.shot(fmt.Sprintf("start-%s-%dx%d", name, w.width, w.height))
			}
		})
	}
	b.part("what was not agreed to", func() {
		b.open(links["consent"])
		b.arranged(usual[0])
		b.enter("[data-start]")
		b.wait("document.activeElement.matches('[data-agree]')")
	})
	b.part("continue", func() {
		b.open(links["driver"])
		b.arranged(usual[0])
		b.tabTo("input[name=name]")
		b.press("Ada" + kb.Enter)
		b.painted()
	})
}

// barFaults is a JavaScript expression for what lies on something else in the bar at the top, or
// is cut off.
const barFaults = `(() => {
	const parts = [...document.querySelectorAll("header.bar > *")].filter((e) => e.checkVisibility());
	const faults = [];
	for (const [i, a] of parts.entries()) {
		if (!a.matches(".title") && a.scrollWidth > a.clientWidth + 1) faults.push("cut off: " + a.outerHTML.slice(0, 60));
		for (const b of parts.slice(i + 1)) {
			const r = a.getBoundingClientRect(), q = b.getBoundingClientRect();
			if (Math.min(r.right, q.right) - Math.max(r.left, q.left) > 0.5) faults.push("overlap: " + a.className + " and " + (b.className || b.outerHTML.slice(0, 60)));
		}
	}
	return faults;
})()`

// keycaps is a JavaScript expression for the keys that are shown. Clips of a group have a number each.
const keycaps = `[...document.querySelectorAll("kbd")].filter((e) => e.checkVisibility() && !e.closest(".pick")).map((e) => e.textContent)`

// nameless is a JavaScript expression for the buttons in view that show nothing but a key, or
// have no name.
const nameless = `[...document.querySelectorAll("button")].filter((e) => e.checkVisibility()).filter((e) => {
	const shown = [...e.querySelectorAll("span, b, svg")].some((p) => p.checkVisibility() && p.getBoundingClientRect().width > 1);
	const words = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
	const name = e.getAttribute("aria-label") || [...e.querySelectorAll("span, b")].map((p) => p.textContent).join("") || e.textContent;
	return !(shown || words) || name.trim() === "";
}).map((e) => "shows no name: " + e.outerHTML.slice(0, 80))`

// TestBrowserWithoutKeyboard: a telephone shows words and pictures, and no keys until one is
// pressed; the bar at the top has room for what it says.
func TestBrowserWithoutKeyboard(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "driver", "--title", "Drive")
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Ada")
	if n := len(evaluate[[]string](b, keycaps)); n < 6 {
		t.Errorf("beside a keyboard %d keys are shown", n)
	}
	b.open(evaluate[string](b, "location.href"))
	b.painted()
	for _, w := range append(slices.Clone(usual[1:]), window{width: 320, height: 568, touch: true}) {
		b.part(fmt.Sprintf("%dx%d", w.width, w.height), func() {
			b.arranged(w)
			evaluate[int](b, `(document.querySelector("[data-progress-text]").textContent = "1234 answers, 567 by you", document.querySelector("[data-left-text]").hidden = false,
				document.querySelector("[data-left-text]").textContent = "about 20 minutes left",
				document.querySelector("[data-learning-text]").hidden = false,
				document.querySelector("[data-learning-text]").textContent = "12 answers wait for other sessions", 1)`)
			for _, fault := range append(evaluate[[]string](b, barFaults), evaluate[[]string](b, nameless)...) {
				b.t.Error(fault)
			}
			if high := evaluate[float64](b, `document.querySelector("header.bar").offsetHeight`); high > 80 {
				b.t.Errorf("the bar is %v pixels high", high)
			}
			b.shot(fmt.Sprintf("bar-%dx%d", w.width, w.height))
			for _, part := range []string{"help", "last"} {
				evaluate[int](b, "(document.querySelector('[data-"+part+"]').click(), 1)")
				b.wait("document.querySelector('dialog[open]') !== null")
				if keys := evaluate[[]string](b, keycaps); len(keys) > 0 {
					b.t.Errorf("%s: the keys %q are shown", part, keys)
				}
				b.shot(fmt.Sprintf("%s-%dx%d", part, w.width, w.height))
				evaluate[int](b, "(document.querySelector('dialog[open]').close(), 1)")
				b.wait("document.querySelector('dialog[open]') === null && document.body.dataset.gate !== 'covered'") // the event of closing comes later
			}
		})
	}
	b.press(kb.ArrowLeft)
	b.wait(`document.querySelector("[data-last] kbd").checkVisibility()`)
}

// TestBrowserSaysWhatIs: where more answers change little one is done, and can go on; and while
// answers wait for a server that is silent the page says so, and not that a question is coming.
func TestBrowserSaysWhatIs(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "driver", "--title", "Drive", "--show-learnt")
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Ada")
	b.part("enough", func() {
		evaluate[int](b, `(() => {
			const parse = JSON.parse;
			window.enough = true;
			JSON.parse = (text, f) => { const v = parse(text, f); if (v?.t === "status" && window.enough) [v.to_go, v.enough] = [0, true]; return v; };
			return 1;
		})()`)
		b.commit(kb.ArrowLeft)
		b.wait("document.body.dataset.state === 'done'")
		b.waitFor("[data-resume]")
		b.wait("document.querySelector('[data-note-text]').textContent === 'You are done. Thank you!'")
		b.wait("document.querySelector('[data-end-spinner]').hidden")
		b.shot("stopped-1280x800")
		b.accessible("stopped")
		evaluate[int](b, "(window.enough = false, 1)") // a training or another answer can make the session less sure
		b.enter("[data-resume]")
		b.answer(kb.ArrowRight)
		evaluate[int](b, "(window.enough = true, 1)")
		b.answer(kb.ArrowRight)
	})
	b.part("a break", func() {
		evaluate[bool](b, "(sessionStorage.setItem('tiebreak.sitting.' + document.querySelector('main').dataset.session + '.' + document.querySelector('main').dataset.annotator, JSON.stringify({ last: Date.now(), active: 1.3e6, answers: 150 })), true)")
		b.open(evaluate[string](b, "location.href"))
		b.painted()
		b.waitFor("[data-rest]")
		b.shot("break-1280x800")
		b.accessible("a break")
		b.answer(kb.ArrowRight) // the question is not covered
		evaluate[int](b, "(document.querySelector('[data-rest-close]').click(), 1)")
		b.wait("document.querySelector('[data-rest]').hidden")
	})
	b.part("a silent server", func() {
		b.ahead(3)
		evaluate[int](b, `(() => {
			WebSocket.prototype.send = () => {};
			const note = document.querySelector("[data-note-text]");
			window.said = [];
			new MutationObserver(() => window.said.push(note.textContent)).observe(note, { childList: true, characterData: true, subtree: true });
			return 1;
		})()`)
		b.insist("document.querySelector('[data-note-text]').textContent.includes('has not confirmed')", func() { b.press(kb.ArrowLeft) })
		b.shot("silent-1280x800")
		for _, text := range evaluate[[]string](b, "window.said") {
			if text == "The next question is on its way …" {
				b.t.Errorf("the page said %q while the server was silent", text)
			}
		}
	})
}
