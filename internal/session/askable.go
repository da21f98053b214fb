package session

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learning"
)

// choosing holds buffers and per-generation indexes that are reused between choices
// of a question.
type choosing struct {
	gen     *idrl.Generation
	place   map[idrl.QueryID]int // of a query in gen
	is      []learning.Standing  // of every query of gen
	pending []idrl.QueryVector
	askable []idrl.QueryVector
}

// renew forgets how queries stand, and knows those of gen from then on.
func (c *choosing) renew(gen *idrl.Generation) {
	if c.gen != gen {
		c.gen, c.place, c.is = gen, map[idrl.QueryID]int{}, make([]learning.Standing, len(gen.Queries))
		for i, q := range gen.Queries {
			c.place[q.ID] = i
		}
	}
	clear(c.is)
}

// note adds how a query stands, if it is one of the generation.
func (c *choosing) note(id idrl.QueryID, is learning.Standing) {
	if i, ok := c.place[id]; ok {
		c.is[i] |= is
	}
}

// askable returns the queries of the generation that may be put to the annotator, by
// the classes of learning.Askable. Queries with a clip that did not play are never
// asked again. What it returns is valid until the next call.
func (s *Session) askable(who idrl.AnnotatorID, fresh []idrl.Assignment, pending []idrl.QueryVector) []idrl.QueryVector {
	c := &s.choosing
	c.renew(s.gen)
	for _, q := range pending {
		c.note(q.ID, learning.Busy)
	}
	for _, as := range s.asked.openOf(who) {
		c.note(as.Query.ID, learning.Out)
	}
	for _, as := range fresh {
		c.note(as.Query.ID, learning.Out)
	}
	for id, n := range s.log.broken {
		if n > 0 {
			c.note(id, learning.Out)
		}
	}
	for id, n := range s.log.unclear {
		if n > 0 {
			c.note(id, learning.Known)
		}
	}
	last := min(learning.Recent, max(0, len(s.gen.Queries)-1))
	for _, as := range slices.Backward(s.asked.of[who]) {
		is := learning.Known
		if last > 0 {
			last--
			is |= learning.Lately
		}
		c.note(as.Query.ID, is)
	}
	c.askable = learning.Askable(c.askable[:0], s.vectors, c.is)
	return c.askable
}
