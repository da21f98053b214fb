package main

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserWhy looks at why questions were asked on a session's page: their clips play, what
// is said of them and the charts follow the session, also back when an answer is undone; all
// of it can be saved, is readable on small screens and without colour, and prints.
func TestBrowserWhy(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "driver", "--title", "Why")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	if status, _, stderr := cli(t, "simulate", "--url", link, "--answers", "12"); status != 0 {
		t.Fatalf("simulate: %s", stderr)
	}
	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.enter("[data-session] a")
	b.waitFor("main[data-connection=open]")
	b.page("asked")
	b.waitFor("[data-question='12']")
	says := func(selector, pattern string) {
		t.Helper()
		b.wait(fmt.Sprintf("new RegExp(%q).test(document.querySelector(%q)?.innerText ?? '')", pattern, selector))
	}

	b.part("the newest question", func() {
		says("[data-question] [data-said]", "^(Chose clip [ab]|Said equal)")
		if sum := evaluate[int](b, "[...document.querySelectorAll('[data-forecast] .number')].reduce((sum, e) => sum + parseInt(e.innerText.replace('< ', '')), 0)"); sum < 98 || sum > 103 {
			b.t.Errorf("the three predictions add up to %d %%", sum)
		}
		says("[data-facts]", "Picture difference[^]*Probability of a clear answer[^]*Expected information[^]*P\\(best\\) when asked[^]*Share of the value")
		evaluate[bool](b, "document.querySelector('[data-question]').scrollIntoView(), true") // clips are loaded when they are in view
		b.waitFor(".asked-clips canvas")
		b.enter("[data-question] .asked-clips .play")
		b.wait("document.querySelector('.asked-clips [data-playing]') !== null")
		b.moving(".asked-clips canvas", 2, 1)
	})
	b.part("the policies of a question", func() {
		n := 12
		for evaluate[bool](b, "document.querySelector('.asked-policies duo-player') === null") && n > 1 { // a policy of it is not kept any more
			n--
			b.enter("[data-step=older]")
			b.waitFor(fmt.Sprintf("[data-question='%d']", n))
		}
		evaluate[bool](b, "document.querySelector('.asked-policies').scrollIntoView(), true")
		b.waitFor(".asked-policies canvas")
		b.enter("[data-question] .asked-policies .play")
		b.moving(".asked-policies canvas", 2, 1)
		if n < 12 {
			b.enter("[data-step=newest]")
			b.waitFor("[data-question='12']")
		}
	})
	b.part("another question", func() {
		b.enter("[data-step=older]")
		b.waitFor("[data-question='11']")
		b.enter("[data-step=older]")
		b.waitFor("[data-question='10']")
		b.enter("[data-step=newer]")
		b.waitFor("[data-question='11']")
		b.enter("[data-step=newest]")
		b.waitFor("[data-question='12']")
	})
	b.part("charts", func() {
		b.wait("document.querySelectorAll('[data-chart=leases] tbody tr').length > 0")
		csv := savedTables(b)
		b.page("learning")
		b.waitFor("[data-charts-of='12']")
		says("[data-chart=calibration]", "Of 12 answers, \\d+ % were the most probable of clip a, clip b and equal\\. Calibration error \\(ECE\\) 0\\.\\d+")
		b.wait("document.querySelectorAll('[data-chart=calibration] circle').length === document.querySelectorAll('[data-chart=calibration] [data-values] tbody tr').length")
		b.enter("[data-fold=more] > summary")
		b.wait("document.querySelectorAll('[data-chart=history] path[fill=none]').length >= 3")
		b.wait("[...document.querySelectorAll('[data-chart=history] path[fill=none]')].every((e) => e.getTotalLength() > 10)")
		b.wait("document.querySelectorAll('[data-chart=covariance] [data-values] tbody tr').length >= 3")
		b.wait("[...document.querySelectorAll('[data-chart=covariance] [data-values] tbody td')].every((e) => /^[−]?\\d/.test(e.textContent))")
		csv += savedTables(b)
		words := evaluate[[]string](b, "[...document.querySelectorAll('[data-charts] svg[role=img]')].filter((e) => !e.querySelector('title')?.textContent || !e.querySelector('desc')?.textContent).map((e) => e.outerHTML.slice(0, 80))")
		for _, svg := range words {
			b.t.Errorf("a drawing without words: %s", svg)
		}
		b.page("people")
		b.waitFor("[data-charts-of='12'] [data-chart=times]")
		csv += savedTables(b)
		b.page("training")
		b.waitFor("[data-chart=trainings]")
		if csv += savedTables(b); csv < 9 {
			b.t.Errorf("only %d charts have data", csv)
		}
		b.page("learning")
		b.waitFor("[data-charts-of='12']")
	})
	b.part("an answer and its undo", func() {
		before := evaluate[string](b, "document.querySelector('[data-calibration]').innerText")
		ann := newTab(b.t, browser, chromedp.WithNewBrowserContext())
		ann.join(link, "Ann")
		ann.goesOn()
		given := ann.answer(kb.ArrowLeft)
		b.waitFor("[data-charts-of='13']")
		says("[data-chart=calibration]", "Of 13 answers")
		ann.undo(given)
		b.waitFor("[data-charts-of='14']")
		says("[data-chart=calibration]", "Of 12 answers")
		if after := evaluate[string](b, "document.querySelector('[data-calibration]').innerText"); !regexp.MustCompile("ECE").MatchString(after) || after != before {
			b.t.Errorf("after an undo the page says %q, before the answer %q", after, before)
		}
		b.page("asked")
		b.waitFor("[data-question='13']")
		says("[data-question='13'] [data-head]", "undone")
		if text := evaluate[string](ann, "document.documentElement.innerText"); regexp.MustCompile(`P\(best\)|ECE|pool\.p`).MatchString(text) {
			b.t.Errorf("an annotator sees what is for researchers: %s", text)
		}
	})
	b.part("sizes", func() {
		for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
			b.resize(size[0], size[1])
			b.noSideways(int(size[0]))
			for _, name := range []string{"question", "calibration", "history"} {
				selector := "[data-chart=" + name + "]"
				if name == "question" {
					selector = "[data-question]"
					b.page("asked")
				} else {
					b.page("learning")
				}
				if name == "history" {
					b.enter("[data-fold=more] > summary")
				}
				b.waitFor(selector)
				b.noSideways(int(size[0]))
				evaluate[bool](b, fmt.Sprintf("document.querySelector(%q).scrollIntoView(), true", selector))
				b.shot(fmt.Sprintf("why-%s-%dx%d", name, size[0], size[1]))
			}
		}
		b.resize(1280, 800)
	})
	b.part("print", func() {
		p := emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
			b.fatalf("print: %v", err)
		}
		if ground := evaluate[string](b, "getComputedStyle(document.body).backgroundColor"); ground != "rgb(255, 255, 255)" {
			b.t.Errorf("paper is %s", ground)
		}
		for _, seen := range evaluate[[]string](b, "[...document.querySelectorAll('button, .button, form, .csv, .transport')].filter((e) => e.checkVisibility() && !e.matches('.interval-row')).map((e) => e.outerHTML.slice(0, 80))") {
			b.t.Errorf("on paper stands %s", seen)
		}
		for _, cut := range evaluate[[]string](b, "[...document.querySelectorAll('[data-charts] .scroll, .interval-chart')].filter((e) => getComputedStyle(e).overflowY !== 'visible').map((e) => e.outerHTML.slice(0, 80))") {
			b.t.Errorf("paper does not scroll: %s", cut)
		}
		b.shot("why-print-1280x800")
		b.resize(794, 1123) // A4
		b.noSideways(794)
		b.shot("why-print-794x1123")
		b.resize(1280, 800)
		b.scheme("")
	})
	b.part("all questions", func() {
		b.open(evaluate[string](b, "document.querySelector('.tabs a').href + '/questions'"))
		b.waitFor("[data-question='13'] canvas")
		if n := evaluate[int](b, "document.querySelectorAll('[data-question]').length"); n != 3 {
			b.t.Errorf("%d questions on a page", n)
		}
		b.noSideways(1280)
		b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-older]').click()")) // many stops of the Tab key are before it
		b.waitFor("[data-question='10']")
		b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-newest]').click()"))
		b.waitFor("[data-question='13']")
	})
}

// savedTables fetches the data of each chart of a page, and returns how many there are.
func savedTables(b *tab) int {
	b.t.Helper()
	for _, problem := range evaluate[[]string](b, `Promise.all([...document.querySelectorAll(".csv[download]")].map(async (a) => {
		const reply = await fetch(a.href), text = await reply.text(), type = reply.headers.get("Content-Type");
		const is = a.pathname.endsWith(".svg") ? type.startsWith("image/svg+xml") && text.includes("<svg") : type.startsWith("text/csv") && text.split("\n")[0].includes(",");
		return reply.ok && is ? "" : a.href;
	})).then((all) => all.filter(Boolean))`) {
		b.t.Errorf("the data of a chart cannot be saved: %s", problem)
	}
	return evaluate[int](b, "document.querySelectorAll('.csv[download]:not([href$=\".svg\"])').length")
}
