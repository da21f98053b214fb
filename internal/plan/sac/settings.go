package sac

import (
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

// Settings of a training. Every field must be set; Paper and Live return settings that
// are complete.
type Settings struct {
	Hidden   []int   // widths of the hidden layers of actor and critics
	Batch    int     // transitions of an update
	Rate     float64 // step size of Adam for actor, critics and temperature
	Discount float64 // of the critics, in (0, 1)
	Polyak   float64 // share of the critics that an update mixes into their targets, in (0, 1]

	// TargetEntropy is that of the squashed policy, nats; 0 means −1 for each
	// dimension of the action.
	TargetEntropy float64

	Starts  int // steps of uniformly random actions before the first update
	Updates int // updates after every Every steps
	Every   int
	Replay  int // rows of the replay; see ReplayBytes

	// Time appends (T−t)/T to what actor and critics observe, T the horizon and t the
	// steps taken. The reward never sees it.
	Time bool

	// NormaliseReward gives the critics (r−m)/s clipped to ±10, where m and s are the
	// mean and standard deviation of all rewards so far, or of those in the replay
	// after it was relabelled.
	NormaliseReward bool

	// Features keeps the features φ of every step in the replay, for rewards that
	// read Batch.Phi.
	Features bool
}

// Paper returns the settings of the paper's experiments: the defaults of
// Stable-Baselines3 with the time feature (docs/paper-code.md, section 6).
func Paper() Settings {
	s := Live()
	s.Hidden = []int{256, 256}
	s.Rate = 3e-4
	s.Starts = 100
	s.Replay = 1_000_000
	s.NormaliseReward = true
	return s
}

// Live returns the settings for training in a live session: networks so small that one core makes
// more than a thousand steps a second (docs/adr/0023-soft-actor-critic.md).
func Live() Settings {
	return Settings{
		Hidden: []int{64, 64}, Batch: 256, Rate: 1e-3, Discount: 0.99, Polyak: 0.005,
		Starts: 1000, Updates: 1, Every: 1, Replay: 300_000, Time: true,
	}
}

// ReplayBytes returns the memory that the replay of a training takes when it is full.
func (s Settings) ReplayBytes(spec idrl.EnvSpec) int {
	return s.Replay * (4*newShape(s, spec).width + 1)
}

// maxRow bounds the numbers of a row of the replay and the width of a layer.
const maxRow = 1 << 14

func (s Settings) check(spec idrl.EnvSpec) error {
	if err := checkBox(spec); err != nil {
		return err
	}
	if spec.Horizon <= 0 {
		return idrl.Errorf(idrl.Invalid, "soft actor-critic needs episodes of a limited length; those of %s have none", spec.ID)
	}
	for _, w := range s.Hidden {
		if w < 1 || w > maxRow {
			return idrl.Errorf(idrl.Invalid, "a hidden layer of %d units; it must have 1 to %d", w, maxRow)
		}
	}
	if len(s.Hidden) == 0 || newShape(s, spec).width > maxRow {
		return idrl.Errorf(idrl.Invalid, "soft actor-critic needs a hidden layer, and at most %d numbers a step", maxRow)
	}
	if s.Batch < 1 || s.Updates < 0 || s.Every < 1 || s.Starts < 1 || s.Replay < 2 || s.Replay > math.MaxInt32 {
		return idrl.Errorf(idrl.Invalid, "batch %d, starts %d, every %d must be positive, updates %d not negative, replay %d at least 2 and below 2³¹", s.Batch, s.Starts, s.Every, s.Updates, s.Replay)
	}
	if !(s.Rate >= 0 && s.Rate < 1) || !(s.Discount > 0 && s.Discount < 1) || !(s.Polyak > 0 && s.Polyak <= 1) || math.IsNaN(s.TargetEntropy) || math.IsInf(s.TargetEntropy, 0) {
		return idrl.Errorf(idrl.Invalid, "rate %v must be in [0, 1), discount %v in (0, 1), polyak %v in (0, 1], target entropy %v finite", s.Rate, s.Discount, s.Polyak, s.TargetEntropy)
	}
	return nil
}

// checkBox refuses actions that are not a box of finite size.
func checkBox(spec idrl.EnvSpec) error {
	if spec.Actions.Num > 0 || len(spec.Actions.Low) == 0 || len(spec.Actions.Low) != len(spec.Actions.High) {
		return idrl.Errorf(idrl.Invalid, "soft actor-critic needs continuous actions; those of %s are not", spec.ID)
	}
	for i, low := range spec.Actions.Low {
		if size := spec.Actions.High[i] - low; !(size > 0) || math.IsInf(size, 0) {
			return idrl.Errorf(idrl.Invalid, "dimension %d of the actions of %s has the bounds %v and %v", i, spec.ID, low, spec.Actions.High[i])
		}
	}
	return nil
}

// targetEntropy returns that of actions with so many dimensions.
func (s Settings) targetEntropy(dim int) float64 {
	if s.TargetEntropy == 0 {
		return -float64(dim)
	}
	return s.TargetEntropy
}

// name returns a text that differs between trainings whose checkpoints are not compatible.
func (s Settings) name(spec idrl.EnvSpec, seed uint64) string {
	return fmt.Sprintf("%s %d %d %d %d %d %d %+v", spec.ID, spec.Version, spec.ObsDim, spec.Actions.Dim(), spec.FeatureDim(), spec.Horizon, seed, s)
}

// sizes returns the widths of a network with that many inputs and outputs.
func (s Settings) sizes(in, out int) []int {
	return slices.Concat([]int{in}, s.Hidden, []int{out})
}
