package record

import (
	"tiebreak/internal/idrl"
)

// A Condition says how a question of a session with several conditions was chosen: the name of
// a strategy, or HeldOut. It is empty for questions that none of them chose, such as gold
// questions, and in sessions without several conditions.
type Condition string

// HeldOut is the condition of comparisons that are drawn at random and that no posterior learns
// from: they measure how well posteriors predict.
const HeldOut Condition = "held_out"

// StrategyOf returns the strategy that chose the questions of a condition: the random one for
// held-out questions, and the session's own for questions without a condition.
func StrategyOf(s idrl.SessionSpec, c Condition) string {
	switch c {
	case "":
		return s.Acquisition
	case HeldOut:
		return "uniform"
	}
	return string(c)
}
