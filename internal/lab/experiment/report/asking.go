package report

import (
	"fmt"
	"io"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment"

	"gonum.org/v1/gonum/stat"
)

// WriteAsking writes what ways of asking are worth in a world beside the first of them, as a table in Markdown. People
// answered for that many seconds.
func WriteAsking(w io.Writer, world string, ways []experiment.Way, seconds float64, sat experiment.Sittings) {
	fmt.Fprintf(w, "\n**%s**, %d seeds, %v s each:\n\n", world, len(sat), seconds)
	fmt.Fprintf(w, "| way | answers | regret over the time | against %s [95 %% interval] | regret at the end | worth as much at |\n", ways[0].Name)
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	plain := sat.Areas(0, seconds, 1)
	for k, way := range ways {
		area, diff := sat.Areas(k, seconds, 1), make([]float64, len(sat))
		for i := range diff {
			diff[i] = (area[i] - plain[i]) / stat.Mean(plain, nil)
		}
		against := "–"
		if k > 0 {
			ci := Bootstrap(diff, rng.New(1, "asking "+world+way.Name, 0))
			against = fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", 100*stat.Mean(diff, nil), 100*ci[0], 100*ci[1])
		}
		fmt.Fprintf(w, "| %s | %.0f | %.4g | %s | %.4g | %.1f s |\n", way.Name, sat.Answers(k, seconds), stat.Mean(area, nil), against, sat.End(k, seconds), sat.Worth(k, seconds))
	}
}
