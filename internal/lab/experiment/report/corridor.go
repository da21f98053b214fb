package report

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/authors"

	"gonum.org/v1/gonum/stat"
)

// Final is the regret of a method after the last answer, beside what the paper
// has of it.
type Final struct {
	Method string
	Seeds  int
	Regret Mean
	Boot   [2]float64 // 95 % interval of the mean by bootstrap
	Paper  *Mean      // nil where the paper has none for so many answers
}

// Finals returns the regret of every method after the last answer.
func Finals(r experiment.Result) (out []Final) {
	e := r.Experiment
	last := len(e.Counts()) - 1
	for m, name := range e.Methods {
		v := regretMeasure(e.Unit).at(r, m, last)
		f := Final{Method: name, Seeds: len(v), Regret: MeanOf(v), Boot: Bootstrap(v, rng.New(e.FirstSeed, "bootstrap", uint64(len(v))))}
		if c, ok := authors.CorridorOf(e.Figure, name); ok && e.Answers == authors.CorridorAnswers {
			f.Paper = &Mean{c.Regret, c.SE}
		}
		out = append(out, f)
	}
	return out
}

// corridors returns the results that are about corridors.
func corridors(results []experiment.Result) []experiment.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r experiment.Result) bool { return !inCorridor(r.Experiment) })
}

func inCorridor(e experiment.Experiment) bool {
	_, ok := authors.CorridorOf(e.Figure, "uniform")
	return ok
}

// finalTables returns the paper's table beside ours; none without a corridor.
func finalTables(results []experiment.Result) []tableView {
	results = corridors(results)
	if len(results) == 0 {
		return nil
	}
	t := tableView{
		Caption: "Mean regret ± standard error after the last answer, and the paper's",
		Head:    []string{"method"},
		Note:    fmt.Sprintf("The interval is a bootstrap of the mean. The paper's figures are after %d answers, over 30 seeds.", authors.CorridorAnswers),
	}
	var methods []string
	for _, r := range results {
		e := r.Experiment
		t.Head = append(t.Head, fmt.Sprintf("%s, %d answers, %d seeds", e.Title, e.Answers, len(r.Runs)), "95 % interval", "the paper's")
		for _, m := range e.Methods {
			if !slices.Contains(methods, m) {
				methods = append(methods, m)
			}
		}
	}
	for _, m := range methods {
		row := []string{title(m)}
		for _, r := range results {
			row = append(row, finalCells(r, m)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return []tableView{t}
}

// finalCells returns the cells of a method in an experiment.
func finalCells(r experiment.Result, method string) []string {
	cells := []string{"–", "–", "–"}
	for _, f := range Finals(r) {
		if f.Method != method {
			continue
		}
		cells[0], cells[1] = plusMinus(f.Regret), between(f.Boot, short)
		if f.Paper != nil {
			cells[2] = plusMinus(*f.Paper)
		}
	}
	return cells
}

// finalForm is final.csv.
func finalForm(r experiment.Result) ([]byte, error) {
	e := r.Experiment
	rows := [][]string{{"figure", "mode", "method", "seeds", "answers", "regret_mean", "regret_se", "low95", "high95", "paper_mean", "paper_se"}}
	for _, f := range Finals(r) {
		row := []string{
			e.Figure, e.Mode, f.Method, strconv.Itoa(f.Seeds), strconv.Itoa(e.Answers),
			number(f.Regret.Mean), number(f.Regret.SE), number(f.Boot[0]), number(f.Boot[1]), "", "",
		}
		if f.Paper != nil {
			row[9], row[10] = number(f.Paper.Mean), number(f.Paper.SE)
		}
		rows = append(rows, row)
	}
	return table(rows)
}

// costTable says what whole runs of a corridor took.
func costTable(r experiment.Result) tableView {
	t := tableView{
		Caption: "Time of one run",
		Head:    []string{"method", "wall time", "longest", "environment steps", "the paper's hours"},
		Note:    "Mean over seeds, on the machine of this run, with other runs at the same time. Work for all seeds together, such as the initial pool of policies, is not included. Environment steps are those of solves and of the episodes behind the regret.",
	}
	for _, v := range Timings(r) {
		hours := "–"
		if c, _ := authors.CorridorOf(r.Experiment.Figure, v.Method); c.Hours != "" {
			hours = c.Hours
		}
		t.Rows = append(t.Rows, []string{title(v.Method), lasting(v.Wall.Mean), lasting(v.Longest), millions(v.Steps), hours})
	}
	return t
}

// cost sets the wall time and the steps of a run of method m.
func (t *Timing) cost(r experiment.Result, m int) {
	sec := over(r, m, func(run experiment.Run) float64 { return float64(run.WallNS) / 1e9 })
	t.Wall, t.Longest = MeanOf(sec), slices.Max(sec)
	t.Steps = stat.Mean(over(r, m, func(run experiment.Run) float64 { return float64(run.Steps) }), nil)
}

// lasting formats a time in seconds.
func lasting(sec float64) string {
	d := time.Duration(sec * float64(time.Second))
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

// millions formats a large number.
func millions(v float64) string {
	if v < 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return short(v/1e6) + space + "million"
}
