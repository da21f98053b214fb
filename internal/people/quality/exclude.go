package quality

import (
	"fmt"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/agreement"
)

// An Exclusion is somebody whose answers a rule leaves out, and why, in words for the record of what was done.
type Exclusion struct {
	Annotator idrl.AnnotatorID
	Why       string
}

// Excluded returns whose answers the rules of a session leave out by its record, in the order of their first answers: of those who are not left out and
// never were, so that a researcher who takes answers in again has the last word. Turned answers count as they were given.
func Excluded(r record.Record) (out []Exclusion) {
	if !r.Spec.Excludes() {
		return nil
	}
	decided := map[idrl.AnnotatorID]bool{}
	for _, a := range r.Log {
		if a.Choice == idrl.LeftOut {
			decided[a.Annotator] = true
		}
	}
	for _, who := range r.Settings.LeftOut {
		decided[who] = true
	}
	q := Report{People: peopleOf(r.Log, agreement.Arrange(r.Log, turnedOf(r.Assignments)))}
	q.KnowGold(r.Log, record.GoldRight(r.Log, r.Assignments, r.Settings.Gold.Questions))
	for i := range q.People {
		if p := &q.People[i]; !decided[p.Annotator] {
			if why := p.excluded(&r.Spec); why != "" {
				out = append(out, Exclusion{Annotator: p.Annotator, Why: why})
			}
		}
	}
	return out
}

// excluded returns why a person's answers are to be left out; empty if they are not.
func (p *Person) excluded(rules *idrl.SessionSpec) string {
	few := func(right, of int, least float64) bool {
		return least > 0 && of >= rules.ExcludeAfter && float64(right) < least*float64(of)
	}
	if few(p.GoldRight, p.Gold, rules.ExcludeGold) {
		return fmt.Sprintf("exclude_gold: %d of %d gold questions right, below %g", p.GoldRight, p.Gold, rules.ExcludeGold)
	}
	if few(p.SaidSame, p.Repeats, rules.ExcludeRepeats) {
		return fmt.Sprintf("exclude_repeats: %d of %d repeats as before, below %g", p.SaidSame, p.Repeats, rules.ExcludeRepeats)
	}
	if rules.ExcludeMarked > 0 && p.Answers >= rules.ExcludeAfter && float64(p.Marked) > rules.ExcludeMarked*float64(p.Answers) {
		return fmt.Sprintf("exclude_marked: %d of %d answers marked, above %g", p.Marked, p.Answers, rules.ExcludeMarked)
	}
	return ""
}
