package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserLearnt labels a session to its end by keyboard: after ten answers and at the
// end the page shows what was learnt, moving; a question behind the dialog takes no answer
// and loses no time by it; and nobody is shown it where the researcher does not allow it.
func TestBrowserLearnt(t *testing.T) {
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, shown := newLink(t, data, addr, "--env", "driver", "--budget", "12", "--show-learnt", "--completion-code", "TB-<b>42</b>")
	_, hidden := newLink(t, data, addr, "--env", "driver", "--budget", "11")
	startServer(t, "serve", "--data", data, "--addr", addr)
	const dialog = "document.querySelector('[data-learnt-dialog]')"

	b := newPerson(t, browser)
	b.join(shown, "Ann")
	for range 10 {
		b.answer(kb.ArrowLeft)
	}
	b.part("after ten answers", func() {
		b.wait(dialog + ".open")
		b.wait(dialog + ".querySelectorAll('clip-loop[data-playing]:not([data-empty])').length === 2")
		b.moving("[data-learnt-dialog] clip-loop canvas", 2, 1)
		if text := evaluate[string](b, dialog+".innerText"); !strings.Contains(text, "From your 10 answers.") {
			b.t.Errorf("the dialog says %q", text)
		}
		b.shot("learnt-1280x800")
		for _, size := range [][2]int64{{390, 844}, {844, 390}} {
			b.resize(size[0], size[1])
			b.noSideways(int(size[0]))
			if !evaluate[bool](b, dialog+".scrollWidth <= "+dialog+".clientWidth && (r => r.bottom <= innerHeight)("+dialog+".querySelector('button.primary').getBoundingClientRect())") {
				b.t.Errorf("at %dx%d the dialog is cut off", size[0], size[1])
			}
		}
		b.resize(1280, 800)
		b.press(kb.ArrowLeft)
		b.press(kb.Enter)
		b.wait("!" + dialog + ".open")
	})
	b.answer(kb.ArrowRight)
	b.commit(kb.ArrowRight)
	b.part("at the end", func() {
		b.wait("document.body.dataset.state === 'done'")
		b.wait("document.querySelector('[data-end]').innerText.includes('It has learnt from your 12 answers.')")
		b.wait("document.querySelectorAll('[data-end] clip-loop[data-playing]:not([data-empty])').length === 2")
		b.wait("document.querySelector('[data-code]:not([hidden])').innerText.includes('TB-<b>42</b>')")
		b.enter("[data-code-copy]")
		b.wait("/Copied|Selected/.test(document.querySelector('[data-code-copy]').innerText)")
		b.shot("end-1280x800")
	})
	b.part("reload", func() {
		b.open(evaluate[string](b, "location.href"))
		b.wait("document.body.dataset.state === 'done'")
		b.wait("document.querySelectorAll('[data-end] clip-loop:not([data-empty])').length === 2")
		if evaluate[bool](b, dialog+".open") {
			b.t.Error("what was learnt is shown again after a reload")
		}
	})
	b.secretive()
	if rows := records(t, data, id); len(rows) != 12 {
		t.Errorf("%d answers are recorded, want 12", len(rows))
	}

	c := newPerson(t, browser)
	c.join(hidden, "Bob")
	for range 10 {
		c.answer(kb.ArrowLeft)
	}
	c.commit(kb.ArrowLeft)
	c.wait("document.body.dataset.state === 'done'")
	if evaluate[bool](c, dialog+".open || !document.querySelector('[data-end] [data-effect]').hidden") {
		c.t.Error("what was learnt is shown where that is not allowed")
	}
}
