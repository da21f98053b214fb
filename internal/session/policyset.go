package session

import (
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// alikeShare is the distance of two feature expectations, as a share of the greatest
// distance between policies that were there at the start, up to which two policies
// count as one: their returns then differ by about a thousandth of the span or less.
const alikeShare = 1e-3

// A policySet holds the policies whose feature expectations a session knows: those
// in use, the pool, and those of earlier generations. It is a function of what is
// recorded.
type policySet struct {
	pool    []idrl.Candidate // distinct; never dropped
	archive []idrl.Candidate // of earlier generations, unlike the pool and one another; at most idrl.MaxArchive, oldest first
	alike   float64          // Euclidean distance of μ up to which policies count as one

	all []idrl.Candidate // those in use, and then the pool and the archive less what is like one in use
}

// begin sets the pool. first are the candidates of the first generation.
func (k *policySet) begin(pool, first []idrl.Candidate) {
	start := slices.Concat(pool, first)
	for _, c := range start {
		k.alike = max(k.alike, alikeShare*floats.Distance(c.Mu, start[0].Mu, 2))
	}
	for _, c := range pool {
		if !k.in(k.pool, c) {
			k.pool = append(k.pool, c)
		}
	}
}

// in reports whether list has a policy like c.
func (k *policySet) in(list []idrl.Candidate, c idrl.Candidate) bool {
	return slices.ContainsFunc(list, func(o idrl.Candidate) bool { return floats.Distance(o.Mu, c.Mu, 2) <= k.alike })
}

// retire puts the candidates of a generation that is no longer in use into the
// archive, less those that are known there, and forgets the oldest of what is too
// much.
func (k *policySet) retire(candidates []idrl.Candidate) {
	for _, c := range candidates {
		if k.in(k.pool, c) || k.in(k.archive, c) {
			continue
		}
		k.archive = append(k.archive, idrl.Candidate{ID: c.ID, Origin: c.Origin, Mu: c.Mu, Clip: c.Clip})
		k.archive = k.archive[max(0, len(k.archive)-idrl.MaxArchive):]
	}
}

// use sets the candidates in use.
func (k *policySet) use(candidates []idrl.Candidate) {
	k.all = slices.Clone(candidates)
	for _, c := range slices.Concat(k.pool, k.archive) {
		if !k.in(candidates, c) {
			k.all = append(k.all, c)
		}
	}
}
