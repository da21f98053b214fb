package bundle

import (
	"cmp"
	"container/heap"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Names of splits. A comparison of clips of both has none.
const (
	train = "train"
	test  = "test"
)

// testShare is the share of the comparisons that are for tests, in hundredths.
const testShare = 20

// starts is from how many trajectories a part of a component is grown; the best part is taken.
const starts = 4

// splits say which comparisons are for training and which for tests, so that no trajectory is
// shown in both. By design, if at least half of the held-out comparisons have no trajectory in common with others: these
// are for tests, the rest of them has no split, and all others are for training, so that the session has learnt from none that is for tests.
// Else by division: trajectories that were compared are connected. Whole components are for tests,
// in the order of a hash, as long as they fit into the share. If these are less than half of it,
// a part of the largest other component is for tests too: it is grown from a trajectory, each
// time by the one of whose comparisons the largest share is with the part. Comparisons across
// its edge have no split. All is a function of the set of comparisons and does not depend on their order. It
// takes about 100 bytes a trajectory and 17 a comparison.
type splits struct {
	places map[uint64]int32 // of trajectories in what follows
	keys   []uint64
	pairs  [][2]int32 // trajectories of each comparison
	held   []bool     // likewise: it was held out

	designed bool   // tests are the trajectories of held-out comparisons alone
	tests    []bool // of each trajectory; nil until all comparisons were added
}

// Divided returns how many comparisons of a session are for training, for tests, and for neither, as a bundle of it says. rows are the
// answers that count; those to groups are none.
func Divided(rows []record.Labelled) (training, tests, across int) {
	var s splits
	var pairs []*record.Labelled
	for i := range rows {
		if _, ok := rows[i].ProbA(); ok && len(rows[i].Clips) == 2 {
			pairs = append(pairs, &rows[i])
			s.add(&rows[i])
		}
	}
	for _, r := range pairs {
		switch s.of(r) {
		case train:
			training++
		case test:
			tests++
		default:
			across++
		}
	}
	return training, tests, across
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

// mixed returns a key in whose order trajectories are drawn, which does not depend on one end
// of their names.
func mixed(k uint64) uint64 { return (k ^ k>>31) * 0x9e3779b97f4a7c15 }

// add takes in a comparison.
func (s *splits) add(r *record.Labelled) {
	s.pairs = append(s.pairs, [2]int32{s.place(key(&r.Clips[0])), s.place(key(&r.Clips[1]))})
	s.held = append(s.held, r.Condition == record.HeldOut)
}

func (s *splits) place(k uint64) int32 {
	i, ok := s.places[k]
	if !ok {
		if s.places == nil {
			s.places = map[uint64]int32{}
		}
		i = int32(len(s.keys)) //nolint:gosec // fewer than 2^31 fit in memory
		s.places[k], s.keys = i, append(s.keys, k)
	}
	return i
}

// of returns the split of a comparison, empty for none, once all were added.
func (s *splits) of(r *record.Labelled) string {
	if s.tests == nil {
		s.divide()
	}
	a, b := s.tests[s.places[key(&r.Clips[0])]], s.tests[s.places[key(&r.Clips[1])]]
	switch {
	case s.designed && r.Condition == record.HeldOut && !(a && b):
		return ""
	case a != b:
		return ""
	case a:
		return test
	}
	return train
}

// divide decides which trajectories are for tests.
func (s *splits) divide() {
	s.tests = make([]bool, len(s.keys))
	if s.designed = s.design(); !s.designed {
		s.cut()
	}
}

// design makes the trajectories that only held-out comparisons are about those for tests. It reports whether at least half of the held-out comparisons
// are about no other; if not, it changes nothing.
func (s *splits) design() bool {
	taught := make([]bool, len(s.keys))
	for i, p := range s.pairs {
		if !s.held[i] {
			taught[p[0]], taught[p[1]] = true, true
		}
	}
	held, apart := 0, 0
	for i, p := range s.pairs {
		if s.held[i] {
			held++
			if !taught[p[0]] && !taught[p[1]] {
				apart++
			}
		}
	}
	if held == 0 || 2*apart < held {
		return false
	}
	for i := range taught {
		s.tests[i] = !taught[i]
	}
	return true
}

// cut decides it by division.
func (s *splits) cut() {
	g := newGraph(s.keys, s.pairs)
	chosen, all := 0, len(s.pairs)
	var largest component
	for _, c := range g.components() {
		switch {
		case (chosen+c.pairs)*100 <= testShare*all:
			chosen += c.pairs
			s.mark(c.nodes)
		case c.pairs > largest.pairs:
			largest = c
		}
	}
	if 2*chosen*100 >= testShare*all {
		return
	}
	best := part{across: all}
	for _, start := range largest.nodes[:min(starts, len(largest.nodes))] {
		p := g.grow(start, func(p part) bool { return p.inside > 0 && (chosen+p.inside)*100 >= testShare*(all-p.across) })
		if p.across < best.across {
			best = p
		}
	}
	if 5*(all-best.across-best.inside-chosen) >= 2*all { // else too little is left to train on
		s.mark(best.nodes)
	}
}

func (s *splits) mark(nodes []int32) {
	for _, n := range nodes {
		s.tests[n] = true
	}
}

// A graph has trajectories as nodes and comparisons as edges.
type graph struct {
	order []int32   // nodes, in the order of their mixed keys
	rank  []int32   // of each node in order
	next  [][]int32 // other ends of the comparisons of each node with others
	loops []int     // comparisons of a node with itself
}

func newGraph(keys []uint64, pairs [][2]int32) *graph {
	g := &graph{rank: make([]int32, len(keys)), next: make([][]int32, len(keys)), loops: make([]int, len(keys))}
	for i := range keys {
		g.order = append(g.order, int32(i)) //nolint:gosec // as place
	}
	slices.SortFunc(g.order, func(a, b int32) int { return cmp.Compare(mixed(keys[a]), mixed(keys[b])) })
	for i, n := range g.order {
		g.rank[n] = int32(i) //nolint:gosec // as place
	}
	for _, p := range pairs {
		if p[0] == p[1] {
			g.loops[p[0]]++
			continue
		}
		g.next[p[0]], g.next[p[1]] = append(g.next[p[0]], p[1]), append(g.next[p[1]], p[0])
	}
	return g
}

// A component is connected by comparisons. Its first node is the first one in graph.order.
type component struct {
	nodes []int32
	pairs int // comparisons
}

// components returns all components, in the order of their first nodes. Beyond the first, the
// nodes of each are in that order, too.
func (g *graph) components() (out []component) {
	found := make([]bool, len(g.order))
	for _, first := range g.order {
		if found[first] {
			continue
		}
		found[first] = true
		c, ends := component{nodes: []int32{first}}, 0
		for i := 0; i < len(c.nodes); i++ {
			n := c.nodes[i]
			c.pairs, ends = c.pairs+g.loops[n], ends+len(g.next[n])
			for _, o := range g.next[n] {
				if !found[o] {
					found[o], c.nodes = true, append(c.nodes, o)
				}
			}
		}
		c.pairs += ends / 2
		slices.SortFunc(c.nodes, func(a, b int32) int { return cmp.Compare(g.rank[a], g.rank[b]) })
		out = append(out, c)
	}
	return out
}

// A part of a component.
type part struct {
	nodes          []int32
	inside, across int // comparisons within it, and with the rest
}

// grow returns the part that begins with a node and grows, until enough says that it may end,
// by the node of whose comparisons the largest share is with the part: of equal ones the first
// in graph.order.
func (g *graph) grow(start int32, enough func(part) bool) (p part) {
	taken, with := make([]bool, len(g.order)), make([]int, len(g.order)) // comparisons with the part
	edge := fringe{g: g}
	for next := (reach{node: start}); ; next = heap.Pop(&edge).(reach) {
		n := next.node
		if !taken[n] {
			taken[n], p.nodes = true, append(p.nodes, n)
			p.inside, p.across = p.inside+with[n]+g.loops[n], p.across+len(g.next[n])-2*with[n]
			for _, o := range g.next[n] {
				if with[o]++; !taken[o] {
					heap.Push(&edge, reach{node: o, with: with[o]})
				}
			}
		}
		if enough(p) || edge.Len() == 0 {
			return p
		}
	}
}

// A reach is how many comparisons of a node were with a part when it was seen.
type reach struct {
	node int32
	with int
}

// A fringe is a heap of the nodes beside a part. A node may be there more than once: the entry
// that counts comes first.
type fringe struct {
	g    *graph
	heap []reach
}

func (f *fringe) Len() int { return len(f.heap) }

// Less compares shares of the comparisons of two nodes.
func (f *fringe) Less(i, j int) bool {
	a, b := f.heap[i], f.heap[j]
	if c := cmp.Compare(a.with*len(f.g.next[b.node]), b.with*len(f.g.next[a.node])); c != 0 {
		return c > 0
	}
	return f.g.rank[a.node] < f.g.rank[b.node]
}

func (f *fringe) Swap(i, j int) { f.heap[i], f.heap[j] = f.heap[j], f.heap[i] }

func (f *fringe) Push(x any) { f.heap = append(f.heap, x.(reach)) }

func (f *fringe) Pop() any {
	last := len(f.heap) - 1
	x := f.heap[last]
	f.heap = f.heap[:last]
	return x
}
