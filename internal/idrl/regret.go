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
	Answers    int // that the posterior had learnt from; it follows from the log, and no store keeps it
	Definition int
	Policies   int     // number of different known policies, including the best
	Tolerance  float64 // share of the span up to which a loss counts as small; a setting of the session
	Within     float64 // probability that the loss is at most Tolerance
	Bound      float64 // the loss is at most this with a probability of 95 %
	Unbeaten   float64 // probability that no known policy is better at all
	Mean       float64 // expected loss
	Span       float64 // expected span, a return
}
