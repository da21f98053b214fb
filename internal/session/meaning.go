package session

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// Bounds on how often the questions of a person show the same groups of clips (docs/methods.md, section 1.5).
const (
	sittingOf     = 30 // last questions, of which
	mostOfPair    = 3  // show the same pair of groups,
	apartBy       = 10 // questions or more after one another: a person remembers those in between
	mostBad       = 1  // of
	mostBadOf     = 6  // questions shows two bad clips
	leaderEvery   = 6  // questions, in one of which the leader is shown
	sameLookBelow = 1  // measure.Pair.Apart of clips without a name that are of one group: no easy pair is
)

// Faults of a question, the least first: one weighs more than all before it.
const (
	withoutLeader = 1 << iota // the leader is due, and neither clip shows it
	shownLately               // one of the last apartBy − 1 questions showed the pair of groups
	bothBad                   // both clips are bad, and two bad ones were shown lately
	shownOften                // the pair of groups was shown mostOfPair times
	sameUseless               // both clips are of one useless group
)

// A sorting divides clips into groups that show the same to a person. Clips are of one group if they have the same name
// (drawing.Namer); without names, if they look much alike, or if answers treat them as equal. It has the groups of
// a generation, and the names of clips that were asked about before.
type sorting struct {
	groups   map[idrl.ClipID]int32
	named    map[string]int32
	founders []*measure.View // by group: the first clip without a name that looked like this; nil of a name
	useless  []bool          // by group
	into     []int32         // by group: the one that it is part of, most often itself
	shown    []shown         // by query of the generation
}

// shown has the places of the clips of a query in likeness.clips, and their groups. Of a rating the second
// of both is none.
type shown struct{ clips, groups [2]int32 }

// A tie is an answer about two clips; tied says that it prefers neither.
type tie struct {
	clips [2]idrl.ClipID
	tied  bool
}

// tiesUpTo returns the answers that compare two clips, of the last lessons up to a log row.
func (s *ledger) tiesUpTo(seq int64) (out []tie) {
	rows := record.Effective(s.log.rows[:min(seq, int64(len(s.log.rows)))])
	for _, a := range rows[max(0, len(rows)-lessons):] {
		as := s.asked.get(a.Assignment)
		if as == nil || !as.Query.Kind.Comparison() || len(as.Query.Clips) != 2 || as.Condition == record.HeldOut {
			continue
		}
		switch a.Choice {
		case idrl.Equal, idrl.CantTell:
			out = append(out, tie{[2]idrl.ClipID(as.Query.Clips), true})
		case idrl.ChoseA, idrl.ChoseB:
			out = append(out, tie{[2]idrl.ClipID(as.Query.Clips), false})
		default: // says nothing of the two
		}
	}
	return out
}

// joinAlike makes one group of the groups of the generation that answers treat alike.
func (s *generation) joinAlike() {
	if slices.ContainsFunc(s.sight.founders, func(v *measure.View) bool { return v != nil }) {
		s.sight.join(s.tiesUpTo(s.gen.BasedOn))
	}
}

// sort sorts the clips that g asks about, which compareWith knows, and what it asks. Its errors are those
// of view.
func (s *sight) sort(g *idrl.Generation) error {
	s.sorting = sorting{groups: map[idrl.ClipID]int32{}, named: map[string]int32{}}
	for _, id := range s.clips {
		v, err := s.view(id)
		if err != nil {
			return err
		}
		s.groups[id] = s.groupOf(v, true)
	}
	s.shown = make([]shown, len(g.Queries))
	for i, q := range g.Queries {
		s.shown[i] = shown{[2]int32{none, none}, [2]int32{none, none}}
		for k, id := range q.Clips {
			s.shown[i].clips[k], s.shown[i].groups[k] = s.index[id], s.groups[id]
		}
	}
	return nil
}

// groupOf returns the group of what v shows. One that is not known is founded if that is asked for, or
// if it has a name; else it is none.
func (s *sorting) groupOf(v *measure.View, found bool) int32 {
	if v == nil {
		return none
	}
	is := v.Happens()
	if is.Name != "" {
		g, known := s.named[is.Name]
		if !known {
			g = s.add(nil, is.Useless)
			s.named[is.Name] = g
		}
		return g
	}
	for g, founder := range s.founders {
		if founder == nil {
			continue
		}
		if p, err := measure.Compare(founder, v); err == nil && p.Apart() < sameLookBelow {
			return int32(g)
		}
	}
	if !found {
		return none
	}
	return s.add(v, false)
}

