package main

import (
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/chromedp/chromedp/kb"

	"tiebreak/internal/check/waittest"
)

// TestBrowserRestart: a server that is asked to stop tells open pages of annotators and researchers that it restarts. Annotators go on with the questions that they
// have; when the server is back, the pages connect by themselves and the answers arrive, each once.
func TestBrowserRestart(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--ahead", "5")
	args := []string{"serve", "--data", data, "--addr", addr}
	server := startServer(t, args...)
	r := newPerson(t, browser)
	r.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	r.enter("[data-signin]")
	r.enter("[data-session] a")
	r.wait("document.querySelector('main').dataset.connection === 'open'")
	b := newPerson(t, browser)
	b.join(link, "Ada")
	b.answer(kb.ArrowLeft)
	b.ahead(3)
	b.expectAway(true)
	r.expectAway(true)
	must.Do(t, server.cmd.Process.Signal(syscall.SIGTERM))
	b.says("The server is restarting. Nothing is lost. This page goes on by itself")
	r.wait("/The server is restarting/.test(document.querySelector('[data-away]:not([hidden])')?.innerText)")
	b.commit(kb.ArrowLeft)
	b.commit(kb.ArrowRight)
	b.says(`The server is restarting. Your answers are kept in this browser \(2 unsent\)`)
	b.fits(1280, 800)
	b.shot("restarting-1280x800")
	waittest.For(t, server.done, "the server to stop")
	if code := server.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d\n%s", code, server.out)
	}
	startServer(t, args...)
	b.wait("document.body.dataset.unsent === '0' && document.body.dataset.answered === '3' && document.querySelector('[data-banner]').hidden")
	r.wait("document.querySelector('main').dataset.connection === 'open' && document.querySelector('[data-away]').hidden")
	b.expectAway(false)
	r.expectAway(false)
	b.answer(kb.ArrowLeft)
	if rows := records(t, data, id); len(rows) != 4 {
		t.Errorf("%d answers are recorded, want 4", len(rows))
	}
}
