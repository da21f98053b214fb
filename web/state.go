package web

import (
	"cmp"
	"encoding/json"
	"math"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/view"
	"tiebreak/web/questionpage"
)

// The state of a session, as a researcher's page reads it.
type (
	stateMessage struct {
		T          string              `json:"t"` // "state"
		Seq        int64               `json:"seq"`
		Answers    int                 `json:"answers"`
		Skipped    int                 `json:"skipped"`
		State      record.SessionState `json:"state"`
		Joined     int                 `json:"joined"` // people, also those who were removed
		Budget     int                 `json:"budget"`
		BasedOn    int64               `json:"based_on"`
		Training   trainingState       `json:"training"`
		Unlearnt   int                 `json:"unlearnt"`  // answers that the candidates in use have not learnt from
		Statement  *statementState     `json:"statement"` // about the present; null before the first candidates
		Regret     []regretPoint       `json:"regret"`    // the first and the last of the statement's definition; the server draws the curve
		Earlier    int64               `json:"earlier"`   // last row whose regret has an earlier definition and is left out; 0: none
		Candidates []candidateState    `json:"candidates"`
		Weights    []weightState       `json:"weights"`
		Network    *networkState       `json:"network"` // null where the reward is no network
		Open       []openState         `json:"open"`
		Recent     []recentState       `json:"recent"`
		Annotators []annotatorState    `json:"annotators"`
	}
	trainingState struct {
		Running bool   `json:"running"`
		BasedOn int64  `json:"based_on"`
		Done    int    `json:"done"`
		Total   int    `json:"total"`
		What    string `json:"what"`
		Left    string `json:"left"` // "about 20 seconds"; empty if that is not known
		Err     string `json:"err"`

		Cancel    bool   `json:"cancel"`    // it can be cancelled
		Fixed     string `json:"fixed"`     // why it cannot; empty if none is under way
		Cancelled bool   `json:"cancelled"` // the last one was
	}
	regretPoint struct {
		Seq  int64   `json:"seq"`
		Mean float64 `json:"mean"` // a share of the span
	}
	candidateState struct {
		ID    string  `json:"id"`
		Name  string  `json:"name"`
		Title string  `json:"title"`
		Mean  float64 `json:"mean"`
		Std   float64 `json:"std"`
		Clip  string  `json:"clip"` // URL; empty if there is none

		Draws    int     `json:"draws"`    // candidates in use that are this policy
		Episodes int     `json:"episodes"` // that are known one by one
		Spread   float64 `json:"spread"`   // standard deviation of their returns
	}
	weightState struct {
		Name string  `json:"name"`
		Mean float64 `json:"mean"`
		Std  float64 `json:"std"`
	}
	whyState struct {
		First   string  `json:"first"` // name or id of a policy, as Second
		Second  string  `json:"second"`
		Rivals  int     `json:"rivals"`
		Info    float64 `json:"info"`
		PairStd float64 `json:"pair_std"`
		Purpose string  `json:"purpose"` // in place of the two policies, if there are none, or before them; empty where the strategy says that
	}
	openState struct {
		Assignment idrl.AssignmentID `json:"assignment"`
		Annotator  idrl.AnnotatorID  `json:"annotator"`
		Here       bool              `json:"here"` // the annotator's page is open
	}
	recentState struct {
		Seq        int64            `json:"seq"`
		Annotator  idrl.AnnotatorID `json:"annotator"`
		Choice     idrl.Choice      `json:"choice"`
		Rating     float64          `json:"rating"`
		Undone     bool             `json:"undone"`
		LeftOut    bool             `json:"left_out"`
		Turned     bool             `json:"turned"` // the answer, which is as it was given, counts turned
		ResponseMS int64            `json:"response_ms"`
		At         time.Time        `json:"at"`    // the server received it; zero if it was imported
		Clips      []string         `json:"clips"` // URLs
		whyState
	}
	annotatorState struct {
		ID         idrl.AnnotatorID `json:"id"`
		Name       string           `json:"name"`
		LeftOut    bool             `json:"left_out"`
		Turned     int              `json:"turned"` // answers that count turned
		Answers    int              `json:"answers"`
		Decisive   int              `json:"decisive"`
		Equal      int              `json:"equal"`
		CantTell   int              `json:"cant_tell"`
		Skipped    int              `json:"skipped"`
		Undone     int              `json:"undone"`
		Marked     int              `json:"marked"`
		MedianMS   int64            `json:"median_ms"`
		LeftShare  float64          `json:"left_share"`
		LeftLow    float64          `json:"left_low"`
		LeftHigh   float64          `json:"left_high"`
		Predicted  float64          `json:"predicted"`
		PredictedN int              `json:"predicted_n"`
		Reversed   bool             `json:"reversed"` // answers the other way round than predicted
	}
)

