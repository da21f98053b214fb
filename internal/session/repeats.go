package session

import (
	"maps"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learning"
	"tiebreak/internal/picture"
)

// A likeness says which questions of a generation look like others. It compares clips, not
// questions: of each clip that was asked about it has a row with one bit for each clip of
// the generation.
type likeness struct {
	index map[idrl.ClipID]int // of the clips that the generation asks about
	clips []idrl.ClipID       // by index
	pairs [][2]int32          // clips of each query, by index; the second is -1 for a rating
	rows  map[idrl.ClipID]bitset
}

// A bitset is a set of small numbers; nil is empty.
type bitset []uint64

func (b bitset) has(i int32) bool { return b != nil && b[i/64]&(1<<(i%64)) != 0 }

func (l *likeness) clone() likeness {
	out := *l
	out.rows = maps.Clone(l.rows)
	return out
}

// compareWith makes g the generation that clips are compared with, and compares recent with
// its clips. What was compared before is known. Its errors are those of view.
func (s *sight) compareWith(g *idrl.Generation, recent []idrl.ClipID) error {
	old := s.likeness
	s.likeness = likeness{index: map[idrl.ClipID]int{}, pairs: make([][2]int32, len(g.Queries)), rows: map[idrl.ClipID]bitset{}}
	place := func(id idrl.ClipID) int32 {
		i, known := s.index[id]
		if !known {
			i = len(s.clips)
			s.index[id], s.clips = i, append(s.clips, id)
		}
		return int32(i)
	}
	for k, q := range g.Queries {
		s.pairs[k] = [2]int32{place(q.Clips[0]), -1}
		if len(q.Clips) == 2 {
			s.pairs[k][1] = place(q.Clips[1])
		}
	}
	for _, id := range recent {
		if _, err := s.row(id, &old); err != nil {
			return err
		}
	}
	return nil
}

// row returns which clips of the generation look like clip id. A clip that cannot be
// measured looks like itself alone. old may hold the rows of another generation.
func (s *sight) row(id idrl.ClipID, old *likeness) (bitset, error) {
	if row, known := s.rows[id]; known {
		return row, nil
	}
	v, err := s.view(id)
	if err != nil {
		return nil, err
	}
	var before bitset
	beforeKnown := false
	if old != nil {
		before, beforeKnown = old.rows[id]
	}
	var row bitset
	for i, other := range s.clips {
		is := other == id
		if k, known := s.oldIndex(old, other); !is && v != nil && beforeKnown && known {
			is = before.has(int32(k))
		} else if !is && v != nil {
			if is, err = s.alike(v, other); err != nil {
				return nil, err
			}
		}
		if is {
			if row == nil {
				row = make(bitset, (len(s.clips)+63)/64)
			}
			row[i/64] |= 1 << (i % 64)
		}
	}
	s.rows[id] = row
	return row, nil
}

func (s *sight) oldIndex(old *likeness, id idrl.ClipID) (int, bool) {
	if old == nil {
		return 0, false
	}
	k, known := old.index[id]
	return k, known
}

// alike reports whether a clip of the generation looks like v.
func (s *sight) alike(v *picture.View, id idrl.ClipID) (bool, error) {
	other, err := s.view(id)
	if err != nil || other == nil {
		return false, err
	}
	is, err := picture.Alike(v, other)
	return is && err == nil, nil // what shows other things is not alike
}

// ago appends to dst, for each question of the generation, how many questions ago the person
// was asked one that looks like it, either way round, as learning.Unlike has it. asked are
// their last questions, newest first. Its errors are those of view.
func (s *sight) ago(dst []uint8, asked []idrl.Query) ([]uint8, error) {
	dst = slices.Grow(dst[:0], len(s.pairs))[:len(s.pairs)]
	clear(dst)
	for k, q := range asked {
		a, err := s.row(q.Clips[0], nil)
		b := a
		if err == nil && len(q.Clips) == 2 {
			b, err = s.row(q.Clips[1], nil)
		}
		if err != nil {
			return nil, err
		}
		if a == nil || b == nil {
			continue
		}
		for i, p := range s.pairs {
			if dst[i] == 0 && looksLike(p, a, b) {
				dst[i] = uint8(k) + 1
			}
		}
	}
	return dst, nil
}

// looksLike reports whether a question about clips p looks like one whose clips have the
// rows a and b.
func looksLike(p [2]int32, a, b bitset) bool {
	if p[1] < 0 {
		return a.has(p[0])
	}
	return a.has(p[0]) && b.has(p[1]) || a.has(p[1]) && b.has(p[0])
}

// lastAsked returns the last questions that were put to the annotator, those of fresh
// included, newest first: those that they remember.
func (s *Session) lastAsked(who idrl.AnnotatorID, fresh []idrl.Assignment) (out []idrl.Query) {
	for _, as := range slices.Backward(fresh) {
		out = append(out, as.Query)
	}
	for _, as := range slices.Backward(s.asked.of[who]) {
		if len(out) >= learning.Remembered {
			break
		}
		out = append(out, as.Query)
	}
	return out
}

// recentClips returns the clips of the last questions of everybody who holds one now, in
// order: what the questions of a new generation will be compared with.
func (s *Session) recentClips() (out []idrl.ClipID) {
	has, done := map[idrl.ClipID]bool{}, map[idrl.AnnotatorID]bool{}
	for _, open := range s.asked.open {
		if done[open.Annotator] {
			continue
		}
		done[open.Annotator] = true
		for _, q := range s.lastAsked(open.Annotator, nil) {
			for _, id := range q.Clips {
				if !has[id] {
					has[id], out = true, append(out, id)
				}
			}
		}
	}
	return out
}
