package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserVerdicts says whether clips show a success, with keys and buttons, and when it goes wrong: the moment on screen goes with a
// failure or a partial success.
func TestBrowserVerdicts(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--kind", "clip_success")
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Ann")
	marked := func() bool {
		return evaluate[bool](b, "document.querySelector('[data-wrong]').ariaPressed === 'true' && document.querySelector('.track .wrong') !== null")
	}
	b.part("with keys", func() {
		for key, want := range map[string]float64{"ArrowLeft": -1, "ArrowUp": 0, "ArrowRight": 1} {
			if g := b.gives(b.taps(stroke{key, key, false})); g.Choice != "rated" || g.Rating != want || g.WrongMS != 0 || g.Input != "keyboard" {
				b.t.Errorf("%s answers %+v, want the rating %v", key, g, want)
			}
		}
		if g := b.gives(b.taps(stroke{"ArrowDown", "ArrowDown", false})); g.Choice != "cant_tell" {
			b.t.Errorf("↓ answers %+v", g)
		}
	})
	b.part("the moment", func() {
		b.ready()
		b.press(".") // rests, one frame on
		at := evaluate[float64](b, "Number(document.querySelector('.track').ariaValueNow)")
		b.press("m")
		if !marked() {
			b.t.Error("M does not mark the moment")
		}
		b.shot("verdict-marked")
		if g := b.gives(b.taps(stroke{"ArrowLeft", "ArrowLeft", false})); g.Rating != -1 || g.WrongMS < int64(1000*at)-6 || g.WrongMS > int64(1000*at)+6 || g.WrongMS == 0 {
			b.t.Errorf("M at %v s and ← answer %+v", at, g)
		}
		if marked() {
			b.t.Error("the moment stays for the next question")
		}
		b.press(".")
		b.press("m")
		if g := b.gives(b.taps(stroke{"ArrowRight", "ArrowRight", false})); g.Rating != 1 || g.WrongMS != 0 {
			b.t.Errorf("M and a success answer %+v, want no moment", g)
		}
		b.ready()
		b.press(".")
		b.press("m")
		b.press("m")
		if marked() {
			b.t.Error("M twice leaves the moment")
		}
		b.do(chromedp.Click("[data-wrong]"))
		if !marked() {
			b.t.Error("the button does not mark the moment")
		}
		if g := b.gives(func() { b.do(chromedp.Click("[data-choice='rate:5']")) }); g.Rating != 0 || g.WrongMS == 0 || g.Input != "mouse" {
			b.t.Errorf("the buttons answer %+v", g)
		}
	})
	b.part("last answers", func() {
		b.press("l")
		b.wait("document.querySelectorAll('[data-last-list] li').length === 7")
		if text := evaluate[string](b, "document.querySelector('[data-last-list] li [data-last-said]').innerText"); text != "Partial success" {
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
			b.shot(fmt.Sprintf("verdict-%dx%d", size[0], size[1]))
		}
	})
	rows := records(t, data, id)
	if len(rows) != 7 {
		t.Fatalf("recorded are %+v", rows)
	}
	if r := rows[6]; r.Kind != "clip_success" || r.WrongMS == 0 || r.Rating != 0 || rows[4].WrongMS == 0 || rows[5].WrongMS != 0 {
		t.Errorf("recorded are %+v", rows)
	}
}
