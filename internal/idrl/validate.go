package idrl

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Validate returns an error of kind Invalid that says what to change. It does
// not know which environments and acquisition functions exist.
func (s SessionSpec) Validate() error {
	oneOf := func(what, got string, known []string) error {
		for _, k := range known {
			if got == k {
				return nil
			}
		}
		return Errorf(Invalid, "unknown %s %q; known: %s", what, got, strings.Join(known, ", "))
	}
	kinds := make([]string, 0, 4)
	for _, k := range QueryKinds() {
		kinds = append(kinds, string(k))
	}
	for _, err := range []error{
		oneOf("query type", string(s.Kind), kinds),
		oneOf("model of the reward", s.Model, RewardModels()),
		oneOf("solver of policies", s.Solver, Solvers()),
		oneOf("return", s.Return, Returns()),
		oneOf("prior", s.Prior, Priors()),
		oneOf("likelihood", s.Likelihood, Likelihoods()),
		oneOf("model of a rating", s.RatingModel, RatingModels()),
		oneOf("rule of noise", s.Noise, NoiseRules()),
		oneOf("rule of questions", s.Questions, QuestionRules()),
	} {
		if err != nil {
			return err
		}
	}
	ruled := s.StopByItself || s.Tolerance != DefaultTolerance || s.Doubt != DefaultDoubt
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	switch {
	case len(s.Title) == 0 || len(s.Title) > MaxTitle:
		return Errorf(Invalid, "the title must have 1 to %d characters", MaxTitle)
	case s.Model == NetworkModel && s.Kind != CompareClips:
		return Errorf(Invalid, "the model %q learns from comparisons of clips (query type %q), not from questions of type %q; use the model %q",
			NetworkModel, CompareClips, s.Kind, FeaturesModel)
	case s.Noise == OwnNoise && !s.CanOwnNoise():
		return Errorf(Invalid, "each annotator can have a noise of their own with the likelihoods probit and bradley-terry, or ratings, and the model %q; "+
			"for other sessions use the noise %q", FeaturesModel, SharedNoise)
	case s.Kind.Group() && s.Likelihood != Likelihoods()[0]:
		return Errorf(Invalid, "the best and the worst of a group (query type %q) have a likelihood of their own, which goes with %q and its noise; got %q",
			GroupClips, Likelihoods()[0], s.Likelihood)
	case ruled && !s.StatesRegret():
		return Errorf(Invalid, "sessions with the model %q state no regret, so that no rule can stop them: leave the tolerance, the doubt and "+
			"stopping by itself as they are, or use the model %q", NetworkModel, FeaturesModel)
	case s.CurrentInstructions().Check() != nil:
		return s.CurrentInstructions().Check()
	case CheckBudget(s.Budget) != nil:
		return CheckBudget(s.Budget)
	case s.AnswersEach < 0 || s.AnswersEach > MaxBudget:
		return Errorf(Invalid, "each person can be asked for 1 to %d answers, or for any number: 0; got %d", MaxBudget, s.AnswersEach)
	case s.Candidates < 2 || s.Candidates > 50:
		return Errorf(Invalid, "candidates must be 2 to 50; got %d", s.Candidates)
	case s.Ahead < 1 || s.Ahead > 10:
		return Errorf(Invalid, "questions ahead must be 1 to 10; got %d", s.Ahead)
	case !validCode(s.CompletionCode):
		return Errorf(Invalid, "the completion code must be at most %d printable characters", MaxCode)
	case s.CurrentConsent().Check() != nil:
		return s.CurrentConsent().Check()
	case s.WithdrawDays < 0 || s.WithdrawDays > MaxWithdrawDays:
		return Errorf(Invalid, "people can be offered to withdraw their data for 1 to %d days, or not: 0; got %d", MaxWithdrawDays, s.WithdrawDays)
	case s.RepeatEvery < 0 || s.RepeatEvery == 1 || s.RepeatEvery > MaxBudget:
		return Errorf(Invalid, "a repeat can come every 2 to %d questions, or never: 0; got %d", MaxBudget, s.RepeatEvery)
	case !(s.MinDwell >= 0 && s.MinDwell <= 1):
		return Errorf(Invalid, "the least share of a clip that is to be seen must be 0 to 1; got %v", s.MinDwell)
	case s.MaxRate < 0 || s.MaxRate > MaxRate:
		return Errorf(Invalid, "the most answers a minute must be 1 to %d, or 0 for no limit; got %d", MaxRate, s.MaxRate)
	case CheckGoldEvery(s.GoldEvery) != nil:
		return CheckGoldEvery(s.GoldEvery)
	case s.TrainEvery < 0:
		return Errorf(Invalid, "answers between two trainings must be at least 1, or 0 to go by how long trainings take; got %d", s.TrainEvery)
	case s.AdoptAfter < 0 || s.AdoptAfter > s.TrainEvery:
		return Errorf(Invalid, "adopt-after must be 0 to %d, the answers between two trainings; got %d", s.TrainEvery, s.AdoptAfter)
	case !(s.Tolerance > 0 && s.Tolerance < 1) || !(s.Doubt > 0 && s.Doubt < 1):
		return Errorf(Invalid, "the tolerance and the doubt of the stop rule must be above 0 and below 1; got %v and %v", s.Tolerance, s.Doubt)
	case !positive(s.PriorVar) || !positive(s.NoiseStd) || !positive(s.TieBand) || !positive(s.RatingVar):
		return Errorf(Invalid, "prior variance, noise, tie band and rating variance must be positive numbers")
	case s.checkConditions() != nil:
		return s.checkConditions()
	case s.validateMore() != nil:
		return s.validateMore()
	case s.validateUploads() != nil:
		return s.validateUploads()
	case s.IsArena() && s.Arena.Validate() != nil:
		return s.Arena.Validate()
	case s.PriorScale != nil && s.Features != nil && len(s.PriorScale) != len(s.Features):
		return Errorf(Invalid, "the prior has %d scales for %d features", len(s.PriorScale), len(s.Features))
	case slices.ContainsFunc(s.PriorScale, func(v float64) bool { return !positive(v) }):
		return Errorf(Invalid, "the scales of the prior must be positive numbers")
	}
	return nil
}

