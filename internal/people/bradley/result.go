package bradley

import (
	"cmp"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
)

// draws of the posterior behind a Result.
const draws = 4000

// A Result is the analysis of comparisons of n entrants, under the prior Weak. It is a function of
// the outcomes; their order has no effect.
type Result struct {
	Answers  int        // that prefer one, or say 'equal'
	Ties     int        // of these, 'equal'
	Tied     float64    // probability that two equally strong entrants are called equal
	Entrants []Standing // by their index
	Pairs    []Pair     // all, by I and then J
	Order    []int      // entrants by strength, the greatest first; equal ones by index

	// More is about how many further answers are needed until the interval of the difference
	// between the first two excludes 0: 0 if it does, Unknown if that cannot be estimated or is
	// above idrl.MaxBudget.
	More int

	People []Person // by name
}

// Unknown is a number of answers that cannot be estimated.
const Unknown = -1

// A Standing is the result for one entrant.
type Standing struct {
	Answers  int     // about it
	Wins     int     // of these, it was preferred
	Ties     int     // of these, 'equal'
	Strength float64 // against the mean of all, in units of the logarithm of odds
	Interval         // of Strength
	Best     float64 // probability that it is the strongest
}

// A Pair is the result for two entrants, I < J.
type Pair struct {
	I, J           int
	WinsI, WinsJ   int
	Ties           int
	Preferred      float64 // probability that I is preferred when one of the two is
	Interval               // of Preferred
	Separated      bool    // the interval does not contain ½
	differenceStd  float64
	differenceMean float64
}

// Of returns the probability that i is preferred to j when one of them is, with its interval.
func (r Result) Of(i, j int) (p float64, in Interval) {
	pair := r.Pair(i, j)
	if i < j {
		return pair.Preferred, pair.Interval
	}
	return 1 - pair.Preferred, Interval{1 - pair.High, 1 - pair.Low}
}

// Pair returns the result for entrants i and j.
func (r Result) Pair(i, j int) Pair {
	n, a, b := len(r.Entrants), min(i, j), max(i, j)
	return r.Pairs[a*n-a*(a+1)/2+b-a-1]
}

// Analyse returns the result of outcomes of n entrants.
func Analyse(n int, outcomes []Outcome) (Result, error) {
	t := Of(n, outcomes)
	f, err := t.Fit(Weak)
	if err != nil {
		return Result{}, err
	}
	s := f.Sample(draws, rng.New(0, "bradley", uint64(n)))
	r := Result{Answers: t.Answers()}
	_, _, r.Tied = chances(0, 0, f.Eta)
	best := s.Best(n)
	for i := range n {
		r.Entrants = append(r.Entrants, Standing{Strength: f.Strengths[i], Interval: s.Strength(i), Best: best[i]})
		r.Order = append(r.Order, i)
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			p := t.pair(f, s, i, j)
			r.Pairs = append(r.Pairs, p)
			r.Ties += p.Ties
			r.Entrants[i].add(p.WinsI, p.WinsJ, p.Ties)
			r.Entrants[j].add(p.WinsJ, p.WinsI, p.Ties)
		}
	}
	slices.SortStableFunc(r.Order, func(i, j int) int { return cmp.Compare(f.Strengths[j], f.Strengths[i]) })
	r.More = r.more()
	r.People, err = people(n, outcomes)
	return r, err
}

func (s *Standing) add(wins, losses, ties int) {
	s.Answers += wins + losses + ties
	s.Wins += wins
	s.Ties += ties
}

func (t *Table) pair(f Fit, s Sample, i, j int) Pair {
	d, std := s.Difference(i, j)
	return Pair{
		I: i, J: j, WinsI: t.Wins(i, j), WinsJ: t.Wins(j, i), Ties: t.Ties(i, j),
		Preferred: f.Preferred(i, j), Interval: Interval{logistic(d.Low), logistic(d.High)},
		Separated: d.Low > 0 || d.High < 0, differenceStd: std, differenceMean: f.Strengths[i] - f.Strengths[j],
	}
}

// more returns Result.More. The standard deviation of a difference falls with the root of the
// number of answers, if further ones are about the same pairs.
func (r Result) more() int {
	p := r.Pair(r.Order[0], r.Order[1])
	if p.Separated {
		return 0
	}
	if p.differenceMean == 0 || r.Answers == 0 {
		return Unknown
	}
	const z = stats.Z95
	need := float64(r.Answers) * (math.Pow(z*p.differenceStd/p.differenceMean, 2) - 1)
	if need > idrl.MaxBudget {
		return Unknown
	}
	return max(1, int(math.Ceil(need)))
}
