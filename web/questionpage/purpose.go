package questionpage

import (
	"fmt"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
)

// purposeText describes the purpose of a question for people. strategy is the one that its
// condition has.
func purposeText(as record.Assignment, strategy string) string {
	switch as.Why.Purpose {
	case record.ForValue:
		return "value, by the strategy " + acquisition.Title(strategy)
	case record.AtRandom:
		return "at random, by the strategy " + acquisition.Title(strategy)
	case record.ForHeldOut:
		return "held out"
	case record.ForGold:
		return "gold: the right answer is known"
	case record.ForRepeat:
		return "repeat"
	case record.ForDuel:
		return "duel: " + duelText(as.Why)
	}
	return "not recorded: " + NotRecorded(as)
}

// duelText says what a question of a duel decides.
func duelText(w record.Why) string {
	return fmt.Sprintf("whether %s takes the lead from %s", w.First, w.Second)
}

// NotRecorded says why the purpose of a question is not known.
func NotRecorded(as record.Assignment) string {
	if imported(as) {
		return "another program asked it, and it was imported"
	}
	return "an earlier version of Tiebreak asked it"
}

// imported reports whether another program asked the question: its sides are not known.
func imported(as record.Assignment) bool { return as.Query.Kind.Comparison() && as.Left == "" }

// noPairText says why a question that distinguishes no two policies was asked.
func noPairText(as record.Assignment, strategy string) string {
	switch as.Why.Purpose {
	case record.ForValue:
		if m, err := acquisition.Find(strategy); err == nil && m.NoPair != drawnAtRandom {
			return "It does not compare two policies: the strategy " + m.Title + " values it for " + m.NoPair + "."
		}
		return "The strategy " + acquisition.Title(strategy) + " found no question that distinguishes two policies. This one was drawn at random."
	case record.AtRandom:
		return "It was drawn at random, without regard to its information."
	case record.ForHeldOut:
		return "It was drawn at random and held out: its answer is not used for learning, but to measure how well the posterior predicts."
	case record.ForGold:
		return "It checks attention: a researcher has given the right answer."
	case record.ForRepeat:
		return "It was repeated on purpose, with the sides swapped, to measure consistency."
	case record.ForDuel: // which has a pair
	}
	return "The purpose of this question was not recorded: " + NotRecorded(as) + "."
}

// entrantsText says which entrants of an arena a question compared, and why these.
func entrantsText(spec idrl.SessionSpec, clips []idrl.Clip) string {
	var names []string
	for i, c := range clips {
		k, ok := spec.Arena.EntrantOf(c.From)
		if !ok {
			break
		}
		names = append(names, fmt.Sprintf("“%s” (clip %s)", spec.Arena.Entrants[k].Title, idrl.SideOf(i)))
	}
	if len(names) != 2 {
		return "Whom it compared is not recorded."
	}
	why := "The strategy " + acquisition.Title(spec.Acquisition) + " chose it for what it tells about all strengths."
	if spec.Arena.Detect > 0 {
		why = "The test for a winner wanted an answer about these two; the strategy " + acquisition.Title(spec.Acquisition) + " chose among the questions about them."
	}
	if spec.Arena.Recorded() {
		why += " The task is one about which they were asked least."
	}
	return "It compared " + names[0] + " with " + names[1] + ". " + why
}

// drawnAtRandom is acquisition.Method.NoPair of strategies whose questions have a pair whenever one
// has information.
const drawnAtRandom = "drawn at random"

// ShortPurpose is shown in a table instead of the two policies, for a question without a pair;
// empty if the text of the strategy is shown.
func ShortPurpose(w record.Why) string {
	switch w.Purpose {
	case record.ForValue:
		return ""
	case record.AtRandom:
		return drawnAtRandom
	case record.ForHeldOut:
		return "held out"
	case record.ForGold:
		return "gold"
	case record.ForRepeat:
		return "repeat"
	case record.ForDuel:
		return "duel"
	}
	return "not recorded"
}
