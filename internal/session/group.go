package session

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
)

// chooseGroup returns the group that begins with the pair that was chosen: beside it stand
// those clips of the generation with which the answer tells most, all of which look different
// from one another, if there are as many. ok is false if there are too few clips. Its errors
// are those of the journal.
func (s *selector) chooseGroup(who idrl.AnnotatorID, n int64, pair idrl.Query, choice learning.Choice, pending []idrl.QueryVector) (as record.Assignment, ok bool, err error) {
	why, err := s.why(pair, choice)
	if err != nil {
		return as, false, err
	}
	clips := s.groupClips(pair)
	for _, strict := range []bool{true, false} { // else nothing could be asked
		group, gone, err := s.grouped(clips, choice, pending, strict)
		if err != nil {
			return as, false, err
		}
		if len(group) < idrl.GroupSize {
			continue
		}
		as = s.lease(who, n, idrl.NewGroup(group...))
		as.Why, as.Order = why, s.order(n)
		if v := choice.PairStd * choice.PairStd; gone > 0 && v > gone {
			as.Why.Info = -0.5 * math.Log1p(-gone/v)
		}
		return as, true, nil
	}
	return as, false, nil
}

// order draws in which order the clips of assignment n are shown.
func (s *selector) order(n int64) (out idrl.Order) {
	for _, place := range rng.New(s.spec.Seed, "side", uint64(n)).Perm(idrl.GroupSize) { // #nosec G115 -- assignments are counted from 1
		out += idrl.Order(idrl.SideOf(place))
	}
	return out
}

// groupClips returns the clips that the generation asks about, those of pair first.
func (s *selector) groupClips(pair idrl.Query) (out []idrl.ClipID) {
	has := map[idrl.ClipID]bool{}
	add := func(q idrl.Query) {
		for _, id := range q.Clips {
			if !has[id] {
				has[id], out = true, append(out, id)
			}
		}
	}
	add(pair)
	for _, q := range s.gen.Queries {
		add(q)
	}
	return out
}

// grouped returns the clips of a group that begins with the first two, and by how much its
// answer is expected to lessen the variance that they were chosen for. strict asks that no
// two of them look alike.
func (s *selector) grouped(clips []idrl.ClipID, choice learning.Choice, pending []idrl.QueryVector, strict bool) (group []idrl.ClipID, gone float64, err error) {
	each, err := s.features.view.Clips(clips)
	if err != nil {
		return nil, 0, err
	}
	model := s.features.model
	g := acquisition.Grouping{
		Likelihood: model.Groups(), Belief: model.ConditionOnPending(s.learner.Posterior(), pending...),
		Clips: each, First: [2]int{0, 1}, Size: idrl.GroupSize, Delta: s.delta(choice),
		Weight: func(chosen []int, i int, mean, variance []float64) float64 {
			weight, failed := s.groupWeight(clips, chosen, i, mean, variance, strict)
			if failed != nil {
				err = failed
			}
			return weight
		},
	}
	places, gone := g.Choose()
	for _, i := range places {
		group = append(group, clips[i])
	}
	return group, gone, err
}

// delta returns the difference of the two policies that a pair of clips was chosen for, nil
// without.
func (s *selector) delta(choice learning.Choice) []float64 {
	var a, b []float64
	for _, c := range s.learner.Policies().All() {
		switch c.ID {
		case choice.FirstID:
			a = s.features.mu(c)
		case choice.SecondID:
			b = s.features.mu(c)
		}
	}
	if a == nil || b == nil {
		return nil
	}
	return floats.SubTo(make([]float64, len(a)), a, b)
}

// groupWeight is acquisition.Grouping.Weight: 0 for a clip that looks like one of those chosen,
// or has the same features; else the mean probability of a clear answer to its comparisons with
// them, 1 where what people see does not matter or is not known.
func (s *selector) groupWeight(clips []idrl.ClipID, chosen []int, i int, mean, variance []float64, strict bool) (float64, error) {
	for _, v := range variance {
		if !(v > 0) {
			return 0, nil
		}
	}
	if !s.seesQuestions() || !s.sight.drawn {
		return 1, nil
	}
	model, sum := s.clarity(), 0.0
	for k, j := range chosen {
		out, alike, err := s.pairSeen(clips[i], clips[j])
		if err != nil || strict && (alike || s.sight.sameUseless(clips[i], clips[j])) {
			return 0, err
		}
		sum += out.weight(model, idrl.CompareClips, mean[k], variance[k]) / float64(len(chosen))
	}
	return sum, nil
}

// pairSeen returns what a person sees of two clips of the generation, and whether they look
// alike; then nothing else is known. It remembers the former for the generation.
func (s *selector) pairSeen(a, b idrl.ClipID) (out seen, alike bool, err error) {
	row, err := s.sight.row(a, nil)
	if err != nil {
		return out, false, err
	}
	for _, i := range row {
		if s.sight.clips[i] == b {
			return out, true, nil
		}
	}
	q := idrl.Query{ID: idrl.PairID(a, b), Kind: idrl.CompareClips, Clips: []idrl.ClipID{a, b}}
	if known, ok := s.queries.pairs[q.ID]; ok {
		return known, false, nil
	}
	if out, err = s.sight.question(q); err == nil {
		s.queries.pairs[q.ID] = out
	}
	return out, false, err
}
