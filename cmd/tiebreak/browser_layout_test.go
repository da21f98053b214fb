package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A window is a size of the page in CSS pixels.
type window struct {
	width, height int64
	touch         bool
	clip          int // least length of the shorter side of a clip, pixels
	scrolls       bool
}

// windows are those in which the annotator's page is usable. 640x400 is 1280x800
// at 200 %, 320x200 the same at 400 %.
var windows = []window{
	{1280, 800, false, 380, false},
	{844, 390, true, 200, false},
	{640, 400, false, 165, false},
	{320, 480, true, 120, false},
	{320, 200, false, 110, true},
	{390, 844, true, 200, false},
	{1080, 1800, false, 600, false},
	{2560, 1440, false, 900, false},
	{3840, 2160, false, 1400, false},
}

// controlFaults is a JavaScript function of the least clip and whether the page
// may scroll. It returns what cannot be reached, read or seen.
const controlFaults = `async (least, scrolls) => {
	const faults = [], w = innerWidth, h = innerHeight;
	const name = (e) => e.outerHTML.slice(0, 90);
	const root = document.documentElement;
	if (root.scrollWidth > w) faults.push("scrolls sideways: " + root.scrollWidth);
	if (!scrolls && root.scrollHeight > h) faults.push("scrolls down: " + root.scrollHeight);
	const heading = document.querySelector("h1");
	if (!heading.checkVisibility({ visibilityProperty: true }) || heading.getBoundingClientRect().width < 50) faults.push("the question is hidden");
	const still = document.querySelector("[data-still]") !== null;
	const wanted = ["[data-help]", "[data-undo]", "[data-skip]", "[data-choice]", ...(still ? [] : [".play", ".track", "[data-speed]"])];
	const controls = wanted.flatMap((s) => [...document.querySelectorAll(s)]);
	for (const s of wanted) if (!document.querySelector(s)) faults.push("there is no " + s);
	const inside = (r) => r.left >= -0.5 && r.top >= -0.5 && r.right <= w + 0.5 && r.bottom <= h + 0.5;
	for (const e of [...controls, ...document.querySelectorAll("duo-player canvas")]) {
		e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const r = e.getBoundingClientRect();
		if (!e.checkVisibility({ visibilityProperty: true }) || !inside(r)) {
			faults.push("cannot be reached: " + name(e) + JSON.stringify(r));
			continue;
		}
		const hit = document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2);
		if (!(e.closest(".frame") ?? e).contains(hit)) faults.push("is covered: " + name(e) + " by " + (hit && name(hit)));
		if (e.matches("canvas")) {
			if (Math.min(r.width, r.height) < least) faults.push("clip of " + Math.round(r.width) + "x" + Math.round(r.height));
			continue;
		}
		if (r.width < 24 || r.height < 24) faults.push("too small to hit: " + name(e) + JSON.stringify(r));
		if (e.matches("button") && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)) faults.push("too small for its text: " + name(e));
		for (const o of controls) {
			const q = o.getBoundingClientRect();
			if (o !== e && Math.min(r.right, q.right) - Math.max(r.left, q.left) > 1 && Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top) > 1)
				faults.push("overlap: " + name(e) + " and " + name(o));
		}
	}
	scrollTo(0, 0);
	for (const e of document.querySelectorAll("header p, header button, h1, .anchors span, .answers b, .answers small")) {
		const r = e.getBoundingClientRect();
		if (r.width > 1 && e.checkVisibility() && (r.left < -0.5 || r.right > w + 0.5)) faults.push("cut off: " + name(e));
	}
	if (!still && document.querySelector(".track").getBoundingClientRect().width < Math.min(200, w / 2)) faults.push("the scrub bar is too short");
	const room = document.querySelector(".frames").getBoundingClientRect();
	const clips = [...document.querySelectorAll("duo-player canvas")].map((c) => c.getBoundingClientRect());
	const wide = Math.max(...clips.map((r) => r.right)) - Math.min(...clips.map((r) => r.left));
	const high = Math.max(...clips.map((r) => r.bottom)) - Math.min(...clips.map((r) => r.top));
	if (wide < 0.97 * room.width && high < 0.97 * room.height) faults.push("the clips leave room unused: " + [wide, room.width, high, room.height]);
	const panel = document.querySelector(".beside"), beside = panel.getBoundingClientRect(), side = document.querySelector("main").dataset.beside;
	const used = [room.width + (side === "side" ? beside.width : 0), room.height + (side === "below" ? beside.height : 0)];
	if (h >= 800 && (used[0] < 0.9 * w || used[1] < 0.5 * h)) faults.push("the clips have little of the window: " + used);
	return faults;
}`

