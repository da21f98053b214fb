package neural

import (
	"context"
	"math"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
)

// A Learner learns the features of a live session: those of a network that is trained on
// the answers so far. Initial weights are drawn anew each time, so that the result is a
// function of the answers and the seed. Later answers condition the weights of the last
// layer.
type Learner struct {
	// Config says what the network is; its ObsDim and ActDim are those of the clips, and
	// are not used.
	Config Config

	// Own says that the noise, the lapses and the width of ties of comparisons are each annotator's
	// own, as in belief.Own. False: those of Config.Comparison, for all.
	Own bool
}

var _ idrl.FeatureLearner = Learner{}

// LearnerFor returns the learner for sessions of spec, whose defaults are filled in, in env.
// The scale of a network's reward is free, so that its unit is that of the log-odds of a
// preference: a comparison is Bradley-Terry's with β = 1, and its tie width in units of the
// noise is that of spec. If each annotator has a noise of their own, it is the probit of the
// same slope, whose mixtures over manners have a closed form: valuing 1,200 questions takes
// 0.9 ms instead of 11. It returns an error of kind Invalid for tabular environments, whose
// features are functions of the entered state instead of observations.
func LearnerFor(spec idrl.SessionSpec, env idrl.Environment) (Learner, error) {
	if _, ok := env.(idrl.Tabular); ok {
		return Learner{}, idrl.Errorf(idrl.Invalid, "a reward network learns from observations and actions, which environment %q, a table of states, does not have; "+
			"use the features of the environment", env.Spec().ID)
	}
	m, err := belief.ForSpec(spec, env)
	if err != nil {
		return Learner{}, err
	}
	std := math.Sqrt(8 / math.Pi) // of the probit that is as steep as the logistic with β = 1
	unit := std / spec.NoiseStd
	cfg := Config{Mode: Anchored, Rating: m.Rating}
	var bands belief.Banded = belief.BradleyTerry{Beta: 1, TieWidth: unit * spec.TieBand}
	if spec.Noise == idrl.OwnNoise {
		bands = belief.Probit{NoiseStd: std, TieBand: unit * spec.TieBand}
	}
	if cfg.Comparison = bands; spec.Strength {
		cfg.Comparison = belief.Graded{Of: bands, Much: unit * spec.MuchBand}
	}
	return Learner{Config: cfg, Own: spec.Noise == idrl.OwnNoise}, nil
}

// FirstFit is the number of informative answers of the first fit.
const FirstFit = 10

// Name implements idrl.FeatureLearner.
func (l Learner) Name() string { return "network" }

// Due implements idrl.FeatureLearner: at 10 informative answers, and then whenever a
// quarter more have come since the last time, but at least ten: 10, 20, 30, 40, 50, 62, 77,
// 96, … With more answers a fit costs more and changes less.
func (l Learner) Due(n int) bool {
	at := FirstFit
	for at < n {
		at += max(FirstFit, at/4)
	}
	return at == n
}

// Learn implements idrl.FeatureLearner. It returns an error of kind Invalid if nothing was
// answered, and those of Train.
func (l Learner) Learn(ctx context.Context, d idrl.Dataset, version int64, seed uint64) ([]byte, error) {
	cfg := l.Config
	if len(d.Shown) == 0 || len(d.Shown[0]) == 0 || d.Shown[0][0].Len() == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "a reward network cannot be learnt: none of the %d answers prefers a clip", len(d.Answers))
	}
	first := d.Shown[0][0]
	cfg.ObsDim, cfg.ActDim = len(first.Obs[0]), len(first.Actions[0])
	fit := func() (*Model, error) { return Train(ctx, cfg, d, nil, rng.New(seed, "network", uint64(version))) }
	m, err := fit()
	if err == nil && l.Own && several(d) {
		if cfg.people, err = m.annotators(ctx, d); err == nil {
			m, err = fit() // from the same drawn weights
		}
	}
	if err != nil {
		return nil, err
	}
	return m.Encode()
}

// Open implements idrl.FeatureLearner. Errors are those of Decode.
func (l Learner) Open(version int64, b []byte) (idrl.Representation, idrl.RewardModel, error) {
	m, err := Decode(l.Config, b)
	if err != nil {
		return nil, nil, err
	}
	r := Representation{m, version, m.RewardModel()}
	if l.Own {
		if own, ok := m.own(); ok {
			r.answers = own
		}
	}
	return r, r.answers, nil
}

// A Representation is the features of a Model, under a version.
type Representation struct {
	Model   *Model
	version int64
	answers idrl.RewardModel
}

// RewardModel returns how answers change beliefs about the weights of the last layer: that of the
// model, or with the noise of each annotator (Learner.Own).
func (r Representation) RewardModel() idrl.RewardModel { return r.answers }

// Version implements idrl.Representation.
func (r Representation) Version() int64 { return r.version }

// Dim implements idrl.Representation.
func (r Representation) Dim() int { return r.Model.Dim() }

// Weights implements session.Weighted: those of the last layer.
func (r Representation) Weights() []float64 { return r.Model.Posterior().Mean(nil) }

// Features implements idrl.Representation. It panics if the rows of s do not have the widths
// of the network.
func (r Representation) Features(dst []float64, s idrl.Steps) []float64 {
	return r.Model.Features(dst, s)
}
