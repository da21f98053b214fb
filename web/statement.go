package web

import (
	"fmt"
	"math"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
)

// A statementState is the statement of regret: the loss if the session stops now, in numbers and in
// words. Losses are shares of the span, the range of returns from the worst to the best policy.
type statementState struct {
	Seq        int64         `json:"seq"`
	Definition int           `json:"definition"`
	Best       idrl.PolicyID `json:"best"`
	Led        string        `json:"led"`       // why Best is recommended: "first", it has led since the first answers; "duel", people preferred it; empty, its expected return is the highest
	Within     float64       `json:"p_within"`  // probability that the best policy found loses at most Tolerance
	Tolerance  float64       `json:"tolerance"` // a share of the span
	Bound      float64       `json:"bound"`
	Mean       float64       `json:"mean"`
	Unbeaten   float64       `json:"unbeaten"`
	Span       float64       `json:"span"` // expected, a return
	Policies   int           `json:"policies"`
	Against    view.Basis    `json:"against"`
	Return     string        `json:"return"` // by which policies of imported rollouts are compared: "mean" or "sum"; empty for others

	Headline string `json:"headline"`
	Limit    string `json:"limit"`
	Expected string `json:"expected"`
	Relative string `json:"relative"` // with what the best policy is compared
	Stop     string `json:"stop"`     // whether to stop, or how many answers are left
	MayStop  bool   `json:"may_stop"`

	Objections []objectionState `json:"objections"` // why the statement is not enough to stop
}

// An objectionState is a reason why a statement is not enough to stop.
type objectionState struct {
	Code  string `json:"code"`
	Words string `json:"words"`
}

// statementOf returns the statement about the present of a session that has one.
func statementOf(st view.Status) *statementState {
	r := st.Regret[len(st.Regret)-1]
	return &statementState{
		Seq: r.Seq, Definition: r.Definition, Best: st.Best, Led: st.Led, Within: finite(r.Within), Tolerance: r.Tolerance,
		Bound: finite(r.Bound), Mean: finite(r.Mean), Unbeaten: finite(r.Unbeaten), Span: finite(r.Span),
		Policies: r.Policies, Against: st.Basis, Return: st.Return,
		Headline: headline(st.Basis, r) + byReturn(st.Return), Limit: limit(r), Expected: expected(r),
		Relative: relative(st.Basis, r.Policies) + dropped(st.Dropped),
		Stop:     stop(st.Stopping, r.Tolerance), MayStop: st.Stopping.Propose,
		Objections: objectionsOf(st),
	}
}

func objectionsOf(st view.Status) []objectionState {
	out := []objectionState{}
	for _, o := range st.Stopping.Objections {
		out = append(out, objectionState(o))
	}
	return out
}

// byReturn says by which return policies of imported rollouts are compared.
func byReturn(by string) string {
	if by == "" {
		return ""
	}
	return ", " + stopping.InWords(by)
}

func headline(b view.Basis, r idrl.Regret) string {
	best := "the best one known"
	if b == view.AgainstOptima {
		best = "the best there is"
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

func expected(r idrl.Regret) string {
	loss := fmt.Sprintf("%.2g\u00a0%%", 100*r.Mean)
	if r.Mean > 0 && r.Mean < 0.001 {
		loss = "less than 0.1\u00a0%"
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
		return fmt.Sprintf("Not yet known: how many answers until it is %s after three answers in a row.", sure)
	}
	return fmt.Sprintf("About %d more answers (%d to %d) until it is %s after three answers in a row.", s.Left.About, s.Left.Least, s.Left.Most, sure)
}

func answersInARow(n int) string {
	if n == 1 {
		return "the last answer"
	}
	return fmt.Sprintf("the last %d answers", n)
}

func relative(b view.Basis, policies int) string {
	switch b {
	case view.AgainstSearch:
		return fmt.Sprintf("Measured against the best policies found so far (%d); better ones may exist.", policies)
	case view.AgainstEarlier:
		return fmt.Sprintf("Measured against the candidates and earlier policies only (%d): "+
			"this session was begun by a version that did not keep the policies prepared at the start.", policies)
	case view.AgainstUploads:
		return fmt.Sprintf("Measured against the %d different clips that were uploaded; better behaviour than theirs may exist.", policies)
	case view.AgainstGiven:
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
