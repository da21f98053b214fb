package report

import (
	"slices"
	"strconv"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/authors"
)

// A tableView is a table. The first cell of a row is its header.
type tableView struct {
	Caption string
	Head    []string
	Rows    [][]string
	Note    string
}

type methodArea struct {
	method string
	area   Mean
}

func meanAreas(r experiment.Result) (out []methodArea) {
	for m, name := range r.Experiment.Methods {
		out = append(out, methodArea{name, MeanOf(areas(r, m))})
	}
	return out
}

func milestoneTable(r experiment.Result) tableView {
	counts := r.Experiment.Counts()
	steps := milestones(counts)
	t := tableView{Caption: "Mean regret ± standard error after a number of answers", Head: []string{"method"}}
	for _, i := range steps {
		t.Head = append(t.Head, strconv.Itoa(counts[i]))
	}
	t.Head = append(t.Head, "area")
	regret := regretMeasure(r.Experiment.Unit)
	for m, a := range meanAreas(r) {
		row := []string{title(a.method)}
		for _, i := range steps {
			row = append(row, plusMinus(MeanOf(regret.at(r, m, i))))
		}
		t.Rows = append(t.Rows, append(row, plusMinus(a.area)))
	}
	return t
}

func agreementTable(r experiment.Result) tableView {
	t := tableView{
		Caption: "Against the authors' curves",
		Head:    []string{"method", "measure", "inside two s.e."},
		Note:    "Difference of the means, ours less theirs, ± its standard error √(s.e.² + s.e.²), after a number of queries; * outside two of them. Every number of queries is in agreement.csv.",
	}
	var steps []int
	counts := r.Experiment.Counts()
	for _, i := range milestones(counts) {
		if n := counts[i]; n > 0 {
			steps = append(steps, n)
			t.Head = append(t.Head, "Δ "+strconv.Itoa(n))
		}
	}
	for _, a := range Agree(r) {
		row := []string{title(a.Method), a.Measure, counted(a.Inside, len(a.Points))}
		for _, n := range steps {
			cell := "–"
			if k := slices.IndexFunc(a.Points, func(p AgreeWith) bool { return p.Queries == n }); k >= 0 {
				p := a.Points[k]
				cell = plusMinus(Mean{p.Diff, p.SE})
				if !p.Inside {
					cell += space + "*"
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func differenceTable(r experiment.Result) tableView {
	ref := Reference(r.Experiment)
	t := tableView{
		Caption: "Area under the regret curve against " + title(ref) + ", paired by seed",
		Head:    []string{"method", "area", "difference", "relative", "95 % interval", "P (Wilcoxon)", "P (Holm)", "better on"},
		Note:    "Area: mean regret over all answers but the zeroth. Below zero, the method is better than " + title(ref) + ". The interval is a paired bootstrap of the difference. P is two-sided, and adjusted for the number of methods by Holm. Better on: share of seeds, a tie counts half.",
	}
	for _, d := range Differences(r, ref) {
		relative := "–"
		if d.Relative != nil {
			relative = change(*d.Relative)
		}
		t.Rows = append(t.Rows, []string{
			title(d.Method), plusMinus(d.Area), plusMinus(d.Diff), relative, between(d.Boot, signed),
			probability(d.Wilcoxon.P), probability(d.HolmP), percent(d.Improvement),
		})
	}
	return t
}

func tenthTable(r experiment.Result) tableView {
	t := tableView{
		Caption: "Answers until the regret stays at or below a tenth of the first",
		Head:    []string{"method", "mean", "median", "not reached"},
		Note:    "Restricted: a run that does not get there counts as all its answers.",
	}
	for _, v := range ReachedTenth(r) {
		t.Rows = append(t.Rows, []string{title(v.Method), plusMinus(v.Answers), strconv.FormatFloat(v.Median, 'g', -1, 64), percent(v.Censored)})
	}
	return t
}

func timingTables(r experiment.Result) []tableView {
	t := tableView{
		Caption: "Time of one selection",
		Head:    []string{"method", "selections", "p50", "p95", "solver calls per answer", "authors' code", "authors'/p50"},
		Note:    "Wall time of choosing a question on the machine of this run. Authors' code: CPU time of choosing one and updating the belief, first queries, on another machine.",
	}
	for _, v := range Timings(r) {
		theirs, ratio := "–", "–"
		if v.Authors > 0 {
			theirs = short(v.Authors) + space + "ms"
			if v.P50 > 0 {
				ratio = "×" + space + short(v.Authors/v.P50)
			}
		}
		t.Rows = append(t.Rows, []string{title(v.Method), strconv.Itoa(v.Selections), short(v.P50) + space + "ms", short(v.P95) + space + "ms", short(v.Solves), theirs, ratio})
	}
	out := []tableView{t}
	if inCorridor(r.Experiment) {
		out = append(out, costTable(r))
	}
	if setting(r.Experiment) == "driver_comparison" {
		notes := tableView{Caption: "CPU seconds of the authors' code in Driver", Head: []string{"what", "code", "seconds", "how measured"}}
		for _, n := range authors.DriverNotes() {
			notes.Rows = append(notes.Rows, []string{n.Item, n.Code, n.Seconds, n.How})
		}
		out = append(out, notes)
	}
	return out
}
