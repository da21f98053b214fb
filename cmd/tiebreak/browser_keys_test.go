package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	keyDown = input.DispatchKeyEventTypeKeyDown
	keyUp   = input.DispatchKeyEventTypeKeyUp
)

// A stroke is a key of some keyboard: what it prints, its place (KeyboardEvent.code)
// and whether Shift is held.
type stroke struct {
	key, code string
	shift     bool
}

// strike sends one event of a key.
func (b *tab) strike(kind input.DispatchKeyEventType, k stroke, repeat bool) {
	b.t.Helper()
	p := input.DispatchKeyEventParams{Type: kind, Key: k.key, Code: k.code, AutoRepeat: &repeat}
	if k.shift {
		p.Modifiers = 8
	}
	if k.key == "Enter" {
		p.WindowsVirtualKeyCode, p.Text = 13, "\r"
	}
	if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p); err != nil {
		b.fatalf("key %q: %v", k.key, err)
	}
}

// A given is an answer as the page sent it.
type given struct {
	T, ID, Assignment, Choice, Reason, Input string
	ShownLeft                                string `json:"shown_left"`
	Rating                                   float64
	WrongMS                                  int64 `json:"wrong_ms"`
	Much                                     bool
	Remark                                   string
	AnsweredMS                               float64 `json:"answered_ms"`
	HiddenMS                                 float64 `json:"hidden_ms"`
}

// side returns the answer in terms of the screen: "first" and "second" for the
// clip on the left or above, and the other.
func (g given) side() string {
	switch g.Choice {
	case g.ShownLeft:
		return "first"
	case "a", "b":
		return "second"
	}
	return g.Choice
}

// given returns the answers that the page sent, each once, in order.
func (b *tab) given() []given {
	b.t.Helper()
	var out []given
	seen := map[string]bool{}
	for _, text := range b.overheard() {
		var g given
		if err := json.Unmarshal([]byte(text), &g); err == nil && g.T == "answer" && !seen[g.ID] {
			seen[g.ID] = true
			out = append(out, g)
		}
	}
	return out
}

// ready waits until the question on screen takes answers.
func (b *tab) ready() {
	b.t.Helper()
	b.painted()
	b.wait("document.body.dataset.gate === 'open'")
}

// gives does something that must answer the question on screen once, and returns
// the answer.
func (b *tab) gives(do func()) given {
	b.t.Helper()
	b.ready()
	before := len(b.given())
	was := b.data()["assignment"]
	do()
	b.wait(fmt.Sprintf("document.body.dataset.assignment !== %q", was))
	b.ready()
	got := b.given()
	if len(got) != before+1 || got[before].Assignment != was {
		b.fatalf("%d answers were sent, want one to %s: %+v", len(got)-before, was, got[before:])
	}
	return got[before]
}

// taps presses a key and lets go of it.
func (b *tab) taps(k stroke) func() {
	return func() {
		b.strike(keyDown, k, false)
		b.strike(keyUp, k, false)
	}
}

// printed returns what the answer buttons say of themselves: choice → visible
// words, then the keys told to assistive technology.
func (b *tab) printed() map[string]string {
	b.t.Helper()
	return evaluate[map[string]string](b, `Object.fromEntries([...document.querySelectorAll(".answers [data-choice]")].map((e) =>
		[e.dataset.choice, [...e.querySelectorAll("kbd, b")].filter((p) => p.checkVisibility()).map((p) => p.innerText).join(" ") + " | " + e.getAttribute("aria-keyshortcuts")]))`)
}

