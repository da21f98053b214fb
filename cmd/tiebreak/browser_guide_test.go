package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserGuide: annotators are told what to look for before they begin and when it
// changes, in a dialog behind which nothing plays, and beside the clips where there is room.
func TestBrowserGuide(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--title", "Drive")
	startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.part("before joining", func() {
		b.open(link)
		b.waitFor(".guide .legend svg")
		b.enter(".guide [data-legend] summary") // the rest of the legend comes on demand, also by keyboard
		b.wait("document.querySelector('.guide [data-legend]').open && document.querySelector('.guide [data-legend] .legend svg').checkVisibility()")
		if n := evaluate[int](b, "document.querySelectorAll('.guide .legend li').length"); n < 4 {
			b.t.Errorf("the welcome page explains %d things, want 4 or more", n)
		}
		b.shot("guide-join-1280x800")
	})
	b.join(link, "Ada")
	b.painted()
	if evaluate[bool](b, "document.querySelector('[data-help-dialog]').open") {
		t.Error("what was read on the welcome page is shown again")
	}
	b.part("beside the clips", b.besideTheClips)
	b.part("beside the clips of practice", b.besidePractice)
	b.resize(1280, 800)
	b.answer(kb.ArrowLeft)
	file := filepath.Join(t.TempDir(), "new.md")
	must.Do(t, os.WriteFile(file, []byte("Prefer the drive that **stays in its lane**.\n\n![the car](legend:car)\n"), 0o644))
	var behind int64 // milliseconds for which the instructions are over the clips, at least
	b.part("new instructions", func() {
		if status, _, stderr := cli(t, "session", "set", "--data", data, "--session", id, "--instructions-file", file); status != 0 {
			b.t.Fatalf("session set: %s", stderr)
		}
		b.waitFor("[data-help-dialog][open] .prose strong")
		opened := time.Now()
		b.waitFor("[data-news]")
		if got := evaluate[string](b, "document.activeElement.textContent"); got != "Go on" {
			b.t.Errorf("the focus is on %q", got)
		}
		if evaluate[bool](b, "document.querySelector('duo-player').hasAttribute('data-playing')") {
			b.t.Error("the clips play behind the instructions")
		}
		b.shot("guide-changed-1280x800")
		behind = time.Since(opened).Milliseconds()
		b.press(kb.Enter)
		b.wait("!document.querySelector('[data-help-dialog]').open")
		b.wait("document.querySelector('main').dataset.acknowledged === '2'")
	})
	b.part("once a version", func() {
		b.answer(kb.ArrowRight)
		b.open(evaluate[string](b, "location.href"))
		b.painted()
		if evaluate[bool](b, "document.querySelector('[data-help-dialog]').open") {
			b.t.Error("what was acknowledged is shown again")
		}
		b.press("h")
		b.waitFor("[data-help-dialog][open] .prose strong")
		b.press(kb.Escape)
	})
	rows := records(t, data, "")
	if len(rows) != 2 || rows[0].Instructions != 1 || rows[1].Instructions != 2 {
		t.Errorf("the answers were given to versions %+v, want 1 and 2", rows)
	} else if rows[0].HiddenMS != 0 || rows[1].HiddenMS < behind {
		t.Errorf("time behind the instructions: %d and %d ms, want 0 and at least %d", rows[0].HiddenMS, rows[1].HiddenMS, behind)
	}
}

// besideTheClips looks at windows of all sizes: where there is a panel it takes nothing from
// the clips.
func (b *tab) besideTheClips() {
	for _, w := range []struct {
		width, height int64
		place         string
	}{
		{1280, 800, ""}, {844, 390, ""}, {390, 844, ""}, {1600, 800, "side"}, {2560, 1440, "side"}, {3440, 1440, "side"}, {3840, 2160, "side"},
	} {
		b.arranged(window{width: w.width, height: w.height})
		const clip = "document.querySelector('canvas').getBoundingClientRect().width"
		place := evaluate[string](b, "document.querySelector('main').dataset.beside")
		if place != w.place {
			b.t.Errorf("%dx%d: the panel is at %q, want %q", w.width, w.height, place, w.place)
		}
		with := evaluate[float64](b, clip)
		b.shot(fmt.Sprintf("guide-label-%dx%d", w.width, w.height))
		evaluate[bool](b, `(document.querySelector(".beside").style.display = "none", document.querySelector("main").style.gridTemplateColumns = "minmax(0, 1fr)",
			new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
		if without := evaluate[float64](b, clip); with < without-1 {
			b.t.Errorf("%dx%d: the clips are %v wide with the panel and %v without", w.width, w.height, with, without)
		}
		evaluate[bool](b, `(document.querySelector(".beside").style.display = "", document.querySelector("main").style.gridTemplateColumns = "", true)`)
	}
}

// besidePractice: the panel is where it is for the questions that count, though the line above
// the clips is longer.
func (b *tab) besidePractice() {
	places := func(mark string) (out []string) {
		evaluate[int](b, fmt.Sprintf("(document.querySelector('[data-practice-mark]').textContent = %q, 1)", mark))
		for width := int64(1280); width <= 1560; width += 40 {
			b.arranged(window{width: width, height: 800})
			out = append(out, evaluate[string](b, "document.querySelector('main').dataset.beside"))
		}
		return out
	}
	practice, real := places("Practice 1 of 2, which does not count:"), places("")
	if !slices.Equal(practice, real) || !slices.Contains(real, "") || !slices.Contains(real, "side") {
		b.t.Errorf("from 1280 to 1560 pixels the panel is at %q for practice, and at %q for questions", practice, real)
	}
}
