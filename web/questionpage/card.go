package questionpage

import (
	"fmt"
	"slices"
	"strconv"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/templates"
)

// Card returns what is known of a question from the log alone. clips are those of the question, in its order, which say
// whom an arena compared. who says who answered, and when.
func Card(spec idrl.SessionSpec, as record.Assignment, clips []idrl.Clip, a idrl.Answer, who string) templates.QuestionCard {
	out := templates.QuestionCard{
		Seq: strconv.FormatInt(a.Seq, 10), Heading: fmt.Sprintf("Answer %d", a.Seq), Who: who,
		Sides: strconv.Itoa(len(as.Query.Clips)), Said: said(spec.Kind, a), Order: order(as), Facts: facts(spec, as),
	}
	if as.Why.First == "" {
		out.Reason = noPairText(as, record.StrategyOf(spec, as.Condition))
	}
	if spec.IsArena() && as.Why.Purpose == record.ForValue {
		out.Reason = entrantsText(spec, clips)
	}
	return out
}

// Shown returns the clips of a question in the order in which they were shown, the left one first; those of
// a group in the order of their letters.
func Shown(as record.Assignment) []idrl.ClipID {
	clips := slices.Clone(as.Query.Clips)
	if len(clips) == 2 && as.Left == idrl.SideB {
		slices.Reverse(clips)
	}
	return clips
}

// order says which of the clips that are shown is which.
func order(as record.Assignment) string {
	switch n := len(as.Query.Clips); {
	case n == 2 && as.Left == "":
		return "Clip a, then clip b; the annotator may have seen them the other way round."
	case n == 2 && as.Left == idrl.SideB:
		return "Clip b, then clip a, as the annotator saw them."
	case n == 2:
		return "Clip a, then clip b, as the annotator saw them."
	case n > 2:
		return "The annotator saw numbers instead of letters, and perhaps another order."
	}
	return ""
}

// VerdictText says what a rating in a session of kind idrl.JudgeClip means.
func VerdictText(rating float64) string {
	return map[float64]string{idrl.Failure: "Failure", idrl.Partial: "Partial success", idrl.Success: "Success"}[idrl.Verdict(rating)]
}

// said says what was answered.
func said(kind idrl.QueryKind, a idrl.Answer) string {
	text := map[idrl.Choice]string{
		idrl.ChoseA: "Chose clip a", idrl.ChoseB: "Chose clip b", idrl.Equal: "Said equal", idrl.CantTell: "Can’t tell",
		idrl.Skip: "Skipped", idrl.TechnicalFailure: "The clip failed",
		idrl.Rated: fmt.Sprintf("Rated %.1f of 10", 5+5*a.Rating), idrl.BestWorst: fmt.Sprintf("Best: clip %s, worst: clip %s", a.Best, a.Worst),
	}[a.Choice]
	if kind == idrl.JudgeClip && a.Choice == idrl.Rated {
		text = VerdictText(a.Rating)
	}
	if a.WrongMS > 0 {
		text += fmt.Sprintf(", went wrong after %.1f s", float64(a.WrongMS)/1000)
	}
	if a.Choice == idrl.Skip && a.Reason != "" {
		text += ": " + a.Reason
	}
	if a.Much {
		text += ", much better"
	}
	if a.Remark != "" {
		text += map[idrl.Remark]string{idrl.BothBad: ", both bad", idrl.BothGood: ", both good"}[a.Remark]
	}
	return text + "."
}

// facts says what a person sees of a question, and what it was worth.
func facts(spec idrl.SessionSpec, as record.Assignment) (out []templates.Fact) {
	w := as.Why
	add := func(name, value string) { out = append(out, templates.Fact{Name: name, Value: value}) }
	add("Purpose", purposeText(as, record.StrategyOf(spec, as.Condition)))
	if as.Query.Kind.Comparison() && w.Answerable > 0 {
		text := fmt.Sprintf("%.2g", w.Apart)
		if w.Apart < 1 {
			text += ": no difference at a glance"
		}
		add("Picture difference, 0 to 6", text)
	}
	if w.Answerable > 0 {
		add("Probability of a clear answer", stats.Percent(w.Answerable))
	}
	if w.First != "" && w.Purpose != record.ForDuel { // which is not asked for its information
		add("Expected information", fmt.Sprintf("%.3g nats", w.Info))
		add("Uncertainty of the pair", fmt.Sprintf("± %.3g", w.PairStd))
	}
	switch {
	case spec.IsArena(): // whose entrants are not trained
	case w.BasedOn > 0:
		add("Candidates trained", fmt.Sprintf("after answer %d", w.BasedOn))
	default:
		add("Candidates trained", "before the first answer")
	}
	switch {
	case as.Condition == record.HeldOut:
		add("Condition", "held out")
	case as.Condition != "":
		add("Condition", acquisition.Title(string(as.Condition)))
	}
	if as.Reopens != "" {
		add("Kind", "asked again after an undo, for the same purpose")
	}
	return out
}
