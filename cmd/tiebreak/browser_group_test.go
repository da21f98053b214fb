package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserGroup names the best and the worst of six clips by keyboard and by tapping.
func TestBrowserGroup(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--kind", "clip_group", "--title", "Six at once")
	startServer(t, "serve", "--data", data, "--addr", addr)

	b := newPerson(t, browser)
	b.join(link, "Ann")
	b.moving("duo-player canvas", 6, 2)
	for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
		b.resize(size[0], size[1])
		b.wait("document.querySelector('duo-player canvas').width > 0")
		b.wait(fmt.Sprintf("[...document.querySelectorAll('.frame')].every(f => f.getBoundingClientRect().bottom <= %d && f.getBoundingClientRect().right <= %d && f.getBoundingClientRect().width >= 44)", size[1], size[0]))
		b.shot(fmt.Sprintf("group-%dx%d", size[0], size[1]))
	}
	b.resize(1280, 800)
	b.wait("document.body.dataset.gate === 'open' && document.body.dataset.picking === 'best'")
	b.press("3")
	b.wait("document.body.dataset.picking === 'worst'")
	b.shot("group-worst-1280x800")
	b.press("3")
	b.wait("document.querySelector('[data-toast]').innerText.includes('best already')")
	b.press(kb.Escape)
	b.wait("document.body.dataset.picking === 'best'")
	b.press("4")
	b.wait("document.body.dataset.picking === 'worst'")
	b.press(kb.Backspace)
	b.wait("document.body.dataset.picking === 'best'")
	first := b.painted()["assignment"]
	b.press("2")
	b.wait("document.body.dataset.picking === 'worst'")
	b.press("5")
	b.wait(fmt.Sprintf("document.body.dataset.assignment !== %q && document.body.dataset.answered === '1' && document.body.dataset.gate === 'open'", first))

	tap := func(n int) { b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(".frame:nth-child(%d) .pick", n)))) }
	second := b.painted()["assignment"]
	tap(6)
	b.wait("document.body.dataset.picking === 'worst'")
	tap(1)
	b.wait(fmt.Sprintf("document.body.dataset.assignment !== %q && document.body.dataset.answered === '2' && document.body.dataset.gate === 'open'", second))
	b.press("c")
	b.wait("document.body.dataset.answered === '3' && document.body.dataset.gate === 'open'")
	b.press("z")
	b.wait("document.body.dataset.answered === '2'")

	rows := records(t, data, id)
	if len(rows) != 19 {
		t.Fatalf("%d records, want nine of each answer and one of the withdrawn one", len(rows))
	}
	for i, at := range [][2]int{{2, 5}, {6, 1}} {
		best, worst := rows[9*i], rows[9*i+5]
		if best.PositionA != at[0] || worst.PositionB != at[1] || best.GroupID != rows[9*i+8].GroupID || best.Choice != "a" {
			t.Errorf("answer %d, clip %d best and %d worst, is exported as %+v and %+v", i+1, at[0], at[1], best, worst)
		}
	}
	if !rows[18].Withdrawn || rows[18].Choice != "cant_tell" {
		t.Errorf("can't tell, withdrawn, is exported as %+v", rows[18])
	}
	b.secretive()
}
