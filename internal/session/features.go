package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/representation"
)

// features are a representation with the model of its weights, and what clips and
// policies are under it.
type features struct {
	rep   idrl.Representation // nil for those of the environment
	model idrl.RewardModel
	view  *representation.View
}

// version is 0 for the environment's features.
func (f features) version() int64 { return f.view.Version() }

// A shelf has the clips and the raw steps that vectors are computed from.
type shelf struct {
	journal idrl.Journal
	session idrl.SessionID
	asked   map[idrl.ClipID]idrl.Clip // that were asked about
	gen     *idrl.Generation          // in use, or about to be; nil before the first
	remarks bool                      // of the session's settings
	arena   idrl.Arena                // likewise
	decoded map[idrl.StepsID]*idrl.Steps
}

func (s *shelf) source(discount float64) representation.Source {
	return representation.Source{Clip: s.entered, Steps: s.steps, Remarks: s.remarks, Discount: discount}
}

// entered returns a clip, in an arena with what its posterior is about in place of the
// features: which entrant it shows.
func (s *shelf) entered(id idrl.ClipID) (idrl.Clip, error) {
	c, err := s.clip(id)
	if err != nil || len(s.arena.Entrants) == 0 {
		return c, err
	}
	k, ok := s.arena.EntrantOf(c.From)
	if !ok {
		return c, idrl.Errorf(idrl.Damaged, "clip %s of an arena shows none of its entrants", id)
	}
	c.Phi = s.arena.Indicator(k)
	return c, nil
}

func (s *shelf) clip(id idrl.ClipID) (idrl.Clip, error) {
	if c, ok := s.asked[id]; ok {
		return c, nil
	}
	if s.gen != nil {
		if c, ok := s.gen.Clips[id]; ok {
			return c, nil
		}
	}
	return idrl.Clip{}, idrl.Errorf(idrl.NotFound, "clip %s is not recorded", id)
}

// steps returns raw steps, of which it keeps those that it read last: clips of one
// trajectory come together.
func (s *shelf) steps(name idrl.StepsID) (*idrl.Steps, error) {
	if out := s.decoded[name]; out != nil {
		return out, nil
	}
	var content []byte
	var err error
	if s.gen != nil {
		content = s.gen.Steps[name]
	}
	if content == nil {
		if content, err = s.journal.Steps(context.Background(), s.session, name); err != nil {
			return nil, err
		}
	}
	out, err := steps.Decode(name, content)
	if err != nil {
		return nil, err
	}
	if s.decoded == nil || len(s.decoded) >= maxDecoded {
		s.decoded = map[idrl.StepsID]*idrl.Steps{}
	}
	s.decoded[name] = &out
	return &out, nil
}

// shown returns the raw steps of a clip.
func (s *shelf) shown(id idrl.ClipID) (idrl.Steps, error) {
	c, err := s.clip(id)
	if err != nil {
		return idrl.Steps{}, err
	}
	return representation.Shown(c, s.steps)
}

// maxDecoded is how many trajectories a shelf keeps decoded.
const maxDecoded = 64

// under returns the features of a version, with a view that s owns. It returns an error,
// which says why, if they cannot be used.
func (s *Session) under(version int64) (features, error) {
	switch {
	case version == s.features.version():
		return s.features, nil
	case version == 0:
		return features{model: s.cfg.Model, view: representation.New(nil, s.shelf.source(0))}, nil
	case version > int64(len(s.fits)):
		return features{}, idrl.Errorf(idrl.Damaged, "features of version %d are not recorded", version)
	}
	return s.open(s.fits[version-1], s.shelf)
}

// open returns the features that fit f recorded.
func (s *Session) open(f idrl.LearntFit, from *shelf) (features, error) {
	switch {
	case s.cfg.Learner == nil || s.cfg.Learner.Name() != f.Learner:
		return features{}, idrl.Errorf(idrl.Invalid, "features of kind %q (version %d) are unknown to this program; "+
			"use the one that recorded them, or a newer one", f.Learner, f.Version)
	case f.Content == nil:
		return features{}, idrl.Errorf(idrl.Damaged, "the recorded features of version %d are damaged; restore a backup of the data folder", f.Version)
	}
	rep, model, err := s.cfg.Learner.Open(f.Version, f.Content)
	if err != nil {
		return features{}, fmt.Errorf("features of version %d: %w", f.Version, err)
	}
	return features{rep: rep, model: model, view: representation.New(rep, from.source(s.cfg.Discount))}, nil
}

