package web

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/view"
	"tiebreak/templates"
	"tiebreak/web/figure"
)

// What a researcher's page shows of a session's conditions.
type (
	conditionsMessage struct {
		T     string           `json:"t"`     // "conditions"
		Sum   string           `json:"sum"`   // how much is held out and answered
		Empty string           `json:"empty"` // why there are no scores yet; empty if there are
		Equal string           `json:"equal"` // title of the columns after equally many answers; empty if there are none
		Rows  []conditionState `json:"rows"`
	}
	// A conditionState is a row of the table, in words.
	conditionState struct {
		Name      string `json:"name"`
		Share     string `json:"share"`
		Questions string `json:"questions"`
		Answers   string `json:"answers"`
		Accuracy  string `json:"accuracy"` // with its interval, as Even and Lead
		LogLoss   string `json:"log_loss"`
		Even      string `json:"even"` // accuracy after equally many answers
		Lead      string `json:"lead"` // over the first condition then
	}
)

// encodeConditions returns the message that shows scores.
func encodeConditions(s view.ConditionScores) []byte {
	m := conditionsMessage{T: "conditions", Rows: []conditionState{}, Sum: heldOutText(s)}
	for i, c := range s.Conditions {
		row := conditionOf(c, acquisition.Title(string(c.Name)))
		if p, ok := c.At(s.Equal); ok && s.Equal > 0 {
			row.Even = accuracyText(p)
		}
		if i > 0 && i <= len(s.Leads) {
			row.Lead = leadText(s.Leads[i-1])
		}
		m.Rows = append(m.Rows, row)
	}
	m.Rows = append(m.Rows, conditionOf(s.All, "All together"))
	if s.Equal > 0 && len(s.Conditions) > 1 {
		m.Equal = fmt.Sprintf("after %s answers each", words.Count(s.Equal))
	}
	if _, ok := s.All.Last(); !ok {
		m.Empty = "The accuracy is shown as soon as a held-out comparison and another question are answered."
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("web: scores that cannot be written: " + err.Error())
	}
	return b
}

// heldOutText says how many comparisons are held out, and how they were answered.
func heldOutText(s view.ConditionScores) string {
	if s.Questions == 0 {
		return "No comparison was held out yet."
	}
	text := fmt.Sprintf("%s held out, and %s.", was(s.Questions, "comparison"), was(s.Replies, "answer")+" given")
	if s.Again > 0 {
		text += fmt.Sprintf(" %s a pair that was already answered: only the first answer to each pair counts.", answersThat(s.Again, "repeat"))
	}
	p, ok := s.All.Last()
	if silent := s.Replies - s.Again - p.Answered; ok && silent > 0 {
		text += fmt.Sprintf(" %s nothing about the clips: can’t tell, skipped or failed.", answersThat(silent, "say"))
	}
	if ok && p.Answered == p.Decisive {
		text += fmt.Sprintf(" Accuracy and log loss are computed from the %d that prefer a clip.", p.Decisive)
	} else if ok {
		text += fmt.Sprintf(" The accuracy is computed from the %d that prefer a clip, the log loss from these and from %d that call both equal.", p.Decisive, p.Answered-p.Decisive)
	}
	if ok && p.Decisive > 0 {
		text += " " + detectableText(p)
	}
	return text
}

// detectableText says which accuracy of another reward so many held-out answers could tell from that of a point.
func detectableText(p view.ScorePoint) string {
	from := p.Right / float64(p.Decisive)
	to, ok := stats.Detectable(from, p.Decisive, 0.05, 0.9)
	if !ok {
		return "So few tell no better reward from this one reliably: 'tiebreak session samples' says how many do."
	}
	return fmt.Sprintf("So many find a reward of %.0f %% better than this one of %.0f %% in 9 of 10 studies, if their mistakes are independent.", math.Ceil(100*to), 100*from)
}

// answersThat writes a number of answers with a verb.
func answersThat(n int, verb string) string {
	if n == 1 {
		return "1 answer " + verb + "s"
	}
	return fmt.Sprintf("%s answers %s", words.Count(n), verb)
}

// was writes a number of things with a verb in the past.
func was(n int, thing string) string {
	if n == 1 {
		return plural(n, thing) + " was"
	}
	return plural(n, thing) + " were"
}

func conditionOf(c view.ConditionScore, name string) conditionState {
	row := conditionState{
		Name: name, Share: percentText(math.Round(1000*c.Share) / 1000), Questions: words.Count(c.Questions), Answers: words.Count(c.Answers),
		Accuracy: "–", LogLoss: "–", Even: "–", Lead: "–",
	}
	if p, ok := c.Last(); ok {
		row.Accuracy, row.LogLoss = accuracyText(p), fmt.Sprintf("%.2f", p.LogLoss)
	}
	return row
}

func accuracyText(p view.ScorePoint) string {
	if p.Decisive == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% (%.0f to %.0f %%)", 100*p.Accuracy(), 100*p.Low, 100*p.High)
}

func leadText(l view.Lead) string {
	return strings.ReplaceAll(fmt.Sprintf("%+.0f (%+.0f to %+.0f)", 100*l.Mean, 100*l.Low, 100*l.High), "-", "−")
}

// conditionsCard returns the card as the page shows it before the first message.
func conditionsCard(spec idrl.SessionSpec) templates.ConditionsCard {
	return templates.ConditionsCard{Shown: spec.Compares(), Several: len(spec.Controls) > 0, Own: acquisition.Title(spec.Acquisition), CSV: sessionURL(spec.ID, "conditions.csv"), SVG: chartURL(spec.ID, "conditions.svg")}
}

// sendConditions sends the scores if they have changed.
func (w *watcher) sendConditions(s view.ConditionScores) {
	if m := encodeConditions(s); string(m) != string(w.toldConditions) {
		w.toldConditions = m
		w.send(m)
	}
}

// conditionsCSV is GET /sessions/:id/conditions.csv: a row for each point of each curve.
func (s watching) conditionsCSV(c echo.Context) error {
	session, err := s.researchersSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	t, _ := figure.Find("conditions")
	return s.writeTable(c, session, ofMoment(t))
}
