package idrl

import (
	"slices"
	"strconv"
	"strings"
)

// MaxHeldOut is the largest share of the questions that can be held out.
const MaxHeldOut = 0.5

// A StrategyShare is a strategy that chooses a share of the questions of a session.
type StrategyShare struct {
	Strategy string  // of package acquisition, one that can value the session's questions
	Share    float64 // of the questions that are not held out, in (0, 1)
}

// Controls are the control strategies of a session; the session's own chooses the rest.
type Controls []StrategyShare

// String returns c as text: "uniform=0.25, igr=0.1". It is empty without controls.
func (c Controls) String() string {
	parts := make([]string, len(c))
	for i, k := range c {
		parts[i] = k.Strategy + "=" + strconv.FormatFloat(k.Share, 'g', -1, 64)
	}
	return strings.Join(parts, ", ")
}

// Set parses text as String writes it. It implements flag.Value. Its error is of kind Invalid.
func (c *Controls) Set(text string) error {
	var out Controls
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, share, _ := strings.Cut(part, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil {
			return Errorf(Invalid, "a condition is a strategy and its share of the questions, such as uniform=0.25; got %q", part)
		}
		out = append(out, StrategyShare{Strategy: strings.TrimSpace(name), Share: v})
	}
	*c = out
	return nil
}

// Conditions returns the strategies of a session that compares them, its own first; nil of one
// that does not.
func (s SessionSpec) Conditions() (out []StrategyShare) {
	if !s.Compares() {
		return nil
	}
	own := 1.0
	for _, c := range s.Controls {
		own -= c.Share
	}
	return slices.Concat([]StrategyShare{{Strategy: s.Acquisition, Share: own}}, s.Controls)
}

// Compares reports whether the session has several conditions, or comparisons that are held out.
func (s SessionSpec) Compares() bool { return len(s.Controls) > 0 || s.HeldOut > 0 }

// CheckConditions returns an error of kind Invalid unless the shares of the conditions fit
// together. It does not know which strategies exist.
func (s SessionSpec) CheckConditions() error {
	sum := 0.0
	for i, c := range s.Controls {
		switch {
		case !(c.Share > 0 && c.Share < 1):
			return Errorf(Invalid, "the share of the condition %q must be above 0 and below 1; got %v", c.Strategy, c.Share)
		case c.Strategy == s.Acquisition:
			return Errorf(Invalid, "the condition %q is the session's own strategy, which has the rest of the questions; name another one, or leave it out", c.Strategy)
		case slices.ContainsFunc(s.Controls[:i], func(o StrategyShare) bool { return o.Strategy == c.Strategy }):
			return Errorf(Invalid, "the condition %q is given twice; give each strategy one share", c.Strategy)
		}
		sum += c.Share
	}
	switch {
	case sum >= 1:
		return Errorf(Invalid, "the shares of the conditions must add up to less than 1, because the session's own strategy has the rest; they add up to %v", sum)
	case len(s.Controls) > 0 && s.Model == NetworkModel:
		return Errorf(Invalid, "conditions need separate posteriors, but those of the model %q share a network that learns from all answers; use the model %q",
			NetworkModel, FeaturesModel)
	}
	return nil
}
