package stopping

import (
	"fmt"
	"math"

	"tiebreak/internal/idrl"
)

// An Objection is a reason why the statement of regret is not enough to stop, however probable it
// calls a small loss. If there is one, the session does not propose to stop, and gives no number of
// answers that are left.
type Objection struct {
	Code  string // one of the codes below
	Words string // a sentence for researchers; it may name policies and features
}

// Codes of objections.
const (
	ByUntrained = "untrained" // no policy was trained on this session's answers
	ByReturns   = "returns"   // the two returns of policies disagree about the best one
	ByUnasked   = "unasked"   // what decides between the best policies was not asked about
	ByUntested  = "untested"  // a trained policy is expected to be better, and was not compared with the recommended one

	ByUnpredicted = "unpredicted" // answers were predicted no better than by guessing
)

// ObjectUntrained is the objection while all policies were made before the first answer.
func ObjectUntrained() Objection {
	return Objection{ByUntrained, "No policy has been trained from the answers yet: all policies were made before the first answer."}
}

// ObjectUntested is the objection while policy challenger, which was trained, is expected to be better than the
// recommended one by that share of the range, but people have not compared the two. Both are names.
func ObjectUntested(challenger, recommended string, gain float64) Objection {
	return Objection{ByUntested, fmt.Sprintf("%s is expected to be better than %s by %.0f\u00a0%% of the range, but people have not compared enough clips of the two yet. %s stays recommended until they do.",
		challenger, recommended, math.Max(1, math.Round(100*gain)), recommended)}
}

// ObjectUnpredicted is the objection where answers may as well be guesses.
func ObjectUnpredicted() Objection {
	return Objection{ByUnpredicted, "The answers so far could not be predicted from one another better than by guessing. Either they are still too few, or people answer inconsistently."}
}

// lengths is the reason why answers do not decide between returns.
const lengths = "Answers about clips of one length do not show the value of a longer episode."

// ObjectReturns is the objection where policy mean is best by the mean reward of a step, but sum
// by the sum over the episode. Both are names.
func ObjectReturns(mean, sum string) Objection {
	return Objection{ByReturns, fmt.Sprintf("The result depends on the definition of return: %s is best %s, and %s is best %s. %s", mean, InWords(idrl.MeanReturn), sum, InWords(idrl.SumReturn), lengths)}
}

// ObjectOtherReturn is the objection if policy best (a name) is nearly the best only with
// probability p under the return that the session does not use.
func ObjectOtherReturn(best, by string, p float64) Objection {
	return Objection{ByReturns, fmt.Sprintf("The result depends on the definition of return: %s, the probability that %s is good enough is only %.0f\u00a0%%. %s", InWords(by), best, math.Floor(100*p), lengths)}
}

// InWords names the return by which policies are compared.
func InWords(by string) string {
	switch by {
	case idrl.MeanReturn:
		return "by the mean reward of a step"
	case idrl.SumReturn:
		return "by the sum over the episode"
	}
	return ""
}

// ObjectUnasked is the objection if the answers give no information about the difference that
// decides between policies first and second: mostly the weight of a feature, or a combination if
// that is empty.
func ObjectUnasked(first, second, feature string) Objection {
	what := "a combination of weights"
	if feature != "" {
		what = fmt.Sprintf("the weight of “%s”", feature)
	}
	return Objection{ByUnasked, fmt.Sprintf("The answers so far say nothing about %s, which decides between %s and %s.", what, first, second)}
}
