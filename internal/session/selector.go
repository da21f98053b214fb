package session

import (
	"fmt"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/look/answerable"
)

// A selector chooses the next question of a person.
type selector struct {
	*generation
	conditions conditions
	clear      clarity
	queries    queryIndex
	cutting    func() bool // further clips of an arena are to be cut
}

// choose picks the next question for the annotator. Questions under a live
// lease and those in fresh count as if they were answered already, so that two
// annotators are not asked the same at a time, but for those of people who are left
// out and those that are put off. It is a function of the log, the pending questions, the generations so far and
// the number of the assignment. If waits is not nil the question is to be asked before that one, and ok is false where
// that is worth the most, or a repeat or a gold question is due. Its error is that of the acquisition function, and of
// its kind.
func (s *selector) choose(who idrl.AnnotatorID, fresh []record.Assignment, waits *record.Assignment) (as record.Assignment, ok bool, err error) {
	n := s.asked.nextN() + int64(len(fresh))
	if as, due, err := s.planned(who, n, fresh); err != nil || due {
		duel := as.Why.Purpose == record.ForDuel
		if duel && waits != nil {
			as.Before = waits.ID
		}
		return as, err == nil && (duel || waits == nil), err
	}
	pending, with, err := s.pending(fresh, waits)
	if err != nil {
		return record.Assignment{}, false, err
	}
	by, err := s.draw(n, who, fresh, pending)
	if err != nil || len(by.askable) == 0 {
		return record.Assignment{}, false, err
	}
	if waits != nil {
		if by.askable, err = s.withWaiting(by.askable, waits); err != nil {
			return record.Assignment{}, false, err
		}
	}
	weight, err := s.answerWeights(by.askable)
	if err != nil {
		return record.Assignment{}, false, err
	}
	purpose := s.purpose(by.condition)
	choice, err := s.learner.Choose(learning.Question{
		Askable: by.askable, Pending: pending, Who: who, With: with, Weight: weight, Method: by.method,
	}, rng.New(s.spec.Seed, "tie", uint64(n)))
	if err != nil {
		return record.Assignment{}, false, fmt.Errorf("choose question %d %w", n, err)
	}
	if waits != nil && choice.Query == len(by.askable)-1 {
		return record.Assignment{}, false, nil
	}
	q := by.askable[choice.Query]
	if s.spec.Kind.Group() {
		as, ok, err = s.chooseGroup(who, n, q.Query, choice, pending)
		as.Condition, as.Why.Purpose = by.condition, purpose
		return as, ok, err
	}
	s.features.view.Remember(&q)
	as = s.lease(who, n, q.Query)
	as.Condition = by.condition
	if waits != nil {
		as.Before = waits.ID
	}
	if as.Query.Kind.Comparison() {
		as.Left = s.side(n)
	}
	as.Why, err = s.why(q.Query, choice)
	as.Why.Purpose = purpose
	return as, err == nil, err
}

// planned returns the repeat, the gold question or the question of a duel that is due, if one is. n is the number of the assignment. Its error is that of
// the journal.
func (s *selector) planned(who idrl.AnnotatorID, n int64, fresh []record.Assignment) (as record.Assignment, due bool, err error) {
	if as, due = s.repeat(who, n, fresh); due {
		return as, due, nil
	}
	if as, due, err = s.gold(who, n, fresh); err != nil || due {
		return as, due, err
	}
	return s.duel(who, n, fresh)
}

// side draws which clip of assignment n is on the left.
func (s *selector) side(n int64) idrl.Side {
	return []idrl.Side{idrl.SideA, idrl.SideB}[rng.New(s.spec.Seed, "side", uint64(n)).IntN(2)]
}

// answerWeights returns what the values of queries are multiplied by; nil for ones. Its error is that of the journal.
func (s *selector) answerWeights(queries []idrl.QueryVector) (func(q int, mean, variance float64) float64, error) {
	if !s.seesQuestions() || !s.sight.drawn {
		return nil, nil
	}
	last := queries[len(queries)-1] // the only one that may be of an earlier generation
	ofLast, err := s.sight.question(last.Query)
	if err != nil {
		return nil, err
	}
	model := s.clarity()
	return func(i int, mean, variance float64) float64 {
		if i == len(queries)-1 {
			return ofLast.weight(model, last.Kind, mean, variance)
		}
		return s.sight.seen[queries[i].ID].weight(model, queries[i].Kind, mean, variance)
	}, nil
}

