package session

import (
	"slices"

	"tiebreak/internal/idrl"
)

// recent is how many of the last questions are not repeated to a person once
// every question has been asked.
const recent = 5

// choosing holds buffers and per-generation indexes that are reused between choices
// of a question.
type choosing struct {
	gen     *idrl.Generation
	place   map[idrl.QueryID]int // of a query in gen
	is      []standing           // of every query of gen
	pending []idrl.Query
	askable []idrl.Query
}

// A standing is how a query stands with an annotator, in bits.
type standing uint8

const (
	out    standing = 1 << iota // open with them already, or broken
	busy                        // open with somebody
	known                       // given to them before, or unclear to somebody
	lately                      // among their last few
)

// class returns the class in which a query may be asked, from 1 on, or 0 if it may
// not.
func (is standing) class() int {
	switch {
	case is&out != 0:
		return 0
	case is&busy != 0:
		return 3
	case is&known == 0:
		return 1
	case is&lately == 0:
		return 2
	}
	return 0
}

// renew forgets how queries stand, and knows those of gen from then on.
func (c *choosing) renew(gen *idrl.Generation) {
	if c.gen != gen {
		c.gen, c.place, c.is = gen, map[idrl.QueryID]int{}, make([]standing, len(gen.Queries))
		for i, q := range gen.Queries {
			c.place[q.ID] = i
		}
	}
	clear(c.is)
}

// note adds how a query stands, if it is one of the generation.
func (c *choosing) note(id idrl.QueryID, is standing) {
	if i, ok := c.place[id]; ok {
		c.is[i] |= is
	}
}

// askable returns the queries of the generation that may be put to the
// annotator: the best class that has any of
//
//  1. new to them, clear to everybody so far, and not pending;
//  2. not pending and not among their last few;
//  3. pending, but with somebody else.
//
// Queries with a clip that did not play are never asked again. What it returns is
// valid until the next call.
func (s *Session) askable(who idrl.AnnotatorID, fresh []idrl.Assignment, pending []idrl.Query) []idrl.Query {
	c := &s.choosing
	c.renew(s.gen)
	for _, q := range pending {
		c.note(q.ID, busy)
	}
	for _, as := range s.asked.openOf(who) {
		c.note(as.Query.ID, out)
	}
	for _, as := range fresh {
		c.note(as.Query.ID, out)
	}
	for id, n := range s.log.broken {
		if n > 0 {
			c.note(id, out)
		}
	}
	for id, n := range s.log.unclear {
		if n > 0 {
			c.note(id, known)
		}
	}
	last := min(recent, max(0, len(s.gen.Queries)-1))
	for _, as := range slices.Backward(s.asked.of[who]) {
		is := known
		if last > 0 {
			last--
			is |= lately
		}
		c.note(as.Query.ID, is)
	}
	best := 0
	for _, is := range c.is {
		if n := is.class(); n > 0 && (best == 0 || n < best) {
			best = n
		}
	}
	c.askable = c.askable[:0]
	for i, is := range c.is {
		if best > 0 && is.class() == best {
			c.askable = append(c.askable, s.gen.Queries[i])
		}
	}
	return c.askable
}
