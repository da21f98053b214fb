package web

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
	"tiebreak/web/statement"
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
	r, said := st.Regret[len(st.Regret)-1], statement.Of(st)
	return &statementState{
		Seq: r.Seq, Definition: r.Definition, Best: st.Best, Led: st.Led, Within: finite(r.Within), Tolerance: r.Tolerance,
		Bound: finite(r.Bound), Mean: finite(r.Mean), Unbeaten: finite(r.Unbeaten), Span: finite(r.Span),
		Policies: r.Policies, Against: st.Basis, Return: st.Return,
		Headline: said.Headline, Limit: said.Limit, Expected: said.Expected,
		Relative: said.Relative,
		Stop:     said.Stop, MayStop: st.Stopping.Propose,
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
