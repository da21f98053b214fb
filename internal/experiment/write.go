package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Write stores r in dir, which it makes if need be:
//
//	NAME.csv            long form: setting, method, seed, answers, regret, cosine, expected_regret
//	NAME-summary.csv    mean and standard error of each by method and answers
//	NAME.json, NAME.md  fall of the regret, and paired differences of the areas under its curves
//	NAME-regret.svg, NAME-regret.png, NAME-cosine.svg, NAME-cosine.png
func Write(dir string, r Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	files := []struct {
		suffix string
		render func(Result) ([]byte, error)
	}{
		{".csv", longForm},
		{"-summary.csv", summaryForm},
		{".json", jsonForm},
		{".md", markdownForm},
		{"-regret.svg", regretPlot("svg")},
		{"-regret.png", regretPlot("png")},
		{"-cosine.svg", cosinePlot("svg")},
		{"-cosine.png", cosinePlot("png")},
	}
	for _, f := range files {
		data, err := f.render(r)
		if err != nil {
			return fmt.Errorf("render %s%s: %w", r.Setting.Name, f.suffix, err)
		}
		if err := os.WriteFile(filepath.Join(dir, r.Setting.Name+f.suffix), data, 0o644); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}

// number formats v with six significant digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func longForm(r Result) ([]byte, error) {
	rows := [][]string{{"setting", "method", "seed", "answers", "regret", "cosine", "expected_regret"}}
	for m, method := range r.Methods {
		for i, curves := range r.Curves {
			seed := strconv.FormatUint(r.FirstSeed+uint64(i), 10)
			for _, p := range curves[m] {
				rows = append(rows, []string{r.Setting.Name, method, seed, strconv.Itoa(p.Answers), number(p.Regret), number(p.Cosine), number(p.Expected)})
			}
		}
	}
	return table(rows)
}

func summaryForm(r Result) ([]byte, error) {
	rows := [][]string{{
		"setting", "method", "seeds", "answers", "regret_mean", "regret_se",
		"cosine_mean", "cosine_se", "expected_regret_mean", "expected_regret_se",
	}}
	for m, method := range r.Methods {
		for n := range r.Answers + 1 {
			row := []string{r.Setting.Name, method, strconv.Itoa(len(r.Curves)), strconv.Itoa(n)}
			for _, v := range []Mean{r.Regret(m, n), r.Cosine(m, n), r.Expected(m, n)} {
				row = append(row, number(v.Mean), number(v.SE))
			}
			rows = append(rows, row)
		}
	}
	return table(rows)
}

func table(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.Bytes(), err
}

// A Fall says how far the mean regret of a method fell.
type Fall struct {
	Method string  `json:"method"`
	Start  Mean    `json:"start"` // before the first answer
	End    Mean    `json:"end"`   // after the last
	Share  float64 `json:"share"` // 1 − End/Start of the means; 0 if Start is 0
}

// Falls returns the fall of every method.
func (r Result) Falls() []Fall {
	var out []Fall
	for m, method := range r.Methods {
		f := Fall{Method: method, Start: r.Regret(m, 0), End: r.Regret(m, r.Answers)}
		if f.Start.Mean > 0 {
			f.Share = 1 - f.End.Mean/f.Start.Mean
		}
		out = append(out, f)
	}
	return out
}

func jsonForm(r Result) ([]byte, error) {
	b, err := json.MarshalIndent(struct {
		Setting     string       `json:"setting"`
		FirstSeed   uint64       `json:"first_seed"`
		Seeds       int          `json:"seeds"`
		Answers     int          `json:"answers"`
		Falls       []Fall       `json:"falls"`
		Differences []Difference `json:"area_differences"`
	}{r.Setting.Name, r.FirstSeed, len(r.Curves), r.Answers, r.Falls(), r.Differences()}, "", "  ")
	return append(b, '\n'), err
}

// markdownForm renders the regret at some numbers of answers and the paired
// differences as tables.
func markdownForm(r Result) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%d seeds from %d on, paired. Regret is in units of the %s, mean ± standard error.\n\n", r.Setting.Title, len(r.Curves), r.FirstSeed, r.Setting.Unit)
	steps := milestones(r.Answers)
	fmt.Fprintf(&b, "| regret after |")
	for _, n := range steps {
		fmt.Fprintf(&b, " %d |", n)
	}
	fmt.Fprintf(&b, " fall |\n|---|%s\n", strings.Repeat("---|", len(steps)+1))
	for m, f := range r.Falls() {
		fmt.Fprintf(&b, "| %s |", f.Method)
		for _, n := range steps {
			v := r.Regret(m, n)
			fmt.Fprintf(&b, " %.3g ± %.2g |", v.Mean, v.SE)
		}
		fmt.Fprintf(&b, " %.1f %% |\n", 100*f.Share)
	}
	fmt.Fprintf(&b, "\nArea under the regret curve per answer, paired by seed (below zero, the first is better):\n\n"+
		"| methods | answers | areas | difference | 95 %% (t) | 95 %% (bootstrap) | better, worse on |\n|---|---|---|---|---|---|---|\n")
	for _, d := range r.Differences() {
		fmt.Fprintf(&b, "| %s − %s | 1–%d | %.3g, %.3g | %.3g (%+.0f %%) | %.3g to %.3g | %.3g to %.3g | %.0f %%, %.0f %% of seeds |\n",
			d.First, d.Second, d.Answers, d.Areas[0].Mean, d.Areas[1].Mean, d.Diff.Mean, 100*d.Relative,
			d.T[0], d.T[1], d.Boot[0], d.Boot[1], 100*d.Better, 100*d.Worse)
	}
	return []byte(b.String()), nil
}

// milestones returns the numbers of answers that a table shows.
func milestones(answers int) []int {
	var out []int
	for _, n := range []int{0, 1, 2, 3, 5, 10, 20, 50} {
		if n < answers {
			out = append(out, n)
		}
	}
	return append(out, answers)
}
