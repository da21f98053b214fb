package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// differ makes the page treat the learnt policy as a new one while window.differ is true:
// whether ten answers change the recommended policy depends on the speed of the machine.
const differ = `(() => {
	const parse = JSON.parse;
	window.differ = true;
	JSON.parse = (text, f) => { const v = parse(text, f); if (v?.t === "status" && window.differ) v.same = false; return v; };
	return 1;
})()`

// watchEnd notes the text of the end, and which clips it shows meanwhile.
const watchEnd = `(() => {
	const end = document.querySelector("[data-end]"), text = end.querySelector("[data-end-text]");
	window.ends = [];
	new MutationObserver(() => text.textContent && setTimeout(() => window.ends.push([text.textContent, end.querySelector("[data-effect]").checkVisibility()])))
		.observe(text, { childList: true, characterData: true, subtree: true });
	return 1;
})()`

// learntClips returns a JavaScript expression: whether the end shows one clip, and says that nothing has
// changed, or two that are not the same.
const learntClips = `(async () => {
	const shown = [...document.querySelectorAll("[data-end] [data-effect] clip-loop")].filter((c) => c.checkVisibility());
	const bytes = await Promise.all(shown.map((c) => fetch(c.getAttribute("src")).then((r) => r.arrayBuffer()).then((b) => String(new Uint8Array(b)))));
	const same = document.querySelector("[data-end] [data-now-text]").textContent.includes("the same");
	return shown.length === 2 ? bytes[0] !== bytes[1] && !same : shown.length === 1 && same;
})()`

// endFaults is a JavaScript expression for what of the end cannot be scrolled to, or is wider than its place, also beside a scroll bar that takes room.
const endFaults = `(() => {
	const faults = [], over = document.querySelector(".over"), box = over.getBoundingClientRect();
	for (const e of over.querySelectorAll("[data-note-text], [data-end-text], [data-end] clip-loop, [data-end] p, [data-end] h2, [data-telling-list] li")) {
		if (!e.checkVisibility()) continue;
		e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const r = e.getBoundingClientRect();
		if (r.top < box.top - 1 || r.bottom > box.bottom + 1 || r.left < box.left - 1 || r.right > box.right + 1) faults.push("out of reach: " + e.outerHTML.slice(0, 80));
	}
	over.scrollTop = 0;
	over.style.borderRight = "17px solid"; // as wide as a scroll bar
	if (over.scrollWidth > over.clientWidth) faults.push("scrolls sideways: " + over.scrollWidth + " in " + over.clientWidth);
	over.style.borderRight = "";
	return faults;
})()`

