package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	position = "document.querySelector('.track .done').style.width"
	playing  = "document.querySelector('duo-player').hasAttribute('data-playing')"
)

// TestBrowserReading uses what plays and explains the clips: the player's
// controls, the dialogs, and what assistive technology is told.
func TestBrowserReading(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "driver", "--kind", "clip_comparison")
	_, shortLink := newLink(t, data, addr, "--env", "gridworld", "--kind", "state_comparison", "--budget", "2")
	_, rateLink := newLink(t, data, addr, "--env", "driver", "--kind", "clip_rating")
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Ida")

	b.part("sign over the clips", b.previews)
	b.part("click on a clip", b.clicksClips)
	b.part("scrub bar", b.scrubs)
	b.part("instructions", func() {
		b.rests(func() { b.press("?") }, "[data-help-dialog]", func() { b.press(kb.Escape) }, kb.ArrowRight)
	})
	b.part("reasons to skip", func() { b.rests(func() { b.press("s") }, "[data-skip-dialog]", func() { b.press("3") }, "") })
	b.part("announcements", b.announces)
	b.part("names", b.namesOnce)
	other := newPerson(t, browser)
	other.calm()
	other.join(link, "Jo")
	other.part("reduced motion", other.playsFirst)
	rating := newTab(t, other.ctx)
	rating.calm()
	rating.open(rateLink)
	rating.enter("[data-start]")
	rating.painted()
	rating.part("reduced motion, rating", func() {
		rating.namesOnce()
		rating.shot("reduced-motion-rating-1280x800")
		rating.press("7 ") // 7 is too soon
		rating.wait("document.body.dataset.gate === 'open'")
		was := rating.data()["assignment"]
		rating.press("7")
		rating.wait(fmt.Sprintf("document.body.dataset.assignment !== %q && document.body.dataset.gate === 'play'", was))
		if all := rating.given(); len(all) != 1 || all[0].Rating != 0.4 {
			rating.t.Errorf("answers %+v, want a rating of 7", all)
		}
	})
	b.part("progress", func() {
		// The skip does not count.
		b.wait(`(([, all, mine]) => Number(mine) === Number(document.body.dataset.answered) - 1 && Number(all) > Number(mine))(
			/^(\d+) answers, (\d+) by you$/.exec(document.querySelector("[data-progress-text]").innerText) ?? [])`)
	})
	short := newTab(t, b.ctx)
	short.open(shortLink)
	short.enter("[data-start]")
	short.painted()
	short.part("no questions are left", short.finishes)
}

// calm asks for reduced motion.
func (b *tab) calm() {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.fatalf("reduced motion: %v", err)
	}
}

// previews holds answer keys and looks at what the clips show.
func (b *tab) previews() {
	b.t.Helper()
	type shown struct {
		Sign, First, Second string
		Over                bool // a clip covers the question
	}
	for _, test := range []struct {
		key  stroke
		want shown
	}{
		{stroke{key: "ArrowRight", code: "ArrowRight"}, shown{"", "none", `"✓"`, false}},
		{stroke{key: "ArrowLeft", code: "ArrowLeft"}, shown{"", `"✓"`, "none", false}},
		{stroke{key: "ArrowUp", code: "ArrowUp"}, shown{"=", "none", "none", false}},
		{stroke{key: "ArrowDown", code: "ArrowDown"}, shown{"?", "none", "none", false}},
	} {
		b.ready()
		b.strike(keyDown, test.key, false)
		b.wait("Boolean(document.querySelector('[data-stage]').dataset.preview)")
		got := evaluate[shown](b, `(([first, second], h1) => ({
			Sign: document.querySelector("[data-sign]").innerText,
			First: getComputedStyle(first, "::after").content, Second: getComputedStyle(second, "::after").content,
			Over: [first, second].some((f) => f.getBoundingClientRect().top < h1.getBoundingClientRect().bottom),
		}))(document.querySelectorAll(".frame"), document.querySelector("h1"))`)
		if got != test.want {
			b.t.Errorf("while %s is held the page shows %+v, want %+v", test.key.key, got, test.want)
		}
		b.shot("held-" + test.key.key)
		b.press(kb.Escape)
		b.strike(keyUp, test.key, false)
	}
	if n := len(b.given()); n != 0 {
		b.t.Errorf("keys that were taken back gave %d answers", n)
	}
}

// clicksClips clicks on the clips: that pauses and plays, and answers nothing.
func (b *tab) clicksClips() {
	b.t.Helper()
	b.ready()
	before := b.data()["assignment"]
	b.wait(playing)
	for i, clip := range []string{"left", "right", "left", "right"} {
		b.do(chromedp.Click(chromedp.CSS("[data-side=" + clip + "] canvas")))
		if got, want := evaluate[bool](b, playing), i%2 == 1; got != want {
			b.t.Errorf("after %d clicks on clips they play: %t, want %t", i+1, got, want)
		}
	}
	if now := b.data()["assignment"]; now != before || len(b.given()) != 0 {
		b.t.Error("a click on a clip is an answer")
	}
}