func (s *sorting) add(founder *measure.View, useless bool) int32 {
	g := int32(len(s.founders))
	s.founders, s.useless, s.into = append(s.founders, founder), append(s.useless, useless), append(s.into, g)
	return g
}

// join makes one group of two groups without names if most answers about them, and two at least, treat
// them alike.
func (s *sorting) join(ties []tie) {
	type count struct{ tied, told int }
	counts, order := map[[2]int32]*count{}, [][2]int32{}
	for _, t := range ties {
		a, known := s.groups[t.clips[0]]
		b, both := s.groups[t.clips[1]]
		if !known || !both || a == b || a == none || b == none || s.founders[a] == nil || s.founders[b] == nil {
			continue
		}
		pair := ordered(a, b)
		c := counts[pair]
		if c == nil {
			c = &count{}
			counts[pair], order = c, append(order, pair)
		}
		if t.tied {
			c.tied++
		} else {
			c.told++
		}
	}
	for _, pair := range order {
		if c := counts[pair]; c.tied >= 2 && c.tied > c.told {
			a, b := s.into[pair[0]], s.into[pair[1]]
			for g := range s.into {
				if s.into[g] == max(a, b) {
					s.into[g] = min(a, b)
				}
			}
		}
	}
	for id, g := range s.groups {
		s.groups[id] = s.part(g)
	}
	for i := range s.shown {
		for k, g := range s.shown[i].groups {
			s.shown[i].groups[k] = s.part(g)
		}
	}
}

// part returns the group that g is part of.
func (s *sorting) part(g int32) int32 {
	if g == none {
		return none
	}
	return s.into[g]
}

// group returns the group of a clip that was asked about; none if it is not one of the generation and has
// no name. Its errors are those of view.
func (s *sight) group(id idrl.ClipID) (int32, error) {
	if g, known := s.groups[id]; known {
		return g, nil
	}
	v, err := s.view(id)
	if err != nil {
		return none, err
	}
	g := s.part(s.groupOf(v, false))
	s.groups[id] = g
	return g, nil
}

// sameUseless reports whether two clips of the generation are of one useless group.
func (s *sorting) sameUseless(a, b idrl.ClipID) bool {
	g, known := s.groups[a]
	h, both := s.groups[b]
	return known && both && g == h && g != none && s.useless[g]
}

// unwelcome stores in the index the faults of each question of the generation for a person who was asked
// those questions last, newest first. Its errors are those of the journal.
func (s *selector) unwelcome(asked []idrl.Query) error {
	c := &s.queries
	c.less = slices.Grow(c.less[:0], len(s.gen.Queries))[:len(s.gen.Queries)]
	clear(c.less)
	if s.spec.IsArena() || len(s.sight.shown) != len(s.gen.Queries) {
		return nil
	}
	before, err := s.groupsOf(asked)
	if err != nil {
		return err
	}
	shown := s.pairsShown(before)
	bad, err := s.badGroups(before)
	if err != nil {
		return err
	}
	leader, err := s.leaderDue(asked)
	if err != nil {
		return err
	}
	n := len(s.sight.founders)
	is := func(g int32) bool { return g == none || bad[g] }
	for i, q := range s.sight.shown {
		a, b := q.groups[0], q.groups[1]
		if a == none {
			continue
		}
		if a == b && s.sight.useless[a] {
			c.less[i] |= sameUseless
		}
		if b != none {
			c.less[i] |= shown[int(min(a, b))*n+int(max(a, b))]
		}
		if bad != nil && bad[a] && is(b) {
			c.less[i] |= bothBad
		}
		if leader != nil && !leader[q.clips[0]] && (q.clips[1] == none || !leader[q.clips[1]]) {
			c.less[i] |= withoutLeader
		}
	}
	return nil
}

// groupsOf returns the groups of the clips of the last sittingOf questions. What it returns is valid until the
// next call.
func (s *selector) groupsOf(asked []idrl.Query) ([][]int32, error) {
	out := s.queries.before[:0]
	for _, q := range asked[:min(sittingOf, len(asked))] {
		groups := make([]int32, len(q.Clips))
		for k, id := range q.Clips {
			var err error
			if groups[k], err = s.sight.group(id); err != nil {
				return nil, err
			}
		}
		out = append(out, groups)
	}
	s.queries.before = out
	return out, nil
}

