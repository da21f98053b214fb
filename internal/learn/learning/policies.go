package learning

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/regret"

	"gonum.org/v1/gonum/floats"
)

// rounding is the distance of two feature expectations, relative to 1 + ‖μ‖∞, up to which
// they count as equal but for rounding.
const rounding = 1e-9

// Policies holds the policies whose feature expectations are known: the candidates in
// use, the pool, and those of earlier generations. Pool and archive hold each policy once:
// two count as one if their feature expectations are no further apart than rounding, or than
// Schedule.Alike times the greatest distance from the first policy to another of the pool and
// the first candidates. The result is the same if candidates come at once or by Extend.
type Policies struct {
	share float64 // Schedule.Alike
	limit int     // Schedule.Archive

	present []idrl.Candidate
	given   []idrl.Candidate                // the pool as it was given
	later   bool                            // present are not the first candidates
	pool    []idrl.Candidate                // distinct; never dropped
	archive []idrl.Candidate                // of earlier generations, unlike the pool and one another; oldest first
	alike   float64                         // Euclidean distance of μ up to which policies count as one
	dropped int                             // from the archive
	kept    map[idrl.PolicyID]idrl.PolicyID // of candidates that were not archived, the one of the pool or the archive that counts as the same

	known    []idrl.Candidate // nil until it is computed
	distinct int              // of known; 0 until it is computed
	likes    map[int][]int    // of Like, until known changes

	mu    func(idrl.Candidate) []float64 // under the representation; nil for Candidate.Mu
	under []idrl.Candidate               // known with Mu under the representation; nil until it is computed
}

// NewPolicies returns an empty set with the rules of a schedule.
func NewPolicies(s Schedule) Policies {
	return Policies{share: s.Alike, limit: s.Archive, kept: map[idrl.PolicyID]idrl.PolicyID{}}
}

// Adopt replaces the candidates in use. The earlier ones become part of the archive. If that
// has more than Schedule.Archive policies, the oldest are dropped, those of a library last.
// The first call sets the pool.
func (k *Policies) Adopt(pool, candidates []idrl.Candidate) {
	if k.present == nil {
		k.given = pool
		k.begin(candidates)
	} else {
		k.retire()
		k.later = true
	}
	k.present, k.known, k.under, k.distinct, k.likes = candidates, nil, nil, 0, nil
}

// Extend adds candidates to those in use, of which there must be one.
func (k *Policies) Extend(candidates []idrl.Candidate) {
	k.present, k.known, k.under, k.distinct, k.likes = slices.Concat(k.present, candidates), nil, nil, 0, nil
	if !k.later {
		k.begin(k.present)
	}
}

// begin sets the pool and the tolerance. first are all of the first candidates so far.
func (k *Policies) begin(first []idrl.Candidate) {
	k.pool, k.alike = nil, 0
	start := slices.Concat(k.given, first)
	for _, c := range start {
		k.alike = max(k.alike, k.share*floats.Distance(c.Mu, start[0].Mu, 2))
	}
	for _, c := range k.given {
		if !k.in(k.pool, c) {
			k.pool = append(k.pool, c)
		}
	}
}

// retire puts the candidates in use into the archive, less those that are known there
// or in the pool.
func (k *Policies) retire() {
	for _, c := range k.present {
		if like, ok := k.like(c); ok {
			k.kept[c.ID] = like
			continue
		}
		c.Policy, c.Theta = nil, nil
		k.archive = append(k.archive, c)
		if k.limit > 0 && len(k.archive) > k.limit {
			k.archive, k.dropped = slices.Delete(k.archive, k.least(), k.least()+1), k.dropped+1
		}
	}
}

// like returns the policy of the pool or the archive that counts as the same as c.
func (k *Policies) like(c idrl.Candidate) (id idrl.PolicyID, ok bool) {
	for _, list := range [][]idrl.Candidate{k.pool, k.archive} {
		if i := slices.IndexFunc(list, func(o idrl.Candidate) bool { return k.Same(o, c) }); i >= 0 {
			return list[i].ID, true
		}
	}
	return "", false
}

// least returns the index in the archive of the policy that is dropped first: the oldest one that was trained, because
// people know those of the library; else the oldest.
func (k *Policies) least() int {
	return max(0, slices.IndexFunc(k.archive, func(c idrl.Candidate) bool { return c.Origin != idrl.FromLibrary }))
}