// scrubs moves the clips by the keys of the scrub bar.
func (b *tab) scrubs() {
	b.t.Helper()
	b.ready()
	b.tabTo(".track")
	const slider = "(({role, ariaLabel, ariaValueMin, ariaValueMax, ariaValueNow, ariaValueText}) => ({role, ariaLabel, ariaValueMin, ariaValueMax, ariaValueNow, ariaValueText}))(document.querySelector('.track'))"
	at := func(key string) (now, most float64) {
		b.t.Helper()
		b.press(key)
		s := evaluate[map[string]string](b, slider)
		if s["role"] != "slider" || s["ariaLabel"] == "" || s["ariaValueMin"] != "0" || !strings.Contains(s["ariaValueText"], "seconds") {
			b.t.Fatalf("the scrub bar is %v", s)
		}
		now, err1 := strconv.ParseFloat(s["ariaValueNow"], 64)
		most, err2 := strconv.ParseFloat(s["ariaValueMax"], 64)
		if err1 != nil || err2 != nil || most <= 0 {
			b.t.Fatalf("the values of the scrub bar are %v", s)
		}
		return now, most
	}
	if now, _ := at(kb.Home); now != 0 {
		b.t.Errorf("Home leads to %v", now)
	}
	frame, _ := at(kb.ArrowRight)
	up, most := at(kb.ArrowUp)
	if !(frame > 0 && up > frame && up < most) {
		b.t.Errorf("two arrows lead to %v and %v of %v", frame, up, most)
	}
	if now, _ := at(kb.ArrowLeft); now != frame {
		b.t.Errorf("← leads back to %v, want %v", now, frame)
	}
	if now, _ := at(kb.PageUp); now <= up {
		b.t.Errorf("Page Up leads to %v", now)
	}
	if now, _ := at(kb.End); now != most {
		b.t.Errorf("End leads to %v of %v", now, most)
	}
	if evaluate[bool](b, playing) || len(b.given()) != 0 {
		b.t.Error("the keys of the scrub bar play or answer")
	}
	b.press(" ")
	b.wait(playing)
	// A click on the bar must leave the arrows to the answers.
	b.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.Click(chromedp.CSS(".track")))
	if !evaluate[bool](b, "document.activeElement === document.body") {
		b.t.Error("a click gives the scrub bar the focus")
	}
	b.gives(func() { b.press(kb.ArrowLeft) })
}

// rests opens a dialog over a question: the clips stop, keys do not reach the
// question, and the time counts as hidden. Then it closes the dialog and answers
// by key, unless closing was the answer.
func (b *tab) rests(open func(), dialog string, end func(), key string) {
	b.t.Helper()
	b.ready()
	b.wait(playing)
	got := b.gives(func() {
		open()
		b.waitFor("dialog" + dialog)
		b.wait("document.body.dataset.gate === 'covered'")
		was, n := evaluate[string](b, position), len(b.given())
		evaluate[float64](b, "window.testedFrom = performance.now()")
		// A click on its text takes the focus out of the dialog.
		b.do(chromedp.Click(chromedp.CSS("dialog"+dialog+" h2")), chromedp.KeyEvent(kb.ArrowLeft+"z[ "))
		b.wait("performance.now() - window.testedFrom > 300")
		if evaluate[bool](b, playing) || evaluate[string](b, position) != was {
			b.t.Error("the clips play under the dialog")
		}
		if len(b.given()) != n {
			b.t.Error("a key went through the dialog")
		}
		end()
		b.wait("!document.querySelector('dialog[open]')")
		if key == "" {
			return
		}
		b.wait(playing)
		b.wait("document.body.dataset.gate === 'open'")
		b.insist(fmt.Sprintf("document.body.dataset.assignment !== %q", b.data()["assignment"]), func() { b.press(key) })
	})
	if got.HiddenMS < 300 {
		b.t.Errorf("%v ms count as hidden, more than 300 were", got.HiddenMS)
	}
}

