package learning

import (
	"fmt"
	"math/rand/v2"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
)

// Thompson is Thompson sampling, Algorithm 2 of the paper (label "alg:ts"): it calls
// solve for each candidate that is needed, with its number and the weights for which it is
// to be optimal: n draws from p and, if it is needed, the mean of p. For a duel these are
// the mean, and then at most n draws, until solve reports a policy that differs from the
// one for the mean. It returns the first error of solve.
func Thompson(need acquisition.Candidates, n int, p idrl.Posterior, draws *rand.Rand, solve Solve) error {
	mean := func(k int) error {
		_, err := solve(k, p.Mean(nil), idrl.FromMean)
		return err
	}
	first := 0
	if need == acquisition.Duel {
		if err := mean(0); err != nil {
			return err
		}
		first = 1
	}
	for k := range n {
		differs, err := solve(first+k, p.Sample(nil, draws), idrl.FromSample)
		if err != nil {
			return err
		}
		if need == acquisition.Duel && differs {
			return nil
		}
	}
	if need == acquisition.SamplesAndMean {
		return mean(n)
	}
	return nil
}

// Solve finds candidate k, a policy that is optimal for weights theta, length d. It reports
// whether that differs from the policy for the mean, which only a duel needs.
type Solve func(k int, theta []float64, origin idrl.Origin) (differs bool, err error)

// CandidateID names candidate k of the generation that is trained after answer n.
func CandidateID(n int64, k int) idrl.PolicyID { return idrl.PolicyID(fmt.Sprintf("g%d.p%d", n, k)) }
