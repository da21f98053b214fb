package stopping

import (
	"fmt"
	"math"
	"strings"

	"tiebreak/internal/idrl"
)

// An Objection is a reason not to stop although the statement of regret meets the rule. While there
// is one, the session does not propose to stop and gives no forecast.
type Objection struct {
	Code  string // one of the codes below
	Words string // a sentence for researchers; it may name policies and features
}

// Codes of objections.
const (
	ByUntrained = "untrained" // no policy was trained on this session's answers
	ByReturns   = "returns"   // the two returns of policies disagree about the best one
	ByUnasked   = "unasked"   // weights that decide between the best policies were not asked about
	ByUntested  = "untested"  // a trained policy is expected to be better, and was not compared with the recommended one

	ByUnpredicted = "unpredicted" // answers were predicted no better than by guessing
	ByFeatures    = "features"    // people judge by something that is not in the features
)

// ObjectUntrained is the objection while all policies were made before the first answer.
func ObjectUntrained() Objection {
	return Objection{ByUntrained, "No policy has been trained from the answers yet: all policies were made before the first answer."}
}

// ObjectUntested is the objection while policy challenger, which was trained, is expected to be better than the
// recommended one by that share of the range, and people have not compared them enough. A share of 0 is not known.
func ObjectUntested(challenger, recommended string, share float64) Objection {
	by := ""
	if share > 0 {
		by = fmt.Sprintf(" by %.0f\u00a0%% of the range", math.Max(1, math.Round(100*share)))
	}
	return Objection{ByUntested, fmt.Sprintf("%s is expected to be better than %s%s, but people have not compared enough clips of the two yet. %s stays recommended until they do.",
		challenger, recommended, by, recommended)}
}

// ObjectUnpredicted is the objection if answers are not predicted better than by guessing.
func ObjectUnpredicted() Objection {
	return Objection{ByUnpredicted, "The answers so far could not be predicted from one another better than by guessing. Either they are still too few, or people answer inconsistently."}
}

// ObjectFeatures is the objection if answers are exp(log) times as probable in a model with an additional
// value for each clip. rows are the log rows of the answers that the features explain worst. recorded says that the session is about recordings
// or uploads, which have no reward network.
func ObjectFeatures(log float64, rows []int64, recorded bool) Objection {
	more := math.Exp(min(log, mostLog))
	words := fmt.Sprintf("Answers follow something that the features do not tell: they are %.0f times as probable if each clip also has a value of its own. "+
		"If the features tell all that people judge by, that number exceeds %.0f in at most 5 of 100 sessions. ", more, 1/unlikely)
	if len(rows) > 0 {
		var list []string
		for _, row := range rows {
			list = append(list, fmt.Sprint(row))
		}
		words += fmt.Sprintf("The features explain these worst: answers %s on the page of questions. Look for what their clips have in common. ", strings.Join(list, ", "))
	}
	if recorded {
		return Objection{ByFeatures, words + "Then give the recordings or uploads that as a feature, too, and start a session about these."}
	}
	return Objection{ByFeatures, words + "Then start a session in an environment with that as a feature or, where the environment allows it, with a reward network, which learns features from what a robot observes."}
}

// unlikely is the probability of ObjectFeatures if people judge by the features alone, and mostLog the greatest
// logarithm that is written out.
const (
	unlikely = 0.05
	mostLog  = 13.8 // a million times
)

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
