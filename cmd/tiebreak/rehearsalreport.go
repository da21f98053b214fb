package main

import (
	"fmt"
	"slices"
	"strconv"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/study/rehearsed"
)

// expected returns what the runs say of one study like them. Runs of an earlier command are left out.
func (f *simulateFlags) expected(runs []rehearsal.Run) rehearsed.Report {
	var results []runResult
	for _, r := range runs {
		if result, ok := f.study.results.of(r.Seed); ok {
			results = append(results, result)
		}
	}
	return expectedOf(f.study.file, f.plan(), f.study.wage, results)
}

// expectedOf is the report of rehearsals of a study by a plan.
func expectedOf(title string, p runPlan, wage float64, results []runResult) (r rehearsed.Report) {
	r.Title = fmt.Sprintf("Expected of the study %s, by %d rehearsals (95 %% intervals for one study)", title, len(results))
	if len(results) == 0 {
		return r
	}
	var answers, hours, people []float64
	for _, one := range results {
		answers, hours = append(answers, float64(one.Facts.Answers)), append(hours, one.Taken.Hours())
		people = append(people, float64(one.Facts.People))
	}
	n, h := rehearsal.Expect(answers), rehearsal.Expect(hours)
	r.Lines = append(r.Lines, rehearsed.Line{Name: "answers", Value: fmt.Sprintf("%.0f%s", n.Mean, between(n, "%.0f"))})
	unit, per := timeUnit(h.Mean)
	scaled := rehearsal.Interval{Mean: h.Mean * per, Low: h.Low * per, High: h.High * per}
	r.Lines = append(r.Lines, rehearsed.Line{
		Name: "time", Value: fmt.Sprintf("%.2g %s%s", scaled.Mean, unit, between(scaled, "%.2g")),
		Note: "of all people together: practice, answers and waiting for questions",
	})
	if wage > 0 {
		cost := rehearsal.Interval{Mean: wage * h.Mean, Low: wage * h.Low, High: wage * h.High}
		r.Lines = append(r.Lines, rehearsed.Line{
			Name: "cost", Value: fmt.Sprintf("%.2f%s", cost.Mean, between(cost, "%.2f")),
			Note: fmt.Sprintf("%.2f for an hour, for the time above", wage),
		})
	}
	who := rehearsal.Expect(people)
	r.Lines = append(r.Lines, rehearsed.Line{Name: "people", Value: fmt.Sprintf("%.0f%s", who.Mean, between(who, "%.0f"))})
	r.Lines = append(r.Lines, shareLine("complete", "the study comes to its end", results, func(f runFacts) bool { return f.Complete }))
	r.Lines = append(r.Lines, stopLine(p.Spec, results))
	first := results[0].Facts
	r.Data, r.Notes = dataLines(p.Spec, first), rehearsalNotes(p, first)
	r.Head, r.Rows = sampleOf(first)
	return r
}

// shareLine is the line of the share of runs of which something is so, with its 95 % interval.
func shareLine(name, what string, results []runResult, is func(runFacts) bool) rehearsed.Line {
	k := 0
	for _, r := range results {
		countIf(&k, is(r.Facts))
	}
	low, high := stats.Wilson(float64(k), len(results), stats.Z95)
	return rehearsed.Line{
		Name: name, Value: fmt.Sprintf("in %d of %d rehearsals %s", k, len(results), what),
		Note: fmt.Sprintf("chance %s (%s to %s)", stats.Percent(float64(k)/float64(len(results))), stats.Percent(low), stats.Percent(high)),
	}
}

// stopLine says how often the study could stop before its end.
func stopLine(spec idrl.SessionSpec, results []runResult) rehearsed.Line {
	if !results[0].Facts.States {
		return rehearsed.Line{Name: "stop in time", Value: "not known: the reward is a network, and the session never says that it may stop"}
	}
	if spec.Arena.Detect > 0 {
		return shareLine("winner", "a winner is found", results, func(f runFacts) bool { return f.MayStop > 0 })
	}
	if spec.IsArena() {
		return shareLine("order", "the two strongest entrants are told apart at the end", results, func(f runFacts) bool { return f.MayStop > 0 })
	}
	line := shareLine("stop in time", "the statement was good enough to stop before the end", results, func(f runFacts) bool { return f.MayStop > 0 })
	var rows []float64
	objected := 0
	for _, r := range results {
		if r.Facts.MayStop > 0 {
			rows = append(rows, float64(r.Facts.MayStop))
		}
		countIf(&objected, r.Facts.Against > 0)
	}
	if len(rows) > 0 {
		line.Note += fmt.Sprintf("; after %.0f replies, the median", stats.Median(rows))
	}
	if objected > 0 {
		line.Note += fmt.Sprintf("; in %d rehearsals something was held against it at the end", objected)
	}
	return line
}

