package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// Follow-ups are jobs that add candidates to the generation in use while no training is
// due. They end after a bounded time (learning.FollowUps), and at once when a training becomes due.

// pause is how old the last log row may be when a session is loaded, for the generation
// in use to have follow-ups: a session of the past stays as it is when it is looked at.
const pause = 10 * time.Minute

// followable returns how many follow-ups the generation in use may have.
func (s *Session) followable() int {
	if s.spec.AdoptAfter > 0 || !s.spec.ByGaits() || s.gen == nil || s.uncertain(s.gen.BasedOn) {
		return 0
	}
	return learning.FollowUps
}

// restoreFollowUps lets the generation in use have follow-ups after a restart, if the last
// row is not old.
func (s *Session) restoreFollowUps() {
	if n := s.log.seq(); n > 0 && s.cfg.Now().Sub(s.log.at(n).ReceivedAt) <= pause {
		s.training.follow = s.followable()
	}
}

// followsUp reports whether a follow-up is to begin if no training is due.
func (s *Session) followsUp() bool { return s.training.follow > 0 && s.training.rest != s.log.seq() }

// makeWay ends the job under way if that is a follow-up and a training has become due.
func (s *Session) makeWay() {
	t := &s.training
	if !t.state.FollowUp {
		return
	}
	if p, due := s.nextPoint(); due {
		t.cancel()
		t.pace = pace{}
		t.state = idrl.Training{Running: true, BasedOn: p.seq, Outlook: idrl.Outlook{Waiting: true}, Err: t.state.Err}
	}
}

// followed takes in the result of a follow-up. One that was cancelled is lost. If one fails
// then the generation has no others.
func (s *Session) followed(ctx context.Context, res result) {
	t, event := &s.training, idrl.EventTraining
	switch {
	case errors.Is(res.err, context.Canceled):
		if t.stopped { // else it made way for a training
			s.noteTraining(ctx, idrl.TrainingCancelled, 0, nil)
		}
	case res.err == nil && len(res.gen.Candidates) == 0 && res.gen.Agents == nil:
		t.follow = 0
	default:
		if res.err == nil {
			res.err = s.lengthen(ctx, res, s.vectors)
		}
		if res.err == nil {
			if n := len(res.gen.Candidates); n > 0 {
				s.noteTraining(ctx, idrl.TrainingDone, n, nil)
			}
			event = idrl.EventAdopted
			break
		}
		t.follow = 0
		s.noteTraining(ctx, idrl.TrainingFailed, 0, res.err)
		s.cfg.Log.ErrorContext(ctx, "a follow-up failed; the generation in use has no others", "session", s.spec.ID, "based_on", s.gen.BasedOn, "err", res.err)
	}
	s.publish(event, "")
	s.restIfComplete()
}

// lengthen adds the candidates of a follow-up, or of an upload, to the generation in use, of
// which kept are the questions that may be asked on.
func (s *Session) lengthen(ctx context.Context, res result, kept []idrl.QueryVector) error {
	more, from := res.gen, len(s.gen.Candidates)
	if more.BasedOn != s.gen.BasedOn {
		return fmt.Errorf("its candidates are of generation %d", more.BasedOn)
	}
	if len(more.Candidates) == 0 {
		return s.goOn(ctx, more.Agents)
	}
	p, err := s.use(res.prepared, &more)
	if err != nil {
		s.reject(err)
		return err
	}
	g, vectors := s.longer(more, p.vectors, kept)
	p.vectors = vectors
	if p.sight, err = s.longerSight(p.sight, &g); err != nil {
		return err
	}
	if err := s.cfg.Journal.Extend(context.WithoutCancel(ctx), s.spec.ID, g, from, s.log.seq()); err != nil {
		if idrl.KindOf(err) != idrl.Unavailable { // else the journal cannot write, whatever it is given
			s.reject(err)
		}
		return fmt.Errorf("record the candidates from number %d on: %w", from, err)
	}
	s.noteEngine(ctx, &more)
	s.learner.Extend(more.Candidates)
	s.takeOver(&g, p)
	return nil
}

// longerSight returns the sight of the generation in use with what a follow-up adds, of which
// more is the sight; nil if that is nil.
func (s *Session) longerSight(more *sight, g *idrl.Generation) (*sight, error) {
	if more == nil {
		return nil, nil
	}
	out := s.sight.clone()
	out.absorb(more)
	return out, out.measureGeneration(g, s.recentClips())
}

// goOn records where the searches go on after a follow-up that found nothing new.
func (s *Session) goOn(ctx context.Context, agents map[string][]byte) error {
	s.training.follow = max(0, s.training.follow+1-learning.DryFollowUps)
	g := *s.gen
	g.Agents = agents
	if err := s.cfg.Journal.Extend(context.WithoutCancel(ctx), s.spec.ID, g, len(g.Candidates), s.log.seq()); err != nil {
		return fmt.Errorf("record the state of the searches: %w", err)
	}
	return nil
}

// longer returns the generation in use with what a follow-up adds, and its queries as
// vectors: the new ones, whose vectors are given, and then as many of those that are kept as a
// generation may have. It leaves out clips that nothing shows any more.
func (s *Session) longer(more idrl.Generation, vectors, kept []idrl.QueryVector) (g idrl.Generation, all []idrl.QueryVector) {
	g = idrl.Generation{
		BasedOn: more.BasedOn, Candidates: slices.Concat(s.gen.Candidates, more.Candidates),
		Clips: map[idrl.ClipID]idrl.Clip{}, Steps: more.Steps, Agents: more.Agents, Engine: more.Engine,
	}
	known, limit, has := maps.Clone(s.gen.Clips), learning.OfSession(s.spec).Queries, map[idrl.QueryID]bool{}
	maps.Copy(known, more.Clips)
	show := func(id idrl.ClipID) {
		if c, ok := known[id]; ok {
			g.Clips[id] = c
		}
	}
	for _, c := range g.Candidates {
		show(c.Clip)
	}
	for _, v := range slices.Concat(vectors, kept) {
		if has[v.ID] || len(all) == limit {
			continue
		}
		has[v.ID] = true
		g.Queries, all = append(g.Queries, v.Query), append(all, v)
		for _, id := range v.Clips {
			show(id)
		}
	}
	return g, all
}
