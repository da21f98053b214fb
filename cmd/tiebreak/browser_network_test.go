package main

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserNetwork looks at the page of a session on a reward network: before the first
// fit, and when a worker has fitted a network that predicts answers, while agents are
// trained for it; and cancels that training.
func TestBrowserNetwork(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "driver", "--model", "network", "--title", "Calm driving")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.enter("[data-session] a")
	b.waitFor("main[data-connection=open]")
	b.page("learning")
	says := func(part, text string) {
		t.Helper()
		b.wait("document.querySelector('[data-" + part + "]')?.innerText.includes(" + strconv.Quote(text) + ")")
	}
	says("network-use", "No network is in use yet")
	simulate := func(answers int) {
		t.Helper()
		if status, _, stderr := cli(t, "simulate", "--url", link, "--answers", strconv.Itoa(answers)); status != 0 {
			t.Fatalf("simulate: %s", stderr)
		}
	}
	simulate(10)
	says("network-use", "Network 1 is in use. It has learnt from answers 1 to 10")
	simulate(4) // the first of them is not among the predictions, because it came right after the fit
	says("network-predictions", "Of 3 answers, each predicted before it was given")
	says("network-calibration", "Log loss")
	b.page("training")
	says("training", "updates per second")
	b.page("learning")
	says("network-predictions", "Of 3 answers")
	b.noSideways(1280)
	b.shot("network-1280x800")
	look := func() {
		b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-network]').scrollIntoView({ block: 'center', behavior: 'instant' })"))
	}
	look()
	b.shot("network-card-1280x800")
	b.enter("[data-fold=more] > summary")
	b.wait("document.querySelectorAll('[data-chart=networks] circle').length >= 3") // a network, and several features
	b.wait("/Features that the networks reward[^]*over \\d+ clips/.test(document.querySelector('[data-chart=networks]').innerText)")
	chart := func(size string) {
		b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-chart=networks]').scrollIntoView({ behavior: 'instant' })"))
		b.shot("network-history-" + size)
	}
	chart("1280x800")
	look()
	b.page("training")
	b.enter("[data-cancel] summary")
	b.enter("[data-cancel-now]")
	says("training", "Cancelled. The next training begins after the next answer")
	b.wait("/g\\d+[^]*cancelled/.test(document.querySelector('[data-chart=trainings]').innerText)") // without another answer
	b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-chart=trainings]').scrollIntoView({ behavior: 'instant' })"))
	b.shot("trainings-1280x800")
	b.phone()
	b.wait("innerWidth === 390")
	b.page("learning")
	b.enter("[data-fold=more] > summary")
	b.waitFor("[data-chart=networks]")
	b.noSideways(390)
	look()
	b.shot("network-card-390x844")
	chart("390x844")
}
