package bundle

import (
	"slices"

	"tiebreak/internal/idrl"
)

// Names of splits. A comparison of clips of both has none.
const (
	train = "train"
	test  = "test"
)

// Shares of the splits, in hundredths: of the components that are for tests, and, within a component
// that holds more than a fifth of all comparisons, of its trajectories.
const (
	testComponents   = 20
	testTrajectories = 30
	largeComponent   = 5 // a fifth
)

// splits say which comparisons are for training and which for tests, so that no trajectory
// is shown in both. Trajectories that were compared are connected; each connected component
// is in one split as a whole, by a hash. A component that holds more than a fifth of all
// comparisons is divided by trajectory, and comparisons across the line have no split. It
// takes 32 bytes a comparison at most.
type splits struct {
	pairs []uint64 // two trajectories for each comparison, until ready

	keys   []uint64 // trajectories, sorted
	parent []int32  // of each in its component; itself for a root
	large  []bool   // of roots
}

// key names the trajectory that a clip was cut from, else the clip. Two that have one name,
// by chance, are taken for one, which harms nothing.
func key(c *idrl.Clip) uint64 {
	id := string(c.Raw)
	if id == "" {
		id = string(c.ID)
	}
	return hashOf(id)
}

// add takes in a comparison.
func (s *splits) add(r *idrl.Labelled) { s.pairs = append(s.pairs, key(&r.Clips[0]), key(&r.Clips[1])) }

// ready ends the adding.
func (s *splits) ready() {
	s.keys = slices.Clone(s.pairs)
	slices.Sort(s.keys)
	s.keys = slices.Compact(s.keys)
	s.parent = make([]int32, len(s.keys))
	for i := range s.parent {
		s.parent[i] = int32(i) //nolint:gosec // fewer than 2^31 fit in memory
	}
	for i := 0; i < len(s.pairs); i += 2 {
		a, b := s.root(s.pairs[i]), s.root(s.pairs[i+1])
		s.parent[max(a, b)] = min(a, b)
	}
	counts := make([]int32, len(s.keys))
	for i := 0; i < len(s.pairs); i += 2 {
		counts[s.root(s.pairs[i])]++
	}
	s.large = make([]bool, len(s.keys))
	for i, n := range counts {
		s.large[i] = int(n)*largeComponent > len(s.pairs)/2
	}
	s.pairs = nil
}

// root returns the place of the first trajectory of the component of k.
func (s *splits) root(k uint64) int32 {
	at, _ := slices.BinarySearch(s.keys, k)
	i := int32(at) //nolint:gosec // as above
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

// of returns the split of a comparison that was added, empty for none.
func (s *splits) of(r *idrl.Labelled) string {
	a, b := key(&r.Clips[0]), key(&r.Clips[1])
	root := s.root(a)
	if !s.large[root] {
		return drawn(s.keys[root], testComponents)
	}
	if x := drawn(a, testTrajectories); x == drawn(b, testTrajectories) {
		return x
	}
	return ""
}

// drawn returns test for a share of the keys, in hundredths.
func drawn(k uint64, share uint64) string {
	k = (k ^ k>>31) * 0x9e3779b97f4a7c15 // so that it does not depend on one end of the name
	if k>>32%100 < share {
		return test
	}
	return train
}
