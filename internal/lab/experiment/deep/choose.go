package deep

import (
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/neural"

	"gonum.org/v1/gonum/floats"
)

// choose returns the indexes of n of the questions, as the mode says. policies are the main
// policy and the candidates, with their feature expectations under the model. Fewer than n
// questions are all chosen.
func choose(mode neural.Mode, m *neural.Model, by method, policies []idrl.Candidate, questions []idrl.QueryVector, n int, stream *rand.Rand) ([]int, error) {
	if mode == neural.Paper {
		return topK(m, by, policies, questions, n, stream), nil
	}
	return oneByOne(m, by, policies, questions, n, stream)
}

// oneByOne lets a learner choose each question as if those before it had been answered:
// the covariance is conditioned on them, and IDRL's pair of policies is looked for again.
func oneByOne(m *neural.Model, by method, policies []idrl.Candidate, questions []idrl.QueryVector, n int, stream *rand.Rand) ([]int, error) {
	l := learning.New(learning.Config{Model: m.RewardModel(), Method: by.Method, Schedule: learning.Exact()})
	l.Become(m.Posterior())
	l.Adopt(nil, policies)
	left := make([]int, len(questions))
	for i := range left {
		left[i] = i
	}
	askable, pending := slices.Clone(questions), []idrl.QueryVector(nil)
	var out []int
	for len(out) < n && len(left) > 0 {
		c, err := l.Choose(learning.Question{Askable: askable, Pending: pending}, stream)
		if err != nil {
			return nil, err
		}
		if c.Query < 0 {
			break
		}
		out, pending = append(out, left[c.Query]), append(pending, askable[c.Query])
		left, askable = slices.Delete(left, c.Query, c.Query+1), slices.Delete(askable, c.Query, c.Query+1)
	}
	return out, nil
}

// topK values every question by itself and takes the n best, as the authors' code does:
// they may all say the same. Uniform draws with replacement, the two clips of each
// question by themselves. Source: docs/paper-code.md, section 6.
func topK(m *neural.Model, by method, policies []idrl.Candidate, questions []idrl.QueryVector, n int, stream *rand.Rand) []int {
	var worth []float64 // the higher the better
	xs := make([][]float64, len(questions))
	for i, q := range questions {
		xs[i] = q.X
	}
	switch {
	case by.Needs.AllQueries:
		out := make([]int, n)
		for i := range out {
			out[i] = stream.IntN(len(questions))
		}
		return out
	case by.Needs.Candidates == acquisition.NoCandidates:
		worth = m.Variances(nil, xs)
	default:
		worth = m.VariancesGiven(nil, xs, widest(m, policies))
		floats.Scale(-1, worth)
	}
	order := make([]int, len(questions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case worth[i] > worth[j]:
			return -1
		case worth[i] < worth[j]:
			return 1
		}
		return 0
	})
	return order[:min(n, len(order))]
}

// widest returns the difference of the features of the two candidates whose difference in
// return is the least certain, the first of equals.
func widest(m *neural.Model, policies []idrl.Candidate) []float64 {
	var out []float64
	most := -1.0
	for i, a := range policies {
		for _, b := range policies[i+1:] {
			if a.Origin == idrl.FromMean || b.Origin == idrl.FromMean {
				continue
			}
			delta := floats.SubTo(make([]float64, m.Dim()), a.Mu, b.Mu)
			if v := m.Variances(nil, [][]float64{delta})[0]; v > most {
				most, out = v, delta
			}
		}
	}
	return out
}
