package web

import (
	"encoding/json"
	"math"

	"tiebreak/internal/idrl"
)

// maxPoints is how many points of the regret curve a page gets.
const maxPoints = 400

// The state of a session, as a researcher's page reads it.
type (
	stateMessage struct {
		T          string           `json:"t"` // "state"
		Seq        int64            `json:"seq"`
		Answers    int              `json:"answers"`
		Budget     int              `json:"budget"`
		BasedOn    int64            `json:"based_on"`
		Training   trainingState    `json:"training"`
		Regret     []regretPoint    `json:"regret"`
		Candidates []candidateState `json:"candidates"`
		Weights    []weightState    `json:"weights"`
		Open       []openState      `json:"open"`
		Recent     []recentState    `json:"recent"`
		Annotators []annotatorState `json:"annotators"`
	}
	trainingState struct {
		Running bool   `json:"running"`
		BasedOn int64  `json:"based_on"`
		Done    int    `json:"done"`
		Total   int    `json:"total"`
		What    string `json:"what"`
		Err     string `json:"err"`
	}
	regretPoint struct {
		Seq  int64   `json:"seq"`
		Mean float64 `json:"mean"`
		P95  float64 `json:"p95"`
	}
	candidateState struct {
		ID   string  `json:"id"`
		Name string  `json:"name"`
		Mean float64 `json:"mean"`
		Std  float64 `json:"std"`
		Clip string  `json:"clip"` // URL; empty if there is none
	}
	weightState struct {
		Name string  `json:"name"`
		Mean float64 `json:"mean"`
		Std  float64 `json:"std"`
	}
	whyState struct {
		First   idrl.PolicyID `json:"first"`
		Second  idrl.PolicyID `json:"second"`
		Info    float64       `json:"info"`
		PairStd float64       `json:"pair_std"`
	}
	openState struct {
		Assignment idrl.AssignmentID `json:"assignment"`
		Annotator  idrl.AnnotatorID  `json:"annotator"`
		whyState
	}
	recentState struct {
		Seq        int64            `json:"seq"`
		Annotator  idrl.AnnotatorID `json:"annotator"`
		Choice     idrl.Choice      `json:"choice"`
		Rating     float64          `json:"rating"`
		Undone     bool             `json:"undone"`
		ResponseMS int64            `json:"response_ms"`
		Clips      []string         `json:"clips"` // URLs
		whyState
	}
	annotatorState struct {
		ID         idrl.AnnotatorID `json:"id"`
		Name       string           `json:"name"`
		Answers    int              `json:"answers"`
		Decisive   int              `json:"decisive"`
		Equal      int              `json:"equal"`
		CantTell   int              `json:"cant_tell"`
		Skipped    int              `json:"skipped"`
		Undone     int              `json:"undone"`
		MedianMS   int64            `json:"median_ms"`
		LeftShare  float64          `json:"left_share"`
		LeftLow    float64          `json:"left_low"`
		LeftHigh   float64          `json:"left_high"`
		Predicted  float64          `json:"predicted"`
		PredictedN int              `json:"predicted_n"`
	}
)

// encodeState returns the message that shows st. A number that is not finite,
// which JSON cannot say, becomes 0.
func encodeState(st idrl.Status, names map[idrl.AnnotatorID]string) []byte {
	m := stateMessage{
		T: "state", Seq: st.Seq, Answers: st.Answers, Budget: st.Budget, BasedOn: st.BasedOn,
		Training: trainingState(st.Training), Regret: curve(st.Regret),
		Candidates: []candidateState{}, Weights: []weightState{}, Open: []openState{},
		Recent: []recentState{}, Annotators: []annotatorState{},
	}
	for _, e := range st.Candidates {
		m.Candidates = append(m.Candidates, candidateOf(st.Session, e))
	}
	for _, e := range st.Weights {
		m.Weights = append(m.Weights, weightState{Name: e.Name, Mean: finite(e.Mean), Std: finite(e.Std)})
	}
	for _, as := range st.Open {
		m.Open = append(m.Open, openState{Assignment: as.ID, Annotator: as.Annotator, whyState: whyOf(as.Why)})
	}
	for _, r := range st.Recent {
		m.Recent = append(m.Recent, recentOf(st.Session, r))
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

// curve thins a curve out to about maxPoints; the last point is always there.
func curve(all []idrl.Regret) []regretPoint {
	out := []regretPoint{}
	step := 1 + (len(all)-1)/maxPoints
	for i, r := range all {
		if i%step == 0 || i == len(all)-1 {
			out = append(out, regretPoint{Seq: r.Seq, Mean: finite(r.Mean), P95: finite(r.P95)})
		}
	}
	return out
}

func candidateOf(session idrl.SessionID, e idrl.Estimate) candidateState {
	c := candidateState{ID: e.ID, Name: e.Name, Mean: finite(e.Mean), Std: finite(e.Std)}
	if e.Clip != "" {
		c.Clip = clipURL(session, e.Clip)
	}
	return c
}

func whyOf(w idrl.Why) whyState {
	return whyState{First: w.First, Second: w.Second, Info: finite(w.Info), PairStd: finite(w.PairStd)}
}

func recentOf(session idrl.SessionID, r idrl.Asked) recentState {
	out := recentState{
		Seq: r.Answer.Seq, Annotator: r.Answer.Annotator, Choice: r.Answer.Choice, Rating: finite(r.Answer.Rating),
		Undone: r.Undone, ResponseMS: r.Answer.ResponseMS, Clips: []string{}, whyState: whyOf(r.Why),
	}
	for _, c := range r.Clips {
		out.Clips = append(out.Clips, clipURL(session, c))
	}
	return out
}

func annotatorOf(a idrl.AnnotatorStats, name string) annotatorState {
	return annotatorState{
		ID: a.Annotator, Name: name, Answers: a.Answers, Decisive: a.Decisive, Equal: a.Equal, CantTell: a.CantTell,
		Skipped: a.Skipped, Undone: a.Undone, MedianMS: a.MedianTime.Milliseconds(),
		LeftShare: finite(a.LeftShare), LeftLow: finite(a.LeftLow), LeftHigh: finite(a.LeftHigh),
		Predicted: finite(a.Predicted), PredictedN: a.PredictedSize,
	}
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
