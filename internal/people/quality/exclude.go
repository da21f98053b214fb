package quality

import (
	"fmt"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/agreement"
)

// An Exclusion says whose answers a rule leaves out, and why, in words for the audit trail.
type Exclusion struct {
	Annotator idrl.AnnotatorID
	Why       string
}

// Excluded returns the annotators whose answers the rules of a session leave out, in the order of their first answers.
// Annotators who are or were left out are skipped: a rule does not undo a researcher's decision to take answers in
// again. Turned answers count as they were given.
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

// excluded returns why a person's answers are to be left out; empty if they are not. It divides, because the product
// of a share and a number is rounded: 0.28 · 25 > 7.
func (p *Person) excluded(rules *idrl.SessionSpec) string {
	few := func(right, of int, least float64) bool {
		return least > 0 && of >= rules.ExcludeAfter && float64(right)/float64(of) < least
	}
	if few(p.GoldRight, p.Gold, rules.ExcludeGold) {
		return fmt.Sprintf("exclude_gold: %d of %d gold questions right, below %g", p.GoldRight, p.Gold, rules.ExcludeGold)
	}
	if few(p.SaidSame, p.Repeats, rules.ExcludeRepeats) {
		return fmt.Sprintf("exclude_repeats: %d of %d repeats as before, below %g", p.SaidSame, p.Repeats, rules.ExcludeRepeats)
	}
	if rules.ExcludeMarked > 0 && p.Answers >= rules.ExcludeAfter && float64(p.Marked)/float64(p.Answers) > rules.ExcludeMarked {
		return fmt.Sprintf("exclude_marked: %d of %d answers marked, above %g", p.Marked, p.Answers, rules.ExcludeMarked)
	}
	return ""
}
