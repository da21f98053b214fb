package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/representation"
)

// A generation holds the candidates in use, the queries about them, and measurements of what a person sees of their clips.
type generation struct {
	*inference
	gen     *idrl.Generation   // nil before the first
	vectors []idrl.QueryVector // its queries under the features in use
	sight   *sight
	inView  drawing.Part // of the pictures of all clips so far: there is nothing to see outside of it; zero: none is known

	families families
	led      led
	tested   contest
}

// restoreVectors sets the queries of the generation under the features of the
// environment.
func (s *generation) restoreVectors() (err error) {
	if s.gen != nil {
		s.vectors, err = s.features.view.Queries(s.gen.Queries)
	}
	return err
}

// recorded returns the features of a version, under which everything that the session
// needs can be computed, and the queries of the generation as vectors.
func (s *generation) recorded(version int64) (f features, vectors []idrl.QueryVector, err error) {
	if f, err = s.under(version); err != nil {
		return f, nil, err
	}
	if err = f.policies(s.learner.Policies().All()); err != nil {
		return f, nil, err
	}
	if _, err = s.items(f.view, s.log.rows); err != nil || s.gen == nil {
		return f, nil, err
	}
	vectors, err = f.view.Queries(s.gen.Queries)
	return f, vectors, err
}

// prepared holds the vectors and views of a generation under some features.
type prepared struct {
	features
	vectors []idrl.QueryVector // its queries
	sight   *sight             // what a person sees of it; nil where that does not matter
}

// preparer returns a function that computes all that the session needs of a generation under the
// features in use. The function may be called from any goroutine: it takes long where features
// are learnt, and answers would wait for it.
func (s *generation) preparer() func(g *idrl.Generation) (prepared, error) {
	return s.prepareFrom(s.sight)
}

// prepareFrom is preparer with the measurements of known in place of those in use.
func (s *generation) prepareFrom(known *sight) func(g *idrl.Generation) (prepared, error) {
	see := s.sightMaker(known)
	p, from := prepared{features: s.features}, shelf{journal: s.cfg.Journal, session: s.spec.ID, asked: maps.Clone(s.shelf.asked), remarks: s.spec.Remarks, arena: s.spec.Arena}
	return func(g *idrl.Generation) (prepared, error) {
		from.gen = g
		p.view = representation.New(p.rep, from.source(s.cfg.Discount))
		if err := p.policies(g.Candidates, g.Pool); err != nil {
			return p, err
		}
		var err error
		if p.vectors, err = p.view.Queries(g.Queries); err != nil {
			return p, err
		}
		p.sight, err = see(g)
		return p, err
	}
}

// sightMaker returns a function that measures a generation, beginning with the measurements of known. The function may be
// called from any goroutine. It returns nil where questions are not chosen by what people see.
func (s *generation) sightMaker(known *sight) func(*idrl.Generation) (*sight, error) {
	if !s.seesQuestions() {
		return func(*idrl.Generation) (*sight, error) { return nil, nil }
	}
	own, recent := known.clone(), s.recentClips()
	return func(g *idrl.Generation) (*sight, error) { return own, own.measureGeneration(g, recent) }
}

// look makes the sight that of the generation in use, which it is unless the session was just
// loaded. Its error is that of the journal.
func (s *generation) look() error {
	if s.gen == nil || !s.seesQuestions() || s.sight.index != nil {
		return nil
	}
	if err := s.sight.measureGeneration(s.gen, s.recentClips()); err != nil {
		return err
	}
	s.joinAlike()
	s.widen()
	return nil
}

// widen adds what the clips of the generation and those asked about lately show to what is seen of the session's clips.
func (s *generation) widen() {
	for _, v := range s.sight.views { // in any order: the part that has all of them in it is one
		if v != nil {
			if part, ok := v.Seen(); ok {
				s.inView = s.inView.Around(part)
			}
		}
	}
}