// policies computes what policies are under f, so that Policy cannot fail for them.
func (f features) policies(lists ...[]idrl.Candidate) error {
	for _, list := range lists {
		for _, c := range list {
			if _, err := f.view.Policy(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// mu is view.Policy for a policy that policies took in.
func (f features) mu(c idrl.Candidate) []float64 {
	mu, err := f.view.Policy(c)
	if err != nil {
		panic(fmt.Sprintf("session: features of a policy that were not computed: %v", err))
	}
	return mu
}

// represent makes f the features in use, under which the effective answers are h and the
// queries of the generation are vectors. What f makes of the known policies must have
// been computed.
func (s *Session) represent(f features, h *posterior.History, vectors []idrl.QueryVector) {
	s.features, s.vectors = f, vectors
	s.learner.Represent(f.model, f.mu, rng.New(s.spec.Seed, "regret", uint64(f.version())))
	s.know(h)
	s.now, s.stop = present{}, stopState{}
}

// restoreFeatures makes the features that were learnt last those in use. If they cannot
// be used then the session goes on with those of its environment, and says so: the log
// is the truth, and the next start tries again.
func (s *Session) restoreFeatures() {
	if len(s.fits) == 0 {
		return
	}
	for _, a := range idrl.Effective(s.log.rows[:s.fits[len(s.fits)-1].BasedOn]) {
		if s.teaches(a) {
			s.refit.answers++
		}
	}
	f, vectors, err := s.recorded(int64(len(s.fits)))
	if err != nil {
		s.impaired = err
		s.cfg.Log.Error("learnt features cannot be used; the session continues with the features of its environment, and no answer is lost",
			"session", s.spec.ID, "err", err)
		return
	}
	s.represent(f, posterior.New(s.posteriorConfig(f.model)), vectors) // restoreBelief sets the answers
}

// recorded returns the features of a version, under which everything that the session
// needs can be computed, and the queries of the generation as vectors.
func (s *Session) recorded(version int64) (f features, vectors []idrl.QueryVector, err error) {
	if f, err = s.under(version); err != nil {
		return f, nil, err
	}
	if err = f.policies(s.learner.Policies().All()); err != nil {
		return f, nil, err
	}
	if _, err = s.items(f.view, idrl.Effective(s.log.rows)); err != nil || s.gen == nil {
		return f, nil, err
	}
	vectors, err = f.view.Queries(s.gen.Queries)
	return f, vectors, err
}

// prepared is what the session needs of a generation under some features.
type prepared struct {
	features
	vectors []idrl.QueryVector // its queries
	sight   *sight             // what a person sees of it; nil where that does not matter
}

// preparer returns what computes all that the session needs of a generation under the
// features in use. It may be called from any goroutine: the work takes long where features
// are learnt, and answers would wait for it.
func (s *Session) preparer() func(g *idrl.Generation) (prepared, error) {
	return s.prepareFrom(s.sight)
}

// prepareFrom is preparer where known has what is seen of some of the generation.
func (s *Session) prepareFrom(known *sight) func(g *idrl.Generation) (prepared, error) {
	see := s.beholder(known)
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

// beholder returns what makes a sight of a generation from what is known. It may be called
// from any goroutine. Where it does not matter what people see, that is nil.
func (s *Session) beholder(known *sight) func(*idrl.Generation) (*sight, error) {
	if !s.seesQuestions() {
		return func(*idrl.Generation) (*sight, error) { return nil, nil }
	}
	own, recent := known.clone(), s.recentClips()
	return func(g *idrl.Generation) (*sight, error) { return own, own.measureGeneration(g, recent) }
}

// look makes the sight that of the generation in use, which it is unless the session was just
// loaded. Its error is that of the journal.
func (s *Session) look() error {
	if s.gen == nil || !s.seesQuestions() || s.sight.index != nil {
		return nil
	}
	return s.sight.measureGeneration(s.gen, s.recentClips())
}

// seesQuestions reports whether questions are chosen by what people see.
func (s *Session) seesQuestions() bool { return s.spec.Questions == idrl.AnswerableQuestions }

// use takes over what was prepared of g, but for its sight, and returns it. Where
// features came into use since, it prepares g again.
func (s *Session) use(p prepared, g *idrl.Generation) (_ prepared, err error) {
	if p.version() != s.features.version() {
		if p, err = s.prepareFrom(cmp.Or(p.sight, s.sight))(g); err != nil {
			return p, err
		}
	}
	s.features.view.Absorb(p.view)
	return p, nil
}

// hand notes an assignment, and keeps what its question shows.
func (s *Session) hand(as idrl.Assignment) {
	s.asked.add(as)
	for _, id := range as.Query.Clips {
		if c, ok := s.gen.Clips[id]; ok {
			c.Media, c.Snapshots = nil, nil
			s.shelf.asked[id] = c
		}
	}
}

// pending returns the queries of awaited as vectors, and with whom each of them is, without
// those that are held out, from which nothing is learnt. They are valid until the next call.
func (s *Session) pending(fresh []idrl.Assignment) ([]idrl.QueryVector, []idrl.AnnotatorID, error) {
	out, with := s.selector.pending[:0], s.selector.with[:0]
	for as := range s.awaited(fresh) {
		if as.Condition == idrl.HeldOut {
			continue
		}
		v, err := s.features.view.Query(as.Query)
		if err != nil {
			return nil, nil, err
		}
		out, with = append(out, *v), append(with, as.Annotator)
	}
	s.selector.pending, s.selector.with = out, with
	return out, with, nil
}