// Same reports whether two policies count as one.
func (k *Policies) Same(a, b idrl.Candidate) bool { return near(a.Mu, b.Mu, k.alike) }

// Alike reports whether two feature expectations are the same up to rounding.
func Alike(a, b []float64) bool { return near(a, b, 0) }

// near reports whether a and b are at most tol, or rounding, apart.
func near(a, b []float64, tol float64) bool {
	d := floats.Distance(a, b, 2)
	return d <= tol || d <= rounding*(1+floats.Norm(a, math.Inf(1)))
}

// in reports whether list has a policy like c.
func (k *Policies) in(list []idrl.Candidate, c idrl.Candidate) bool {
	return slices.ContainsFunc(list, func(o idrl.Candidate) bool { return k.Same(o, c) })
}

// Present returns the candidates in use.
func (k *Policies) Present() []idrl.Candidate { return k.present }

// Pool returns the distinct policies of the pool.
func (k *Policies) Pool() []idrl.Candidate { return k.pool }

// All returns the candidates in use and those of the pool and the archive, some of which
// may be alike.
func (k *Policies) All() []idrl.Candidate { return slices.Concat(k.present, k.pool, k.archive) }

// Find returns the policy of All with that name, or else the one that was kept in its place because it counts as the same.
func (k *Policies) Find(id idrl.PolicyID) (idrl.Candidate, bool) {
	all := k.All()
	for _, name := range []idrl.PolicyID{id, k.kept[id]} {
		if i := slices.IndexFunc(all, func(c idrl.Candidate) bool { return c.ID == name }); i >= 0 {
			return all[i], true
		}
	}
	return idrl.Candidate{}, false
}

// Known returns the candidates in use, and after them those of the pool and of the
// archive that are like none of them.
func (k *Policies) Known() []idrl.Candidate {
	if k.known == nil {
		k.known = slices.Clone(k.present)
		for _, list := range [][]idrl.Candidate{k.pool, k.archive} {
			for _, c := range list {
				if !k.in(k.present, c) {
					k.known = append(k.known, c)
				}
			}
		}
	}
	return k.known
}

// Leader returns the one of Known with the highest mean return under weights with that mean, of the
// environment's features. There must be one.
func (k *Policies) Leader(mean []float64) idrl.Candidate {
	known := k.Known()
	return known[regret.LeaderUnder(mean, known)]
}

// Like returns the indexes in Known of the policies that count as one with policy i, with i itself.
func (k *Policies) Like(i int) []int {
	if out, known := k.likes[i]; known {
		return out
	}
	var out []int
	for j, c := range k.Known() {
		if j == i || k.Same(c, k.known[i]) {
			out = append(out, j)
		}
	}
	if k.likes == nil {
		k.likes = map[int][]int{}
	}
	k.likes[i] = out
	return out
}

// Distinct returns how many different policies Known has: candidates in use may be alike.
func (k *Policies) Distinct() int {
	if k.distinct > 0 {
		return k.distinct
	}
	k.distinct = len(k.Known()) - len(k.present)
	for i, c := range k.present {
		if !k.in(k.present[:i], c) {
			k.distinct++
		}
	}
	return k.distinct
}

// Represent sets the feature expectations from which returns are computed. Which policies
// count as one still depends on the features of the environment, so that the archive does
// not change.
func (k *Policies) Represent(mu func(idrl.Candidate) []float64) { k.mu, k.under = mu, nil }

// represented returns Known with Mu under the representation.
func (k *Policies) represented() []idrl.Candidate {
	if k.under == nil {
		k.under = represented(k.Known(), k.mu)
	}
	return k.under
}

// represented returns policies with the feature expectations that mu gives; policies
// itself where mu is nil.
func represented(policies []idrl.Candidate, mu func(idrl.Candidate) []float64) []idrl.Candidate {
	if mu == nil {
		return policies
	}
	out := slices.Clone(policies)
	for i := range out {
		out[i].Mu, out[i].Mus = mu(out[i]), nil
	}
	return out
}

// Dropped returns the number of policies that were dropped from the archive.
func (k *Policies) Dropped() int { return k.dropped }