// use takes over what was prepared of g, but for its sight, and returns it. Where
// features came into use since, it prepares g again.
func (s *generation) use(p prepared, g *idrl.Generation) (_ prepared, err error) {
	if p.version() != s.features.version() {
		if p, err = s.prepareFrom(cmp.Or(p.sight, s.sight))(g); err != nil {
			return p, err
		}
	}
	s.features.view.Absorb(p.view)
	return p, nil
}

// hand notes an assignment, and keeps what its question shows. It returns the clips that no question was about before.
func (s *generation) hand(as record.Assignment) (fresh []idrl.ClipID) {
	s.asked.add(as)
	for _, id := range as.Query.Clips {
		if c, ok := s.gen.Clips[id]; ok {
			if _, known := s.shelf.asked[id]; !known {
				fresh = append(fresh, id)
			}
			c.Media, c.Snapshots = nil, nil
			s.shelf.asked[id] = c
		}
	}
	return fresh
}

// takeOver makes a generation that is recorded the one in use, as it was prepared.
func (s *generation) takeOver(g *idrl.Generation, p prepared) {
	s.gen, s.vectors, s.shelf.gen = g, p.vectors, g
	if p.sight == nil {
		p.sight = newSight(s.cfg.Journal, s.spec.ID)
	}
	s.sight = p.sight
	s.joinAlike()
	s.widen()
	g.Steps, g.Agents = nil, nil // the store has them now
	for id, c := range g.Clips {
		c.Media, c.Snapshots = nil, nil
		g.Clips[id] = c
	}
}

// noteEngine warns if another physics engine computed g than the generation before.
func (s *generation) noteEngine(ctx context.Context, g *idrl.Generation) {
	if s.gen == nil || s.gen.Engine == "" || g.Engine == "" || s.gen.Engine == g.Engine {
		return
	}
	s.cfg.Log.WarnContext(ctx, "the physics engine has changed: the same policies may move differently than in earlier clips (docs/mujoco.md, section 2)",
		"session", s.spec.ID, "before", s.gen.Engine, "now", g.Engine)
}

// answersTrained reports whether the generation in use was trained on answers of this session that count.
func (s *generation) answersTrained() bool {
	return s.gen != nil && s.history.Before(s.gen.BasedOn+1) > 0
}

// lengthen adds the candidates of a follow-up, or of an upload, to the generation in use, of
// which kept are the questions that may be asked on.
func (s *generation) lengthen(ctx context.Context, res result, kept []idrl.QueryVector) error {
	more, from := res.gen, len(s.gen.Candidates)
	if more.BasedOn != s.gen.BasedOn {
		return fmt.Errorf("its candidates are of generation %d", more.BasedOn)
	}
	if len(more.Candidates) == 0 && len(more.Queries) == 0 {
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
	s.families.add(nil, more.Candidates)
	s.takeOver(&g, p)
	return nil
}

// longerSight returns the sight of the generation in use with what a follow-up adds, of which
// more is the sight; nil if that is nil.
func (s *generation) longerSight(more *sight, g *idrl.Generation) (*sight, error) {
	if more == nil {
		return nil, nil
	}
	out := s.sight.clone()
	out.absorb(more)
	return out, out.measureGeneration(g, s.recentClips())
}

// goOn records where the searches go on after a follow-up that found nothing new.
func (s *generation) goOn(ctx context.Context, agents map[string][]byte) error {
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
func (s *generation) longer(more idrl.Generation, vectors, kept []idrl.QueryVector) (g idrl.Generation, all []idrl.QueryVector) {
	g = idrl.Generation{
		BasedOn: more.BasedOn, Candidates: slices.Concat(s.gen.Candidates, more.Candidates),
		Clips: map[idrl.ClipID]idrl.Clip{}, Steps: more.Steps, Agents: more.Agents, Engine: more.Engine,
	}
	known, limit, has := maps.Clone(s.gen.Clips), learning.OfSession(s.spec).Queries, map[idrl.QueryID]bool{}
	if s.spec.IsArena() { // which has as many as were planned
		limit = len(vectors) + len(kept)
	}
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