// why returns what made q worth asking, and what a person sees of it.
func (s *selector) why(q idrl.Query, choice learning.Choice) (record.Why, error) {
	w := record.Why{
		First: choice.FirstID, Second: choice.SecondID, Rivals: choice.Rivals, PairStd: choice.PairStd, Info: choice.Info,
		BasedOn: s.gen.BasedOn, AfterSeq: s.log.seq(), Shares: choice.ShareIDs, Best: choice.Best,
	}
	seen, err := s.sight.question(q)
	if err == nil && seen.drawn {
		seen.why(&w, q.Kind, choice.Mean, choice.Var)
		w.Answerable = s.clarity().Probability(answerable.Of(q.Kind, w))
	}
	return w, err
}

// askable returns the queries of the generation that may be put to the annotator, by
// the classes of learning.Unlike where it matters what people see and is known, else of
// learning.Askable. Queries with a clip that did not play, and those that are held out, are never
// asked again, and in an arena a person is asked a query once; until all clips of its task are cut, it is asked of one person only. Of places, unless they are nil, only queries that have the one that is
// wanted are returned. What it returns is valid until the next call. Its error is that of the journal.
func (s *selector) askable(who idrl.AnnotatorID, fresh []record.Assignment, pending []idrl.QueryVector, places []place, wanted place) (_ []idrl.QueryVector, err error) {
	c := &s.queries
	c.renew(s.gen, &s.spec)
	for i, is := range places {
		if is != wanted {
			c.standings[i] |= learning.Out
		}
	}
	for _, q := range pending {
		c.noteAll(q.Query, learning.Busy)
	}
	for as := range s.asked.live(s.cfg.Now()) { // else a question that is put off could be asked twice at a time
		if s.asked.putOff(as) {
			c.noteAll(as.Query, learning.Busy)
		}
	}
	for _, as := range s.asked.openOf(who) {
		c.noteAll(as.Query, learning.Out)
	}
	for _, as := range fresh {
		c.noteAll(as.Query, learning.Out)
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
	before, given := learning.Known, s.asked.of[who]
	if s.spec.IsArena() { // answers of one person to one question are not independent
		before = learning.Out
	}
	for _, place := range c.givenTo(who, given) {
		c.standings[place] |= before
	}
	if c.tasks != nil && s.cutting() {
		c.noteAsked(s.vectors, s.asked.times)
	}
	last := min(learning.Recent, max(0, len(s.gen.Queries)-1), len(given))
	for _, as := range given[len(given)-last:] {
		c.noteAll(as.Query, learning.Lately)
	}
	if err := s.look(); err != nil {
		return nil, err
	}
	if !s.seesQuestions() || !s.sight.drawn {
		c.askable = learning.Askable(c.askable[:0], s.vectors, c.standings)
		return c.askable, nil
	}
	asked := s.lastAsked(who, fresh)
	if c.ago, err = s.sight.ago(c.ago, asked); err != nil {
		return nil, err
	}
	if err := s.unwelcome(asked); err != nil {
		return nil, err
	}
	c.askable = learning.Unlike(c.askable[:0], s.vectors, c.standings, c.ago, c.less)
	return c.askable, nil
}

// exchangeable returns the question that the annotator will see after the one on the screen, if another may be
// asked before it; nil if not. It was chosen for its value, before the last row of the log. Groups are left out, because a value
// is that of a pair, arenas and sessions that compare strategies, because there questions are drawn.
func (s *selector) exchangeable(who idrl.AnnotatorID, fresh []record.Assignment) *record.Assignment {
	if len(fresh) > 0 || s.spec.Kind.Group() || s.spec.IsArena() || s.spec.Compares() {
		return nil
	}
	open := s.asked.openOf(who)
	if len(open) < 2 {
		return nil
	}
	if as := open[1]; as.Reopens == "" && as.Why.Purpose == record.ForValue && as.Why.AfterSeq < s.log.seq() {
		return as
	}
	return nil
}

// withWaiting returns queries and after them that of a waiting question. They are valid until the next call of askable.
func (s *selector) withWaiting(queries []idrl.QueryVector, waits *record.Assignment) ([]idrl.QueryVector, error) {
	v, err := s.features.view.Query(waits.Query)
	if err != nil {
		return nil, err
	}
	s.queries.askable = append(queries, *v)
	return s.queries.askable, nil
}

// pending returns the queries of awaited as vectors, and with whom each of them is, without
// those that are held out, from which nothing is learnt. They are valid until the next call.
func (s *selector) pending(fresh []record.Assignment, but *record.Assignment) ([]idrl.QueryVector, []idrl.AnnotatorID, error) {
	out, with := s.queries.pending[:0], s.queries.with[:0]
	for as := range s.awaited(fresh, but) {
		if as.Condition == record.HeldOut {
			continue
		}
		v, err := s.features.view.Query(as.Query)
		if err != nil {
			return nil, nil, err
		}
		out, with = append(out, *v), append(with, as.Annotator)
	}
	s.queries.pending, s.queries.with = out, with
	return out, with, nil
}

// askedAll reports whether the annotator of an arena was asked every question whose answer may still decide something, and has none
// left to answer.
func (s *selector) askedAll(who idrl.AnnotatorID) bool {
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
	return !slices.ContainsFunc(s.vectors, func(q idrl.QueryVector) bool { return !out[q.ID] && s.decides(&q) })
}

// A queryIndex holds buffers and per-generation indexes that are reused between
// selections of a question.
type queryIndex struct {
	gen       *idrl.Generation
	index     map[idrl.QueryID]int  // of a query in gen
	places    []place               // of every query of gen; nil where nothing is reserved
	tasks     []int                 // of every query of gen, in an arena of recorded policies; nil in others
	pairs     map[idrl.QueryID]seen // of clips of gen that were looked at for a group
	standings []learning.Standing   // of every query of gen
	pending   []idrl.QueryVector
	with      []idrl.AnnotatorID // of pending
	askable   []idrl.QueryVector
	ago       []uint8   // learning.Unlike has it, of every query of gen
	less      []uint8   // likewise
	before    [][]int32 // of groupsOf
	faults    []uint8   // of pairs of groups: pairsShown has it
	given     map[idrl.AnnotatorID]*given
}

// given are the queries of a generation that were put to an annotator before.
type given struct {
	n      int // assignments that were looked at
	places []int
}

// givenTo returns the places of the queries of the generation that were put to an annotator with
// assignments, which only grow until forget.
func (c *queryIndex) givenTo(who idrl.AnnotatorID, assignments []*record.Assignment) []int {
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
func (c *queryIndex) forget(who idrl.AnnotatorID) { delete(c.given, who) }

// each calls f with the place of q in the generation; of a group, with that of every pair of its
// clips.
func (c *queryIndex) each(q idrl.Query, f func(place int)) {
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
func (c *queryIndex) renew(gen *idrl.Generation, spec *idrl.SessionSpec) {
	if c.gen != gen {
		c.places, c.tasks = placesOf(spec, gen), tasksOf(spec.Arena, gen)
		c.gen, c.index, c.pairs, c.standings = gen, map[idrl.QueryID]int{}, map[idrl.QueryID]seen{}, make([]learning.Standing, len(gen.Queries))
		c.given = map[idrl.AnnotatorID]*given{}
		for i, q := range gen.Queries {
			c.index[q.ID] = i
		}
	}
	clear(c.standings)
}

// noteAll adds how a query stands; of a group, that counts for every pair of its clips.
func (c *queryIndex) noteAll(q idrl.Query, is learning.Standing) {
	c.each(q, func(place int) { c.standings[place] |= is })
}

// note adds how a query stands, if it is one of the generation.
func (c *queryIndex) note(id idrl.QueryID, is learning.Standing) {
	if i, ok := c.index[id]; ok {
		c.standings[i] |= is
	}
}
