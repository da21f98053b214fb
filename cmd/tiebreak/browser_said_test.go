package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserMoreToSay says more than which clip is better: much better, with Shift and
// with the buttons, and remarks about both, with keys and with the buttons.
func TestBrowserMoreToSay(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, plain := newLink(t, data, addr, "--env", "driver")
	id, link := newLink(t, data, addr, "--env", "driver", "--strength", "--remarks")
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(plain, "Ida")
	b.part("not asked for", func() {
		if g := b.gives(b.taps(stroke{"ArrowLeft", "ArrowLeft", true})); g.side() != "first" || g.Much {
			b.t.Errorf("Shift and a key answer %+v, want a plain choice", g)
		}
		b.press("b")
		if g := b.gives(b.taps(stroke{"e", "KeyE", false})); g.Choice != "equal" || g.Remark != "" {
			b.t.Errorf("B and a choice answer %+v, want no remark", g)
		}
	})

	b = newPerson(t, browser)
	b.join(link, "Ann")
	pressed := func(remark string) bool {
		return evaluate[bool](b, fmt.Sprintf("document.querySelector('[data-remark=%s]').ariaPressed === 'true'", remark))
	}
	b.part("with keys", func() {
		if g := b.gives(b.taps(stroke{"ArrowLeft", "ArrowLeft", true})); g.side() != "first" || !g.Much || g.Input != "keyboard" {
			b.t.Errorf("Shift and ← answer %+v", g)
		}
		if g := b.gives(b.taps(stroke{"D", "KeyD", true})); g.side() != "second" || !g.Much {
			b.t.Errorf("Shift and D answer %+v", g)
		}
		b.ready()
		b.press("b")
		if !pressed("both_bad") {
			b.t.Error("B does not press its button")
		}
		b.press("g")
		if pressed("both_bad") || !pressed("both_good") {
			b.t.Error("G does not take the place of B")
		}
		if g := b.gives(b.taps(stroke{"e", "KeyE", false})); g.Choice != "equal" || g.Remark != "both_good" || g.Much {
			b.t.Errorf("G and equal answer %+v", g)
		}
		if pressed("both_good") {
			b.t.Error("the remark stays for the next question")
		}
		b.press("b")
		b.press("b")
		if g := b.gives(b.taps(stroke{"ArrowRight", "ArrowRight", false})); g.side() != "second" || g.Remark != "" || g.Much {
			b.t.Errorf("B twice and a choice answer %+v, want no remark", g)
		}
		b.press("b")
		if g := b.gives(b.taps(stroke{"c", "KeyC", false})); g.Choice != "cant_tell" || g.Remark != "" {
			b.t.Errorf("B and can't tell answer %+v, want no remark", g)
		}
	})
	b.part("with buttons", func() {
		b.do(chromedp.Click("[data-remark=both_bad]"))
		if g := b.gives(func() { b.do(chromedp.Click("[data-choice='much:right']")) }); g.side() != "second" || !g.Much || g.Remark != "both_bad" || g.Input != "mouse" {
			b.t.Errorf("the buttons answer %+v", g)
		}
	})
	b.part("held", func() {
		b.ready()
		b.strike(keyDown, stroke{"ArrowRight", "ArrowRight", true}, false)
		b.wait("document.querySelector('[data-stage][data-much]').dataset.preview === 'right'")
		b.shot("said-held")
		b.press(kb.Escape)
		b.strike(keyUp, stroke{"ArrowRight", "ArrowRight", true}, false)
	})
	b.part("last answers", func() {
		b.press("l")
		b.wait("document.querySelectorAll('[data-last-list] li').length === 6")
		if text := evaluate[string](b, "document.querySelector('[data-last-list] li [data-last-said]').innerText"); text != "Right, much better, both bad" {
			b.t.Errorf("the last answer is listed as %q", text)
		}
		b.press(kb.Escape)
	})
	b.part("sizes", func() {
		for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
			b.resize(size[0], size[1])
			b.ready()
			if !evaluate[bool](b, "document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('.answers button')].every((e) => e.getBoundingClientRect().bottom <= innerHeight && e.scrollWidth <= e.clientWidth + 1)") {
				b.t.Errorf("at %dx%d the buttons are cut off", size[0], size[1])
			}
			b.shot(fmt.Sprintf("said-%dx%d", size[0], size[1]))
		}
	})
	b.part("help", func() {
		b.resize(1280, 800)
		b.press("h")
		b.wait("document.querySelector('[data-help-dialog]').open")
		b.shot("said-help")
	})
	rows := records(t, data, id)
	if len(rows) != 6 {
		t.Fatalf("recorded are %+v", rows)
	}
	if r := rows[5]; r.Much == nil || !*r.Much || r.Remark != "both_bad" || rows[2].Much != nil || rows[2].Remark != "both_good" {
		t.Errorf("recorded are %+v", rows)
	}
}
