package session

import (
	"maps"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// A likeness says which questions of a generation look like others. It compares clips, not
// questions: of each clip that was asked about it has a row of the clips of the generation
// that look like it.
type likeness struct {
	index map[idrl.ClipID]int32 // of the clips that the generation asks about
	clips []idrl.ClipID         // by index
	asks  map[[2]int32]int32    // query about two clips, by their indexes in order; of a rating the first is none
	size  int                   // queries
	rated bool                  // the questions are ratings
	rows  map[idrl.ClipID][]int32
}

const none = -1

func (l *likeness) clone() likeness {
	out := *l
	out.rows = maps.Clone(l.rows)
	return out
}

// ordered returns the key of a question about two clips.
func ordered(i, j int32) [2]int32 { return [2]int32{min(i, j), max(i, j)} }

// compareWith makes g the generation that clips are compared with, and compares recent with
// its clips. What was compared before is known. Its errors are those of view.
func (s *sight) compareWith(g *idrl.Generation, recent []idrl.ClipID) error {
	old := s.likeness
	s.likeness = likeness{
		index: map[idrl.ClipID]int32{}, asks: make(map[[2]int32]int32, len(g.Queries)), size: len(g.Queries), rows: map[idrl.ClipID][]int32{},
	}
	place := func(id idrl.ClipID) int32 {
		i, known := s.index[id]
		if !known {
			i = int32(len(s.clips))
			s.index[id], s.clips = i, append(s.clips, id)
		}
		return i
	}
	s.rated = len(g.Queries) > 0 && len(g.Queries[0].Clips) == 1
	for k, q := range g.Queries {
		other := int32(none)
		if len(q.Clips) == 2 {
			other = place(q.Clips[1])
		}
		s.asks[ordered(place(q.Clips[0]), other)] = int32(k)
	}
	for _, id := range recent {
		if _, err := s.row(id, &old); err != nil {
			return err
		}
	}
	return nil
}

// row returns which clips of the generation look like clip id, in order. A clip that cannot be
// measured looks like itself alone. old may hold the rows of another generation.
func (s *sight) row(id idrl.ClipID, old *likeness) ([]int32, error) {
	if row, known := s.rows[id]; known {
		return row, nil
	}
	v, err := s.view(id)
	if err != nil {
		return nil, err
	}
	var row []int32
	for i, other := range s.clips {
		is := other == id
		if !is && v != nil {
			var known bool
			if is, known = old.alike(id, other); !known {
				if is, err = s.alike(v, other); err != nil {
					return nil, err
				}
			}
		}
		if is {
			row = append(row, int32(i))
		}
	}
	s.rows[id] = row
	return row, nil
}

// alike reports what is known of whether two clips look alike.
func (l *likeness) alike(id, other idrl.ClipID) (is, known bool) {
	if l == nil {
		return false, false
	}
	row, known := l.rows[id]
	if i, has := l.index[other]; known && has {
		_, is = slices.BinarySearch(row, i)
		return is, true
	}
	return false, false
}

// alike reports whether a clip of the generation looks like v.
func (s *sight) alike(v *measure.View, id idrl.ClipID) (bool, error) {
	other, err := s.view(id)
	if err != nil || other == nil {
		return false, err
	}
	look := measure.Alike
	if s.rated {
		look = measure.RatedAlike
	}
	is, err := look(v, other)
	return is && err == nil, nil // what shows other things is not alike
}

// ago appends to dst, for each question of the generation, how many questions ago the person
// was asked one that looks like it, either way round, as learning.Unlike has it. asked are
// their last questions, newest first. Its errors are those of view.
func (s *sight) ago(dst []uint8, asked []idrl.Query) ([]uint8, error) {
	dst = slices.Grow(dst[:0], s.size)[:s.size]
	clear(dst)
	lone := []int32{none} // the second clip of a rating
	for k, q := range asked {
		if q.Kind.Group() {
			if err := s.agoOfGroup(dst, k, q); err != nil {
				return nil, err
			}
			continue
		}
		a, err := s.row(q.Clips[0], nil)
		b := lone
		if err == nil && len(q.Clips) == 2 {
			b, err = s.row(q.Clips[1], nil)
		}
		if err != nil {
			return nil, err
		}
		for _, i := range a {
			for _, j := range b {
				if q, has := s.asks[ordered(i, j)]; has && dst[q] == 0 {
					dst[q] = uint8(k) + 1
				}
			}
		}
	}
	return dst, nil
}

// agoOfGroup is ago for a group that was asked k questions ago. A person who saw it
// has seen every pair of its clips.
func (s *sight) agoOfGroup(dst []uint8, k int, q idrl.Query) error {
	alike := make([][]int32, len(q.Clips))
	for i, id := range q.Clips {
		var err error
		if alike[i], err = s.row(id, nil); err != nil {
			return err
		}
		for _, a := range alike[i] {
			for _, earlier := range alike[:i] {
				for _, b := range earlier {
					if pair, has := s.asks[ordered(a, b)]; has && dst[pair] == 0 {
						dst[pair] = uint8(k) + 1
					}
				}
			}
		}
	}
	return nil
}
