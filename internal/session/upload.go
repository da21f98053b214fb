package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/session/view"
)

// uploads take in clips that come from outside.
type uploads struct {
	*inbox
	*statements
	uploading chan struct{} // has a value while an Upload runs: there is one at a time
}

// Upload adds to the clips that people are asked about those of given, which has candidates,
// clips and raw steps, but no questions. It calls the candidates u1, u2 and so on, in the order in
// which they come. When it returns they are durable and in use: all of
// them, or none with an error. Clips that are there already change nothing, so that an upload
// can be sent again. It returns an error of kind Conflict if clips are not uploaded to the
// session, if it has ended, or if there would be too many; and of kind Invalid if the rows of
// observations or actions are longer or shorter than those that are there, or the first upload
// has no question.
//
// The questions that come with an upload are a function of the seed and of the clips that were
// there before: equal seeds, answers and uploads in the same order give the same questions.
func (s *uploads) Upload(ctx context.Context, given idrl.Generation) (view.Uploaded, error) {
	select {
	case s.uploading <- struct{}{}: // the clips in use stay the same between the two turns
		defer func() { <-s.uploading }()
	case <-ctx.Done():
		return view.Uploaded{}, ctx.Err()
	}
	type task struct {
		uploaded view.Uploaded
		more     idrl.Generation // what is new
		prepare  func(*idrl.Generation) (prepared, error)
	}
	t, err := call(ctx, s.inbox, func() (t task, err error) {
		t.uploaded, t.more, err = s.newUploads(given)
		t.prepare = s.preparer()
		return t, err
	})
	if err != nil || len(t.more.Candidates) == 0 {
		return t.uploaded, err
	}
	if ctx.Err() != nil {
		return view.Uploaded{}, ctx.Err()
	}
	res := result{gen: t.more, followUp: true}.prepare(t.prepare) // takes long
	if res.err != nil {
		return view.Uploaded{}, res.err
	}
	return call(ctx, s.inbox, func() (view.Uploaded, error) {
		if err := s.takeUpload(ctx, res); err != nil {
			return view.Uploaded{}, err
		}
		t.uploaded.Seq, t.uploaded.Total = s.log.seq(), len(s.gen.Candidates)
		return t.uploaded, nil
	})
}

// newUploads returns what is new of given, with questions, and what there is to say of it.
func (s *uploads) newUploads(given idrl.Generation) (out view.Uploaded, more idrl.Generation, err error) {
	switch {
	case !s.spec.Uploads():
		return out, more, idrl.Errorf(idrl.Conflict, "the clips of this session come from its environment; upload clips to a session that was made for uploaded clips")
	case s.closed():
		return out, more, idrl.Errorf(idrl.Conflict, "this session is closed")
	}
	var old []idrl.Candidate
	if s.gen != nil {
		old, more.BasedOn = s.gen.Candidates, s.gen.BasedOn
	} else {
		more.BasedOn = s.log.seq()
	}
	known := map[idrl.ClipID]bool{}
	for _, c := range old {
		known[c.Clip] = true
	}
	more.Clips, more.Steps = map[idrl.ClipID]idrl.Clip{}, map[idrl.StepsID][]byte{}
	for _, c := range given.Candidates {
		out.Clips, out.New = append(out.Clips, c.Clip), append(out.New, !known[c.Clip])
		if known[c.Clip] {
			continue
		}
		known[c.Clip] = true
		c.ID = idrl.PolicyID(fmt.Sprintf("u%d", len(old)+len(more.Candidates)+1))
		more.Candidates, more.Clips[c.Clip] = append(more.Candidates, c), given.Clips[c.Clip]
		for _, name := range c.Rollouts {
			more.Steps[name] = given.Steps[name]
		}
	}
	out.Seq, out.Total = s.log.seq(), len(old)
	if len(more.Candidates) == 0 {
		return out, more, nil
	}
	if n := len(old) + len(more.Candidates); n > idrl.MaxUploads {
		return out, more, idrl.Errorf(idrl.Conflict, "the session would have %d clips; at most %d are taken", n, idrl.MaxUploads)
	}
	if err := s.likeEarlier(old, more); err != nil {
		return out, more, err
	}
	more.Queries = s.uploadedQueries(old, more)
	if s.gen == nil && len(more.Queries) == 0 {
		return out, more, idrl.Errorf(idrl.Invalid, "the first upload must have at least two clips")
	}
	return out, more, nil
}