// pairsShown returns the faults of each pair of groups, for which it was shown before: of groups g ≤ h at g·n + h.
func (s *selector) pairsShown(before [][]int32) []uint8 {
	n := len(s.sight.founders)
	faults, count := slices.Grow(s.queries.faults[:0], n*n)[:n*n], map[[2]int32]int{}
	clear(faults)
	for ago, q := range before {
		if len(q) < 2 || q[0] == none || q[1] == none {
			continue
		}
		pair := ordered(q[0], q[1])
		at := &faults[int(pair[0])*n+int(pair[1])]
		if count[pair]++; count[pair] >= mostOfPair {
			*at |= shownOften
		}
		if ago < apartBy-1 {
			*at |= shownLately
		}
	}
	s.queries.faults = faults
	return faults
}

// badGroups returns which groups are bad as far as is known: useless ones unless the posterior is sure that they are
// worth more than every other group; without names, those of which it expects less than of a third of the clips. It
// is nil while questions about two of them may be asked.
func (s *selector) badGroups(before [][]int32) ([]bool, error) {
	recent := before[:min(mostBadOf-1, len(before))]
	shown := func(bad func(g int32) bool) (n int) {
		for _, q := range recent {
			if !slices.ContainsFunc(q, func(g int32) bool { return g == none || !bad(g) }) {
				n++
			}
		}
		return n
	}
	if shown(func(g int32) bool { return s.sight.useless[g] || s.sight.founders[g] != nil }) < mostBad {
		return nil, nil
	}
	phi, worth, err := s.groupFeatures()
	if err != nil {
		return nil, err
	}
	p := s.learner.Posterior()
	mean, best := p.Mean(nil), -1
	for g, x := range phi {
		if x != nil && !s.sight.useless[g] && (best < 0 || floats.Dot(mean, x) > floats.Dot(mean, phi[best])) {
			best = g
		}
	}
	low := stat.Quantile(1./3, stat.Empirical, worth, nil)
	bad := make([]bool, len(phi))
	for g, x := range phi {
		switch {
		case s.sight.useless[g]:
			bad[g] = x == nil || best < 0 || !surelyMore(p, mean, x, phi[best])
		case s.sight.founders[g] != nil && x != nil:
			bad[g] = floats.Dot(mean, x) < low
		}
	}
	if shown(func(g int32) bool { return bad[g] }) < mostBad {
		return nil, nil
	}
	return bad, nil
}

// groupFeatures returns the mean features of the clips of each group, nil of one that is not shown, and what the
// posterior expects of each clip, in order.
func (s *selector) groupFeatures() (phi [][]float64, worth []float64, err error) {
	each, err := s.features.view.Clips(s.sight.clips)
	if err != nil {
		return nil, nil, err
	}
	mean, number := s.learner.Posterior().Mean(nil), make([]float64, len(s.sight.founders))
	phi = make([][]float64, len(number))
	for i, x := range each {
		worth = append(worth, floats.Dot(mean, x))
		g := s.sight.groups[s.sight.clips[i]]
		if g == none {
			continue
		}
		if phi[g] == nil {
			phi[g] = make([]float64, len(x))
		}
		floats.Add(phi[g], x)
		number[g]++
	}
	for g, x := range phi {
		if x != nil {
			floats.Scale(1/number[g], x)
		}
	}
	slices.Sort(worth)
	return phi, worth, nil
}

// surelyMore reports whether x is worth more than y with a probability of at least 95 % under p, whose mean is given.
func surelyMore(p idrl.Posterior, mean, x, y []float64) bool {
	d, cov := floats.SubTo(make([]float64, len(x)), x, y), make([]float64, len(x))
	p.CovMul(cov, d)
	return floats.Dot(mean, d) > 1.645*math.Sqrt(max(0, floats.Dot(d, cov)))
}

// leaderDue returns which clips of the generation look like that of the policy that is recommended now, if
// none of the last questions showed one; else nil.
func (s *selector) leaderDue(asked []idrl.Query) ([]bool, error) {
	if len(asked) < leaderEvery-1 {
		return nil, nil
	}
	row, err := s.sight.row(s.lead().Leader.Clip, nil)
	if err != nil || len(row) == 0 {
		return nil, err
	}
	is := make([]bool, len(s.sight.clips))
	for _, i := range row {
		is[i] = true
	}
	for _, q := range asked[:leaderEvery-1] {
		for _, id := range q.Clips {
			like, err := s.sight.row(id, nil)
			if err != nil || slices.ContainsFunc(like, func(i int32) bool { return is[i] }) {
				return nil, err
			}
		}
	}
	return is, nil
}
