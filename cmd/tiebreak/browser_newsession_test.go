package main

import (
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A new user makes a session by three choices: environments are found by search and play, what to
// expect follows what is typed, changed settings are marked and can be reset, and the preset is the
// file that the command line prints.
func TestBrowserNewSession(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.enter("[data-new]")
	b.waitFor("[data-env=driver] clip-loop[data-playing] canvas")

	b.tabTo("input[name=title]")
	b.press("Where is it good?")
	b.tabTo("[data-search=env]")
	b.press("grid walls")
	b.wait("[...document.querySelectorAll('[data-env]:not([hidden])')].map((e) => e.dataset.env).join() === 'gridworld,gridworld-code'")
	b.press(kb.Escape) // empties the search
	b.wait("document.querySelectorAll('[data-env][hidden]').length === 0")
	b.choose("env", "gridworld")
	b.wait("document.querySelector('input[name=title]').placeholder.startsWith('Gridworld, ')")
	b.wait("document.querySelector('input[name=purpose]').placeholder === 'Collect the blue fields, F, and avoid the red ones, A.'")
	b.choose("who", "lab")
	b.wait("document.querySelector('[data-part=sets]').innerText.includes('Changes no other setting')")
	b.tabTo("input[name=budget]")
	b.press("30")
	b.wait("document.querySelector('[data-part=expected] .wanted th')?.innerText === '30'")

	b.enter("[data-everything] summary")
	b.tabTo("[data-search=setting]")
	b.press("candidate")
	b.wait("[...document.querySelectorAll('[data-setting]:not([hidden])')].some((e) => e.dataset.setting === 'candidates') && document.querySelector('[data-setting=ahead]').hidden")
	b.tabTo("input[name=candidates]")
	b.press("7")
	b.wait("document.querySelector('[data-part=changed]').innerText === '1 changed'")
	b.waitFor("[data-setting=candidates][data-changed] .mark")
	b.enter("[data-reset=candidates]")
	b.wait("document.querySelector('[data-part=changed]').innerText === 'All as by default'")
	b.tabTo("input[name=candidates]")
	b.press("7")
	b.wait("document.querySelector('[data-part=changed]').innerText === '1 changed'")
	b.noSideways(1280)

	exported := "(async () => { const body = new URLSearchParams(new FormData(document.querySelector('[data-form=session]'))); body.set('do', 'export'); " +
		"return (await fetch('/sessions', {method: 'POST', body})).text() })()"
	status, printed, stderr := cli(t, "session", "create", "--title", "Where is it good?", "--env", "gridworld", "--budget", "30", "--candidates", "7", "--print")
	if got := evaluate[string](b, exported); status != 0 || got != printed {
		t.Errorf("the form exports\n%s\nthe command prints\n%s%s", got, printed, stderr)
	}
	b.tabTo(".keep input[name=preset_name]")
	b.press("Pilot")
	b.enter("[data-save-preset]")
	b.wait("location.search === '?preset=Pilot'")
	b.waitFor("[data-create]")
	if got := evaluate[string](b, exported); got != printed {
		t.Errorf("the preset is\n%s", got)
	}
	b.phone()
	b.wait("innerWidth === 390")
	b.noSideways(390)
	b.resize(1280, 800)
	b.enter("[data-show-preview]")
	b.waitFor("[data-preview] iframe")
	b.wait("[...document.querySelectorAll('[data-preview] iframe')].filter((f) => f.contentDocument?.body?.dataset.state === 'ready').length === 2")
	b.enter("[data-create]")
	b.wait("document.querySelector('main[data-connection=open] h1')?.innerText === 'Where is it good?'")
	b.waitFor("[data-invite-link]")
	b.open(evaluate[string](b, "document.querySelector('[data-answer-yourself]').href")) // which opens a tab
	b.enter("[data-start]")
	b.ready()
}

// Where scripts are off the form is made by the server alone: three choices by keyboard, what to expect, and the session is there with
// its link.
func TestBrowserNewSessionWithoutScripts(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	must.Get(chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))(t)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.enter("[data-new]")
	b.waitFor("[data-env=driver]")
	if evaluate[bool](b, "document.querySelector('[data-env=driver] clip-loop canvas') !== null") {
		t.Fatal("scripts are not off")
	}
	b.tabTo("input[name=title]")
	b.press("Without scripts")
	b.choose("env", "gridworld")
	b.choose("who", "lab")
	b.tabTo("input[name=budget]")
	b.press("30")
	b.enter("[data-look]")
	b.wait("document.querySelector('[data-part=expected] .wanted th')?.innerText === '30' && document.querySelector('input[name=title]').value === 'Without scripts'")
	b.enter("[data-create]")
	b.wait("document.querySelector('main h1')?.innerText === 'Without scripts'")
	b.waitFor("[data-invite-link]")
	if status, said, stderr := cli(t, "session", "list", "--data", data); status != 0 || !strings.Contains(said, "Without scripts") {
		t.Errorf("the sessions are %s%s", said, stderr)
	}
}
