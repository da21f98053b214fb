package rehearsal

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/session"
)

// A truth compares what a session recommends with the true reward. It reads what the
// server stored: neither the annotators' pages nor those of researchers tell what a
// policy does, and none is to learn the true reward.
type truth struct {
	data    Data
	session idrl.SessionID
	theta   []float64 // true weights, length d

	best    []float64 // feature expectation of the best policy that a solver finds; nil where solving takes too long
	against Against
}

// Against says what the best true return is that of.
type Against string

// Values of Against.
const (
	AgainstOptimum Against = "optimum" // the best policy there is: exact solvers
	AgainstSearch  Against = "search"  // the best policy found in many searches, or a known one if that is better
	AgainstKnown   Against = "known"   // the best policy that the session knows: environments that take long to solve
)

// people says it in words.
func (a Against) people() string {
	switch a {
	case AgainstOptimum:
		return "the best policy there is"
	case AgainstSearch:
		return fmt.Sprintf("the best policy found in %d searches", searches)
	default:
		return "the best policy that the session knows"
	}
}

// searches is the number of starts in the search for the best policy of an
// environment that is not tabular.
const searches = 100

// A Comparison is what a session recommends beside the truth. Returns are under the
// true reward. The true span is the range of returns from the worst policy that the
// session knows to the best one, known or not.
type Comparison struct {
	Given    int   // answers that the simulated annotator has given
	Seq      int64 // of the last log row
	BasedOn  int64 // of the generation in use; -1 if there is none, and then all below is zero
	Policies int   // that the session knows

	Recommended idrl.PolicyID
	Return      float64 // of the recommended policy
	Best        float64 // of the best policy
	BestKnown   float64 // of the best policy that the session knows
	Against     Against // which policy Best is about
	Span        float64 // Best less the return of the worst known policy

	Regret      float64     // (Best − Return)/Span; 0 where Span is
	RegretKnown float64     // (BestKnown − Return)/Span; 0 where Span is
	Shown       idrl.Regret // what the session's page says: shares of a span under draws from the posterior; NaN where it says nothing
	Cosine      float64     // of the posterior mean of the weights and the true weights

	// Worth is the mean worth of the clips of the recommended policy to a person who sees, and
	// WorthClips their number; 0 under a true reward. For a person all of the truth is NaN.
	Worth      float64
	WorthClips int

	ResponseS float64 // of the last answer: how long the annotator took by its clock, s
}

// Stated reports whether the session's page states a regret.
func (c Comparison) Stated() bool { return !math.IsNaN(c.Shown.Within) }

// True reports whether there is a true reward.
func (c Comparison) True() bool { return !math.IsNaN(c.Return) }

// nothingStated returns what a page shows that states no regret.
func nothingStated(tolerance float64) idrl.Regret {
	nan := math.NaN()
	return idrl.Regret{Tolerance: tolerance, Within: nan, Bound: nan, Unbeaten: nan, Mean: nan, Span: nan}
}

// Covered reports whether the true regret is within the bound that holds with a
// probability of 95 % by the session's page.
func (c Comparison) Covered() bool { return c.Regret <= c.Shown.Bound }

// Small reports whether the true regret is at most the tolerance of the session.
func (c Comparison) Small() bool { return c.Regret <= c.Shown.Tolerance }

// newTruth returns the truth about the session of a record in env, for true weights
// theta.
func newTruth(ctx context.Context, data Data, rec record.Record, env idrl.Environment, theta []float64) (*truth, error) {
	t := &truth{data: data, session: rec.Spec.ID, theta: theta, against: AgainstKnown}
	s, err := solver.For(env)
	if err != nil {
		return nil, err
	}
	switch s.(type) {
	case solver.Tabular:
		t.against = AgainstOptimum
	case solver.ActionSequence:
		t.against = AgainstSearch
	default:
		return t, nil
	}
	p, err := s.Solve(ctx, idrl.SolveTask{Env: env, Theta: theta, Restarts: searches}, rng.New(rec.Spec.Seed, "true best", 0))
	if err != nil {
		return nil, fmt.Errorf("find the best policy under the true reward: %w", err)
	}
	t.best = solver.Mu(env, p, rng.New(rec.Spec.Seed, "true best", 1))
	return t, nil
}

