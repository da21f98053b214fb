package drawing

import (
	"fmt"
	"math"
	"regexp"
	"slices"
)

// A Guide explains an environment to people who do not know it.
type Guide struct {
	Purpose string        // what they are asked to judge, one sentence
	Look    []string      // what to look for, a sentence or two each
	Legend  []LegendEntry // meaning of the pictures

	// Purposes are sentences that researchers may choose in place of Purpose: things that a person
	// can go by and that the features tell. Their scenes may be empty.
	Purposes []LegendEntry
}

// A LegendEntry explains one thing in the pictures.
type LegendEntry struct {
	Name  string // unique in the legend, lower-case letters, digits and hyphens: "arrow"
	Text  string // a sentence or two
	Scene Scene  // a picture of it, LegendRatio times as wide as high
}

// Guided is an Environment that can explain its pictures.
type Guided interface {
	// Guide returns the text and pictures for people. It is the same for every layout, and does not
	// disturb an episode. The scenes belong to the caller, except their Static list.
	Guide() Guide
}

// Limits of a Guide. Lengths are in bytes.
const (
	MaxPurpose    = 140
	MaxLook       = 3
	MaxLookText   = 140
	MaxLegend     = 8
	MaxLegendText = 140
	LegendRatio   = 4. / 3
)

var legendName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,23}$`)

// Check returns an error that says what is wrong with g, which a programmer wrote: a text that is
// missing or too long, a name that is used twice, or a picture that cannot be drawn.
func (g Guide) Check() error {
	sized := func(what, text string, most int) error {
		if text == "" || len(text) > most {
			return fmt.Errorf("%s has %d bytes, want 1 to %d: %q", what, len(text), most, text)
		}
		return nil
	}
	if err := sized("the purpose", g.Purpose, MaxPurpose); err != nil {
		return err
	}
	if n := len(g.Look); n < 1 || n > MaxLook {
		return fmt.Errorf("%d lines of what to look for, want 1 to %d", n, MaxLook)
	}
	for _, line := range g.Look {
		if err := sized("a line of what to look for", line, MaxLookText); err != nil {
			return err
		}
	}
	if n := len(g.Legend); n < 1 || n > MaxLegend {
		return fmt.Errorf("%d entries in the legend, want 1 to %d", n, MaxLegend)
	}
	for i, e := range g.Legend {
		same := func(o LegendEntry) bool { return o.Name == e.Name }
		if !legendName.MatchString(e.Name) || slices.ContainsFunc(g.Legend[:i], same) {
			return fmt.Errorf("entry %d of the legend is called %q, which is no name or used twice", i, e.Name)
		}
		if err := sized("entry "+e.Name, e.Text, MaxLegendText); err != nil {
			return err
		}
		if c := e.Scene.Camera; !(c.W > 0 && math.Abs(c.W/c.H-LegendRatio) < 1e-6) || len(e.Scene.Static)+len(e.Scene.Moving) == 0 {
			return fmt.Errorf("entry %s has a picture of %v × %v with %d shapes, want shapes and a ratio of 4:3",
				e.Name, c.W, c.H, len(e.Scene.Static)+len(e.Scene.Moving))
		}
	}
	for i, e := range g.Purposes {
		same := func(o LegendEntry) bool { return o.Name == e.Name }
		if !legendName.MatchString(e.Name) || slices.ContainsFunc(g.Purposes[:i], same) {
			return fmt.Errorf("purpose %d is called %q, which is no name or used twice", i, e.Name)
		}
		if err := sized("purpose "+e.Name, e.Text, MaxPurpose); err != nil {
			return err
		}
	}
	return nil
}