func TestBrowserKeys(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, pairLink := newLink(t, data, addr, "--env", "driver", "--kind", "clip_comparison")
	_, rateLink := newLink(t, data, addr, "--env", "driver", "--kind", "clip_rating")
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(pairLink, "Ida")
	rating := newTab(t, b.ctx)
	rating.open(rateLink)
	rating.enter("[data-start]")
	rating.painted()

	b.part("table", b.checksKeyTable)
	b.part("side by side", func() {
		want := map[string]string{
			"left": "← Left | ArrowLeft A", "right": "Right → | ArrowRight D",
			"equal": "↑ Equal | ArrowUp E W", "cant_tell": "↓ Can’t tell | ArrowDown C X",
		}
		if got := b.printed(); fmt.Sprint(got) != fmt.Sprint(want) {
			b.t.Errorf("the buttons say %q, want %q", got, want)
		}
		if got := b.gives(b.taps(stroke{"ф", "KeyA", false})).side(); got != "first" {
			b.t.Errorf("the place of A on a Russian keyboard answers %s", got)
		}
		if got := b.gives(b.taps(stroke{"w", "KeyZ", false})).Choice; got != "equal" {
			b.t.Errorf("W on a French keyboard answers %s", got)
		}
	})
	b.part("one above the other", b.answersColumn)
	b.part("the layout changes under a held key", b.turnsScreen)
	b.part("held Enter", b.holdsEnter)
	b.part("too soon", b.answersTooSoon)
	rating.part("ratings", func() {
		for _, test := range []struct {
			stroke
			want float64
		}{
			{stroke{"à", "Digit0", false}, -1},
			{stroke{"0", "Digit0", true}, -1},
			{stroke{"(", "Digit5", false}, 0},
			{stroke{"=", "Digit0", true}, 1},
		} {
			rating.taps(stroke{")", "Digit0", true})() // says neither 0 nor 10
			if got := rating.gives(rating.taps(test.stroke)); got.Choice != "rated" || got.Rating != test.want {
				rating.t.Errorf("%+v is sent as %s %v, want %v", test.stroke, got.Choice, got.Rating, test.want)
			}
		}
		if help := evaluate[string](rating, "document.querySelector('[data-help-dialog]').textContent"); strings.Contains(help, "Shift") {
			rating.t.Error("the help names Shift with a digit")
		}
	})
	b.part("speeds", func() {
		for _, page := range []*tab{b, rating} {
			page.ready()
			speed := func() string {
				return evaluate[string](page, "document.querySelector('[data-speed][aria-pressed=true]').dataset.speed")
			}
			for _, test := range []struct {
				stroke
				want string
			}{
				{stroke{"[", "BracketLeft", false}, "0.5"},
				{stroke{"Dead", "BracketLeft", false}, "0.1"},
				{stroke{"]", "Digit5", false}, "0.5"},
				{stroke{"ъ", "BracketRight", false}, "1"},
				{stroke{"]", "BracketRight", false}, "2"},
				{stroke{"[", "BracketLeft", false}, "1"},
			} {
				page.taps(test.stroke)()
				if got := speed(); got != test.want {
					b.t.Errorf("after %+v the speed is %s, want %s", test.stroke, got, test.want)
				}
			}
		}
		before := b.data()["assignment"]
		b.press("1")
		if speed := evaluate[string](b, "document.querySelector('[data-speed][aria-pressed=true]').dataset.speed"); speed != "1" || b.data()["assignment"] != before {
			b.t.Errorf("1 on a comparison sets the speed %s", speed)
		}
	})
}

// answersColumn answers by the keys of clips that lie one above the other.
func (b *tab) answersColumn() {
	b.t.Helper()
	b.resize(1080, 1800)
	b.wait("document.querySelector('duo-player').dataset.layout === 'column'")
	want := map[string]string{
		"left": "↑ Upper | ArrowUp W", "right": "Lower ↓ | ArrowDown X",
		"equal": "E Equal | E", "cant_tell": "C Can’t tell | C",
	}
	if got := b.printed(); fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("the buttons say %q, want %q", got, want)
	}
	for _, test := range []struct {
		stroke
		want string
	}{
		{stroke{"ArrowUp", "ArrowUp", false}, "first"},
		{stroke{"ArrowDown", "ArrowDown", false}, "second"},
		{stroke{"w", "KeyW", false}, "first"},
		{stroke{"x", "KeyX", false}, "second"},
		{stroke{"e", "KeyE", false}, "equal"},
		{stroke{"c", "KeyC", false}, "cant_tell"},
	} {
		got := b.gives(func() {
			for _, k := range []stroke{{"ArrowLeft", "ArrowLeft", false}, {"ArrowRight", "ArrowRight", false}, {"a", "KeyA", false}, {"d", "KeyD", false}} {
				b.taps(k)() // say nothing here
			}
			b.strike(keyDown, test.stroke, false)
			b.wait("Boolean(document.querySelector('[data-stage]').dataset.preview)")
			if test.want == "first" {
				b.shot("held-up-1080x1800")
			}
			b.strike(keyUp, test.stroke, false)
		})
		if got.side() != test.want {
			b.t.Errorf("%s answers %s, want %s", test.key, got.side(), test.want)
		}
	}
}

