package idrl

import (
	"slices"
	"strconv"
	"strings"
)

// A Condition says how a question of a session with several conditions was chosen: the name of
// a strategy, or HeldOut. It is empty for questions that none of them chose, such as gold
// questions, and in sessions without several conditions.
type Condition string

// HeldOut is the condition of comparisons that are drawn at random and that no posterior learns
// from: they measure how well posteriors predict.
const HeldOut Condition = "held_out"

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

// StrategyOf returns the strategy that chose the questions of a condition: the random one for
// held-out questions, and the session's own for questions without a condition.
func (s SessionSpec) StrategyOf(c Condition) string {
	switch c {
	case "":
		return s.Acquisition
	case HeldOut:
		return "uniform"
	}
	return string(c)
}

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

// ConditionScores says how well the posteriors of a session's conditions predict the
// comparisons that are held out. It is immutable.
type ConditionScores struct {
	Questions int // held out, without those that ask again
	Replies   int // replies to them that count, with those without a preference
	Again     int // of Replies: repeated answers to a pair; the scores leave them out

	All        ConditionScore   // of the session's own posterior; its Name is empty
	Conditions []ConditionScore // the session's own strategy first; each posterior knows only the answers of its condition

	// Equal is the greatest number of answers after which every condition has a point; 0 for
	// none. Leads[i] compares Conditions[i+1] with the first one there; empty if Equal is 0.
	Equal int
	Leads []Lead
}

// A ConditionScore is how well one posterior predicts.
type ConditionScore struct {
	Name      Condition
	Share     float64 // of the questions that are not held out; 1 of all
	Questions int     // without those that ask again after a withdrawal
	Answers   int     // that the posterior was learnt from
	Points    []ScorePoint
}

// Last returns the score of the present posterior; ok is false if there is none yet.
func (c ConditionScore) Last() (p ScorePoint, ok bool) {
	if len(c.Points) == 0 {
		return p, false
	}
	return c.Points[len(c.Points)-1], true
}

// At returns the score after a number of answers; ok is false if there is none.
func (c ConditionScore) At(answers int) (p ScorePoint, ok bool) {
	i := slices.IndexFunc(c.Points, func(p ScorePoint) bool { return p.Answers == answers })
	if i < 0 {
		return p, false
	}
	return c.Points[i], true
}

// A ScorePoint is how well the posterior after the first so many answers predicts all
// comparisons that are held out. Of a pair that was answered more than once the first answer
// counts.
type ScorePoint struct {
	Answers  int     // ≥ 1
	Decisive int     // held-out answers that prefer one clip
	Right    float64 // of these, how many prefer the clip with the higher posterior mean; ½ for equal means
	Low      float64 // 95 % Wilson interval of Right / Decisive
	High     float64
	Answered int     // held-out answers that prefer one clip or call both equal
	LogLoss  float64 // of these, mean of −log p, nats; p at least MinPredicted
}

// MinPredicted is the least probability that a ScorePoint.LogLoss counts.
const MinPredicted = 1e-9

// Accuracy returns the share of decisive answers that were predicted, 0 of none.
func (p ScorePoint) Accuracy() float64 {
	if p.Decisive == 0 {
		return 0
	}
	return p.Right / float64(p.Decisive)
}

// A Lead is the difference of the accuracies of two conditions after equally many answers, on the
// same held-out answers, with a 95 % interval for paired shares.
type Lead struct{ Mean, Low, High float64 }
