package bundle

import (
	"slices"
	"strconv"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A shape is what the arrays of the adapters have to be made for.
type shape struct {
	lengths map[int]int // comparisons of two moving clips with raw steps, by the length of both
	moving  int         // comparisons of two moving clips with raw steps

	obs, actions int   // numbers of an observation and of an action
	steps        int   // of all trajectories
	episodes     index // where each trajectory begins among all steps
}

// add takes in a comparison.
func (s *shape) add(r *record.Labelled) {
	if s.lengths == nil {
		s.lengths = map[int]int{}
	}
	if !moving(r) {
		return
	}
	s.moving++
	if a, b := &r.Clips[0], &r.Clips[1]; a.Steps == b.Steps {
		s.lengths[a.Steps]++
	}
}

// moving reports whether both clips of a comparison move and have raw steps.
func moving(r *record.Labelled) bool {
	a, b := &r.Clips[0], &r.Clips[1]
	return a.Raw != "" && b.Raw != "" && a.Steps > 0 && b.Steps > 0
}

// episode takes in a trajectory.
func (s *shape) episode(name idrl.StepsID, of *idrl.Steps) {
	s.obs, s.actions = len(of.Obs[0]), len(of.Actions[0])
	s.episodes.add(hashOf(string(name)), s.steps)
	s.steps += of.Len()
}

// common returns the length that most comparisons have, the longer of two, and how many.
func (s *shape) common() (length, n int) {
	for l, m := range s.lengths {
		if m > n || m == n && l > length {
			length, n = l, m
		}
	}
	return length, n
}

// hashOf returns the beginning of a name that is a hash, as a number.
func hashOf(name string) uint64 {
	v, err := strconv.ParseUint(name[:min(16, len(name))], 16, 64)
	if err != nil { // a name that is no hash
		for _, r := range []byte(name) {
			v = (v ^ uint64(r)) * 1099511628211
		}
	}
	return v
}

// An index tells the place of a name. It takes 16 bytes a name.
type index struct {
	list   []entry
	sorted bool
}

type entry struct {
	key   uint64
	place int
}

func (x *index) add(key uint64, place int) {
	x.list, x.sorted = append(x.list, entry{key, place}), false
}

// of returns the place of a name that was added.
func (x *index) of(key uint64) (int, bool) {
	compare := func(a, b uint64) int {
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	if !x.sorted {
		slices.SortFunc(x.list, func(a, b entry) int { return compare(a.key, b.key) })
		x.sorted = true
	}
	i, ok := slices.BinarySearchFunc(x.list, key, func(e entry, k uint64) int { return compare(e.key, k) })
	if !ok {
		return 0, false
	}
	return x.list[i].place, true
}
