package settings

import "tiebreak/internal/idrl"

// mostNumber is the largest that a number without another bound may be.
const mostNumber = 1e6

// ruled says what is wrong with a setting of the stop rule.
func ruled(s idrl.SessionSpec, set bool) string {
	if set && !s.StatesRegret() {
		return "must keep its default with the model network: sessions with a network state no regret, so no rule can stop them"
	}
	return ""
}

// moreThanAChoice says what is wrong with what annotators may say beside a choice.
func moreThanAChoice(s idrl.SessionSpec, on bool) string {
	switch {
	case !on:
		return ""
	case !s.Kind.Comparison():
		return "is possible for comparisons, not for questions of type " + string(s.Kind)
	case s.Likelihood != "probit" && s.Likelihood != "bradley-terry":
		return "is possible with the likelihoods probit and bradley-terry, not with " + s.Likelihood
	}
	return ""
}

// controls says what is wrong with the control strategies. It does not know which there are.
func controls(s idrl.SessionSpec) string { return rest(s.CheckConditions()) }

// card says what is wrong with a part of a data card.
func card(c idrl.DataCard) string { return rest(c.Check()) }
