package acquisition

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// A Function is an acquisition function.
type Function interface {
	// Score stores the value of every query of in.Table in dst, whose length is the
	// number of queries. It returns the pair of policies that the values are about, with
	// indexes -1 if there is none. The result is a function of in and its streams. Errors
	// are those of in.Solve, and of kind Invalid if a query is of a kind that the function
	// cannot value (Method.Fits says so earlier).
	Score(dst []float64, in *Input) (Pair, error)
}

// Input holds the data from which a question is chosen. Fields that a function does not
// need may be zero.
type Input struct {
	Table      *Table
	Candidates int        // the first policies of the table are the present candidates; the others are an archive
	Rand       *rand.Rand // for ties and samples; nil: ties go to the first, and functions that sample panic

	// Best is the highest rating so far, and Rated whether there is one (EIR).
	Best  float64
	Rated bool

	// Observed says whether the belief has taken in an answer. Only functions in paper
	// mode read it: the predictive variances of the authors' code include the noise of an
	// answer only after the first one.
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
	// returns of policies i and j, because its covariances include observation noise.
	// Only functions in paper mode read it; nil: none.
	Noise func(i, j int) float64

	// Weight returns the factor by which Select multiplies the value of query q, > 0, given
	// the mean and the variance of θ·x_q: the probability that the person answers. Values
	// must not be negative; those of live methods are not (Method.Live). If all values are
	// 0 it changes nothing. Score does not use it. Nil: ones.
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
