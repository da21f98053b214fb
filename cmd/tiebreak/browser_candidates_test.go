//go:build mujoco

package main

import (
	"fmt"
	"strconv"
	"testing"
)

// TestBrowserCandidates looks at the page of a session on a robot: its candidates move while
// they are in view and unless that is not wanted, the best policy so far says why it is the
// best, and a training that is under way is cancelled and followed by another.
func TestBrowserCandidates(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "half-cheetah", "--solver", "gaits", "--candidates", "2", "--title", "Run") // few, so that a training ends on a busy machine
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	simulate := func(answers int) {
		t.Helper()
		if status, _, stderr := cli(t, "simulate", "--url", link, "--answers", strconv.Itoa(answers)); status != 0 {
			t.Fatalf("simulate: %s", stderr)
		}
	}
	simulate(4) // no training yet
	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.enter("[data-session] a")
	b.waitFor("main[data-connection=open]")
	b.page("learnt")
	b.waitFor("[data-candidates] clip-loop")

	b.part("clips", func() {
		const first = "[data-candidates] .interval-row:first-child clip-loop"
		view := func(selector string) {
			evaluate[bool](b, fmt.Sprintf("document.querySelector(%q).scrollIntoView({block: 'center'}), true", selector))
		}
		view(first)
		b.wait("document.querySelector('" + first + "').hasAttribute('data-playing')")
		b.moving(first+" canvas", 1, 1)
		b.shot("candidates-1280x800")
		for _, size := range [][2]int64{{390, 844}, {844, 390}} {
			b.resize(size[0], size[1])
			view(first)
			b.noSideways(int(size[0]))
			b.shot(fmt.Sprintf("candidates-%dx%d", size[0], size[1]))
		}
		b.resize(1280, 800)
		const playing = "document.querySelectorAll('[data-candidates] clip-loop[data-playing]').length"
		view("#next")
		b.wait(playing + " === 0") // all are above
		view(first)
		b.wait(playing + " > 1")
		b.enter("[data-still]")
		b.wait(playing + " === 0")
		b.enter("[data-still]")
		view(first) // the focus scrolls no farther than to the button, above the clips
		b.wait(playing + " > 1")
	})
	b.part("best policy", func() {
		b.waitFor("[data-compared] [data-playing] canvas")
		b.moving("[data-compared] canvas", 2, 1)
		b.wait("/less half of its spread over \\d starts/.test(document.querySelector('[data-recommended]').innerText)")
		b.enter("[data-candidates] .interval-row:last-child")
		b.wait("document.querySelector('[data-other]').value === document.querySelector('[data-candidates] .interval-row:last-child[aria-pressed=true]')?.dataset.id")
	})
	b.part("cancel", func() {
		b.page("training")
		simulate(1)
		b.wait("document.querySelector('[data-training]').innerText.includes('From answer 5')")
		b.enter("[data-cancel] summary")
		b.enter("[data-cancel-now]")
		// a training that ends before the click is in use then, and the click cancels the one that follows it
		b.wait("/Cancelled\\. The next training begins after the next answer\\. In use: candidates (from before the first answer|as of answer 5)\\./.test(document.querySelector('[data-training]')?.innerText)")
		if !evaluate[bool](b, "document.querySelector('[data-cancel]').hidden && document.querySelector('[data-left]').hidden") {
			b.t.Error("there is something to cancel, or time left, when nothing is under way")
		}
		simulate(1)
		b.wait("document.querySelector('[data-training]').innerText.includes('From answer 6: ')")
		b.wait("/^About (a|\\d+) (second|minute)s? left|^A few seconds left/.test(document.querySelector('[data-left]').innerText)")
		b.shot("training-1280x800")
		b.wait("document.querySelector('[data-training]').innerText.includes('In use: candidates as of answer 6.')")
	})
	b.part("reduced motion", func() {
		b.page("learnt")
		b.calm()
		b.open(evaluate[string](b, "location.origin + location.pathname")) // a fragment would not load it again
		b.waitFor("[data-candidates] clip-loop")
		evaluate[bool](b, "document.querySelector('clip-loop').scrollIntoView({block: 'center'}), true")
		b.waitFor("[data-candidates] clip-loop:not([data-empty])")
		if !evaluate[bool](b, "document.querySelectorAll('clip-loop[data-playing], duo-player[data-playing]').length === 0 && document.querySelector('[data-still]').innerText === 'Play clips'") {
			b.t.Error("clips move where no motion is wanted")
		}
	})
}
