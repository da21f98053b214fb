package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/lab/experiment"
)

// Write stores r in the folder NAME of dir, where NAME is the experiment's. It
// makes the folder if need be, and replaces the files:
//
//	runs.csv       every point of every curve
//	summary.csv    mean, standard error and median over seeds, by method and answers
//	stats.json     areas, paired differences and tests, answers until a tenth
//	agreement.csv  against the authors' curves, by method and queries; where there are such
//	final.csv      regret after the last answer, beside the paper's; of corridors
//	regret.svg and .png, mse.svg and .png (or cosine)
//	timing.csv     wall time of the selections; the only file that differs from one run to the next
func Write(dir string, r experiment.Result) error {
	return writeAll(filepath.Join(dir, r.Experiment.Name()), outputs(r))
}

// writeAll renders files and stores them in dir.
func writeAll(dir string, files []output) error {
	for _, f := range files {
		data, err := f.render()
		if err != nil {
			return fmt.Errorf("render %s: %w", f.name, err)
		}
		if err := writeWhole(filepath.Join(dir, f.name), data); err != nil {
			return err
		}
	}
	return nil
}

// WritePage stores the Page about results as report.html in dir.
func WritePage(dir, command string, results []experiment.Result) error {
	data, err := Page(command, results)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, "report.html"), data)
}

type output struct {
	name   string
	render func() ([]byte, error)
}

func outputs(r experiment.Result) []output {
	of := func(name string, render func(experiment.Result) ([]byte, error)) output {
		return output{name, func() ([]byte, error) { return render(r) }}
	}
	out := []output{
		of("runs.csv", longForm), of("summary.csv", summaryForm), of("stats.json", statsForm), of("timing.csv", timingForm),
	}
	for _, s := range []measure{regretMeasure(r.Experiment.Unit), second(r.Experiment)} {
		for _, format := range []string{"svg", "png"} {
			out = append(out, output{s.name + "." + format, func() ([]byte, error) { return Plot(r, s.name, format) }})
		}
	}
	if inCorridor(r.Experiment) {
		out = append(out, of("final.csv", finalForm))
	}
	if len(Agree(r)) > 0 {
		out = append(out, of("agreement.csv", agreementForm))
	}
	return out
}

// number formats v with eight significant digits, as the authors' curves have.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

func longForm(r experiment.Result) ([]byte, error) {
	e := r.Experiment
	rows := [][]string{{"figure", "queries", "mode", "walls", "candidates", "expert", "method", "seed", "answers", "regret", "mse", "cosine"}}
	for m, method := range e.Methods {
		for i, runs := range r.Runs {
			seed := strconv.FormatUint(e.Seed(i), 10)
			for k, n := range e.Counts() {
				row := []string{e.Figure, e.Queries, e.Mode, e.Walls, e.Candidates, e.Expert, method, seed, strconv.Itoa(n)}
				run := runs[m]
				rows = append(rows, append(row, number(run.Regret[k]), number(run.MSE[k]), number(run.Cosine[k])))
			}
		}
	}
	return table(rows)
}

func summaryForm(r experiment.Result) ([]byte, error) {
	e := r.Experiment
	rows := [][]string{{
		"figure", "queries", "mode", "method", "seeds", "answers", "regret_mean", "regret_se", "regret_median",
		"mse_mean", "mse_se", "mse_median", "cosine_mean", "cosine_se", "cosine_median",
	}}
	fields := []func(experiment.Run) []float64{
		func(r experiment.Run) []float64 { return r.Regret },
		func(r experiment.Run) []float64 { return r.MSE },
		func(r experiment.Run) []float64 { return r.Cosine },
	}
	for m, method := range e.Methods {
		for k, n := range e.Counts() {
			row := []string{e.Figure, e.Queries, e.Mode, method, strconv.Itoa(len(r.Runs)), strconv.Itoa(n)}
			for _, f := range fields {
				v := measure{of: f}.at(r, m, k)
				mean := MeanOf(v)
				row = append(row, number(mean.Mean), number(mean.SE), number(stats.Median(v)))
			}
			rows = append(rows, row)
		}
	}
	return table(rows)
}

func agreementForm(r experiment.Result) ([]byte, error) {
	rows := [][]string{{"measure", "method", "queries", "ours_mean", "ours_se", "authors_mean", "authors_se", "difference", "difference_se", "inside"}}
	for _, a := range Agree(r) {
		for _, p := range a.Points {
			rows = append(rows, []string{
				a.Measure, a.Method, strconv.Itoa(p.Queries), number(p.Ours.Mean), number(p.Ours.SE),
				number(p.Theirs.Mean), number(p.Theirs.SE), number(p.Diff), number(p.SE), strconv.FormatBool(p.Inside),
			})
		}
	}
	return table(rows)
}

func table(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.Bytes(), err
}

// unlessOne returns n, or 0 for 1.
func unlessOne(n int) int {
	if n == 1 {
		return 0
	}
	return n
}

// methodStats is what stats.json says of a method.
type methodStats struct {
	Method string `json:"method"`
	First  Mean   `json:"first"` // regret before the first answer
	Last   Mean   `json:"last"`  // and after the last
	Area   Mean   `json:"area"`
}

func statsForm(r experiment.Result) ([]byte, error) {
	e := r.Experiment
	var methods []methodStats
	for m, name := range e.Methods {
		regret, last := regretMeasure(e.Unit), len(e.Counts())-1
		methods = append(methods, methodStats{name, MeanOf(regret.at(r, m, 0)), MeanOf(regret.at(r, m, last)), MeanOf(areas(r, m))})
	}
	b, err := json.MarshalIndent(struct {
		Name        string        `json:"name"`
		Figure      string        `json:"figure"`
		Queries     string        `json:"queries"`
		Mode        string        `json:"mode"`
		Walls       string        `json:"walls"`
		Candidates  string        `json:"candidates"`
		Expert      string        `json:"expert"`
		Unit        string        `json:"unit"`
		FirstSeed   uint64        `json:"first_seed"`
		Seeds       int           `json:"seeds"`
		Answers     int           `json:"answers"`
		Measure     int           `json:"measure,omitempty"` // answers from one measurement to the next; left out: 1
		Methods     []methodStats `json:"methods"`
		Differences []Difference  `json:"differences"`
		ToTenth     []Reached     `json:"answers_to_tenth"`
		Agreement   []Agreement   `json:"agreement,omitempty"`
	}{
		e.Name(), e.Figure, e.Queries, e.Mode, e.Walls, e.Candidates, e.Expert, e.Unit, e.FirstSeed, e.Seeds, e.Answers, unlessOne(e.Measure),
		methods, Differences(r, Reference(e)), ReachedTenth(r), Agree(r),
	}, "", "  ")
	return append(b, '\n'), err
}
