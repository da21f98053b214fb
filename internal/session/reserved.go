package session

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// Trajectories whose rank, a draw of their own in [0, 1), is below reservedBelow are those that only held-out comparisons
// are about, in sessions that ask for it. So what tests a reward has nothing in common with what it was learnt
// from, and an export can be divided into the two. By chance they could be few or many: of those of a generation at least
// leastReserved and at most mostReserved are, by rank. Of less than fewTrajectories none is.
const (
	reservedBelow   = 0.25
	leastReserved   = 0.2
	mostReserved    = 0.4
	fewTrajectories = 9
)

// A place of a query says what it may be used for.
type place uint8

const (
	teaches place = iota // none of its trajectories is reserved
	tests                // all are
	across               // one is
)

// placesOf returns the place of every query of a generation; nil where nothing is reserved.
func placesOf(spec *idrl.SessionSpec, gen *idrl.Generation) []place {
	if spec.HeldOut == 0 || spec.HeldOutFrom != idrl.ReservedTrajectories {
		return nil
	}
	of := func(id idrl.ClipID) string { return cmp.Or(string(gen.Clips[id].Raw), string(id)) }
	rank := map[string]float64{}
	for _, q := range gen.Queries {
		for _, id := range q.Clips {
			if _, ok := rank[of(id)]; !ok {
				h := fnv.New64a()
				_, _ = h.Write([]byte(of(id)))
				rank[of(id)] = rng.New(spec.Seed, "reserved", h.Sum64()).Float64()
			}
		}
	}
	if len(rank) < fewTrajectories {
		return nil
	}
	ranks := slices.Sorted(maps.Values(rank))
	n, _ := slices.BinarySearch(ranks, reservedBelow)
	share := func(of float64) int { return int(math.Round(of * float64(len(ranks)))) }
	last := ranks[min(max(n, share(leastReserved)), share(mostReserved))-1]
	out := make([]place, len(gen.Queries))
	for i, q := range gen.Queries {
		n := 0
		for _, id := range q.Clips {
			if rank[of(id)] <= last {
				n++
			}
		}
		if n == len(q.Clips) {
			out[i] = tests
		} else if n > 0 {
			out[i] = across
		}
	}
	return out
}
