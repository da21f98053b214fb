package labels

import (
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// A Segment is a part of a rollout.
type Segment struct{ Rollout, Start int }

// A Pair is a comparison of two segments.
type Pair struct {
	N        int // place in the files, from 0
	Segments [2]Segment
	Choice   idrl.Choice
}

// Counts say what was read.
type Counts struct {
	Comparisons          int // all
	First, Second, Equal int // choices of those that are taken in

	// Comparisons that are left out, each for one reason.
	Across, Missing, Same int
}

// LeftOut returns how many comparisons are left out.
func (c Counts) LeftOut() int { return c.Across + c.Missing + c.Same }

// Join returns the comparisons as pairs of segments of n steps of the rollouts that have those rows.
//
// A comparison of a segment with itself says nothing, and is left out. One with a segment that goes
// across the end of a rollout, or that begins in a row which was not imported, is left out if
// leaveOut; else it is an error of kind Invalid. So is a row that is beyond the data set.
func (s *Set) Join(rows recordings.Rows, n int, leaveOut bool) ([]Pair, Counts, error) {
	c := Counts{Comparisons: len(s.Choices)}
	var out []Pair
	across, missing := -1, -1 // the first of each
	for i, choice := range s.Choices {
		p := Pair{N: i, Choice: choice}
		worst := recordings.Within
		for side, row := range [2]int{s.First[i], s.Second[i]} {
			rollout, start, is := rows.Find(row, n)
			if is == recordings.Missing && !rows.Given() {
				return nil, c, refused("range", "comparison %d begins in row %d, and the rollouts have %d steps in all: they are not the data set of the labels, or only a part of it", i, row, rows.End())
			}
			p.Segments[side], worst = Segment{rollout, start}, max(worst, is)
		}
		switch {
		case worst == recordings.Missing:
			if c.Missing++; missing < 0 {
				missing = i
			}
		case worst == recordings.Across:
			if c.Across++; across < 0 {
				across = i
			}
		case p.Segments[0] == p.Segments[1]:
			c.Same++
		default:
			c.count(choice)
			out = append(out, p)
		}
	}
	switch {
	case c.Missing > 0 && !leaveOut:
		return nil, c, refused("rollout", "%d of %d comparisons have a segment in a row that no rollout has, the first is comparison %d: import these rollouts too, or leave the comparisons out with --leave-out", c.Missing, c.Comparisons, missing)
	case c.Across > 0 && !leaveOut:
		return nil, c, refused("across", "%d of %d comparisons have a segment of %d steps that crosses the end of a rollout, the first is comparison %d: if there are many, the rollouts are not in the order of the data set, or are cut in other places; if there are few, leave them out with --leave-out", c.Across, c.Comparisons, n, across)
	case len(out) == 0:
		return nil, c, refused("length", "no comparison is left: all %d are left out", c.Comparisons)
	}
	return out, c, nil
}

func (c *Counts) count(choice idrl.Choice) {
	switch choice { //nolint:exhaustive // there are no others
	case idrl.ChoseA:
		c.First++
	case idrl.ChoseB:
		c.Second++
	default:
		c.Equal++
	}
}