// dataLines count what is in the data of a run.
func dataLines(spec idrl.SessionSpec, f runFacts) []rehearsed.Line {
	of := func(k, n int, what string) string { return fmt.Sprintf("%d, %d of them %s", n, k, what) }
	out := []rehearsed.Line{{Name: "rows", Value: strconv.Itoa(f.Replies), Note: fmt.Sprintf("%d answers that count, %d without a preference", f.Answers, f.Skipped)}}
	if spec.Consent != "" {
		out = append(out, rehearsed.Line{Name: "consent", Value: fmt.Sprintf("%d of %d people agreed", f.Agreed, f.People)})
	}
	out = append(out,
		rehearsed.Line{Name: "practice answers", Value: of(f.PracticeRight, f.Practice, "right"), Note: "in a file of their own"},
		rehearsed.Line{Name: "gold", Value: of(f.GoldRight, f.Gold, "right")},
		rehearsed.Line{Name: "repeats", Value: strconv.Itoa(f.Repeats)},
		rehearsed.Line{Name: "held out", Value: strconv.Itoa(f.HeldOut)})
	for _, p := range f.Parts {
		if p.Name != "held_out" {
			out = append(out, rehearsed.Line{Name: "condition " + p.Name, Value: strconv.Itoa(p.N)})
		}
	}
	if f.Out > 0 {
		out = append(out, rehearsed.Line{Name: "left out by the rules", Value: strconv.Itoa(f.Out)})
	}
	return append(out, rehearsed.Line{Name: "split", Value: fmt.Sprintf("%d for training, %d for tests, %d for neither", f.Train, f.Test, f.Across)})
}

// sampledColumns are the columns of an export that the report shows.
var sampledColumns = []string{"seq", "annotator_id", "kind", "choice", "rating", "gold", "condition", "strategy", "consent_version", "response_ms"}

// sampleOf returns those columns of the first rows, without columns that are empty in all of them.
func sampleOf(f runFacts) (head []string, rows [][]string) {
	rows = make([][]string, len(f.Rows))
	for _, name := range sampledColumns {
		k := slices.Index(f.Head, name)
		if k < 0 || !slices.ContainsFunc(f.Rows, func(row []string) bool { return row[k] != "" }) {
			continue
		}
		head = append(head, name)
		for i, row := range f.Rows {
			rows[i] = append(rows[i], row[k])
		}
	}
	return head, rows
}

// rehearsalNotes say who was simulated, and what a rehearsal cannot do.
func rehearsalNotes(p runPlan, f runFacts) []string {
	var out []string
	switch e := p.Expert; {
	case e.Matched && e.Right > 0:
		out = append(out, fmt.Sprintf("Simulated people are right about %s of random pairs of the first clips, with a median of %v for an answer, and answer one after another.", stats.Percent(e.Right), p.Pace))
	case e.Matched:
		out = append(out, fmt.Sprintf("Simulated people answer with the noise that the session assumes, with a median of %v for an answer, one after another.", p.Pace))
	default:
		out = append(out, fmt.Sprintf("Simulated people are experts of the kind %q, with a median of %v for an answer, and answer one after another.", e.Kind, p.Pace))
	}
	switch {
	case p.Spec.IsArena():
		out = append(out, "An arena learns no reward: people have one and the same true reward, that of the benchmarks, or where there is none a random one.")
	case p.Expert.Matched:
		out = append(out, "The taste of real people is not known: in each rehearsal all simulated people have one taste, which is drawn from the session's prior.")
	}
	switch given := f.Gold+f.Practice > 0; {
	case given:
		out = append(out, fmt.Sprintf("The right answers to %d practice questions and up to %d gold questions were given by that taste, in your place: give yours on the session's page.", rehearsedPractice, rehearsedGold))
	case p.Spec.GoldEvery > 0 && !p.Spec.Kind.Group():
		out = append(out, "No gold question was asked.")
	}
	if p.Spec.RepeatEvery > 0 && f.Repeats == 0 {
		out = append(out, "No question came a second time: others lie between the two, and the parts of people are too short for that.")
	}
	if p.Spec.ExcludeMarked > 0 {
		out = append(out, "Answers of programs are never marked as hurried: the rule exclude_marked leaves nobody out in a rehearsal.")
	}
	return append(out, "Time for reading the consent text and instructions, and for breaks, comes besides.",
		"Sessions of rehearsals are marked, and not among those of people.")
}
