package neural

import (
	"context"
	"math"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
)

// A Learner learns the features of a live session: those of a network that is trained on
// the answers so far, from weights that are drawn anew each time, so that what it learns
// is a function of the answers and the seed. Answers after it condition the weights of the
// last layer.
type Learner struct {
	// Config says what the network is; its ObsDim and ActDim are those of the clips, and
	// are not used.
	Config Config
}

var _ idrl.FeatureLearner = Learner{}

// LearnerFor returns the learner for sessions of spec, whose defaults are filled in, in env.
// The scale of a network's reward is free, so that its unit is that of the log-odds of a
// preference: a comparison is Bradley-Terry's with β = 1 and ties as wide, beside the noise,
// as those of spec. It returns an error of kind Invalid for tabular environments, whose
// features are a function of the state that a step enters and not of observations.
func LearnerFor(spec idrl.SessionSpec, env idrl.Environment) (Learner, error) {
	if _, ok := env.(idrl.Tabular); ok {
		return Learner{}, idrl.Errorf(idrl.Invalid, "a reward network learns from observations and actions, which environment %q, a table of states, does not have; "+
			"use the features of the environment", env.Spec().ID)
	}
	m, err := belief.ForSpec(spec, env)
	if err != nil {
		return Learner{}, err
	}
	beta := math.Sqrt(8/math.Pi) / spec.NoiseStd // of the logistic that is as steep as the probit
	cfg := Config{Mode: Anchored, Rating: m.Rating}
	bands := belief.BradleyTerry{Beta: 1, TieWidth: beta * spec.TieBand}
	if cfg.Comparison = bands; spec.Strength {
		cfg.Comparison = belief.Graded{Of: bands, Much: beta * spec.MuchBand}
	}
	return Learner{cfg}, nil
}

// FirstFit is the number of informative answers of the first fit.
const FirstFit = 10

// Name implements idrl.FeatureLearner.
func (l Learner) Name() string { return "network" }

// Due implements idrl.FeatureLearner: at 10 informative answers, and then whenever a
// quarter more have come since the last time, or ten: 10, 20, 30, 40, 50, 62, 77, 96, …
// A fit costs the more the more answers there are, and changes the less.
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
	m, err := Train(ctx, cfg, d, nil, rng.New(seed, "network", uint64(version)))
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
	return Representation{m, version}, m.RewardModel(), nil
}

// A Representation is the features of a Model, under a version.
type Representation struct {
	Model   *Model
	version int64
}

// Version implements idrl.Representation.
func (r Representation) Version() int64 { return r.version }

// Dim implements idrl.Representation.
func (r Representation) Dim() int { return r.Model.Dim() }

// Weights implements session.Weighted: those of the last layer.
func (r Representation) Weights() []float64 { return r.Model.Posterior().Mean(nil) }

// Features implements idrl.Representation. It panics if the rows of s have other widths
// than those that the network was trained on: an environment keeps its widths.
func (r Representation) Features(dst []float64, s idrl.Steps) []float64 {
	return r.Model.Features(dst, s)
}
