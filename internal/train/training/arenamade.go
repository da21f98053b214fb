package training

import (
	"context"
	"errors"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// made are the clips of an arena and the questions about them, as far as they are made.
type made struct {
	shoot func(ctx context.Context, k int) (shots, error) // makes the k-th set of clips, or leaves it out without an error

	clips     map[idrl.ClipID]idrl.Clip
	steps     map[idrl.StepsID][]byte
	first     map[int]idrl.ClipID // of an entrant
	raw       map[int][]idrl.StepsID
	set       map[idrl.ClipID]int // from which a clip is
	seen      map[string]bool     // what the entrants do from a start
	asked     asked
	different []idrl.Query // about clips that look different
	met       []idrl.Query // about all recordings that meet
	n         int          // sets
}

// upTo makes the sets of clips up to the n-th one.
func (m *made) upTo(ctx context.Context, n int) error {
	if m.clips == nil {
		m.clips, m.steps, m.set = map[idrl.ClipID]idrl.Clip{}, map[idrl.StepsID][]byte{}, map[idrl.ClipID]int{}
		m.first, m.raw, m.seen = map[int]idrl.ClipID{}, map[int][]idrl.StepsID{}, map[string]bool{}
	}
	for ; m.n < n; m.n++ {
		s, err := m.shoot(ctx, m.n)
		if err != nil {
			return err
		}
		if s.clips == nil || m.seen[s.print] {
			continue
		}
		m.seen[s.print] = true
		for i, c := range s.clips {
			m.clips[c.ID], m.set[c.ID] = c, m.n
			if m.first[s.who[i]] == "" {
				m.first[s.who[i]] = c.ID
			}
		}
		m.keep(s)
		fresh, err := m.asked.about(s)
		if err != nil {
			return err
		}
		m.different, m.met = append(m.different, fresh...), append(m.met, s.met()...)
	}
	return nil
}

// keep keeps the raw steps of s.
func (m *made) keep(s shots) {
	for i, name := range s.raw {
		m.steps[name] = s.kept[i]
		if who := s.who[i]; !slices.Contains(m.raw[who], name) {
			m.raw[who] = append(m.raw[who], name)
		}
	}
}

// questions returns those that people can answer by what they see; of recordings all, if there is none: what moves in one may be small in its picture,
// so that people see more than the measure.
func (m *made) questions() []idrl.Query {
	if len(m.different) == 0 {
		return slices.Clone(m.met)
	}
	return slices.Clone(m.different)
}

// generation makes the questions about n sets of clips.
func (a *arenaShow) generation(ctx context.Context, basedOn int64, m *made, n int) (idrl.Generation, error) {
	g := idrl.Generation{BasedOn: basedOn}
	if err := m.upTo(ctx, n); err != nil {
		return g, err
	}
	if len(m.clips) == 0 {
		return g, errors.New("the simulation breaks down under an entrant from every start")
	}
	if g.Clips, g.Steps, g.Queries = m.clips, m.steps, m.questions(); len(g.Queries) == 0 {
		return g, idrl.Errorf(idrl.Invalid, "people could not distinguish the entrants: from every start their clips look alike or do not move. Compare other policies.")
	}
	for k, p := range a.policies {
		mu := a.spec.Arena.Indicator(k)
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.EntrantID(k), Origin: idrl.FromMean, Policy: p, Params: p.Params(), Theta: mu, Mu: mu, Clip: m.first[k], Rollouts: m.raw[k],
		})
	}
	a.shuffle(g.Queries, 0)
	return g, nil
}

// met returns the questions about all encounters of s, however they look; none if s is no encounter of recordings.
func (s shots) met() (out []idrl.Query) {
	if s.asks == nil {
		return nil
	}
	for j := range s.clips {
		for i := range j {
			if s.asks(s.who[i], s.who[j]) && s.clips[i].ID != s.clips[j].ID {
				out = append(out, idrl.NewComparison(s.clips[i], s.clips[j]))
			}
		}
	}
	return out
}

// asked remembers how the questions about every two entrants look.
type asked struct{ views map[[2]int][][2]*measure.View }

// about returns the questions about clips that a person can
// answer, and that tell something new of the two: those in which each looks as it did from an
// earlier start are left out. A question that looks like an earlier one with the two exchanged stays:
// the same answer speaks for the other entrant.
func (a *asked) about(s shots) (out []idrl.Query, err error) {
	if a.views == nil {
		a.views = map[[2]int][][2]*measure.View{}
	}
	var look viewer
	pairs, err := look.pairs(s.clips)
	if err != nil {
		return nil, err
	}
	views := look.look(s.clips)
	for _, p := range pairs {
		of := [2]int{s.who[p[0]], s.who[p[1]]}
		if s.asks != nil && !s.asks(of[0], of[1]) {
			continue
		}
		first, second := views[p[0]], views[p[1]]
		if first == nil || second == nil { // nothing is known of how they look
			out = append(out, idrl.NewComparison(s.clips[p[0]], s.clips[p[1]]))
			continue
		}
		repeats := false
		for _, old := range a.views[of] {
			if repeats, err = both(first, old[0], second, old[1]); repeats || err != nil {
				break
			}
		}
		if err != nil {
			return nil, err
		}
		if !repeats {
			a.views[of] = append(a.views[of], [2]*measure.View{first, second})
			out = append(out, idrl.NewComparison(s.clips[p[0]], s.clips[p[1]]))
		}
	}
	return out, nil
}

// both reports whether a looks like b, and c like d.
func both(a, b, c, d *measure.View) (bool, error) {
	same, err := measure.Alike(a, b)
	if same && err == nil {
		same, err = measure.Alike(c, d)
	}
	return same, err
}
