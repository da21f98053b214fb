package quality

import (
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
)

// Enough is how many gold questions, repeats or decisive comparisons a warning needs.
const Enough = 20

// Limits for people who answer carefully: the least share of right answers to gold questions, and
// of equal answers to repeats; the range of the share of wins of the left clip.
const (
	fewRight, fewSame       = 0.75, 0.75
	leastLeft, greatestLeft = 0.4, 0.6
)

// Texts of warnings about a person.
const (
	warnGold  = "agrees with the researcher on fewer than three in four gold questions"
	warnSame  = "gives the same answer to fewer than three in four repeats"
	warnLeft  = "chooses the left clip too often"
	warnRight = "chooses the right clip too often"

	warnReversedGold   = "answers gold questions the other way round than the researcher, perhaps because of mistaken keys or a misread question"
	warnReversedOthers = "answers the other way round than the others, perhaps because of mistaken keys or a misread question"
)

// KnowGold adds which answers to gold questions are right (record.GoldRight), and the warnings that
// follow from the numbers of a person.
func (q *Report) KnowGold(log []idrl.Answer, right map[idrl.AnswerID]bool) {
	asked, hit := map[idrl.AnnotatorID]int{}, map[idrl.AnnotatorID]int{}
	how, decisive := record.Countings(log), map[idrl.AnnotatorID]share{} // of gold comparisons
	for a := range record.EachStanding(log) {
		if is, gold := right[a.ID]; gold {
			asked[a.Annotator]++
			if is {
				hit[a.Annotator]++
			}
			if a.Choice == idrl.ChoseA || a.Choice == idrl.ChoseB {
				of := decisive[a.Annotator]
				of.add(is, how[a.Annotator].Turns(a.Seq))
				decisive[a.Annotator] = of
			}
		}
	}
	for i := range q.People {
		p := &q.People[i]
		p.Gold, p.GoldRight = asked[p.Annotator], hit[p.Annotator]
		p.GoldLow, p.GoldHigh = stats.Wilson(float64(p.GoldRight), p.Gold, stats.Z95)
		p.Warnings = p.warnings(q.Rated, decisive[p.Annotator].reversed())
	}
}

// warnings returns the warnings: none with fewer than Enough numbers, or if the 95 % interval
// contains the limit. gold says that the person answers gold questions the other way round. It
// sets Reversed.
func (p *Person) warnings(rated, gold bool) []string {
	out := []string{}
	left, right := p.Sided >= Enough && p.LeftLow > greatestLeft, p.Sided >= Enough && p.LeftHigh < leastLeft
	oneSided := left || right // a person who presses the same key again and again exchanges no sides
	gold = gold && !oneSided
	p.Reversed = gold || p.Reversed && !oneSided
	switch {
	case gold:
		out = append(out, warnReversedGold)
	case p.Reversed:
		out = append(out, warnReversedOthers)
	}
	if p.Gold >= Enough && p.GoldHigh < fewRight && !gold {
		out = append(out, warnGold)
	}
	if !rated && p.Repeats >= Enough && p.SameHigh < fewSame {
		out = append(out, warnSame)
	}
	if left {
		out = append(out, warnLeft)
	}
	if right {
		out = append(out, warnRight)
	}
	return out
}
