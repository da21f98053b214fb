package idrl

import "encoding/json"

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
		Condition Condition   `json:"condition"`
		Share     float64     `json:"share"`
		Questions int         `json:"questions"`
		Answers   int         `json:"answers"`
		Points    []pointJSON `json:"points"`
		Lead      *leadJSON   `json:"lead,omitempty"`
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
