package rehearsal

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// PrintSummary prints the figures of runs for people.
func PrintSummary(out io.Writer, runs []Run, figures []Figure) error {
	find := func(measure, at string) Figure {
		return figures[slices.IndexFunc(figures, func(f Figure) bool { return f.Measure == measure && f.At == at })]
	}
	first := runs[0].Rows[0]
	if first.True() {
		fmt.Fprintf(out, "%s, %d comparisons with the truth. In brackets: 95 %% intervals, from a bootstrap over runs.\n", count(runs), find("true_regret", "all").N)
		fmt.Fprintf(out, "True regret is a share of the span, against %s.\n\n", first.Against.people())
	} else {
		fmt.Fprintf(out, "%s, %d looks at the recommended policy. In brackets: 95 %% intervals, by a bootstrap over runs.\n", count(runs), find("worth", "all").N)
		fmt.Fprintf(out, "A seeing expert has no true reward. Worth: value of the clips of the recommended policy, by the taste of the answers.\n\n")
	}
	var at []string
	for _, f := range figures {
		if f.Measure == "true_regret" {
			at = append(at, f.At)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	printLines(w, at, find)
	if !first.True() {
		return w.Flush()
	}
	printBins(w, figures, find)
	if err := w.Flush(); err != nil {
		return err
	}
	return printReached(out, runs, find)
}

// printLines prints a row for each measure that pages state, with a column for each number of answers of at.
func printLines(w io.Writer, at []string, find func(measure, at string) Figure) {
	fmt.Fprintf(w, "after answer\t%s\n", strings.Join(at, "\t"))
	for _, line := range []struct {
		measure, title string
		show           func(float64) string
	}{
		{"true_regret", "true regret, mean", percent},
		{"shown_mean", "page: mean", percent},
		{"true_over_shown", "true mean/page's mean", ratio},
		{"shown_bound", "page: 95 % bound, mean", percent},
		{"covered", "true regret within the bound", percent},
		{"shown_within", "page: P(regret ≤ 5 %), mean", percent},
		{"within", "true regret ≤ 5 %", percent},
		{"worth", "worth to the person, mean", ratio},
		{"cosine", "cosine of the weights", ratio},
	} {
		if find(line.measure, "all").N == 0 {
			continue // no page states it
		}
		fmt.Fprint(w, line.title)
		for _, a := range at {
			fmt.Fprintf(w, "\t%s", interval(find(line.measure, a), line.show))
		}
		fmt.Fprintln(w)
	}
}

// printReached prints after how many answers the true regret stays small.
func printReached(out io.Writer, runs []Run, find func(measure, at string) Figure) error {
	whole := func(v float64) string {
		if math.IsInf(v, 1) {
			return "more than were given"
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	reached := interval(find("reached_tenth", "all"), percent)
	answers := find("answers_to_tenth", "all")
	if math.IsNaN(answers.Value) {
		_, err := fmt.Fprintf(out, "\nAnswers until the true regret stays at or below 10 %% of the span: not known: compared only at the end (--every). Runs where it is so then: %s.\n", reached)
		return err
	}
	every := ""
	if most := slices.MaxFunc(runs, func(a, b Run) int { return a.spacing() - b.spacing() }).spacing(); most > 1 {
		every = fmt.Sprintf(" (compared every %d answers)", most)
	}
	_, err := fmt.Fprintf(out, "\nAnswers until the true regret stays at or below 10 %% of the span, median: %s%s. Runs that get there: %s.\n",
		interval(answers, whole), every, reached)
	return err
}

// printBins prints how often what pages said of a small regret was so.
func printBins(w io.Writer, figures []Figure, find func(measure, at string) Figure) {
	if find("shown_within", "all").N == 0 {
		fmt.Fprint(w, "\nPages state no regret where the reward is a network.\n")
		return
	}
	fmt.Fprintf(w, "\npage: P(regret ≤ 5 %%)\tcomparisons\tmean\ttrue regret ≤ 5 %%\n")
	for _, f := range figures {
		if f.Measure == "said" && f.N > 0 {
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", f.At, f.N, percent(f.Value), interval(find("was", f.At), percent))
		}
	}
}

// count says how many runs there are, and of which seeds.
func count(runs []Run) string {
	if len(runs) == 1 {
		return fmt.Sprintf("1 run (seed %d)", runs[0].Seed)
	}
	return fmt.Sprintf("%d runs (seeds %d to %d)", len(runs), runs[0].Seed, runs[len(runs)-1].Seed)
}

// interval writes a figure with its interval.
func interval(f Figure, show func(float64) string) string {
	if math.IsNaN(f.Value) {
		return "–"
	}
	return fmt.Sprintf("%s [%s, %s]", show(f.Value), strings.TrimSuffix(show(f.Low), " %"), strings.TrimSuffix(show(f.High), " %"))
}

// ratio writes a number for people.
func ratio(v float64) string { return fmt.Sprintf("%.2f", v) }
