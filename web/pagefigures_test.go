package web_test

import (
	"strings"
	"testing"

	"tiebreak/internal/base/live"
	"tiebreak/internal/session/insight"
)

// The pages show the figures that their links download, and their numbers as tables.
func TestPageFigures(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.seen()
	b.s1.set(live.EventAnswered, func() {
		b.s1.report.Posterior = insight.Posterior{Weights: []insight.Weight{{Name: "Speed"}}, Trace: []insight.Point{{Mean: []float64{0}, Std: []float64{1}}, {Answers: 2, Mean: []float64{0.5}, Std: []float64{0.5}}}}
	})
	shapes := func(svg string) string { // of a figure, without its heading
		_, rest, _ := strings.Cut(svg, `fill="#ffffff"/>`)
		_, rest, _ = strings.Cut(rest, "<line")
		rest, _, _ = strings.Cut(rest, "</svg>")
		rest, _, _ = strings.Cut(rest, "</g>")
		return strings.TrimSpace(rest)
	}
	for _, size := range []string{"", "&scale=log"} {
		page := b.get(c, "/sessions/s1/charts?page=learning"+size)
		for _, name := range []string{"regret", "candidates", "weights"} {
			_, drawn, _ := strings.Cut(page.body, `data-figure="`+name+`"`)
			if file := b.get(c, "/sessions/s1/charts/"+name+".svg?"+strings.TrimPrefix(size, "&")); shapes(drawn) == "" || shapes(drawn) != shapes(file.body) {
				t.Errorf("%s%s: the page shows\n%s\nand the file has\n%s", name, size, shapes(drawn), shapes(file.body))
			}
		}
		if lacks := page.lacks("As a table", "<td>1.3 %</td>", "<td>0.50 ± 0.20</td>", `aria-labelledby="regret-title regret-desc"`); lacks != nil {
			t.Errorf("the figures lack %q", lacks)
		}
	}
	for page, names := range map[string][]string{"learning": {"calibration", "history"}, "people": {"rate", "answers"}} {
		body := b.get(c, "/sessions/s1/charts?page="+page).body
		for _, name := range names {
			_, drawn, _ := strings.Cut(body, `data-chart="`+name+`"`)
			if file := b.get(c, "/sessions/s1/charts/"+name+".svg"); shapes(drawn) == "" || shapes(drawn) != shapes(file.body) {
				t.Errorf("%s: the page shows\n%s\nand the file has\n%s", name, shapes(drawn), shapes(file.body))
			}
		}
		if narrow := b.get(c, "/sessions/s1/charts?narrow=1&page="+page); narrow.lacks(`width="308"`) != nil || narrow.lacks(`width="480"`) == nil {
			t.Errorf("nothing of %s is drawn for a small screen", page)
		}
		if wide := b.get(c, "/sessions/s1/charts?wide=1&page="+page); wide.lacks(`width="1180"`, `width="480"`) != nil {
			t.Errorf("nothing of %s is drawn for a wide screen", page)
		}
	}
}
