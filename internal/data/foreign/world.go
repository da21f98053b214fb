package foreign

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// A World describes an environment of another program.
type World struct {
	Title, About, Moment string    // for people; may be empty
	StepSec              float64   // simulated seconds of a step
	Discount             float64   // 0: a default
	Playback             float64   // simulated seconds shown per second; 0: a default
	Features             []string  // names
	PriorScale           []float64 // of each feature; nil: ones
}

// Check returns what is wrong with w, in words that follow the name of the environment.
func (w World) Check() error {
	switch {
	case !IsLine(w.Title, MaxTitle) || !IsLine(w.About, MaxAbout) || !IsLine(w.Moment, MaxTitle):
		return fmt.Errorf("its title, description or moment is longer than %d, %d and %d characters has more than one line, or characters that are invisible or change the direction of text", MaxTitle, MaxAbout, MaxTitle)
	case !(w.StepSec >= leastStep && w.StepSec <= mostStep):
		return fmt.Errorf("a step of it takes %v s (step_seconds); that may be 0.000001 to %d, such as 1/30 for 30 steps a second", w.StepSec, mostStep)
	case !(w.Discount >= 0 && w.Discount <= 1):
		return fmt.Errorf("its discount %v is not between 0 and 1", w.Discount)
	case !(w.Playback >= 0 && w.Playback <= maxPlay):
		return fmt.Errorf("its playback %v is not above 0 and at most %d", w.Playback, maxPlay)
	}
	return w.checkFeatures()
}

func (w World) checkFeatures() error {
	if len(w.Features) > MaxFeatures {
		return fmt.Errorf("it has %d features; there may be %d", len(w.Features), MaxFeatures)
	}
	for i, name := range w.Features {
		if name == "" || !IsLine(name, MaxFeature) || slices.Contains(w.Features[:i], name) {
			return fmt.Errorf("the name of feature %d, %.60q, is empty, there twice, longer than %d characters, or cannot be shown in a line", i, name, MaxFeature)
		}
	}
	if w.PriorScale != nil && len(w.PriorScale) != len(w.Features) {
		return fmt.Errorf("prior_scale has %d numbers for %d features", len(w.PriorScale), len(w.Features))
	}
	for _, v := range w.PriorScale {
		if !(v > 0 && v <= math.MaxFloat32) {
			return fmt.Errorf("prior_scale has the number %v; they must be above 0", v)
		}
	}
	return nil
}

// IsLine reports whether s is text of at most n characters that can be shown in a line, none of which is invisible or changes
// the direction of text.
func IsLine(s string, n int) bool {
	return utf8.ValidString(s) && idrl.IsVisible(s) && utf8.RuneCountInString(s) <= n && !strings.ContainsFunc(s, unicode.IsControl)
}

// IsName reports whether s is a name of at most n lower-case letters, digits and hyphens, which ids of
// environments are made of.
func IsName(s string, n int) bool { return len(s) <= n && plainName.MatchString(s) }

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// ClipSec is how long a clip plays for where nothing else is said.
const ClipSec = 2.0

// ClipSteps returns the steps that take ClipSec, but at least 10 and at most most.
func ClipSteps(stepSec float64, most int) int {
	return int(min(float64(most), max(10, math.Round(ClipSec/stepSec))))
}
