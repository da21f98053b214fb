package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// signalWorkers sends a signal to the workers of a server.
func (p *process) signalWorkers(t *testing.T, signal syscall.Signal) (workers []int) {
	t.Helper()
	lists := must.Get(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid)))(t)
	for _, list := range lists {
		b := must.Get(os.ReadFile(list))(t)
		for _, pid := range strings.Fields(string(b)) {
			n, err := strconv.Atoi(pid)
			if err == nil {
				err = syscall.Kill(n, signal)
			}
			if err != nil {
				t.Fatalf("worker %s: %v", pid, err)
			}
			workers = append(workers, n)
		}
	}
	if len(workers) == 0 {
		t.Fatal("the server has no worker")
	}
	return workers
}

// Conditions of the end of a session, in JavaScript.
const (
	noteSays = "document.querySelector('[data-note]:not([hidden]) [data-note-text]')?.textContent === %q"
	endSays  = "document.querySelector('[data-end]:not([hidden]) [data-end-text]')?.textContent.startsWith(%q)"
	endMoves = `(loops => loops.length > 1 && loops.every((c) => c.matches("[data-playing]:not([data-empty])")))(
		[...document.querySelectorAll("[data-end] [data-effect] clip-loop, [data-end] [data-telling] clip-loop")].filter((c) => c.checkVisibility()))`
	endStill = `[...document.querySelectorAll("[data-end] clip-loop, [data-end] progress, [data-learning-text]")].every((c) => !c.checkVisibility())`
)

// deafen has the page get no status of the session while window.deaf is true.
const deafen = `(() => {
	const parse = JSON.parse;
	window.deaf = true;
	JSON.parse = (text, f) => { const v = parse(text, f); return v?.t === "status" && window.deaf ? { t: "nothing" } : v; };
	return 1;
})()`

// block has the page fetch nothing while window.blocked is true.
const block = `(() => {
	const fetch = window.fetch;
	window.blocked = true;
	window.refused = 0;
	window.fetch = (...asked) => window.blocked ? (window.refused++, Promise.reject(new TypeError("blocked"))) : fetch(...asked);
	return 1;
})()`

// An ender is an annotator near the end of a session that shows what was learnt.
type ender struct {
	*tab
	server *process
	args   []string
}

// newEnder returns somebody who has one answer left.
func newEnder(t *testing.T, browser context.Context) *ender {
	t.Helper()
	const answers = 8 // fewer than those after which a dialog shows what was learnt
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "driver", "--budget", strconv.Itoa(answers), "--show-learnt", "--completion-code", "TB-42")
	e := &ender{args: []string{"serve", "--data", data, "--addr", addr}}
	e.server = startServer(t, e.args...)
	e.tab = newPerson(t, browser)
	e.join(link, "Ann")
	for range answers - 1 {
		e.answer(kb.ArrowLeft)
	}
	e.until("the page is kept", func(context.Context) bool { return evaluate[bool](e.tab, shellKept) })
	return e
}

// lose kills the server.
func (e *ender) lose() {
	e.expectAway(true)
	e.server.kill()
	e.wait("document.body.dataset.state === 'offline'")
	e.wait("/not reachable.*Nothing is lost/.test(document.querySelector('[data-banner]:not([hidden])')?.innerText)")
}

// comesBack starts the server again, and waits for the end of the session.
func (e *ender) comesBack() {
	e.t.Helper()
	e.server = startServer(e.t, e.args...)
	e.wait("document.body.dataset.state === 'done' && document.querySelector('[data-banner]').hidden")
	e.expectAway(false)
	e.wait(fmt.Sprintf(noteSays, "You are done. Thank you!"))
	e.wait(fmt.Sprintf(endSays, "It has learnt from your 8 answers."))
	e.wait(endMoves)
	e.wait("document.querySelector('[data-code]:not([hidden])').innerText.includes('TB-42')")
}

// TestBrowserEndWithoutConnection: where the server dies after the last answer was acknowledged, the page
// says that all answers are stored and that it waits for the connection, and nothing of a training of which
// it knows nothing; it comes back by itself, and then shows the end.
func TestBrowserEndWithoutConnection(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	t.Run("during the last training", func(t *testing.T) {
		e := newEnder(t, browser)
		workers := e.server.signalWorkers(t, syscall.SIGSTOP)
		t.Cleanup(func() {
			for _, pid := range workers {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with its server
			}
		})
		e.commit(kb.ArrowRight)
		e.wait("document.body.dataset.state === 'done' && document.body.dataset.unsent === '0'")
		e.wait(fmt.Sprintf(endSays, "Learning from your last answers"))
		e.lose()
		e.wait(fmt.Sprintf(noteSays, "You are done. Thank you! All your answers are stored."))
		e.wait(fmt.Sprintf(endSays, "This page waits for the connection. Then you see what it has learnt."))
		if !evaluate[bool](e.tab, endStill) {
			t.Error("without a connection the end shows clips or progress")
		}
		e.shot("end-away-1280x800")
		e.accessible("an end without a connection")
		e.comesBack()
		e.lose()
		e.do(chromedp.Reload())
		e.wait(fmt.Sprintf(noteSays, "You are done. Thank you! All your answers are stored."))
		e.comesBack()
	})
	t.Run("before the page heard that it was the last answer", func(t *testing.T) {
		e := newEnder(t, browser)
		evaluate[int](e.tab, deafen)
		e.commit(kb.ArrowRight)
		e.wait("document.body.dataset.unsent === '0' && document.body.dataset.state === 'waiting'")
		e.lose()
		e.wait(fmt.Sprintf(noteSays, "All your answers are stored. This page waits for the connection and then goes on."))
		evaluate[bool](e.tab, "(window.deaf = false, true)")
		e.comesBack()
	})
	t.Run("before the clips of the end came", func(t *testing.T) {
		e := newEnder(t, browser)
		evaluate[int](e.tab, block)
		e.commit(kb.ArrowRight)
		e.wait(fmt.Sprintf(endSays, "It has learnt from your 8 answers."))
		e.wait("window.refused > 1 && document.querySelector('[data-end] [data-now][data-empty]') !== null")
		e.lose()
		if n := evaluate[int](e.tab, "window.blocked = false, window.refused"); n > 50 { // a page that tries again at once asks some thousand times
			t.Errorf("the page asked %d times for what it could not have", n)
		}
		e.comesBack()
	})
}
