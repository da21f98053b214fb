package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/lab/experiment"

	"gonum.org/v1/plot/vg"
)

var (
	//go:embed page.css
	pageStyle string
	//go:embed page.tmpl
	pageText string
)

// view is what the page shows, as text.
type view struct {
	Title    string
	Command  string
	Style    template.CSS
	Tables   []tableView // over all experiments
	Sections []sectionView
}

type sectionView struct {
	ID, Title string
	Facts     []fact
	Verdict   string
	Figures   []figureView
	Tables    []tableView
	Timing    []tableView
}

type fact struct{ Name, Value string }

type figureView struct {
	Caption string
	SVG     template.HTML
}

// Page renders one page of HTML about the results: curves beside the authors',
// tables, tests and times. command is the command line that makes the results
// again. The page needs nothing but itself. But for the parts marked
// data-part="timing", it is a function of its arguments without the times.
func Page(command string, results []experiment.Result) ([]byte, error) {
	v := view{Title: "Tiebreak: learning curves", Command: command, Style: template.CSS(pageStyle), Tables: append(finalTables(results), overall(results)...)}
	for _, r := range results {
		s, err := sectionOf(r)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		v.Sections = append(v.Sections, s)
	}
	return v.render()
}

// render returns the page of v.
func (v view) render() ([]byte, error) {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return b.Bytes(), nil
}

// overall returns the tables over all experiments, none for a single one.
func overall(results []experiment.Result) []tableView {
	if len(results) < 2 {
		return nil
	}
	all := tableView{Caption: "Experiments", Head: []string{"experiment", "mode", "seeds", "answers", "smallest mean area"}}
	compared := slices.ContainsFunc(results, func(r experiment.Result) bool { return asAuthors(r.Experiment) })
	if compared {
		all.Head = append(all.Head, "inside two s.e. of the authors' curves")
	}
	for _, r := range results {
		e := r.Experiment
		best := slices.MinFunc(meanAreas(r), func(a, b methodArea) int { return cmp.Compare(a.area.Mean, b.area.Mean) })
		row := []string{e.Title, e.Mode, strconv.Itoa(e.Seeds), strconv.Itoa(e.Answers), title(best.method) + ", " + plusMinus(best.area)}
		if compared {
			row = append(row, insideAll(Agree(r)))
		}
		all.Rows = append(all.Rows, row)
	}
	return append([]tableView{all}, pooledTables(results)...)
}