// compare returns what the session recommends now beside the truth.
func (t *truth) compare(ctx context.Context) (Comparison, error) {
	r, err := review(ctx, t.data, t.session)
	if err != nil {
		return Comparison{}, err
	}
	if r.Best.ID == "" {
		return Comparison{Seq: r.Seq, BasedOn: -1}, nil
	}
	return t.tell(r), nil
}

// stated returns what a session states of the policy that it recommends, without the truth.
func stated(r session.Review) Comparison {
	c := Comparison{Seq: r.Seq, BasedOn: r.BasedOn, Policies: len(r.Known), Recommended: r.Best.ID, Shown: r.Regret}
	if r.Regret.Definition == 0 {
		c.Shown = nothingStated(r.Regret.Tolerance)
	}
	return c
}

// tell compares a review, which has a recommended policy, with the truth.
func (t *truth) tell(r session.Review) Comparison {
	c := stated(r)
	c.Against, c.Return, c.Cosine = t.against, floats.Dot(t.theta, r.Best.Mu), cosine(r.Mean, t.theta)
	least := c.Return
	c.BestKnown = c.Return
	for _, p := range r.Known {
		g := floats.Dot(t.theta, p.Mu)
		c.BestKnown, least = max(c.BestKnown, g), min(least, g)
	}
	c.Best = c.BestKnown
	if t.best != nil {
		c.Best = max(c.Best, floats.Dot(t.theta, t.best))
	}
	c.Span = c.Best - least
	c.Regret, c.RegretKnown = share(c.Best-c.Return, c.Span), share(c.BestKnown-c.Return, c.Span)
	return c
}

// rounding is the share of the span up to which returns of equally good policies may
// differ by rounding.
const rounding = 1e-9

// share returns loss/span, and 0 if that is rounding or span is 0.
func share(loss, span float64) float64 {
	if !(loss > rounding*span) {
		return 0
	}
	return loss / span
}

// cosine returns a·b/(|a||b|), and 0 if either is zero or they are weights of different
// features.
func cosine(a, b []float64) float64 {
	if len(a) != len(b) {
		return 0
	}
	if n := floats.Norm(a, 2) * floats.Norm(b, 2); n > 0 {
		return floats.Dot(a, b) / n
	}
	return 0
}

// String says it for people, in lines without an end of the last.
func (c Comparison) String() string {
	if c.Recommended == "" {
		return "There are no candidates yet to compare."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "After answer %d the session recommends %s, one of %d known policies; its candidates were trained after answer %d.\n",
		c.Seq, c.Recommended, c.Policies, c.BasedOn)
	if !c.True() {
		fmt.Fprintf(&b, "  Worth to the seeing expert: %.4g, the mean of %d clips of that policy. There is no true reward.", c.Worth, c.WorthClips)
		return b.String()
	}
	fmt.Fprintf(&b, "  True return: %.4g; %.4g of %s; %.4g from the worst known policy to that (the span).\n", c.Return, c.Best, c.Against.people(), c.Span)
	fmt.Fprintf(&b, "  True regret: %s of the span; %s against the best known policy.\n", percent(c.Regret), percent(c.RegretKnown))
	if !c.Stated() {
		b.WriteString("  Page says:   nothing about regret, because the reward is a network.")
		return b.String()
	}
	fmt.Fprintf(&b, "  Page says:   at most %s with a probability of %s; at most %s with a probability of 95 %%; %s on average. Span: %.4g.\n",
		percent(c.Shown.Tolerance), percent(c.Shown.Within), percent(c.Shown.Bound), percent(c.Shown.Mean), c.Shown.Span)
	fmt.Fprintf(&b, "  Cosine of the mean weights and the true weights: %.3f", c.Cosine)
	return b.String()
}

// brief says it in a few words.
func (c Comparison) brief() string {
	if !c.True() {
		return fmt.Sprintf("worth at the end of the last run: %.3g", c.Worth)
	}
	return "true regret at the end of the last run: " + percent(c.Regret)
}

// percent writes a share for people.
func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