// announces answers and listens to the live region.
func (b *tab) announces() {
	b.t.Helper()
	b.ready()
	if n := evaluate[int](b, "[...document.querySelectorAll('[role=status], [role=alert], [role=log], [aria-live], output')].filter((e) => e.closest('dialog:not([open])') === null).length"); n != 1 {
		b.t.Errorf("the page has %d live regions, want 1", n)
	}
	b.wait("/^Saved|Skipped.*Saved/.test(document.querySelector('[data-announce]').textContent)") // of the answer before
	evaluate[int](b, `window.testedSpeech = [], new MutationObserver(() => testedSpeech.push(document.querySelector("[data-announce]").textContent))
		.observe(document.querySelector("[data-announce]"), { childList: true, characterData: true, subtree: true }), 0`)
	heard := func() []string { return evaluate[[]string](b, "window.testedSpeech.splice(0)") }
	for key, choice := range map[string]string{kb.ArrowLeft: "Left.", kb.ArrowUp: "Equal."} {
		b.gives(func() { b.press(key) })
		b.wait("testedSpeech.join(' ').includes('Saved')")
		all := heard()
		for _, want := range []string{choice, "Next question.", "Saved."} {
			if n := strings.Count(strings.Join(all, " "), want); n != 1 {
				b.t.Errorf("%q was announced %d times: %q", want, n, all)
			}
		}
		if len(all) > 2 {
			b.t.Errorf("%d announcements of one answer: %q", len(all), all)
		}
	}
	b.ready()
	b.press("z")
	b.wait("testedSpeech.join(' ').includes('Answer withdrawn')")
}

// namesOnce checks that what can be pressed has a name, and no two the same.
func (b *tab) namesOnce() {
	b.t.Helper()
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.fatalf("accessibility tree: %v", err)
	}
	text := func(v *accessibility.Value) (s string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &s) // "" where it is no text
		}
		return s
	}
	seen := map[string]int{}
	for _, n := range tree.Nodes {
		switch role := text(n.Role); role {
		case "button", "slider", "image":
			if !n.Ignored {
				seen[role+" "+text(n.Name)]++
			}
		}
	}
	for name, n := range seen {
		if n > 1 || strings.HasSuffix(name, " ") {
			b.t.Errorf("%d × %q", n, name)
		}
	}
	if len(seen) < 12 {
		b.t.Errorf("only these have a name: %v", seen)
	}
}

// playsFirst answers with reduced motion: not before the clips have been played.
func (b *tab) playsFirst() {
	b.t.Helper()
	b.painted()
	if d := b.data(); d["gate"] != "play" || evaluate[bool](b, playing) {
		b.t.Fatalf("before the clips are played the page is %v", d)
	}
	said := func() int {
		return evaluate[int](b, "[...document.querySelectorAll('.answers [data-choice][aria-disabled=true]')].filter((e) => e.innerText.includes('play first')).length")
	}
	if n := said(); n != 4 {
		b.t.Errorf("%d buttons say that the clips are to be played first, want 4", n)
	}
	b.namesOnce()
	b.shot("reduced-motion-1280x800")
	b.press(kb.ArrowLeft)
	b.do(chromedp.Click(chromedp.CSS("[data-choice=equal]")))
	if toast := evaluate[string](b, "document.querySelector('[data-toast]').innerText"); !strings.Contains(toast, "Play") || len(b.given()) != 0 {
		b.t.Errorf("an answer before the clips were played: %d given, the page says %q", len(b.given()), toast)
	}
	b.press("s") // to skip them needs no look at them
	b.waitFor("dialog[data-skip-dialog]")
	b.press(kb.Escape)
	b.wait("document.body.dataset.gate === 'play'")
	b.do(chromedp.Click(chromedp.CSS("[data-playnow]")))
	b.wait("document.body.dataset.gate === 'open'")
	if n := said(); n != 0 {
		b.t.Errorf("after the clips were played %d buttons ask for it", n)
	}
	was := b.data()["assignment"]
	b.press(kb.ArrowLeft)
	b.wait(fmt.Sprintf("document.body.dataset.assignment !== %q", was))
	b.painted()
	// Going through the clips frame by frame, or to their end, shows them as well.
	b.tabTo(".track")
	b.press(kb.End)
	b.wait("document.body.dataset.gate === 'open'")
}

// finishes answers until no questions are left. The page then has no buttons but
// Undo, which gives the last question back.
func (b *tab) finishes() {
	b.t.Helper()
	b.gives(func() { b.press(kb.ArrowUp) })
	b.press(kb.ArrowUp)
	b.wait("document.body.dataset.state === 'done'")
	if got := b.buttons(); len(got) != 1 || !strings.Contains(got[0], "Undo") {
		b.t.Errorf("the page without questions has the buttons %q, want Undo", got)
	}
	b.wait("document.querySelector('[data-announce]').textContent.includes('You are done')")
	b.shot("done-1280x800")
	b.press("z")
	b.ready()
	b.wait("document.querySelector('[data-choice=left]').checkVisibility({ visibilityProperty: true })")
}

// buttons returns the texts of the buttons about the question that can be seen.
func (b *tab) buttons() []string {
	b.t.Helper()
	return evaluate[[]string](b, "[...document.querySelectorAll('main button')].filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.innerText.replace(/\\s+/g, ' '))")
}