// TestBrowserLearnt labels a session to its end by keyboard: after ten answers and at the
// end the page shows what was learnt, moving; a question behind the dialog takes no answer
// and loses no time by it; the end waits for the last training, and shows no two clips that are the
// same; and the page shows none of this where the researcher does not allow it.
func TestBrowserLearnt(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, shown := newLink(t, data, addr, "--env", "driver", "--budget", "12", "--show-learnt", "--completion-code", "TB-<b>42</b>")
	_, hidden := newLink(t, data, addr, "--env", "driver", "--budget", "11")
	_, nothing := newLink(t, data, addr, "--env", "gridworld", "--budget", "1", "--show-learnt")
	startServer(t, "serve", "--data", data, "--addr", addr)
	const dialog = "document.querySelector('[data-learnt-dialog]')"

	b := newPerson(t, browser)
	b.join(shown, "Ann")
	evaluate[int](b, differ)
	for range 10 {
		b.answer(kb.ArrowLeft)
	}
	b.part("after ten answers", func() {
		b.wait(dialog + ".open")
		b.wait(dialog + ".querySelectorAll('clip-loop[data-playing]:not([data-empty])').length === 2")
		b.moving("[data-learnt-dialog] clip-loop canvas", 2, 1)
		if text := evaluate[string](b, dialog+".innerText"); !strings.Contains(text, "From your 10 answers.") {
			b.t.Errorf("the dialog says %q", text)
		}
		b.shot("learnt-1280x800")
		for _, size := range [][2]int64{{390, 844}, {844, 390}} {
			b.resize(size[0], size[1])
			b.noSideways(int(size[0]))
			if !evaluate[bool](b, dialog+".scrollWidth <= "+dialog+".clientWidth && (r => r.bottom <= innerHeight)("+dialog+".querySelector('button.primary').getBoundingClientRect())") {
				b.t.Errorf("at %dx%d the dialog is cut off", size[0], size[1])
			}
		}
		b.resize(1280, 800)
		b.press(kb.ArrowLeft)
		b.press(kb.Enter)
		b.wait("!" + dialog + ".open")
	})
	b.answer(kb.ArrowRight)
	evaluate[int](b, "(window.differ = false, "+watchEnd+")")
	b.commit(kb.ArrowRight)
	b.part("at the end", func() {
		b.wait("document.body.dataset.state === 'done'")
		b.wait("document.querySelector('[data-end]').innerText.includes('It has learnt from your 12 answers.')")
		b.wait("[...document.querySelectorAll('[data-end] [data-effect] clip-loop')].filter((c) => c.checkVisibility()).every((c) => c.matches('[data-playing]:not([data-empty])'))")
		if !evaluate[bool](b, learntClips) {
			b.t.Error("the end shows two clips that are the same, or says what is not so")
		}
		for _, said := range evaluate[[][2]any](b, "window.ends") {
			if learning := strings.Contains(said[0].(string), "earn") && !strings.Contains(said[0].(string), "learnt from"); learning == (said[1] == true) {
				b.t.Errorf("at the end %q, clips shown: %v", said[0], said[1])
			}
		}
		b.wait("document.querySelector('[data-code]:not([hidden])').innerText.includes('TB-<b>42</b>')")
		b.enter("[data-code-copy]")
		b.wait("/Copied|Selected/.test(document.querySelector('[data-code-copy]').innerText)")
		b.wait("document.querySelectorAll('[data-telling-list] li').length === 3")
		b.wait("document.querySelector('[data-telling-text]').textContent.includes('your last 12 answers')")
		b.wait("document.querySelectorAll('[data-telling] clip-loop[data-playing]:not([data-empty])').length === 6")
		for _, w := range append(slices.Clone(usual), window{width: 320, height: 568, touch: true}) {
			b.arranged(w)
			b.noSideways(int(w.width))
			for _, fault := range evaluate[[]string](b, endFaults) {
				b.t.Errorf("%dx%d: %s", w.width, w.height, fault)
			}
			b.shot(fmt.Sprintf("end-%dx%d", w.width, w.height))
		}
		b.accessible("the end")
	})
	b.part("reload", func() {
		b.open(evaluate[string](b, "location.href"))
		b.wait("document.body.dataset.state === 'done'")
		b.wait("document.querySelector('[data-end] [data-now]:not([data-empty])') !== null")
		if evaluate[bool](b, dialog+".open") {
			b.t.Error("what was learnt is shown again after a reload")
		}
	})
	b.secretive()
	if rows := records(t, data, id); len(rows) != 12 {
		t.Errorf("%d answers are recorded, want 12", len(rows))
	}

	c := newPerson(t, browser)
	c.join(hidden, "Bob")
	for range 10 {
		c.answer(kb.ArrowLeft)
	}
	c.commit(kb.ArrowLeft)
	c.wait("document.body.dataset.state === 'done'")
	if evaluate[bool](c, dialog+".open || !document.querySelector('[data-end] [data-effect]').hidden") {
		c.t.Error("what was learnt is shown where that is not allowed")
	}

	d := newPerson(t, browser)
	d.join(nothing, "Dan")
	d.commit(kb.ArrowUp) // equal, which changes no mean
	d.wait("document.querySelector('[data-end] [data-now-text]').textContent.includes('the same as before')")
	if !evaluate[bool](d, learntClips) {
		d.t.Error("nothing has changed, and the end shows two clips")
	}
	d.shot("end-same-1280x800")
	d.accessible("an end at which nothing has changed")
}
