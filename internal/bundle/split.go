package bundle

import "tiebreak/internal/idrl"

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
// takes about 50 bytes a trajectory.
type splits struct {
	places map[uint64]int32 // of trajectories in what follows
	nodes  []node
	pairs  int // comparisons
}

// A node is a trajectory in its component.
type node struct {
	key    uint64
	parent int32 // itself for a root, which has the least key of the component
	pairs  int32 // of a root, comparisons in the component
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
func (s *splits) add(r *idrl.Labelled) {
	a, b := s.root(key(&r.Clips[0])), s.root(key(&r.Clips[1]))
	if s.nodes[b].key < s.nodes[a].key {
		a, b = b, a
	}
	if a != b {
		s.nodes[b].parent = a
		s.nodes[a].pairs += s.nodes[b].pairs
	}
	s.nodes[a].pairs++
	s.pairs++
}

// root returns the place of the root of the component of k, which is a component by itself if it
// was not there.
func (s *splits) root(k uint64) int32 {
	i, ok := s.places[k]
	if !ok {
		if s.places == nil {
			s.places = map[uint64]int32{}
		}
		i = int32(len(s.nodes)) //nolint:gosec // fewer than 2^31 fit in memory
		s.places[k] = i
		s.nodes = append(s.nodes, node{key: k, parent: i})
	}
	for s.nodes[i].parent != i {
		s.nodes[i].parent = s.nodes[s.nodes[i].parent].parent
		i = s.nodes[i].parent
	}
	return i
}

// of returns the split of a comparison, empty for none, once all were added.
func (s *splits) of(r *idrl.Labelled) string {
	a, b := key(&r.Clips[0]), key(&r.Clips[1])
	root := s.nodes[s.root(a)]
	if int(root.pairs)*largeComponent <= s.pairs {
		return drawn(root.key, testComponents)
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