// validateMore checks what annotators may say beside a choice.
func (s SessionSpec) validateMore() error {
	said := "strength"
	if s.Remarks {
		said = "remarks"
	}
	switch {
	case !s.Strength && s.MuchBand != 0:
		return Errorf(Invalid, "the much band goes only with strength: switch that on, or leave the band away")
	case !s.Strength && !s.Remarks:
		return nil
	case !s.Kind.Comparison():
		return Errorf(Invalid, "%s goes with comparisons, not with questions of type %q", said, s.Kind)
	case s.Likelihood != "probit" && s.Likelihood != "bradley-terry":
		return Errorf(Invalid, "%s goes with the likelihoods probit and bradley-terry, not with %q", said, s.Likelihood)
	case s.Remarks && s.Model == NetworkModel:
		return Errorf(Invalid, "remarks are not learnt from by the model %q, whose reward has no zero; use the model %q", NetworkModel, FeaturesModel)
	case s.Strength && !(s.MuchBand > s.TieBand && !math.IsInf(s.MuchBand, 1)):
		return Errorf(Invalid, "the much band must be a number above the tie band %v; got %v", s.TieBand, s.MuchBand)
	}
	return nil
}

// CheckBudget returns an error of kind Invalid unless a session may want that many
// answers.
func CheckBudget(answers int) error {
	if answers < 0 || answers > MaxBudget {
		return Errorf(Invalid, "the budget must be 0 (no limit) to %d answers; got %d", MaxBudget, answers)
	}
	return nil
}

// CheckGoldEvery returns an error of kind Invalid unless gold questions can come that often.
func CheckGoldEvery(n int) error {
	if n < 0 || n == 1 || n > MaxBudget {
		return Errorf(Invalid, "a gold question can come every 2 to %d questions, or never: 0; got %d", MaxBudget, n)
	}
	return nil
}

// validCode reports whether a completion code can be shown and copied.
func validCode(code string) bool { return len(code) <= MaxCode && validLine(code) }

// validLine reports whether text is one line of printable characters.
func validLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
