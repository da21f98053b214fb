package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/session/view"
)

// printConditions prints how well the conditions of the runs predict held-out comparisons.
func (f *simulateFlags) printConditions(out io.Writer, runs []rehearsal.Run) error {
	if !f.study.spec.Compares() {
		return nil
	}
	var all []view.ConditionScores
	for _, r := range runs {
		result, _ := f.study.results.of(r.Seed) // nothing of a run of an earlier command
		all = append(all, result.Scores...)
	}
	if len(all) == 0 {
		return nil
	}
	return printScores(out, all)
}

// printScores writes a table of the scores of sessions with the same conditions: means of them.
func printScores(out io.Writer, all []view.ConditionScores) error {
	equal := slices.MinFunc(all, func(a, b view.ConditionScores) int { return a.Equal - b.Equal }).Equal
	fmt.Fprintf(out, "\nAccuracy on held-out comparisons by condition, mean of %d rehearsals (95 %% intervals for one study):\n", len(all))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := "  condition\tquestions\tanswers\taccuracy\tlog loss"
	if equal > 0 {
		head += fmt.Sprintf("\taccuracy after %d answers each", equal)
	}
	fmt.Fprintln(w, head)
	line := func(name string, of func(view.ConditionScores) view.ConditionScore) {
		var questions, answers, right, loss, even []float64
		for _, s := range all {
			c := of(s)
			questions, answers = append(questions, float64(c.Questions)), append(answers, float64(c.Answers))
			if p, ok := c.Last(); ok && p.Decisive > 0 {
				right, loss = append(right, 100*p.Accuracy()), append(loss, p.LogLoss)
			}
			if p, ok := c.At(equal); ok && p.Decisive > 0 {
				even = append(even, 100*p.Accuracy())
			}
		}
		fmt.Fprintf(w, "  %s\t%.0f\t%.0f\t%s\t%s", name, rehearsal.Expect(questions).Mean, rehearsal.Expect(answers).Mean, percentText(right), meanText(loss))
		if equal > 0 && name != allTogether {
			fmt.Fprintf(w, "\t%s", percentText(even))
		}
		fmt.Fprintln(w)
	}
	for i, c := range all[0].Conditions {
		line(string(c.Name), func(s view.ConditionScores) view.ConditionScore { return s.Conditions[i] })
	}
	line(allTogether, func(s view.ConditionScores) view.ConditionScore { return s.All })
	var held []float64
	for _, s := range all {
		held = append(held, float64(s.Questions))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "  held out: %.0f comparisons\n", rehearsal.Expect(held).Mean)
	return nil
}

// allTogether is the name of the posterior of all answers.
const allTogether = "all together"

// percentText writes the mean of shares in per cent, and the interval for one further share.
func percentText(values []float64) string {
	if len(values) == 0 {
		return "-"
	}
	e := rehearsal.Expect(values)
	e.High = min(e.High, 100)
	if len(values) == 1 {
		return fmt.Sprintf("%.0f %%", e.Mean)
	}
	return fmt.Sprintf("%.0f %% (%.0f to %.0f)", e.Mean, e.Low, e.High)
}

func meanText(values []float64) string {
	if len(values) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", rehearsal.Expect(values).Mean)
}
