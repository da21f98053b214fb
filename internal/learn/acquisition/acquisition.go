package acquisition

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// A Function is an acquisition function.
type Function interface {
	// Score stores the value of every query of in.Table in dst, whose length is
	// theirs, and returns the pair of policies that the values are about, or one
	// with indexes -1 if they are about no pair. It is a function of in and its
	// streams. Its errors are those of in.Solve, and of kind Invalid if a query
	// is of a kind that the function cannot value (Method.Fits says so earlier).
	Score(dst []float64, in *Input) (Pair, error)
}

// Input holds the data that a question is chosen by. Fields that a function does not need
// may be zero.
type Input struct {
	Table      *Table
	Candidates int        // the first policies of the table, which are the present candidates; the rest are an archive
	Rand       *rand.Rand // of ties and of samples; nil: the first of equals, and no function that samples

	// Best is the highest rating so far, and Rated whether there is one (EIR).
	Best  float64
	Rated bool

	// Observed says whether the belief holds an answer. Functions in paper mode
	// read it: the predictive variances of the authors' code hold the noise of an
	// answer from the first one on.
	Observed bool

	// Solve returns the parameters of an optimal policy for reward weights, and
	// Distance how far two policies' parameters lie apart; nil: DiffersIn (EPD).
	Solve    func(theta []float64) ([]float64, error)
	Distance func(a, b []float64) float64

	// Pool holds the policies that comparisons of whole trajectories are about,
	// with the weights that each is optimal for (MR): query q compares those
	// whose Clip is q.Clips[0] and q.Clips[1].
	Pool []idrl.Candidate

	// History holds the answers so far (MR with Wilde's belief).
	History []Asked

	// Noise is the variance that the authors' code adds to the difference of the
	// returns of policies i and j, for its covariances are those of
	// observations. Only functions in paper mode read it; nil: none.
	Noise func(i, j int) float64

	// Weight returns what the value of query q is multiplied by when one is selected, > 0,
	// given the mean and the variance of θ·x_q: the probability that the person answers. The
	// values must not be negative, which those of live methods are not (Method.Live). Where
	// all values are 0 it changes nothing. Score leaves it out. Nil: ones.
	Weight func(q int, mean, variance float64) float64

	best bool // only the query with the highest value is wanted; set by Select
}

// Asked is a query with its answer.
type Asked struct {
	Query  idrl.QueryVector
	Answer idrl.Answer
}

// Uniform values all queries alike, so that ties decide.
type Uniform struct{}

var _ Function = Uniform{}

// Score implements Function.
func (Uniform) Score(dst []float64, in *Input) (Pair, error) {
	in.Table.clear(dst)
	return noPair(), nil
}
