package session

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/session/insight"
)

// exhibits show the result of a session to researchers.
type exhibits struct {
	*inbox
	*training
	*selector
	kept keptNext
}

// Learnt returns clips of policies, of what the reward likes, and the question that would be asked next. It depends on the
// posterior and the generation in use, and reads no answers. The session's goroutine hands over values that do not change and
// chooses the question, which takes as long as for an annotator. Nothing is asked or recorded by it.
func (s *exhibits) Learnt(ctx context.Context) (*insight.Learnt, error) {
	h, err := call(ctx, s.inbox, s.show)
	if err != nil || h.learnt.BasedOn < 0 {
		return &h.learnt, err
	}
	places, err := s.cfg.Journal.ClipPlaces(ctx, h.session)
	if err != nil {
		return nil, fmt.Errorf("find the clips of the policies: %w", err)
	}
	h.learnt.Policies = actors(h.policies, places, s.cfg.Begins)
	h.learnt.Recorded = s.cfg.Begins != nil
	h.learnt.Tastes = insight.Tastes(h.posterior, h.scale(), h.names, h.samples)
	return &h.learnt, nil
}

// A learntInput holds what the session's goroutine hands over to Learnt.
type learntInput struct {
	learnt    insight.Learnt // without Policies and Tastes
	session   idrl.SessionID
	policies  []policyOf
	posterior idrl.Posterior
	prior     idrl.Posterior
	names     []string
	samples   []insight.Sample
}

// scale returns the standard deviations of the weights in the prior.
func (h *learntInput) scale() []float64 {
	d := h.prior.Dim()
	out, axis, work := make([]float64, d), make([]float64, d), make([]float64, d)
	for k := range out {
		clear(axis)
		axis[k] = 1
		h.prior.CovMul(work, axis)
		out[k] = math.Sqrt(work[k])
	}
	return out
}

// A policyOf is a policy of a group.
type policyOf struct {
	idrl.Candidate
	title string
	group insight.Group
}

// show hands over what Learnt shows.
func (s *exhibits) show() (out learntInput, err error) {
	out.session, out.learnt.Seq, out.learnt.BasedOn = s.spec.ID, s.log.seq(), -1
	if s.gen == nil {
		return out, nil
	}
	out.learnt.BasedOn = s.gen.BasedOn
	out.posterior, out.prior = s.history.Averaged(), s.features.model.Prior()
	if s.cfg.Unseen {
		return out, nil
	}
	if s.features.version() == 0 && s.spec.Model != idrl.NetworkModel && !s.spec.IsArena() {
		out.names = s.spec.Features
	}
	out.policies = s.grouped()
	if out.samples, err = s.clipsAskedAbout(); err != nil {
		return out, err
	}
	out.learnt.Next, err = s.nextForAnybody()
	return out, err
}

// grouped returns the known policies, each once.
func (s *exhibits) grouped() (out []policyOf) {
	policies := s.learner.Policies()
	add := func(group insight.Group, list ...idrl.Candidate) {
		for _, c := range list {
			if !slices.ContainsFunc(out, func(o policyOf) bool { return o.ID == c.ID || policies.Same(o.Candidate, c) }) {
				out = append(out, policyOf{c, s.title(c), group})
			}
		}
	}
	add(insight.Recommended, s.lead().Leader)
	if s.before.ID != "" && s.before.ID != out[0].ID { // also where it is like the recommended one: then nothing has changed
		out = append(out, policyOf{s.before, s.title(s.before), insight.AtFirst})
	}
	add(insight.InUse, s.gen.Candidates...)
	add(insight.Prepared, policies.Pool()...)
	earlier := slices.Clone(policies.All())
	slices.Reverse(earlier)
	add(insight.Earlier, earlier...)
	return out
}

// clipsAskedAbout returns the clips that questions of the generation are about, as a question has them. Its errors are those of representation.View.Clips.
func (s *exhibits) clipsAskedAbout() ([]insight.Sample, error) {
	var ids []idrl.ClipID
	has := map[idrl.ClipID]bool{}
	for _, q := range s.gen.Queries {
		for _, id := range q.Clips {
			if !has[id] {
				has[id] = true
				ids = append(ids, id)
			}
		}
	}
	phi, err := s.features.view.Clips(ids)
	if err != nil {
		return nil, err
	}
	out := make([]insight.Sample, len(ids))
	for i, id := range ids {
		out[i] = insight.Sample{ID: id, Phi: phi[i]}
		if n := s.gen.Clips[id].Steps; !s.spec.Kind.Comparison() && !s.spec.Kind.Group() && n > 1 {
			out[i].Phi = make([]float64, len(phi[i]))
			for k, v := range phi[i] {
				out[i].Phi[k] = v / float64(n)
			}
		}
	}
	return out, nil
}

