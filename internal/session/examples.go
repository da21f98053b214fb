package session

import (
	"cmp"
	"context"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// Limits of the search for examples.
const (
	maxExamples      = 2   // questions
	exampleShortlist = 400 // questions whose clips are compared
	unseenExamples   = 60  // of those that nothing is known of
)

// examples are the questions to practise with, once they are chosen.
type examples struct {
	chosen bool
	list   []idrl.Query
}

// Examples returns at most two questions about clips of the generation in use that obviously
// differ, for people to practise with; none if there is no generation yet, and none for questions
// about groups. They are chosen once, by what is seen of the clips alone. They are not assigned:
// answers to them do not count.
func (s *reports) Examples(ctx context.Context) ([]idrl.Query, error) {
	return call(ctx, s.inbox, func() ([]idrl.Query, error) {
		if s.gen == nil || s.examples.chosen || s.cfg.Unseen || s.spec.Kind.Group() {
			return s.examples.list, nil
		}
		list, err := s.sight.examples(s.gen.Queries)
		if err == nil {
			s.examples.chosen, s.examples.list = true, list
		}
		return list, err
	})
}

// An example is a question that people may practise with, or two ratings.
type example struct {
	queries []idrl.Query
	pair    measure.Pair
}

// worth orders examples: different things that happen, of which one at least serves a purpose,
// count most, and then how far apart the clips look.
func (e example) worth() float64 {
	a, b := e.pair.A.Happens(), e.pair.B.Happens()
	w := e.pair.Apart()
	if a.Name != b.Name {
		w += 10
	}
	if a.Useless && b.Useless {
		w -= 20
	}
	return w
}

// obvious reports whether people see the difference at a glance, and both clips are worth a look.
func (e example) obvious() bool {
	a, b := e.pair.A, e.pair.B
	lively := a.Moment() || a.Lively() && b.Lively()
	return lively && e.pair.Easy() && !e.pair.Alike() && e.pair.Answerable()
}

// examples chooses among queries. Its error is that of the journal.
func (s *sight) examples(queries []idrl.Query) (out []idrl.Query, err error) {
	var all []example
	for _, qs := range s.shortlist(queries) {
		e, ok, err := s.example(qs)
		if err != nil {
			return nil, err
		}
		if ok && e.obvious() {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b example) int { return cmp.Compare(b.worth(), a.worth()) })
	shown := map[idrl.ClipID]bool{}
	for _, e := range all {
		if slices.ContainsFunc(e.queries, func(q idrl.Query) bool {
			return slices.ContainsFunc(q.Clips, func(id idrl.ClipID) bool { return shown[id] })
		}) {
			continue
		}
		for _, q := range e.queries {
			if len(out) < maxExamples {
				out = append(out, q)
			}
			for _, id := range q.Clips {
				shown[id] = true
			}
		}
	}
	return out, nil
}

// shortlist returns the comparisons that look most different, or pairs of ratings. Of comparisons
// that nothing is known of, some are taken.
func (s *sight) shortlist(queries []idrl.Query) (out [][]idrl.Query) {
	if len(queries) > 0 && !queries[0].Kind.Comparison() {
		few := queries[:min(len(queries), unseenExamples/2)]
		for j, b := range few {
			for _, a := range few[:j] {
				out = append(out, []idrl.Query{a, b})
			}
		}
		return out
	}
	known := slices.DeleteFunc(slices.Clone(queries), func(q idrl.Query) bool { return !s.seen[q.ID].drawn })
	slices.SortStableFunc(known, func(a, b idrl.Query) int { return cmp.Compare(s.seen[b.ID].apart, s.seen[a.ID].apart) })
	list := known[:min(len(known), exampleShortlist)]
	if len(known) == 0 {
		list = queries[:min(len(queries), unseenExamples)]
	}
	for _, q := range list {
		out = append(out, []idrl.Query{q})
	}
	return out
}

// example returns the example that queries make; ok is false if nothing can be said of their clips.
func (s *sight) example(queries []idrl.Query) (e example, ok bool, err error) {
	var views []*measure.View
	for _, q := range queries {
		for _, id := range q.Clips {
			v, err := s.view(id)
			if err != nil || v == nil {
				return e, false, err
			}
			views = append(views, v)
		}
	}
	if len(views) != 2 {
		return e, false, nil
	}
	p, err := measure.Compare(views[0], views[1])
	return example{queries, p}, err == nil, nil
}
