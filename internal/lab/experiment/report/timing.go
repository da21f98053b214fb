package report

import (
	"slices"
	"strconv"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/authors"

	"gonum.org/v1/gonum/stat"
)

// Timing is what the selections of a method cost. It differs between machines
// and between runs, but for Solves and Steps.
type Timing struct {
	Method     string
	Selections int
	P50, P95   float64 // wall time of one selection, milliseconds
	Solves     float64 // calls of the solver per answer
	Wall       Mean    // wall time of a run, seconds, and Longest that of the longest; 0 where it was not measured
	Longest    float64
	Steps      float64 // environment steps of a run; 0 where they are not counted

	// Authors is the CPU time of the selection of one query and the update that
	// follows it in the authors' code, milliseconds; 0 if it was not measured.
	Authors float64
	Note    string // how Authors was measured
}

// Timings returns the times of every method.
func Timings(r experiment.Result) (out []Timing) {
	for m, name := range r.Experiment.Methods {
		t := Timing{Method: name}
		var ms []float64
		solves := 0
		for _, runs := range r.Runs {
			solves += runs[m].Solves
			for _, ns := range runs[m].SelectNS {
				ms = append(ms, float64(ns)/1e6)
			}
		}
		t.Selections = len(ms)
		t.Solves = float64(solves) / float64(len(r.Runs)*r.Experiment.Answers)
		if slices.Sort(ms); len(ms) > 0 {
			t.P50, t.P95 = stat.Quantile(0.5, stat.Empirical, ms, nil), stat.Quantile(0.95, stat.Empirical, ms, nil)
		}
		t.cost(r, m)
		if theirs, ok := authors.TimingOf(setting(r.Experiment), authorsName(r.Experiment, name)); ok {
			t.Authors, t.Note = 1000*theirs.Select, theirs.Note
		}
		out = append(out, t)
	}
	return out
}

func timingForm(r experiment.Result) ([]byte, error) {
	rows := [][]string{{"method", "selections", "p50_ms", "p95_ms", "solves_per_answer"}}
	costs := inCorridor(r.Experiment)
	if costs {
		rows[0] = append(rows[0], "wall_s_mean", "wall_s_se", "wall_s_max", "steps_mean")
	}
	for _, t := range Timings(r) {
		row := []string{t.Method, strconv.Itoa(t.Selections), number(t.P50), number(t.P95), number(t.Solves)}
		if costs {
			row = append(row, number(t.Wall.Mean), number(t.Wall.SE), number(t.Longest), number(t.Steps))
		}
		rows = append(rows, row)
	}
	return table(rows)
}
