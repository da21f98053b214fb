package main

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserQuestionsThatWait: a question that is asked before one that waits comes next, and never in the place of
// the one on the screen, which is painted once; where the server is killed before the page hears of it, what
// the page holds is answered, and every answer counts.
func TestBrowserQuestionsThatWait(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--min-dwell", "0")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Ada")
	b.answer(kb.ArrowLeft)
	evaluate[bool](b, `(() => {
		window.shown = [];
		const note = () => { const { assignment } = document.body.dataset; if (assignment && window.shown.at(-1) !== assignment) window.shown.push(assignment); };
		new MutationObserver(note).observe(document.body, { attributes: true, attributeFilter: ["data-assignment"] });
		return note(), true;
	})()`)
	keys, answered := []string{kb.ArrowLeft, kb.ArrowRight, kb.ArrowUp}, 1
	exchanges := func() (n int) {
		queries, _ := b.asked()
		for _, q := range queries {
			if q.Before != "" {
				n++
			}
		}
		return n
	}
	for ; exchanges() < 3 && answered < 20; answered++ {
		b.answer(keys[answered%len(keys)])
	}
	if exchanges() < 3 {
		t.Fatalf("%d questions came before one that waited after %d answers, want some", exchanges(), answered)
	}

	b.ahead(3)
	_, held := b.asked()
	_ = server.hold(t) // it is killed where it stands
	b.commit(kb.ArrowLeft)
	b.expectAway(true)
	server.kill()
	b.wait("document.body.dataset.state === 'offline'")
	b.commit(kb.ArrowRight)
	b.commit(kb.ArrowUp)
	answered += 3
	startServer(t, "serve", "--data", data, "--addr", addr)
	b.wait("document.body.dataset.unsent === '0'")
	b.painted()
	b.expectAway(false)
	for range 2 {
		b.answer(kb.ArrowLeft)
		answered++
	}

	shown := evaluate[[]string](b, "window.shown")
	sorted := slices.Sorted(slices.Values(shown))
	if len(slices.Compact(sorted)) != len(shown) {
		t.Errorf("a question left the screen and came back: %v", shown)
	}
	if len(shown) != answered { // those of every answer but the first, and the one on the screen
		t.Errorf("%d answers and %d questions on the screen: %v", answered, len(shown), shown)
	}
	for _, a := range held {
		if !slices.Contains(shown, a) {
			t.Errorf("%s, which the page held when the server was killed, was not on the screen: %v", a, shown)
		}
	}
	rows := records(t, data, id)
	if len(rows) != answered {
		t.Errorf("%d answers are recorded, want %d", len(rows), answered)
	}
}
