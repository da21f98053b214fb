package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserFlag: a note about a question reaches the researcher, by key and by touch; the
// question stays, and what was written is kept while the server is away.
func TestBrowserFlag(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--title", "Walk")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Ann")
	b.ready()
	send := func() {
		b.do(chromedp.Click(chromedp.CSS("[data-flag-form] .primary")))
		b.wait(`!document.querySelector("[data-flag-dialog]").open`)
	}
	before := b.data()["assignment"]
	b.press("f")
	b.waitFor("dialog[data-flag-dialog][open]")
	b.press("The left one jumps & jumps")
	b.accessible("the note about a question")
	b.shot("flag")
	server.kill()
	b.expectAway(true)
	b.do(chromedp.Click(chromedp.CSS("[data-flag-form] .primary")))
	b.wait(`document.querySelector("[data-flag-note]").textContent.includes("not reachable")`)
	startServer(t, "serve", "--data", data, "--addr", addr)
	b.wait("/reachable again/.test(document.querySelector('[data-announce]').innerText) || document.body.dataset.state === 'ready'")
	b.expectAway(false)
	send()
	if now := b.data()["assignment"]; now != before {
		t.Errorf("the question was %s, and is %s", before, now)
	}
	b.insist("document.querySelector('[data-skip-dialog]').open", func() { b.do(chromedp.Click(chromedp.CSS("[data-skip]"))) })
	b.do(chromedp.Click(chromedp.CSS(`[data-skip-dialog] [value="flag"]`)))
	b.waitFor("dialog[data-flag-dialog][open]")
	b.press("Once more")
	send()
	status, out, stderr := cli(t, "export", "--data", data, "--session", id, "--format", "flags")
	if status != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, before) || !strings.Contains(out, "Once more") {
		t.Errorf("export: %d %s\n%s", status, out, stderr)
	}
}
