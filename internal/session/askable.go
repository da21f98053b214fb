package session

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// A selector holds buffers and per-generation indexes that are reused between
// selections of a question.
type selector struct {
	gen       *idrl.Generation
	index     map[idrl.QueryID]int  // of a query in gen
	pairs     map[idrl.QueryID]seen // of clips of gen that were looked at for a group
	standings []learning.Standing   // of every query of gen
	pending   []idrl.QueryVector
	with      []idrl.AnnotatorID // of pending
	askable   []idrl.QueryVector
	ago       []uint8 // learning.Unlike has it, of every query of gen
	given     map[idrl.AnnotatorID]*given
	last      []idrl.Query // of lastAsked
}

// given are the queries of a generation that were put to an annotator before.
type given struct {
	n      int // assignments that were looked at
	places []int
}

// givenTo returns the places of the queries of the generation that were put to an annotator with
// assignments, which only grow until forget.
func (c *selector) givenTo(who idrl.AnnotatorID, assignments []*idrl.Assignment) []int {
	g := c.given[who]
	if g == nil {
		g = &given{}
		c.given[who] = g
	}
	for _, as := range assignments[g.n:] {
		c.each(as.Query, func(place int) { g.places = append(g.places, place) })
	}
	g.n = len(assignments)
	return g.places
}

// forget removes the kept places of the queries that an annotator was asked: an assignment of theirs
// was taken back.
func (c *selector) forget(who idrl.AnnotatorID) { delete(c.given, who) }

// each calls f with the place of q in the generation; of a group, with that of every pair of its
// clips.
func (c *selector) each(q idrl.Query, f func(place int)) {
	find := func(id idrl.QueryID) {
		if i, ok := c.index[id]; ok {
			f(i)
		}
	}
	if !q.Kind.Group() {
		find(q.ID)
		return
	}
	for i, a := range q.Clips {
		for _, b := range q.Clips[:i] {
			find(idrl.PairID(a, b))
		}
	}
}

// renew forgets how queries stand, and knows those of gen from then on.
func (c *selector) renew(gen *idrl.Generation) {
	if c.gen != gen {
		c.gen, c.index, c.pairs, c.standings = gen, map[idrl.QueryID]int{}, map[idrl.QueryID]seen{}, make([]learning.Standing, len(gen.Queries))
		c.given = map[idrl.AnnotatorID]*given{}
		for i, q := range gen.Queries {
			c.index[q.ID] = i
		}
	}
	clear(c.standings)
}

// noteAll adds how a query stands; of a group, that counts for every pair of its clips.
func (s *Session) noteAll(q idrl.Query, is learning.Standing) {
	s.selector.each(q, func(place int) { s.selector.standings[place] |= is })
}

// note adds how a query stands, if it is one of the generation.
func (c *selector) note(id idrl.QueryID, is learning.Standing) {
	if i, ok := c.index[id]; ok {
		c.standings[i] |= is
	}
}

// askable returns the queries of the generation that may be put to the annotator, by
// the classes of learning.Unlike where it matters what people see and is known, else of
// learning.Askable. Queries with a clip that did not play, and those that are held out, are never
// asked again, and in an arena nobody is asked a query twice. What it returns is valid until the next call. Its error is that of the journal.
func (s *Session) askable(who idrl.AnnotatorID, fresh []idrl.Assignment, pending []idrl.QueryVector) (_ []idrl.QueryVector, err error) {
	c := &s.selector
	c.renew(s.gen)
	for _, q := range pending {
		s.noteAll(q.Query, learning.Busy)
	}
	for _, as := range s.asked.openOf(who) {
		s.noteAll(as.Query, learning.Out)
	}
	for _, as := range fresh {
		s.noteAll(as.Query, learning.Out)
	}
	for id := range s.asked.heldOut {
		c.note(id, learning.Out)
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
	before, asked := learning.Known, s.asked.of[who]
	if s.spec.IsArena() { // answers of one person to one question are not independent
		before = learning.Out
	}
	for _, place := range c.givenTo(who, asked) {
		c.standings[place] |= before
	}
	last := min(learning.Recent, max(0, len(s.gen.Queries)-1), len(asked))
	for _, as := range asked[len(asked)-last:] {
		s.noteAll(as.Query, learning.Lately)
	}
	if err := s.look(); err != nil {
		return nil, err
	}
	if !s.seesQuestions() || !s.sight.drawn {
		c.askable = learning.Askable(c.askable[:0], s.vectors, c.standings)
		return c.askable, nil
	}
	if c.ago, err = s.sight.ago(c.ago, s.lastAsked(who, fresh)); err != nil {
		return nil, err
	}
	c.askable = learning.Unlike(c.askable[:0], s.vectors, c.standings, c.ago)
	return c.askable, nil
}

// askedAll reports whether the annotator of an arena was asked every question, and has none
// left to answer.
func (s *Session) askedAll(who idrl.AnnotatorID) bool {
	if !s.spec.IsArena() || s.gen == nil || len(s.asked.openOf(who)) > 0 || len(s.reopened(who)) > 0 {
		return false
	}
	out := map[idrl.QueryID]bool{}
	for id, n := range s.log.broken {
		if n > 0 {
			out[id] = true
		}
	}
	for _, as := range s.asked.of[who] {
		out[as.Query.ID] = true
	}
	return !slices.ContainsFunc(s.gen.Queries, func(q idrl.Query) bool { return !out[q.ID] })
}
