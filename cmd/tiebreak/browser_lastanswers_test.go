package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserLastAnswers sees the last answers and changes one of them by keyboard alone.
func TestBrowserLastAnswers(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver")
	startServer(t, "serve", "--data", data, "--addr", addr)
	const dialog = "document.querySelector('[data-last-dialog]')"

	b := newPerson(t, browser)
	b.join(link, "Ann")
	b.press("l")
	b.wait(dialog + ".innerText.includes('There is no answer that can be changed yet.')")
	b.press(kb.Escape)
	b.wait("!" + dialog + ".open")
	for _, key := range []string{kb.ArrowLeft, kb.ArrowRight, kb.ArrowUp, kb.ArrowDown} {
		b.answer(key)
	}
	waiting := b.painted()["assignment"]
	b.press("l")
	b.wait(dialog + ".querySelectorAll('li').length === 4")
	b.wait(dialog + ".querySelectorAll('clip-loop[data-playing]:not([data-empty])').length >= 4")
	if text := strings.Fields(evaluate[string](b, dialog+".querySelector('ol').innerText")); strings.Join(text, " ") != "Can’t tell Change Equal Change Right Change Left Change" {
		t.Errorf("the answers are listed as %q", text)
	}
	b.shot("last-1280x800")
	for _, size := range [][2]int64{{390, 844}, {844, 390}} {
		b.resize(size[0], size[1])
		if !evaluate[bool](b, dialog+".scrollWidth <= "+dialog+".clientWidth") {
			t.Errorf("at %dx%d the list is cut off", size[0], size[1])
		}
		b.shot(fmt.Sprintf("last-%dx%d", size[0], size[1]))
	}
	b.resize(1280, 800)
	b.enter("[data-last-list] li:nth-child(3) button")
	b.wait("!" + dialog + ".open")
	b.wait(fmt.Sprintf("document.body.dataset.assignment !== %q", waiting))
	b.answer(kb.ArrowLeft)
	if now := b.painted()["assignment"]; now != waiting {
		t.Errorf("after the change question %s is shown, want %s, which was on screen before", now, waiting)
	}
	rows := records(t, data, id)
	if len(rows) != 5 || !rows[1].Withdrawn || rows[4].Withdrawn {
		t.Fatalf("recorded are %+v", rows)
	}
	first, second := rows[1], rows[4]
	if first.Left != second.Left || first.Choice == second.Choice {
		t.Errorf("the right one was changed to the left one; recorded are %+v and %+v", first, second)
	}
	b.secretive()
}