// likeEarlier returns an error of kind Invalid unless the raw steps of more have rows as long as
// those that are there.
func (s *uploads) likeEarlier(old []idrl.Candidate, more idrl.Generation) error {
	from := shelf{journal: s.cfg.Journal, session: s.spec.ID, gen: &more}
	all := slices.Concat(old[:min(1, len(old))], more.Candidates)
	var first *idrl.Steps
	for _, c := range all {
		now, err := from.steps(c.Rollouts[0])
		if err != nil {
			return fmt.Errorf("raw steps of %s: %w", c.ID, err)
		}
		if first == nil {
			first = now
		}
		if a, b := len(first.Obs[0]), len(now.Obs[0]); a != b {
			return idrl.Errorf(idrl.Invalid, "an observation has %d numbers; those of the session have %d", b, a)
		}
		if a, b := len(first.Actions[0]), len(now.Actions[0]); a != b {
			return idrl.Errorf(idrl.Invalid, "an action has %d numbers; those of the session have %d", b, a)
		}
	}
	return nil
}

// uploadedQueries returns the questions about new clips: every one there is, or where the
// session would have too many, as many as keep the share of each pair of clips alike. It adds
// the old clips to those of more.
func (s *uploads) uploadedQueries(old []idrl.Candidate, more idrl.Generation) (out []idrl.Query) {
	clips := make([]idrl.Clip, 0, len(old)+len(more.Candidates))
	for _, c := range old {
		clips = append(clips, s.gen.Clips[c.Clip])
	}
	for _, c := range more.Candidates {
		clips = append(clips, more.Clips[c.Clip])
	}
	if !s.spec.Kind.Comparison() {
		for _, c := range clips[len(old):] {
			out = append(out, idrl.NewRating(c))
		}
		return out
	}
	if s.gen != nil { // what the questions show
		for _, c := range old {
			more.Clips[c.Clip] = s.gen.Clips[c.Clip]
		}
	}
	n := len(clips)
	fresh, all, limit := pairs(n)-pairs(len(old)), pairs(n), learning.OfSession(s.spec).Queries
	stream := rng.New(s.spec.Seed, "uploaded pairs", uint64(n))
	for _, k := range stream.Perm(fresh)[:wanted(fresh, all, limit)] {
		i, j := pairAt(pairs(len(old)) + k)
		out = append(out, idrl.NewComparison(clips[j], clips[i]))
	}
	return out
}

// pairs returns how many pairs n clips have.
func pairs(n int) int { return n * (n - 1) / 2 }

// pairAt returns the k-th of all pairs i > j ≥ 0, by i and then j.
func pairAt(k int) (i, j int) {
	for i = 1; k >= i; i++ {
		k -= i
	}
	return i, k
}

// wanted returns how many of fresh pairs are asked about where at most limit of all are.
func wanted(fresh, all, limit int) int {
	if all <= limit {
		return fresh
	}
	return (fresh*limit + all - 1) / all
}

// keptQueries returns those of the questions of the generation in use that there is room for
// beside n new ones: all, or an even choice.
func (s *uploads) keptQueries(n int) []idrl.QueryVector {
	room := learning.OfSession(s.spec).Queries - n
	if len(s.vectors) <= room {
		return s.vectors
	}
	stream := rng.New(s.spec.Seed, "kept pairs", uint64(len(s.gen.Candidates)))
	chosen := stream.Perm(len(s.vectors))[:max(0, room)]
	slices.Sort(chosen)
	out := make([]idrl.QueryVector, len(chosen))
	for i, k := range chosen {
		out[i] = s.vectors[k]
	}
	return out
}

// takeUpload records what was uploaded and brings it into use.
func (s *uploads) takeUpload(ctx context.Context, res result) error {
	if s.gen != nil {
		if err := s.lengthen(ctx, res, s.keptQueries(len(res.gen.Queries))); err != nil {
			return err
		}
	} else {
		g := res.gen
		p, err := s.use(res.prepared, &g)
		if err != nil {
			return err
		}
		if err := s.cfg.Journal.Adopt(context.WithoutCancel(ctx), s.spec.ID, g, s.log.seq()); err != nil {
			return fmt.Errorf("record the first upload: %w", err)
		}
		g.Clips = maps.Clone(g.Clips)
		s.learner.Adopt(nil, g.Candidates)
		s.takeOver(&g, p)
	}
	s.noteStart(s.gen.Candidates)
	s.publish(live.EventAdopted, "")
	return nil
}