// encodeState returns the message that shows st. here reports whether an annotator's page is open.
// Numbers that are not finite, which JSON cannot represent, become 0.
func encodeState(st view.Status, names map[idrl.AnnotatorID]string, here func(idrl.AnnotatorID) bool) []byte {
	m := stateMessage{
		T: "state", Seq: st.Seq, Answers: st.Answers, Skipped: st.Skipped, State: st.State, Joined: len(names), Budget: st.Budget, BasedOn: st.BasedOn,
		Training: trainingOf(st.Training), Unlearnt: st.Learning.Answers, Network: networkOf(st), Regret: []regretPoint{},
		Candidates: []candidateState{}, Weights: []weightState{}, Open: []openState{},
		Recent: []recentState{}, Annotators: []annotatorState{},
	}
	if len(st.Regret) > 0 {
		m.Statement = statementOf(st)
		m.Regret, m.Earlier = ends(st.Regret)
	}
	for _, e := range st.Candidates {
		m.Candidates = append(m.Candidates, candidateOf(st.Session, e))
	}
	for _, e := range st.Weights {
		m.Weights = append(m.Weights, weightState{Name: e.Name, Mean: finite(e.Mean), Std: finite(e.Std)})
	}
	for _, as := range st.Open {
		m.Open = append(m.Open, openState{Assignment: as.ID, Annotator: as.Annotator, Here: here(as.Annotator)})
	}
	for _, r := range st.Recent {
		m.Recent = append(m.Recent, recentOf(st, r))
	}
	for _, a := range st.Annotators {
		m.Annotators = append(m.Annotators, annotatorOf(a, names[a.Annotator]))
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("web: a state that cannot be written: " + err.Error())
	}
	return b
}

func trainingOf(t view.Training) trainingState {
	return trainingState{
		Running: t.Running, BasedOn: t.BasedOn, Done: t.Done, Total: t.Total, What: t.What, Left: t.Left, Err: t.Err,
		Cancel: t.Cancel, Fixed: t.Fixed, Cancelled: t.Cancelled,
	}
}

// ends returns the first and the last point of a curve, or its only one. It begins after the points of an earlier definition, and
// returns the last row of those.
func ends(all []idrl.Regret) (out []regretPoint, earlier int64) {
	out = []regretPoint{}
	for _, r := range all {
		if r.Definition != idrl.RegretDefinition {
			out, earlier = out[:0], r.Seq
			continue
		}
		out = append(out[:min(1, len(out))], regretPoint{Seq: r.Seq, Mean: finite(r.Mean)})
	}
	return out, earlier
}

func candidateOf(session idrl.SessionID, e view.Estimate) candidateState {
	c := candidateState{ID: e.ID, Name: e.Name, Title: e.Title, Mean: finite(e.Mean), Std: finite(e.Std), Draws: e.Draws, Episodes: e.Episodes, Spread: finite(e.Spread)}
	if e.Clip != "" {
		c.Clip = clipURL(session, e.Clip)
	}
	return c
}

// called returns the name of a policy, of those that have one, else its id.
func called(titles map[idrl.PolicyID]string, id idrl.PolicyID) string {
	return cmp.Or(titles[id], string(id))
}

func whyOf(w record.Why, titles map[idrl.PolicyID]string) whyState {
	return whyState{First: called(titles, w.First), Second: called(titles, w.Second), Rivals: w.Rivals, Info: finite(w.Info), PairStd: finite(w.PairStd), Purpose: questionpage.ShortPurpose(w)}
}

func recentOf(st view.Status, r view.Asked) recentState {
	out := recentState{
		Seq: r.Answer.Seq, Annotator: r.Answer.Annotator, Choice: r.Answer.Choice, Rating: finite(r.Answer.Rating),
		Undone: r.Undone, LeftOut: r.LeftOut, Turned: r.Turned, ResponseMS: r.Answer.ResponseMS, At: r.Answer.ReceivedAt, Clips: []string{}, whyState: whyOf(r.Why, st.Titles),
	}
	for _, c := range r.Clips {
		out.Clips = append(out.Clips, clipURL(st.Session, c))
	}
	return out
}

func annotatorOf(a quality.AnnotatorStats, name string) annotatorState {
	return annotatorState{
		ID: a.Annotator, Name: name, LeftOut: a.LeftOut, Turned: a.Turned, Answers: a.Answers, Decisive: a.Decisive, Equal: a.Equal, CantTell: a.CantTell,
		Skipped: a.Skipped, Undone: a.Undone, Marked: a.Marked, MedianMS: a.MedianTime.Milliseconds(),
		LeftShare: finite(a.LeftShare), LeftLow: finite(a.LeftLow), LeftHigh: finite(a.LeftHigh),
		Predicted: finite(a.Predicted), PredictedN: a.PredictedSize, Reversed: a.Reversed,
	}
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
