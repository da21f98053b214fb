package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestBrowserCalibration looks at how ratings, and the best and the worst of six clips, were
// predicted: the charts follow the session, are the same again after an undo, fit small screens
// and paper, and have their data beside them.
func TestBrowserCalibration(t *testing.T) {
	t.Parallel()
	browser := startBrowserOf(t, wholeBrowsers)
	for _, test := range []struct {
		kind, says, card string
		charts           []string
		answers          int
	}{
		{"clip_rating", "Of 24 ratings, \\d+ % \\(\\d+ to \\d+ %\\) lie in the predicted[^]*Unevenness", "A rating of -?\\d+\\.\\d of 10 on average", []string{"transforms"}, 24},
		{"clip_group", "Of 8 answers, \\d+ % named the most probable clip[^]*0\\.83 without knowledge", "Best: clip a[^]*Worst: clip f", []string{"calibration-best", "calibration-worst"}, 8},
	} {
		t.Run(test.kind, func(t *testing.T) {
			data, addr := t.TempDir(), freeAddr(t)
			_, link := newLink(t, data, addr, "--env", "driver", "--kind", test.kind, "--title", "How they were predicted")
			server := startServer(t, "serve", "--data", data, "--addr", addr)
			if status, _, stderr := cli(t, "simulate", "--url", link, "--answers", strconv.Itoa(test.answers)); status != 0 {
				t.Fatalf("simulate: %s", stderr)
			}
			b := newPerson(t, browser)
			b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
			b.enter("[data-signin]")
			b.waitFor("[data-new]")
			b.enter("[data-session] a")
			b.waitFor("main[data-connection=open]")
			b.page("asked")
			b.wait("document.querySelector('main').dataset.seq === '" + strconv.Itoa(test.answers) + "'")
			says := func(selector, pattern string) {
				t.Helper()
				b.wait(fmt.Sprintf("new RegExp(%q).test(document.querySelector(%q)?.innerText ?? '')", pattern, selector))
			}
			says("[data-question] [data-facts]", test.card)
			b.page("learning")
			b.waitFor(fmt.Sprintf("[data-charts-of='%d']", test.answers))
			for _, chart := range test.charts {
				at := "[data-chart=" + chart + "]"
				b.wait(fmt.Sprintf("new RegExp(%q).test(document.querySelector(%q)?.textContent ?? '')", test.says, at)) // scores are shown with the table
				b.wait(fmt.Sprintf("document.querySelectorAll('%s svg :is(circle, rect) > title').length === document.querySelectorAll('%s [data-values] tbody tr').length", at, at))
				lines := func(link string) int {
					return evaluate[int](b, fmt.Sprintf("fetch(document.querySelector('%s %s').href).then((r) => r.text()).then((t) => t.trim().split('\\n').length)", at, link))
				}
				if bins, all := lines(".csv"), lines(".note a"); bins < 11 || all != test.answers+1 {
					b.t.Errorf("%s: %d bins and %d predictions as CSV", chart, bins-1, all-1)
				}
			}
			before := evaluate[string](b, "document.querySelector('[data-calibration]').innerText")
			ann := newTab(b.t, browser, chromedp.WithNewBrowserContext())
			ann.join(link, "Ann")
			keys := []string{"7"}
			if test.kind == "clip_group" {
				keys = []string{"2", "5"}
			}
			given := ann.painted()["assignment"]
			for _, key := range keys {
				ann.wait("document.body.dataset.gate === 'open'")
				ann.press(key)
			}
			b.waitFor(fmt.Sprintf("[data-charts-of='%d']", test.answers+1))
			ann.undo(given)
			b.waitFor(fmt.Sprintf("[data-charts-of='%d']", test.answers+2))
			b.wait(fmt.Sprintf("document.querySelector('[data-calibration]').innerText === %q", before))
			for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
				b.resize(size[0], size[1])
				b.noSideways(int(size[0]))
				for _, chart := range test.charts {
					evaluate[bool](b, fmt.Sprintf("document.querySelector('[data-chart=%s]').scrollIntoView(), true", chart))
					b.shot(fmt.Sprintf("%s-%dx%d", chart, size[0], size[1]))
				}
				b.page("asked")
				b.waitFor("[data-question] canvas")
				evaluate[bool](b, "document.querySelector('[data-question]').scrollIntoView(), true")
				b.wait(`((seen) => seen.length > 0 && seen.every((c) => c.getContext("2d").getImageData(c.width / 2, c.height / 2, 1, 1).data[3] > 0))(
					[...document.querySelectorAll("[data-question] canvas")].filter((c) => c.checkVisibility()))`) // are painted, but for those that a phone folds away
				b.shot(fmt.Sprintf("%s-question-%dx%d", test.kind, size[0], size[1]))
				b.page("learning")
				b.waitFor("[data-chart=" + test.charts[0] + "]")
			}
			b.accessible(test.kind)
			b.paper(test.kind)
		})
	}
}

// paper prints the page on A4 beside the screenshots.
func (b *tab) paper(name string) {
	b.t.Helper()
	pdf, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69, PrintBackground: new(true)})
	if err != nil {
		b.t.Fatalf("print %s: %v", name, err)
	}
	dir := os.Getenv("TIEBREAK_SCREENSHOTS")
	if dir == "" {
		dir = b.t.ArtifactDir()
	}
	if err := os.WriteFile(filepath.Join(dir, name+".pdf"), pdf.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