// wordFaults is a JavaScript function that returns which words do not stand where they belong, or are missing.
const wordFaults = `() => {
	const faults = [], box = (e) => e.getBoundingClientRect();
	const panel = document.querySelector(".beside");
	if (!panel.hidden) {
		const told = () => getComputedStyle(panel, "::after").content !== "none";
		if (told() !== panel.scrollHeight - panel.clientHeight - panel.scrollTop > 8) faults.push("the panel says wrongly whether there is more: " + told());
	}
	const said = [...document.querySelectorAll("main :is(.goal, [data-guide=text])")].filter((e) => e.checkVisibility() && box(e).height > 10);
	if (document.querySelector("[data-wrong]") && said.length !== 1) faults.push("at what to succeed is said " + said.length + " times");
	for (const [i, word] of document.querySelectorAll(".anchors:not(.first) span").entries()) {
		const a = box(word), b = box(document.querySelectorAll(".scale button")[5 * i]), shared = Math.min(a.right, b.right) - Math.max(a.left, b.left);
		if (shared < Math.min(a.width, b.width) / 2 || a.top < b.bottom - 1 || a.top > b.bottom + 12) faults.push(word.innerText + " does not stand under its number");
	}
	const rows = Map.groupBy([...document.querySelectorAll(".answers button")].filter((e) => e.checkVisibility()), (e) => Math.round(box(e).top));
	const ends = [...rows.values()].map((row) => [Math.min(...row.map((e) => box(e).left)), Math.max(...row.map((e) => box(e).right))]);
	if (innerWidth < 544 && !document.querySelector(".scale") && ends.some((e) => Math.abs(e[0] - ends[0][0]) > 2 || Math.abs(e[1] - ends[0][1]) > 2))
		faults.push("the rows of answers are ragged: " + JSON.stringify(ends));
	const last = ["[data-undo]", "[data-choice=cant_tell]", "[data-skip]"].map((s) => Math.round(box(document.querySelector(s)).top));
	if (innerWidth >= 390 && Math.max(...last) > Math.min(...last) + 20) faults.push("undo, can't tell and skip are not in one row: " + last);
	return faults;
}`

// noticeFaults is a JavaScript function that shows each notice above the question, and returns what can then not be reached without scrolling.
const noticeFaults = `async () => {
	const faults = [], saved = document.querySelector("[data-saved-text]"), { textContent } = saved;
	const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	saved.textContent = "3 unsent";
	for (const [name, text] of [
		["rest", "You have labelled for about 23 minutes. This is a good moment for a short break. Everything is saved."],
		["banner", "Tiebreak is not reachable. Your answers are kept in this browser (3 unsent). Trying again in 12 s."],
	]) {
		const notice = document.querySelector("[data-" + name + "]");
		document.querySelector("[data-" + name + "-text]").textContent = text;
		const arranged = () => [document.querySelector("main").dataset.beside, document.querySelector("duo-player").dataset.layout].join();
		const before = arranged();
		notice.hidden = false;
		await drawn();
		if (arranged() !== before) faults.push(name + " arranges the page anew: " + [before, arranged()]);
		if (document.documentElement.scrollHeight > innerHeight) faults.push("with the notice " + name + " the page scrolls: " + document.documentElement.scrollHeight);
		for (const e of document.querySelectorAll(".answers button")) if (e.checkVisibility() && e.getBoundingClientRect().bottom > innerHeight) faults.push(name + " moves out of view: " + e.innerText);
		notice.hidden = true;
		await drawn();
	}
	if (innerWidth >= 640 && saved.getClientRects()[0].height > 1.5 * parseFloat(getComputedStyle(saved).lineHeight)) faults.push("unsent takes two lines");
	saved.textContent = textContent;
	await drawn();
	return faults;
}`

// arranged waits until the page has the size and has arranged itself for it.
func (b *tab) arranged(w window) {
	b.t.Helper()
	var options []chromedp.EmulateViewportOption
	if w.touch {
		options = []chromedp.EmulateViewportOption{chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)}
	}
	b.resize(w.width, w.height, options...)
	b.wait(fmt.Sprintf("innerWidth === %d && innerHeight === %d", w.width, w.height))
	b.laidOut()
}

// TestBrowserLayout looks at all kinds of questions in windows of all sizes.
func TestBrowserLayout(t *testing.T) {
	t.Parallel()
	browser := startBrowserOf(t, wholeBrowsers)
	data, addr := t.TempDir(), freeAddr(t)
	kinds := []struct {
		env, kind, link string
		more            []string
		clip            int // hundredths of the least clip of a window
	}{
		{env: "driver", kind: "clip_comparison"},
		{env: "driver", kind: "clip_comparison", more: []string{"--strength", "--remarks"}},
		{env: "driver", kind: "clip_rating"},
		{env: "driver", kind: "clip_success"},
		{env: "driver", kind: "clip_group", clip: 50},
		{env: "gridworld", kind: "state_comparison"},
		{env: "gridworld", kind: "state_rating"},
	}
	for i, k := range kinds {
		_, kinds[i].link = newLink(t, data, addr, append(k.more, "--env", k.env, "--kind", k.kind, "--title", "A session with a long title, "+k.kind)...)
	}
	startServer(t, "serve", "--data", data, "--addr", addr)
	for _, k := range kinds {
		b := newPerson(t, browser)
		b.join(k.link, "Ada")
		for _, w := range windows {
			b.part(fmt.Sprintf("%s %dx%d%s", k.kind, w.width, w.height, strings.Join(k.more, "")), func() {
				b.arranged(w)
				least, scrolls := w.clip*cmp.Or(k.clip, 100)/100, w.scrolls || w.width == 320 && k.kind == "clip_group"
				if len(k.more) > 0 && w.height <= 480 && !w.scrolls { // a row of buttons more
					least = least * 3 / 4
				}
				faults := evaluate[[]string](b, fmt.Sprintf("(%s)(%d, %t)", controlFaults, least, scrolls))
				faults = append(faults, evaluate[[]string](b, fmt.Sprintf("(%s)()", wordFaults))...)
				if !scrolls && w.width > 320 {
					faults = append(faults, evaluate[[]string](b, fmt.Sprintf("(%s)()", noticeFaults))...)
				}
				for _, fault := range faults {
					b.t.Error(fault)
				}
				if os.Getenv("TIEBREAK_SCREENSHOTS") != "" {
					b.shot(fmt.Sprintf("%s%s-%dx%d", k.kind, strings.Join(k.more, ""), w.width, w.height))
				}
			})
		}
	}
}
