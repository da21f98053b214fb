package acquisition

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
)

// A Selection is the query to ask, and the reason for it. If no query has information about
// the policies that the function compares, the query is drawn at random and has no pair.
type Selection struct {
	Query         int     // index of the table's query; -1 if there is none
	First, Second int     // indexes of the policies about whose difference the answer has most information; -1 without a pair
	Rivals        int     // policies that the function compares First with, Second among them; 0 without a pair
	PairStd       float64 // standard deviation of the difference of the returns of First and Second; 0 without a pair
	Info          float64 // expected information about the differences that are compared, nats; 0 without a pair

	// Shares are the rivals of First with the largest parts in the value of the query, the
	// largest first; unused places have Part 0, as all have without a pair.
	Shares [record.MaxShares]Share

	// Chances has the probability of each policy to be the best, by the draws of the
	// function. It is nil if the function does not draw, or there is no pair.
	Chances []float64
}

// A Share is how much of the value of a query is about one rival.
type Share struct {
	Policy int     // index
	Part   float64 // share of the expected reduction of the weighted variance, in [0, 1]
}

// Select returns the query with the highest value of f times its weight. Exact ties, between
// pairs of candidates and between queries, are broken uniformly by in.Rand.
func Select(f Function, in *Input) (Selection, error) {
	t, quick := in.Table, *in
	quick.best = true
	t.setWeights(in.Weight)
	defer t.setWeights(nil)
	t.scores = sized(t.scores, len(t.queries))
	scores := t.scores
	clear(scores)
	p, err := f.Score(scores, &quick)
	if err != nil {
		return Selection{}, err
	}
	if t.weights != nil {
		floats.Mul(scores, t.weights)
	}
	s := Selection{Query: argmax(scores, in.Rand), First: -1, Second: -1}
	if p.First >= 0 && s.Query >= 0 {
		t.explain(&s, p)
	}
	return s, nil
}

// setWeights sets the weights of a selection; nil for ones.
func (t *queryMoments) setWeights(of func(q int, mean, variance float64) float64) {
	if t.weights = nil; of == nil {
		return
	}
	t.spare = sized(t.spare, len(t.queries))
	for i := range t.spare {
		t.spare[i] = of(i, t.mean[i], t.vari[i])
	}
	t.weights = t.spare
}

// explain sets the reason for s.Query, if the values are about p. If First is compared with
// several policies, Second is the one whose weighted variance the answer reduces most, and
// Info is about all of them: that of one Gaussian quantity with the sum of their weighted
// variances.
func (t *Table) explain(s *Selection, p Pair) {
	second, rivals, gone, whole := t.challenger(s, p)
	delta := t.delta(p.First, second)
	variance := t.variance(delta) // leaves Σδ in t.sx
	if p.share == nil {
		cov := floats.Dot(t.sx, row(t.c, s.Query))
		gone, whole = cov*cov*t.infoOf(s.Query), variance
	}
	if !(gone > 0) {
		return
	}
	if p.share == nil {
		s.Shares[0] = Share{second, gone}
	}
	for i := range s.Shares {
		s.Shares[i].Part /= gone
	}
	s.First, s.Second, s.Rivals = p.First, second, rivals
	s.PairStd, s.Info, s.Chances = math.Sqrt(variance), information(gone, whole), p.chances
}

// challenger returns the policy whose weighted variance of the difference from p.First the
// answer to s.Query reduces most, the number of policies with a weight, the sum of the
// expected reductions, and the sum of the weighted variances. Without weights it returns
// p.Second, 1, 0 and 0. It sets s.Shares to the largest reductions, not yet divided by their
// sum.
func (t *Table) challenger(s *Selection, p Pair) (second, rivals int, gone, whole float64) {
	if p.share == nil {
		return p.Second, 1, 0, 0
	}
	q := s.Query
	second = p.Second
	most, sx := 0.0, t.sx
	t.belief.CovMul(sx, row(t.c, q))
	for j, share := range p.share {
		if !(share > 0) {
			continue
		}
		cov := floats.Dot(sx, t.delta(p.First, j))
		less := share * cov * cov * t.infoOf(q)
		rivals, gone, whole = rivals+1, gone+less, whole+share*t.spread(j, p.First)
		if less > most {
			most, second = less, j
		}
		s.insert(Share{j, less})
	}
	return second, rivals, gone, whole
}

// insert inserts a share in descending order, after equal ones.
func (s *Selection) insert(one Share) {
	for i, other := range s.Shares {
		if one.Part > other.Part {
			copy(s.Shares[i+1:], s.Shares[i:])
			s.Shares[i] = one
			return
		}
	}
}

// information returns −½ log(1 − gone/variance) nats, the information about a
// Gaussian quantity whose variance is reduced by gone; 0 if the variance is 0.
func information(gone, variance float64) float64 {
	if !(variance > 0) {
		return 0
	}
	const most = 1 - 0x1p-52 // rounding must not make it infinite
	return -0.5 * math.Log1p(-min(most, gone/variance))
}

// argmax returns the index of the largest score; of equal ones it draws one
// uniformly, or takes the first if tie is nil. It returns -1 if there is none.
func argmax(scores []float64, tie *rand.Rand) int {
	best, ties := -1, 0
	for i, s := range scores {
		switch {
		case best < 0 || s > scores[best]:
			best, ties = i, 1
		case s == scores[best]:
			ties++
		}
	}
	if ties < 2 || tie == nil {
		return best
	}
	skip := tie.IntN(ties) // one draw, however many there are
	for i, s := range scores[best:] {
		if s == scores[best] {
			if skip == 0 {
				return best + i
			}
			skip--
		}
	}
	panic("acquisition: the scores have changed")
}
