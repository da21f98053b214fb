package report_test

import (
	"testing"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
)

// Of 1 to 20 ms, the 50 % quantile is 10 and the 95 % quantile 19. Solves are
// per answer: 30 + 10 of 2 × 10.
func TestTimings(t *testing.T) {
	c := chainAsInPaper
	c.Seeds, c.Answers, c.Methods = 2, 10, []string{"uniform", "lvar"}
	c.Mode = experiment.Corrected
	r := synthetic(t, c, 0)
	for i := range 10 {
		r.Runs[0][0].SelectNS[i], r.Runs[1][0].SelectNS[i] = int64(20-i)*1e6, int64(i+1)*1e6
	}
	r.Runs[0][0].Solves, r.Runs[1][0].Solves = 30, 10
	got := report.Timings(r)
	want := report.Timing{
		Method: "uniform", Selections: 20, P50: 10, P95: 19, Solves: 2,
		Authors: 0.25, Note: "mean of 4 queries", // cpu_s_select_and_update_per_query of chain_state, Uniform
	}
	if got[0] != want {
		t.Errorf("%+v, want %+v", got[0], want)
	}
	if got[1].Authors != 0 {
		t.Errorf("the authors' code has no LVAR, but a time of it: %+v", got[1])
	}
}