// keptNext keeps the last result of nextForAnybody with the state that it was computed from.
type keptNext struct {
	gen  *idrl.Generation
	seq  int64
	n    int64 // of the next assignment
	next *insight.Next
}

// anybody stands for an annotator who has joined, and was asked nothing. No annotator has this id.
const anybody idrl.AnnotatorID = "(anybody)"

// nextForAnybody returns the question that an annotator who joins now would be asked for its value; nil if there is none. It
// changes nothing that a later question depends on.
func (s *exhibits) nextForAnybody() (*insight.Next, error) {
	n := s.asked.nextN()
	if k := s.kept; k.gen == s.gen && k.seq == s.log.seq() && k.n == n {
		return k.next, nil
	}
	pending, with, err := s.pending(nil, nil)
	if err != nil {
		return nil, err
	}
	queries, err := s.teaching(anybody, nil, pending)
	if err != nil || len(queries) == 0 {
		return nil, err
	}
	weight, err := s.answerWeights(queries)
	if err != nil {
		return nil, err
	}
	choice, err := s.learner.Choose(learning.Question{
		Askable: queries, Pending: pending, Who: anybody, With: with, Weight: weight,
	}, rng.New(s.spec.Seed, "tie", uint64(n))) // #nosec G115 -- assignments are counted from 1
	if err != nil || choice.Query < 0 {
		return nil, err
	}
	q := queries[choice.Query]
	out := &insight.Next{Query: q.Query, Rivals: choice.Rivals, First: s.policyCalled(choice.FirstID), Second: s.policyCalled(choice.SecondID)}
	if q.Kind.Comparison() {
		p := s.learner.Posterior()
		m, v := idrl.Moments(p, q.X, p.Mean(nil), make([]float64, p.Dim()))
		out.Better = 0.5 * math.Erfc(-m/math.Sqrt(2*v))
	}
	s.kept = keptNext{s.gen, s.log.seq(), n, out}
	return out, nil
}

// policyCalled returns a policy by its name, with what people call it.
func (s *exhibits) policyCalled(id idrl.PolicyID) insight.Policy {
	out := insight.Policy{ID: id}
	if c, ok := s.learner.Policies().Find(id); ok {
		out.Title, out.Clip = s.title(c), c.Clip
	}
	return out
}

// actors returns those of the policies that have a clip at places, with all of theirs. begins is Config.Begins.
func actors(policies []policyOf, places []idrl.Clip, begins func(idrl.Candidate, int) string) (out []insight.Actor) {
	of, by := map[idrl.ClipID]idrl.PolicyID{}, map[idrl.PolicyID][]insight.Moment{}
	known := map[idrl.PolicyID]idrl.Candidate{}
	for _, p := range policies {
		known[p.ID] = p.Candidate
	}
	for _, c := range places {
		id, n := c.From.Episode()
		of[c.ID] = id
		if c.Steps > 0 { // no still
			m := insight.Moment{Clip: c.ID, Episode: n, Start: c.Start}
			if begins != nil {
				c, is := known[id]
				if !is { // as those that acted in recordings, of which names are known all the same
					c.ID = id
				}
				m.Begins = begins(c, n)
			}
			by[id] = append(by[id], m)
		}
	}
	for _, list := range by {
		slices.SortFunc(list, func(a, b insight.Moment) int {
			return cmp.Or(cmp.Compare(a.Episode, b.Episode), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Clip, b.Clip))
		})
	}
	for _, p := range policies {
		who, drawn := of[p.Clip] // equal clips of several policies are recorded for one of them
		if !drawn {
			continue
		}
		clips := by[who]
		if len(clips) == 0 {
			clips = []insight.Moment{{Clip: p.Clip}}
		}
		out = append(out, insight.Actor{ID: p.ID, Title: p.title, Origin: p.Origin, Group: p.group, Clips: clips})
	}
	return out
}
