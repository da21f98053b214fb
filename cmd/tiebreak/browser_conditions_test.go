package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserConditions looks at how a session's page compares conditions: what it says before
// there is anything to say, the table and the curves as answers come and are withdrawn, also on
// small screens, and the data; annotators see nothing of it.
func TestBrowserConditions(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, link := newLink(t, data, addr, "--env", "driver", "--title", "Two ways", "--conditions", "uniform=0.4", "--held-out", "0.3")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.enter("[data-session] a")
	b.waitFor("main[data-connection=open]")
	b.page("learning")
	says := func(selector, pattern string) {
		t.Helper()
		b.wait(fmt.Sprintf("new RegExp(%q).test(document.querySelector(%q)?.innerText ?? '')", pattern, selector))
	}
	cell := func(row, n int) string {
		return fmt.Sprintf("[data-conditions-table] tbody tr:nth-child(%d) td:nth-child(%d)", row, n)
	}
	b.part("before the first answer", func() {
		says("[data-conditions-empty]", "as soon as")
		says("[data-conditions-table]", "LVAR\\s+60 %[^]*Uniform\\s+40 %[^]*All together")
		says(cell(1, 5), "^–$")
		b.wait("document.querySelector('[data-place=conditions] svg') === null")
	})
	if status, _, stderr := cli(t, "simulate", "--url", link, "--answers", "45"); status != 0 {
		t.Fatalf("simulate: %s", stderr)
	}
	b.part("after 45 answers", func() {
		b.wait("document.querySelector('[data-conditions-empty]').hidden")
		b.wait("Number(document.querySelector('[data-conditions-table] tbody tr:nth-child(3) td:nth-child(4)').textContent) + Number(/and (\\d+) answers/.exec(document.querySelector('[data-conditions-sum]').textContent)?.[1]) === 45")
		says("[data-conditions-sum]", "^\\d+ comparisons were held out, and \\d+ answers were given\\. .*from the \\d+ that prefer a clip")
		says("[data-conditions-table] thead", "after (5|10|15) answers each")
		for row := 1; row <= 3; row++ {
			says(cell(row, 5), "^\\d+ % \\(\\d+ to \\d+ %\\)$")
			says(cell(row, 6), "^\\d\\.\\d\\d$")
		}
		says(cell(2, 8), "^[+−]\\d+ \\([+−]\\d+ to [+−]\\d+\\)$")
		const whiskers = "document.querySelectorAll('[data-place=conditions] line[stroke=\"#7d9fc2\"]')"
		b.wait("document.querySelectorAll('[data-place=conditions] path[fill=none]').length === 6 && " + whiskers + ".length >= 4") // three curves and their keys
		b.wait("[..." + whiskers + "].every((e) => e.getBoundingClientRect().height > 2)")
		text := evaluate[string](b, "fetch(document.querySelector('[data-conditions] .csv').href).then((r) => r.text())")
		if lines := evaluate[int](b, fmt.Sprintf("%q.trim().split('\\n').length", text)); lines < 6 {
			b.t.Errorf("the data are\n%s", text)
		}
	})
	b.part("an answer and its undo", func() {
		const numbers = "JSON.stringify([...document.querySelectorAll('[data-conditions-table] tbody tr')].map((tr) => [...tr.children].slice(3).map((td) => td.textContent)))" // not how many were asked
		all := func() string { return evaluate[string](b, numbers) }
		count := func() int { return evaluate[int](b, "Number(document.querySelector('main').dataset.seq)") }
		before, seq := all(), count()
		ann := newPerson(t, browser)
		ann.join(link, "Ann")
		ann.goesOn()
		given := ann.answer(kb.ArrowLeft)
		b.wait(fmt.Sprintf("Number(document.querySelector('main').dataset.seq) === %d", seq+1))
		ann.undo(given)
		b.wait(fmt.Sprintf("Number(document.querySelector('main').dataset.seq) === %d", seq+2))
		b.wait(fmt.Sprintf("%s === %q", numbers, before))
		if evaluate[bool](ann, "/held.out|uniform|lvar|condition/i.test(document.documentElement.outerHTML)") {
			b.t.Error("an annotator's page speaks of conditions")
		}
	})
	b.part("sizes", func() {
		for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
			b.resize(size[0], size[1])
			b.noSideways(int(size[0]))
			evaluate[bool](b, "document.querySelector('[data-conditions]').scrollIntoView(), true")
			b.shot(fmt.Sprintf("conditions-%dx%d", size[0], size[1]))
		}
		b.resize(1280, 800)
		b.scheme("dark")
		evaluate[bool](b, "document.querySelector('[data-conditions]').scrollIntoView(), true")
		b.shot("conditions-dark-1280x800")
		b.scheme("")
	})
}
