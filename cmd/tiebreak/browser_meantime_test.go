package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hold stops the process where it is, as a network does that drops everything. The function
// that it returns lets it go on.
func (p *process) hold(t *testing.T) func() {
	t.Helper()
	must.Do(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	return func() {
		if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}
}

// TestBrowserMeantime: while the server has not acknowledged an answer, none is lost, and no
// other question gets one.
func TestBrowserMeantime(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--ahead", "5", "--min-dwell", "0")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Ada")
	b.answer(kb.ArrowLeft)
	saved := func() { b.wait("document.body.dataset.unsent === '0' && document.body.dataset.state === 'ready'") }
	b.part("keys of the panel", func() {
		b.resize(1600, 800)
		b.waitFor(".beside")
		is := b.painted()["assignment"]
		b.wait("document.body.dataset.gate === 'open'") // from then on keys would answer
		evaluate[bool](b, "(document.querySelector('.beside').focus({ preventScroll: true }), true)")
		for _, key := range []string{kb.ArrowDown, kb.ArrowUp, " ", kb.PageDown, kb.End} {
			b.press(key)
		}
		if now := b.data(); now["assignment"] != is || evaluate[string](b, "document.activeElement.getAttribute('aria-label')") != "What to look for" {
			b.t.Errorf("scrolling the panel answered %s: %v", is, now)
		}
		evaluate[bool](b, "(document.activeElement.blur(), true)")
		b.resize(1280, 800)
	})
	b.part("another question under the skip dialog", func() {
		was := b.painted()["assignment"]
		resume := server.hold(b.t)
		b.press("z") // the first question comes back when the server hears of it
		b.insist("document.querySelector('[data-skip-dialog]').open", func() { b.press("s") })
		resume()
		b.wait("document.body.dataset.unsent === '0' && document.body.dataset.assignment !== '" + was + "'")
		b.press("1")
		b.wait("/Nothing was skipped/.test(document.querySelector('[data-toast]').innerText)")
		b.answer(kb.ArrowLeft)
	})
	b.part("a server that hangs", func() {
		b.expectAway(true)
		resume := server.hold(b.t)
		b.commit(kb.ArrowLeft)
		b.wait("document.body.dataset.state === 'offline'") // the answer was sent, and may have arrived
		b.press("z")
		b.wait("/returns when the server is back/.test(document.querySelector('[data-toast]').innerText)")
		b.until("the page is kept", func(context.Context) bool { return evaluate[bool](b, shellKept) })
		evaluate[bool](b, "window.beforeReload = true")
		b.do(chromedp.Evaluate[chromedp.Void]("setTimeout(() => location.reload())"))
		b.wait("window.beforeReload === undefined && /not reachable.*2 unsent/.test(document.querySelector('[data-banner]:not([hidden])')?.innerText)")
		b.shot("hung-1280x800")
		resume()
		saved()
		b.wait("document.body.dataset.answered === '1'") // the withdrawal counts, too
		b.expectAway(false)
		b.answer(kb.ArrowRight)
	})
	b.part("consent and instructions at once", func() {
		file := filepath.Join(b.t.TempDir(), "text.md")
		if err := os.WriteFile(file, []byte("Something else is asked of you.\n"), 0o600); err != nil {
			b.t.Fatal(err)
		}
		b.ahead(2)
		if status, _, stderr := cli(b.t, "session", "set", "--data", data, "--session", id, "--instructions-file", file, "--consent-file", file); status != 0 {
			b.t.Fatalf("session set: %s", stderr)
		}
		b.commit(kb.ArrowLeft) // a question that was here
		b.wait("document.body.dataset.unsent === '0'")
		if v := evaluate[string](b, "document.querySelector('main').dataset.instructionsVersion"); v != "1" || evaluate[bool](b, "document.querySelector('[data-help-dialog]').open") {
			b.t.Errorf("the page has instructions %q, and the old ones are shown for new", v)
		}
	})
	stand := 0
	for _, n := range givenBy(t, data) {
		stand += n
	}
	rows := records(t, data, id)
	if stand != 3 || len(rows) != 5 {
		t.Errorf("%d answers stand of %d, want 3 of 5: two were withdrawn, and nothing skipped", stand, len(rows))
	}
	for _, r := range rows {
		if r.Instructions != 1 {
			t.Errorf("an answer to instructions %d", r.Instructions)
		}
	}
}
