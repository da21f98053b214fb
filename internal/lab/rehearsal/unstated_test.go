package rehearsal

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// A session that states no regret is compared with the truth all the same, and nothing is
// said of statements: neither for people, nor in the files, nor in the summary.
func TestSessionsThatStateNoRegret(t *testing.T) {
	known := []idrl.Candidate{{ID: "a", Mu: []float64{1, 0}}, {ID: "b", Mu: []float64{0.5, 0.5}}}
	c := (&truth{theta: []float64{1, 0}, against: AgainstKnown}).tell(session.Review{
		Seq: 9, Best: known[1], Known: known, Mean: []float64{1}, Regret: idrl.Regret{Tolerance: 0.05},
	})
	if c.Stated() || c.Regret != 1 || c.Shown.Tolerance != 0.05 || !math.IsNaN(c.Shown.Bound) {
		t.Errorf("got %+v, want a regret of 1 and no statement", c)
	}
	if says := c.String(); !strings.Contains(says, "nothing about regret") || strings.Contains(says, "NaN") || strings.Contains(says, "95 %") {
		t.Errorf("it says\n%s", says)
	}
	c.Given = 9
	run := Run{Seed: 1, Session: "s", Rows: []Comparison{c}}
	file := filepath.Join(t.TempDir(), "runs.csv")
	must.Do(t, mustOpen(t, file, nil).add(run))
	read := mustOpen(t, file, nil).runs
	if len(read) != 1 || read[0].Rows[0].Stated() || read[0].Rows[0].Regret != 1 {
		t.Errorf("read again: %+v", read)
	}
	fields := row{Comparison: c}.write()
	for _, name := range []string{"shown_within", "shown_bound", "shown_mean", "shown_unbeaten", "shown_span", "covered"} {
		if got := fields[slices.Index(header(), name)]; got != "" {
			t.Errorf("column %s holds %q", name, got)
		}
	}
	figures := Figures(append(twoRuns(), run))
	for _, f := range figures {
		switch {
		case f.Measure == "covered" && f.At == "all" && (f.N != 6 || f.Value != 4.0/6):
			t.Errorf("covered: %+v, want that of the 6 comparisons with a statement", f)
		case f.Measure == "true_regret" && f.At == "all" && f.N != 7:
			t.Errorf("true regret: %+v, want 7 comparisons", f)
		}
	}
	var out bytes.Buffer
	must.Do(t, PrintSummary(&out, []Run{run}, Figures([]Run{run})))
	if s := out.String(); strings.Contains(s, "page:") || strings.Contains(s, "NaN") || !strings.Contains(s, "Pages state no regret") || !strings.Contains(s, "true regret, mean") {
		t.Errorf("the summary:\n%s", s)
	}
}
