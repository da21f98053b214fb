package view

import (
	"encoding/json"
	"slices"

	"tiebreak/internal/base/record"
)

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
	Name      record.Condition
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

// MarshalJSON returns the scores as docs/api.md describes them.
func (s ConditionScores) MarshalJSON() ([]byte, error) {
	type held struct {
		Questions int `json:"questions"`
		Replies   int `json:"replies"`
	}
	out := struct {
		HeldOut    held        `json:"held_out"`
		After      int         `json:"compared_after"`
		All        scoreJSON   `json:"all"`
		Conditions []scoreJSON `json:"conditions"`
	}{held{s.Questions, s.Replies}, s.Equal, scoreOf(s.All), []scoreJSON{}}
	for i, c := range s.Conditions {
		one := scoreOf(c)
		if i > 0 && i <= len(s.Leads) {
			l := s.Leads[i-1]
			one.Lead = &leadJSON{l.Mean, l.Low, l.High}
		}
		out.Conditions = append(out.Conditions, one)
	}
	return json.Marshal(out)
}

type (
	scoreJSON struct {
		Condition record.Condition `json:"condition"`
		Share     float64          `json:"share"`
		Questions int              `json:"questions"`
		Answers   int              `json:"answers"`
		Points    []pointJSON      `json:"points"`
		Lead      *leadJSON        `json:"lead,omitempty"`
	}
	pointJSON struct {
		Answers  int      `json:"answers"`
		Decisive int      `json:"decisive"`
		Right    float64  `json:"right"`
		Accuracy *float64 `json:"accuracy"` // null of no decisive answer, as its interval
		Low      *float64 `json:"accuracy_low"`
		High     *float64 `json:"accuracy_high"`
		Answered int      `json:"answered"`
		LogLoss  float64  `json:"log_loss"`
	}
	leadJSON struct {
		Mean float64 `json:"mean"`
		Low  float64 `json:"low"`
		High float64 `json:"high"`
	}
)

// allConditions is the name of the session's own posterior in JSON.
const allConditions = "all"

func scoreOf(c ConditionScore) scoreJSON {
	out := scoreJSON{Condition: c.Name, Share: c.Share, Questions: c.Questions, Answers: c.Answers, Points: []pointJSON{}}
	if c.Name == "" {
		out.Condition = allConditions
	}
	for _, p := range c.Points {
		one := pointJSON{Answers: p.Answers, Decisive: p.Decisive, Right: p.Right, Answered: p.Answered, LogLoss: p.LogLoss}
		if p.Decisive > 0 {
			accuracy := p.Accuracy()
			one.Accuracy, one.Low, one.High = &accuracy, &p.Low, &p.High
		}
		out.Points = append(out.Points, one)
	}
	return out
}
