package session

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learning"
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
}

// renew forgets how queries stand, and knows those of gen from then on.
func (c *selector) renew(gen *idrl.Generation) {
	if c.gen != gen {
		c.gen, c.index, c.pairs, c.standings = gen, map[idrl.QueryID]int{}, map[idrl.QueryID]seen{}, make([]learning.Standing, len(gen.Queries))
		for i, q := range gen.Queries {
			c.index[q.ID] = i
		}
	}
	clear(c.standings)
}

// noteAll adds how a query stands; of a group, that counts for every pair of its clips.
func (s *Session) noteAll(q idrl.Query, is learning.Standing) {
	if !q.Kind.Group() {
		s.selector.note(q.ID, is)
		return
	}
	for i, a := range q.Clips {
		for _, b := range q.Clips[:i] {
			s.selector.note(idrl.PairID(a, b), is)
		}
	}
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
	last := min(learning.Recent, max(0, len(s.gen.Queries)-1))
	for _, as := range slices.Backward(s.asked.of[who]) {
		is := learning.Known
		if s.spec.IsArena() { // answers of one person to one question are not independent
			is = learning.Out
		} else if last > 0 {
			last--
			is |= learning.Lately
		}
		s.noteAll(as.Query, is)
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
