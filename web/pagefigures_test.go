package web_test

import (
	"strings"
	"testing"
)

// The page of learning shows the figures that its links download, and their numbers as tables.
func TestLearningFigures(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.seen()
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
	if narrow := b.get(c, "/sessions/s1/charts?page=learning&narrow=1"); narrow.lacks(`width="320"`) != nil || narrow.lacks(`width="480"`) == nil {
		t.Error("nothing is drawn for a small screen")
	}
}
