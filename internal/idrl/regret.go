package idrl

// RegretDefinition is what the numbers of a Regret mean today; package regret has
// the formulas. Definition 2 took the noise of answers for what the session assumes.
// Definition 1 was over the candidates in use alone, and Mean and Bound were returns;
// definition 0 stands for a row without a statement.
const RegretDefinition = 3

// Regret is the loss if the session stops after a log row: the difference of return between the
// best policy found and the best one known, as a share of the span, the range of returns from the
// worst to the best known policy under the same reward weights.
type Regret struct {
	Seq        int64
	Definition int
	Policies   int     // number of different known policies, including the best
	Tolerance  float64 // share of the span up to which a loss counts as small; a setting of the session
	Within     float64 // probability that the loss is at most Tolerance
	Bound      float64 // the loss is at most this with a probability of 95 %
	Unbeaten   float64 // probability that no known policy is better at all
	Mean       float64 // expected loss
	Span       float64 // expected span, a return
}

// Basis is the set of policies with which a Regret compares the best one.
type Basis string

// Bases of a Regret.
const (
	AgainstOptima  Basis = "optima"  // found by an exact solver for draws from the prior and from posteriors of this session's answers
	AgainstPool    Basis = "pool"    // solved for draws from the prior and from the posteriors so far
	AgainstSearch  Basis = "search"  // found by a search of bounded length
	AgainstEarlier Basis = "earlier" // candidates alone: the session was begun before the pool was kept
	AgainstUploads Basis = "uploads" // the clips that were uploaded
	AgainstGiven   Basis = "given"   // the policies of rollouts that were imported
)

// Stopping says whether a session may stop (package stopping).
type Stopping struct {
	Doubt    float64  // of the rule
	ByItself bool     // the session stops when the rule is met
	Held     int      // answers in a row after which the statement held; 3 are enough
	Propose  bool     // reached: Held is large enough, the present statement holds, and there is no objection
	Left     Forecast // until then; not known while there are objections

	Objections []Objection // to the statement
}

// A Forecast is a number of answers. Its range is meant to be right in four of five cases.
type Forecast struct {
	Known bool // otherwise it is not known yet
	Least int
	About int
	Most  int
}
