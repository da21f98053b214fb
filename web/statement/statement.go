package statement

import (
	"fmt"
	"math"
	"strings"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
)

// Words are a statement of regret in words.
type Words struct {
	Headline string // no sentence: how sure it is that the best policy found is good enough
	Limit    string
	Expected string
	Relative string // with what the best policy is compared
	Stop     string // whether to stop, or how many answers are left
}

// Of returns the words of the last statement of a session, which must have one.
func Of(st view.Status) Words {
	r := st.Regret[len(st.Regret)-1]
	return Words{
		Headline: headline(st, r) + byReturn(st), Limit: limit(r), Expected: expected(r),
		Relative: relative(st, r.Policies) + dropped(st.Dropped), Stop: stop(st.Stopping, r.Tolerance),
	}
}

// byReturn says by which return policies of imported rollouts are compared, and of what the reward is.
func byReturn(st view.Status) string {
	if st.Return == "" {
		return ""
	}
	of := ""
	if st.Recordings != nil {
		of = fmt.Sprintf(" (reward of %s)", st.Recordings.RewardOf)
	}
	return ", " + stopping.InWords(st.Return) + of
}

func headline(st view.Status, r idrl.Regret) string {
	best := "the best one known"
	switch {
	case st.Basis == view.AgainstOptima:
		best = "the best there is"
	case st.Recordings != nil:
		best = "the best of " + recorded(st.Recordings)
	}
	return fmt.Sprintf("%s sure that the best policy found is within %s of %s", atLeast(r.Within), atMost(r.Tolerance), best)
}

func limit(r idrl.Regret) string {
	if r.Bound == 0 {
		return fmt.Sprintf("In %s of draws from the posterior, no known policy is better.", strings.ToLower(atLeast(r.Unbeaten)))
	}
	if r.Bound > 0.99 {
		return "Its loss may still be as large as the whole range from the worst to the best policy."
	}
	return fmt.Sprintf("With 95\u00a0%% certainty its loss is less than %s of the range from the worst to the best policy.", atMost(r.Bound))
}

// Loss writes an expected loss, a share of the range.
func Loss(mean float64) string {
	if mean > 0 && mean < 0.001 {
		return "less than 0.1\u00a0%"
	}
	return fmt.Sprintf("%.2g\u00a0%%", 100*mean)
}

func expected(r idrl.Regret) string {
	loss := Loss(r.Mean)
	if r.Bound > 0 && r.Mean > r.Bound {
		return fmt.Sprintf("Expected loss: %s of the range, because of larger losses in the other 5\u00a0%%.", loss)
	}
	return fmt.Sprintf("Expected loss: %s of the range.", loss)
}

// stop says whether the session may stop, or about how many answers are left.
func stop(s stopping.Stopping, tolerance float64) string {
	sure := fmt.Sprintf("%s sure of a loss within %s", atLeast(1-s.Doubt), atMost(tolerance))
	switch {
	case len(s.Objections) > 0:
		return "This is not enough to stop, because:"
	case s.Propose && s.ByItself:
		return fmt.Sprintf("Stopped: after three answers in a row it was at least %s.", sure)
	case s.Propose:
		return fmt.Sprintf("You can stop: after three answers in a row it was at least %s.", sure)
	case s.Held > 0:
		return fmt.Sprintf("At least %s after %s; after three in a row you can stop.", sure, answersInARow(s.Held))
	case !s.Left.Known:
		return fmt.Sprintf("Not yet. It is not known how many answers it takes until it is %s after three answers in a row.", sure)
	}
	return fmt.Sprintf("Not yet: about %s more answers (%s to %s) until it is %s after three answers in a row.", words.Count(s.Left.About), words.Count(s.Left.Least), words.Count(s.Left.Most), sure)
}

func answersInARow(n int) string {
	if n == 1 {
		return "the last answer"
	}
	return fmt.Sprintf("the last %d answers", n)
}

// recorded says what is compared in sessions about imported rollouts: "the 2 recorded policies".
func recorded(r *view.Recordings) string {
	if r.Named {
		return fmt.Sprintf("the %d recorded policies", r.Policies)
	}
	return fmt.Sprintf("the %d recorded episodes", r.Policies)
}

// About says what questions and statements are relative to in sessions about imported rollouts; it is empty for others.
func About(r *view.Recordings) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("Questions are chosen, and policies compared, among %s, by a reward that is a weighted sum of %s. What these numbers do not tell cannot be learnt.", Among(r), r.RewardOf)
}

// Among says what imported rollouts are: "the 2 recorded policies in 12 episodes".
func Among(r *view.Recordings) string {
	if !r.Named {
		return recorded(r)
	}
	return fmt.Sprintf("%s in %s", recorded(r), words.Plural(r.Episodes, "episode"))
}

func relative(st view.Status, policies int) string {
	switch st.Basis {
	case view.AgainstSearch:
		return fmt.Sprintf("Measured against the best policies found so far (%d); better ones may exist.", policies)
	case view.AgainstEarlier:
		return fmt.Sprintf("Measured against the candidates and earlier policies only (%d): "+
			"this session was begun by a version that did not keep the policies prepared at the start.", policies)
	case view.AgainstUploads:
		return fmt.Sprintf("Measured against the %d different clips that were uploaded; better behaviour than theirs may exist.", policies)
	case view.AgainstGiven:
		if st.Recordings != nil {
			return About(st.Recordings) + " Better behaviour than theirs may exist."
		}
		return fmt.Sprintf("Measured against the %d different policies of the rollouts; better behaviour than theirs may exist.", policies)
	case view.AgainstOptima:
		return fmt.Sprintf("Measured against the %d different policies solved so far, each of which is the best for some weights.", policies)
	case view.AgainstPool:
	}
	return fmt.Sprintf("Measured against the %d different policies solved so far; better ones may exist.", policies)
}

// dropped says how many earlier policies are left out.
func dropped(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " The oldest policy of an earlier generation is left out."
	}
	return fmt.Sprintf(" The %d oldest policies of earlier generations are left out.", n)
}

// atLeast returns a probability in words, rounded down to whole per cent, and never
// to certainty.
func atLeast(p float64) string {
	if p > 0.99 {
		return "More than 99\u00a0%"
	}
	return fmt.Sprintf("%.0f\u00a0%%", math.Floor(100*p+1e-9))
}

// atMost returns a share in words, rounded up to whole per cent, or below 2 % to
// tenths.
func atMost(share float64) string {
	if share < 0.02 {
		return fmt.Sprintf("%.2g\u00a0%%", math.Ceil(1000*share-1e-9)/10)
	}
	return fmt.Sprintf("%.0f\u00a0%%", math.Ceil(100*share-1e-9))
}