func pooledTables(results []experiment.Result) []tableView {
	reference := Reference(results[0].Experiment)
	t := tableView{
		Caption: "Area under the regret curve against " + title(reference) + ", pooled",
		Head:    []string{"method", "change", "95 % interval", "experiments"},
		Note:    "Mean over experiments, with equal weights, of area/area of " + title(reference) + " − 1. The interval is a bootstrap that draws seeds within each experiment, paired.",
	}
	for _, p := range Pool(results, reference) {
		t.Rows = append(t.Rows, []string{title(p.Method), change(p.Change), between(p.Boot, change), strconv.Itoa(len(p.Experiments))})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []tableView{t}
}

func sectionOf(r experiment.Result) (sectionView, error) {
	e := r.Experiment
	s := sectionView{ID: e.Name(), Title: e.Title, Facts: facts(r), Verdict: verdict(r)}
	var err error
	if s.Figures, err = figures(r); err != nil {
		return s, err
	}
	for _, t := range []tableView{milestoneTable(r), agreementTable(r), differenceTable(r), tenthTable(r)} {
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	s.Timing = timingTables(r)
	return s, nil
}

// rightly says how noisy people are.
func rightly(share float64) string {
	if share == 0 {
		return ""
	}
	return fmt.Sprintf(", right about %.3g %% of random pairs", 100*share)
}

func facts(r experiment.Result) []fact {
	e := r.Experiment
	var methods []string
	for _, m := range e.Methods {
		methods = append(methods, title(m))
	}
	out := []fact{
		{"Mode", map[string]string{experiment.Paper: "paper: what the authors' code computes", experiment.Corrected: "corrected: what the paper's text says"}[e.Mode]},
		{"Candidate queries", "as in the " + e.Candidates},
		{"Expert", map[string]string{experiment.Model: "of the paper's model", experiment.People: "as noisy as people" + rightly(e.Right)}[e.Expert]},
		{"Seeds", fmt.Sprintf("%d, from %d on", e.Seeds, e.FirstSeed)},
		{"Answers", strconv.Itoa(e.Answers) + measured(e)},
		{"Methods", strings.Join(methods, ", ")},
		{"Regret", "in units of the " + e.Unit},
	}
	if e.Task == nil && e.Figure == "gridworld" {
		out = slices.Insert(out, 1, fact{"Walls", "as in the " + e.Walls})
	}
	return out
}

// measured says after which answers there are measurements, where not after all.
func measured(e experiment.Experiment) string {
	if e.Measure < 2 {
		return ""
	}
	return fmt.Sprintf(", measured after every %d", e.Measure)
}

// verdict says how far our curves agree with the authors'.
func verdict(r experiment.Result) string {
	all := Agree(r)
	switch {
	case !asAuthors(r.Experiment):
		return ""
	case len(all) == 0:
		return "There is no curve of the authors' code to compare with."
	}
	text := "Mean regret within two standard errors of the authors' curve: " + insideAll(all) + " of all query counts"
	var parts []string
	seeds := true
	for _, a := range all {
		if a.Measure == "regret" {
			parts = append(parts, title(a.Method)+" "+exactPercent(a.Inside))
			seeds = seeds && r.Experiment.FirstSeed == 1 && a.Seeds == a.Theirs
		}
	}
	text += " (" + strings.Join(parts, ", ") + ")."
	if !seeds {
		text += " The authors' curves are of the seeds from 1 to 30 (EPD in Driver: to 20), which are not those run here."
	}
	return text
}

// insideAll returns the share of all points of the regret that are inside, or a
// dash.
func insideAll(all []Agreement) string {
	inside, points := 0.0, 0.0
	for _, a := range all {
		if a.Measure == "regret" {
			inside += a.Inside * float64(len(a.Points))
			points += float64(len(a.Points))
		}
	}
	if points == 0 {
		return "–"
	}
	return exactPercent(inside / points)
}

// figures returns the regret, the authors' beside it on the same scale, and the
// second measure.
func figures(r experiment.Result) ([]figureView, error) {
	regret, other := regretMeasure(r.Experiment.Unit), second(r.Experiment)
	own, authors := ours(r, regret), theirs(r, regret)
	most := max(top(own), top(authors))
	charts := []chart{{title: "Mean regret", label: regret.label, curves: own, most: most}}
	if len(authors) > 0 {
		charts[0].title += ", Tiebreak"
		charts = append(charts, chart{title: "Mean regret, the authors' code", label: regret.label, curves: authors, most: most})
	}
	both := append(thin(theirs(r, other)), ours(r, other)...)
	charts = append(charts, chart{title: other.label, label: other.label, curves: both})
	var out []figureView
	for _, c := range charts {
		c.answers = r.Experiment.Answers
		f, err := c.view(r.Experiment.Title)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// view draws the chart for a page, which shows its title.
func (c chart) view(experiment string) (figureView, error) {
	caption := c.title
	c.title, c.width, c.height, c.background = "", 14*vg.Centimeter, 8.5*vg.Centimeter, color.Transparent
	svg, err := c.render("svg")
	if err != nil {
		return figureView{}, err
	}
	return figureView{caption, inline(svg, experiment+": "+caption)}, nil
}

// top returns the largest mean + s.e. of the curves.
func top(curves []curve) (most float64) {
	for _, c := range curves {
		for _, v := range c.mean {
			most = max(most, v.Mean+v.SE)
		}
	}
	return most
}

// inline returns an SVG file as an element of a page, named for those who do not
// see it.
func inline(svg []byte, name string) template.HTML {
	_, body, _ := strings.Cut(string(svg), "<svg")
	return template.HTML(`<svg role="img" aria-label="` + html.EscapeString(name) + `"` + body)
}
