package report

import (
	"cmp"
	"math"
	"slices"
)

// A Test is the outcome of Wilcoxon's signed-rank test.
type Test struct {
	N     int     `json:"n"`     // differences that are not zero
	Zeros int     `json:"zeros"` // differences that are
	W     float64 `json:"w"`     // sum of the ranks of those above zero
	P     float64 `json:"p"`     // two-sided
	Exact bool    `json:"exact"` // not the normal approximation
}

// exactLimit is the largest number of differences whose distribution of W is
// computed exactly.
const exactLimit = 100

// Wilcoxon tests whether paired differences d are symmetric around zero. Equal
// absolute values share the mean of their ranks, and zeros are ranked but take
// no part in W (Pratt's treatment). Given the ranks, each sign is a fair coin:
// for up to 100 differences P is exact also with ties and zeros; for more it is
// the normal approximation with mean Σr/2, variance Σr²/4 and a continuity
// correction of one half. P is 1 if all differences are zero.
func Wilcoxon(d []float64) Test {
	ranks := doubleRanks(d)
	t := Test{P: 1, Exact: len(d) <= exactLimit}
	var kept []int
	w, total := 0, 0
	for i, v := range d {
		if v == 0 {
			t.Zeros++
			continue
		}
		kept = append(kept, ranks[i])
		total += ranks[i]
		if v > 0 {
			w += ranks[i]
		}
	}
	t.N, t.W = len(kept), float64(w)/2
	switch {
	case t.N == 0:
	case t.Exact:
		t.P = exactP(kept, total, w)
	default:
		t.P = normalP(kept, total, w)
	}
	return t
}

// doubleRanks returns twice the rank of every absolute value, from 1, ties
// averaged. Doubled, ranks are whole numbers.
func doubleRanks(d []float64) []int {
	order := make([]int, len(d))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(d[i]), math.Abs(d[j])) })
	ranks := make([]int, len(d))
	for first := 0; first < len(order); {
		end := first
		for end < len(order) && math.Abs(d[order[end]]) == math.Abs(d[order[first]]) {
			end++
		}
		for _, i := range order[first:end] {
			ranks[i] = first + 1 + end // twice the mean of first+1 … end
		}
		first = end
	}
	return ranks
}

// exactP returns the probability that a random choice of signs puts the sum of
// the ranks above zero at least as far from total/2 as w.
func exactP(ranks []int, total, w int) float64 {
	prob := make([]float64, total+1) // of each sum
	prob[0] = 1
	for _, r := range ranks {
		for s := total; s >= 0; s-- {
			prob[s] *= 0.5
			if s >= r {
				prob[s] += 0.5 * prob[s-r]
			}
		}
	}
	tail := 0.0
	for s := range min(w, total-w) + 1 {
		tail += prob[s]
	}
	return min(1, 2*tail)
}

// normalP approximates exactP. Ranks, total and w are doubled.
func normalP(ranks []int, total, w int) float64 {
	square := 0.0
	for _, r := range ranks {
		square += float64(r) * float64(r)
	}
	off := math.Abs(float64(w)-float64(total)/2) - 1 // the half that is the correction, doubled
	return math.Erfc(max(0, off) / (math.Sqrt(square) / 2) / math.Sqrt2)
}

// Holm returns p adjusted for testing all of them at once, by Holm's step-down
// method: reject those that are at most the level.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out := make([]float64, len(p))
	last := 0.0
	for k, i := range order {
		last = max(last, min(1, p[i]*float64(len(p)-k)))
		out[i] = last
	}
	return out
}
