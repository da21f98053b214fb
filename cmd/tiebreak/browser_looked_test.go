package main

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestBrowserLooked looks at what a session has learnt: two policies on one clock, of which the second is chosen by keyboard; what the reward
// likes, by clips that are fetched when they come into view; and the question that would be asked. After more answers the page has
// the new clips, and the reader is still at the same place, with the same policy chosen.
func TestBrowserLooked(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--title", "Drive")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	simulate := func(answers int) {
		t.Helper()
		if status, _, stderr := cli(t, "simulate", "--url", link, "--answers", strconv.Itoa(answers)); status != 0 {
			t.Fatalf("simulate: %s", stderr)
		}
	}
	simulate(6)
	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.resize(1280, 800)
	b.open("http://" + addr + "/sessions/" + id + "/learnt")
	b.waitFor("[data-taste] figure")
	const filled = "document.querySelectorAll('[data-tastes] clip-loop:not([data-empty])').length"

	b.part("player", func() {
		b.waitFor("[data-compared] [data-playing] canvas")
		b.moving("[data-compared] canvas", 2, 1)
		b.wait("/^Left: .*, recommended\\. Right: ./.test(document.querySelector('[data-names]').innerText)")
		was := evaluate[string](b, "document.querySelector('[data-names]').innerText")
		b.tabTo("[data-other]")
		b.press("p") // of those prepared before the first answer
		b.wait("document.querySelector('[data-other]').value.startsWith('pool.')")
		b.wait(fmt.Sprintf("document.querySelector('[data-names]').innerText !== %q", was))
		b.wait("document.querySelector('[data-names]').innerText.endsWith(`Right: ${document.querySelector('[data-other]').value}.`)")
		b.waitFor("[data-compared] [data-playing] canvas")
	})
	b.part("likes", func() {
		if n := evaluate[int](b, "[...document.querySelectorAll('.tastes clip-loop')].filter((c) => c.getBoundingClientRect().top > innerHeight && !c.hasAttribute('data-empty')).length"); n > 0 {
			b.t.Errorf("%d clips were fetched before they were seen", n)
		}
		b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#likes').scrollIntoView({ block: 'start', behavior: 'instant' })"))
		b.wait(filled + " >= 6")
		b.wait("document.querySelectorAll('[data-tastes] clip-loop[data-playing]').length >= 6")
		b.enter("[data-still-likings]")
		b.wait("document.querySelectorAll('[data-tastes] clip-loop[data-playing]').length === 0")
		b.shot("looked-likes-1280x800")
	})
	b.part("next", func() {
		b.wait("/(would tell|compares no two)/.test(document.querySelector('[data-next-text]').innerText)")
		b.wait("!document.querySelector('.unsure duo-player').hasAttribute('data-empty')")
	})
	b.part("more answers", func() {
		chosen := "[document.querySelector('[data-other]').value, document.querySelector('[data-start]').value].join(' ')"
		b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('.tastes').scrollIntoView({ block: 'start', behavior: 'instant' }); scrollBy(0, 120)"))
		b.laidOut()
		const top = "document.querySelector('.tastes').getBoundingClientRect().top"
		place := evaluate[float64](b, top)
		// On a busy processor, a note above grows in the frame in which the clips are drawn anew, and the browser does not hold the place.
		b.throttle(8)
		b.do(chromedp.Evaluate[chromedp.Void](`for (const el of document.querySelectorAll("html, body, main, main *")) el.style.overflowAnchor = "none";
		document.querySelector("[data-tastes]").replaceChildren = function (...fresh) {
			delete this.replaceChildren;
			this.replaceChildren(...fresh);
			const note = document.createElement("p");
			note.style.height = "60px";
			document.querySelector("main").prepend(note);
		}`))
		was, before := evaluate[string](b, chosen), evaluate[string](b, "document.querySelector('[data-tastes]').innerText")
		simulate(5)
		b.wait("document.querySelector('main').dataset.seq === '11'")
		b.wait(fmt.Sprintf("document.querySelector('[data-tastes]').innerText !== %q", before))
		b.laidOut()
		if now := evaluate[string](b, chosen); now != was {
			b.t.Errorf("policy and start are %q after more answers, and were %q", now, was)
		}
		b.wait("[...document.querySelectorAll('main > p:first-child')].some((p) => p.offsetHeight === 60)")
		if now := evaluate[float64](b, top); math.Abs(now-place) >= 1 { // a screen is scrolled by whole pixels
			b.t.Errorf("what the reader looks at is at %.2f pixels after more answers, and was at %.2f", now, place)
		}
		b.throttle(1)
		if evaluate[int](b, "document.querySelectorAll('[data-tastes] clip-loop[data-playing]').length") > 0 {
			b.t.Error("clips that were paused move")
		}
	})
	b.part("sizes", func() {
		if h := evaluate[int](b, "document.documentElement.scrollHeight"); h > 3*800 {
			b.t.Errorf("the page has a height of %d pixels, more than three screens", h)
		}
		for _, size := range [][2]int64{{390, 844}, {844, 390}, {1920, 1080}} {
			b.resize(size[0], size[1])
			b.noSideways(int(size[0]))
			b.shot(fmt.Sprintf("looked-%dx%d", size[0], size[1]))
		}
		b.resize(1280, 800)
		b.open("http://" + addr + "/sessions/" + id + "/learning")
		b.waitFor("[data-fold=more]")
		if h := evaluate[int](b, "document.documentElement.scrollHeight"); h > 3*800 {
			b.t.Errorf("the page Learning has a height of %d pixels, more than three screens", h)
		}
	})
}

// throttle makes the processor of the page so many times slower.
func (b *tab) throttle(rate float64) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: rate}); err != nil {
		b.fatalf("%v", err)
	}
}
