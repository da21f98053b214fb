package session

import (
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
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
	journal record.Journal
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

// hold keeps the clips of questions with known answers.
func (s *shelf) hold(gold record.GoldSettings) {
	for _, k := range gold.Questions {
		for _, c := range k.Clips {
			s.asked[c.ID] = c
		}
	}
}

// shown returns the raw steps of a clip.
func (s *shelf) shown(id idrl.ClipID) (idrl.Steps, error) {
	c, err := s.clip(id)
	if err != nil {
		return idrl.Steps{}, err
	}
	return representation.Shown(c, s.steps)
}

// learntFeatures are the features in use, and those that were learnt so far.
type learntFeatures struct {
	*ledger
	shelf    *shelf
	features features           // in use
	fits     []record.LearntFit // by Version
	impaired error              // why those learnt last are not in use; nil if they are
}

func newLearntFeatures(rec *ledger, r record.Record) *learntFeatures {
	on := &shelf{journal: rec.cfg.Journal, session: r.Spec.ID, asked: r.Clips, gen: r.Generation, remarks: r.Spec.Remarks, arena: r.Spec.Arena}
	if on.asked == nil {
		on.asked = map[idrl.ClipID]idrl.Clip{}
	}
	return &learntFeatures{ledger: rec, shelf: on, fits: r.Fits, features: features{model: rec.cfg.Model, view: representation.New(nil, on.source(0))}}
}

// maxDecoded is how many trajectories a shelf keeps decoded.
const maxDecoded = 64

// under returns the features of a version, with a view that s owns. It returns an error,
// which says why, if they cannot be used.
func (s *learntFeatures) under(version int64) (features, error) {
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
func (s *learntFeatures) open(f record.LearntFit, from *shelf) (features, error) {
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

// fitFollowed reports whether features came into use after row seq. What was predicted of
// the answer after it cannot be told from the record, which has no posterior under them
// before that answer.
func (s *learntFeatures) fitFollowed(seq int64) bool {
	return slices.ContainsFunc(s.fits, func(f record.LearntFit) bool { return f.AdoptedAt == seq })
}

// unlearnt reports whether features are to be learnt, but were not when row seq was the
// last one. Then no policies are trained, because they would be for features that are
// about to be replaced: people are asked about those of the first generation.
func (s *learntFeatures) unlearnt(seq int64) bool {
	return s.cfg.Learner != nil && (len(s.fits) == 0 || seq <= s.fits[0].AdoptedAt)
}

// current reports whether the last snapshot is of today's definition, and about the
// weights of the features in use.
func (s *learntFeatures) current(snapshots []record.Snapshot) bool {
	return len(snapshots) == 0 && len(s.fits) == 0 || len(snapshots) > 0 && s.usable(snapshots[len(snapshots)-1])
}

// usable reports whether a snapshot is of today's definition, and about the weights of
// the features in use.
func (s *learntFeatures) usable(snap record.Snapshot) bool {
	return snap.Definition == record.PosteriorDefinition && snap.Representation == s.features.version()
}

// decode returns the belief of a snapshot, which is about the weights of f, or an error
// if it is damaged.
func (f features) decode(snap record.Snapshot) (idrl.Posterior, error) {
	p, err := f.model.Decode(snap.Belief)
	if err != nil {
		return nil, fmt.Errorf("belief after log row %d: %w", snap.Seq, err)
	}
	return p, nil
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
