package outside

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
)

// protocol is the version of the protocol that this program speaks.
const protocol = 1

// Limits of a hello.
const (
	maxState      = 1 << 16 // numbers of a saved state
	maxHappenings = 32      // names of what happens
)

// A Hello is what an outside environment says of itself.
type Hello struct {
	Protocol    int       `json:"protocol"`
	Name        string    `json:"name"`
	Version     string    `json:"version"`
	Title       string    `json:"title,omitempty"`
	About       string    `json:"description,omitempty"`
	Observation int       `json:"observation"` // length of an observation
	Action      Actions   `json:"action"`
	Features    []string  `json:"features"`
	PriorScale  []float64 `json:"prior_scale,omitempty"`
	Horizon     int       `json:"horizon"`
	StepSec     float64   `json:"step_seconds"`
	Discount    float64   `json:"discount,omitempty"`   // default 0.99
	ClipSteps   int       `json:"clip_steps,omitempty"` // default: about two seconds
	Playback    float64   `json:"playback,omitempty"`   // default: so that a clip plays for two seconds, but not faster than real
	EndSec      float64   `json:"end_seconds,omitempty"`
	Moment      string    `json:"moment,omitempty"` // what questions about states ask about
	Draws       string    `json:"draws"`            // scene or picture
	State       int       `json:"state,omitempty"`  // length of a saved state; 0: it saves none

	// Happens are the names that steps may say, the one that a clip gets before others first.
	Happens []foreign.Happening `json:"happens,omitempty"`
}

// Actions are those of an outside environment.
type Actions struct {
	Num  int       `json:"n,omitempty"` // discrete
	Low  []float64 `json:"low,omitempty"`
	High []float64 `json:"high,omitempty"`
}

var plainVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,31}$`)

// check returns what is wrong with h, nil if nothing is.
func (h *Hello) check() *failure {
	err := func() error {
		switch {
		case h.Protocol != protocol:
			return fmt.Errorf("it speaks version %d of the protocol; this program speaks %d", h.Protocol, protocol)
		case !foreign.IsName(h.Name, maxName):
			return fmt.Errorf("its name %.60q must have lower case letters, digits and hyphens, at most 40", h.Name)
		case !plainVersion.MatchString(h.Version):
			return fmt.Errorf("its version %.60q must have letters, digits, dots and hyphens, at most 32", h.Version)
		case h.Observation < 1 || h.Observation > foreign.MaxObservation:
			return fmt.Errorf("its observations have %d numbers; they may have 1 to %d", h.Observation, foreign.MaxObservation)
		case h.Horizon < 1 || h.Horizon > foreign.MaxSteps:
			return fmt.Errorf("its episodes have %d steps; they may have 1 to %d", h.Horizon, foreign.MaxSteps)
		case h.ClipSteps < 0 || h.ClipSteps > h.Horizon:
			return fmt.Errorf("its clips have %d steps, its episodes %d", h.ClipSteps, h.Horizon)
		case !(h.EndSec >= 0 && h.EndSec <= 10):
			return fmt.Errorf("its end_seconds are %v; they may be 0 to 10", h.EndSec)
		case len(h.Features) == 0:
			return fmt.Errorf("it has 0 features; there may be 1 to %d", foreign.MaxFeatures)
		case h.Draws != drawsScene && h.Draws != drawsPicture:
			return fmt.Errorf("it draws %.20q; that must be %s or %s", h.Draws, drawsScene, drawsPicture)
		case h.State < 0 || h.State > maxState:
			return fmt.Errorf("its state has %d numbers; the limit is %d", h.State, maxState)
		}
		if err := h.Action.check(); err != nil {
			return err
		}
		if err := h.checkHappens(); err != nil {
			return err
		}
		return foreign.World{Title: h.Title, About: h.About, Moment: h.Moment, StepSec: h.StepSec, Discount: h.Discount, Playback: h.Playback, Features: h.Features, PriorScale: h.PriorScale}.Check()
	}()
	if err != nil {
		return failf(CodeHello, "%v", err)
	}
	return nil
}

// checkHappens returns an error unless the names of what happens are few, short and different.
func (h *Hello) checkHappens() error {
	if len(h.Happens) > maxHappenings {
		return fmt.Errorf("it lists %d things that happen; there may be %d", len(h.Happens), maxHappenings)
	}
	for i, is := range h.Happens {
		if is.Happens == "" {
			return fmt.Errorf("number %d of what happens has no name", i)
		}
		if err := is.Check(); err != nil {
			return fmt.Errorf("number %d: %w", i, err)
		}
		if h.happening(is.Happens) != i+1 {
			return fmt.Errorf("it lists twice that %q happens", is.Happens)
		}
	}
	return nil
}

// happening returns the number of a name of what happens, from 1 on; 0 if it is not listed.
func (h *Hello) happening(name string) int {
	return 1 + slices.IndexFunc(h.Happens, func(is foreign.Happening) bool { return is.Happens == name })
}

// What an environment may draw.
const (
	drawsScene   = "scene"
	drawsPicture = "picture"
)

func (a *Actions) check() error {
	if a.Num != 0 {
		if a.Num < 2 || a.Num > foreign.MaxAction || a.Low != nil || a.High != nil {
			return fmt.Errorf("it has %d discrete actions; there may be 2 to %d, without low and high", a.Num, foreign.MaxAction)
		}
		return nil
	}
	if len(a.Low) < 1 || len(a.Low) > foreign.MaxAction || len(a.Low) != len(a.High) {
		return fmt.Errorf("its actions have %d low and %d high bounds; there must be as many, 1 to %d", len(a.Low), len(a.High), foreign.MaxAction)
	}
	for i, low := range a.Low {
		if !(low < a.High[i] && low >= -math.MaxFloat32 && a.High[i] <= math.MaxFloat32) {
			return fmt.Errorf("number %d of its actions lies between %v and %v; bounds must be finite and in order", i, low, a.High[i])
		}
	}
	return nil
}

// spec returns h as the environment with an id. Of discrete actions a policy gives a score
// each, between -1 and 1; the highest is taken.
func (h *Hello) spec(id string) idrl.EnvSpec {
	s := idrl.EnvSpec{
		ID: id, Version: 1, ObsDim: h.Observation, FeatureNames: h.Features, PriorScale: h.PriorScale,
		Actions:     idrl.ActionSpec{Low: h.Action.Low, High: h.Action.High},
		StepSeconds: h.StepSec, Horizon: h.Horizon, Discount: h.Discount, ClipSteps: h.ClipSteps,
		Playback: h.Playback, EndSeconds: h.EndSec, StillLabel: h.Moment, Search: idrl.Search{Normalise: true},
	}
	if n := h.Action.Num; n > 0 {
		s.Actions.Low, s.Actions.High = slices.Repeat([]float64{-1}, n), slices.Repeat([]float64{1}, n)
	}
	s.Discount, s.StillLabel = cmp.Or(s.Discount, 0.99), cmp.Or(s.StillLabel, foreign.DefaultMoment)
	s.ClipSteps = cmp.Or(s.ClipSteps, foreign.ClipSteps(h.StepSec, min(h.Horizon, 60)))
	s.Playback = cmp.Or(s.Playback, min(1, float64(s.ClipSteps)*h.StepSec/foreign.ClipSec))
	return s
}