// turnsScreen holds a key while the screen is turned: it must answer nothing.
func (b *tab) turnsScreen() {
	b.t.Helper()
	b.ready()
	before := len(b.given())
	b.strike(keyDown, stroke{key: "ArrowUp", code: "ArrowUp"}, false) // upper
	b.wait("document.querySelector('[data-stage]').dataset.preview === 'left'")
	b.resize(1280, 800)
	b.wait("document.querySelector('duo-player').dataset.layout === 'row'")
	b.wait("document.querySelector('[data-stage]').dataset.preview === ''")
	b.strike(keyDown, stroke{key: "ArrowUp", code: "ArrowUp"}, true) // the keyboard repeats it
	b.strike(keyUp, stroke{key: "ArrowUp", code: "ArrowUp"}, false)  // here ↑ would be equal
	if got := b.gives(b.taps(stroke{key: "d", code: "KeyD"})); got.side() != "second" || len(b.given()) != before+1 {
		b.t.Errorf("after the turn %d answers, the last %s", len(b.given())-before, got.side())
	}
}

// holdsEnter holds Enter on an answer button: it answers once.
func (b *tab) holdsEnter() {
	b.t.Helper()
	enter := stroke{key: "Enter", code: "Enter"}
	b.ready()
	b.tabTo("[data-choice=right]")
	got := b.gives(func() { b.strike(keyDown, enter, false) })
	if got.side() != "second" || got.Input != "keyboard" {
		b.t.Errorf("Enter on Right answers %+v", got)
	}
	before := len(b.given())
	for range 5 {
		b.strike(keyDown, enter, true)
	}
	b.strike(keyUp, enter, false)
	b.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	b.gives(func() { b.press(kb.ArrowLeft) })
	if n := len(b.given()) - before; n != 1 {
		b.t.Errorf("a held Enter gave %d more answers", n-1)
	}
	// Enter that opens the reasons must not choose the first one.
	b.tabTo("[data-skip]")
	b.strike(keyDown, enter, false)
	b.waitFor("dialog[data-skip-dialog]")
	for range 5 {
		b.strike(keyDown, enter, true)
	}
	b.strike(keyUp, enter, false)
	if !evaluate[bool](b, "document.querySelector('[data-skip-dialog]').open") {
		b.t.Error("Enter, still held, gave a reason to skip")
	}
	b.press(kb.Escape)
	b.wait("!document.querySelector('dialog[open]')")
	b.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
}

// answersTooSoon presses a key in the first quarter of a second of a question:
// it does not count, and the page says so.
func (b *tab) answersTooSoon() {
	b.t.Helper()
	b.ready()
	const soon = `new MutationObserver((_, o) => {
		if (document.body.dataset.gate !== "settle") return;
		o.disconnect();
		const was = document.body.dataset.assignment;
		for (const type of ["keydown", "keyup"]) document.body.dispatchEvent(new KeyboardEvent(type, { key: "ArrowLeft", code: "ArrowLeft", bubbles: true, cancelable: true }));
		window.testedSoon = [was === document.body.dataset.assignment, document.querySelector("[data-toast]").textContent];
	}).observe(document.body, { attributeFilter: ["data-gate"] }), 0`
	evaluate[int](b, soon)
	b.gives(func() { b.press(kb.ArrowUp) })
	if said := evaluate[[]any](b, "window.testedSoon"); said[0] != true || !strings.Contains(fmt.Sprint(said[1]), "Too soon") {
		b.t.Errorf("a key pressed too soon: [not counted, said] = %v", said)
	}
}
