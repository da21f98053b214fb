// Package insight says how well a session's posterior has predicted answers, how the
// posterior became what it is, and how labelling goes: what a researcher looks at to decide
// whether to believe the result. All of it is a function of the answers that count now and of
// nothing else, so that it is right again after an answer is undone or a person is left out.
// Formulas: docs/methods.md, section 2.8.
package insight

import (
	"context"
	"math"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
	"tiebreak/internal/posterior"
	"tiebreak/internal/quality"
)

// A Source is what a session hands over of one moment. Nothing in it changes afterwards.
type Source struct {
	Seq     int64              // of the last log row
	Log     []idrl.Answer      // by Seq
	History *posterior.History // of the answers that count, under the features in use
	Version int64              // of the features; 0 for those of the environment
	Model   idrl.RewardModel   // of the weights of these features
	Names   []string           // of the weights; nil where they have none
	Seed    uint64             // of the session

	// Recorded are the predictions under learnt features, each made when the answer came. They
	// cannot be made again: the features in use now were learnt from those answers. Nil for
	// version 0.
	Recorded map[idrl.AnswerID]Forecast
}

// A Forecast is what the posterior before an answer to a comparison said of it.
type Forecast struct {
	Seq    int64
	P      [3]float64 // of clip a, clip b and 'equal'; they add up to one
	Actual int        // index in P of what was answered
}

// Outcomes are the answers to a comparison in the order of Forecast.P.
func Outcomes() [3]idrl.Choice { return [3]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal} }

// Predict returns the probabilities of the answers to comparison q that the annotator would
// give under p, a posterior of m. ok is false for questions of other kinds, and where they
// cannot be computed.
func Predict(m idrl.RewardModel, p idrl.Posterior, q *idrl.QueryVector, who idrl.AnnotatorID) (probability [3]float64, ok bool) {
	if !q.Kind.Comparison() {
		return probability, false
	}
	if personal, is := m.(idrl.Personal); is {
		m = personal.Asking(p, who)
	}
	mean, variance := idrl.Moments(p, q.X, p.Mean(nil), make([]float64, p.Dim()))
	sum, order, l := 0.0, Outcomes(), m.Likelihood(q.Query)
	for _, r := range idrl.Replies(l) {
		logZ, _, _ := l.LogZ(r, mean, variance)
		z := math.Exp(logZ)
		probability[slices.Index(order[:], r.Choice)] += z
		sum += z
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return [3]float64{}, false
	}
	for k := range probability {
		probability[k] /= sum // likelihoods with an answer in between do not add up to one
	}
	return probability, true
}

// A Report is all that there is to say of one moment.
type Report struct {
	Seq       int64
	Answers   int        // that count
	Forecasts []Forecast // of those to comparisons, by Seq
	Recorded  bool       // they were made when the answers came, by the features in use then
	Fit       Calibration
	Posterior Posterior
	Labour    Labour
}

// A Follower makes reports, one after another, for the price of what has changed since the
// last one. It may be used by any number of goroutines.
type Follower struct {
	mu    sync.Mutex // guards the rest
	items []posterior.Item
	at    *posterior.History // of items
	met   []Forecast         // of items; Seq 0 where there is none
	trace trace
	last  *Report
	named int64 // version of the features of last
}

// Known returns the report on the log up to seq under a version of the features, if it is
// the last one that was made.
func (f *Follower) Known(seq, version int64) (*Report, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.last != nil && f.last.Seq == seq && f.named == version
}

// Report returns the report on what a session handed over. It returns the error of ctx, and
// those of the model.
func (f *Follower) Report(ctx context.Context, s Source) (*Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil && f.last.Seq >= s.Seq && f.named == s.Version {
		return f.last, nil
	}
	r := &Report{Seq: s.Seq, Answers: s.History.Len(), Recorded: s.Version > 0, Labour: labourOf(s.Log)}
	if s.Version == 0 {
		if err := f.follow(ctx, s); err != nil {
			return nil, err
		}
		for _, one := range f.met {
			if one.Seq > 0 {
				r.Forecasts = append(r.Forecasts, one)
			}
		}
		r.Posterior = posteriorOf(s, f.trace)
	} else {
		r.Forecasts = recorded(s)
	}
	r.Fit = Calibrate(r.Forecasts, s.Seed)
	f.last, f.named = r, s.Version
	return r, nil
}

// recorded returns the recorded predictions of the answers that count.
func recorded(s Source) (out []Forecast) {
	for _, a := range idrl.Effective(s.Log) {
		if one, ok := s.Recorded[a.ID]; ok {
			out = append(out, one)
		}
	}
	return out
}

// follow takes the items of s in, from the first one that is another than before.
func (f *Follower) follow(ctx context.Context, s Source) error {
	items := s.History.After(0)
	same := 0
	for same < min(len(items), len(f.items)) && items[same] == f.items[same] {
		same++
	}
	if err := f.cut(ctx, s, same); err != nil {
		return err
	}
	for _, i := range items[same:] {
		one := Forecast{}
		if p, ok := Predict(s.Model, f.at.Posterior(), i.Query, i.Annotator); ok {
			order := Outcomes()
			one = Forecast{Seq: i.Seq, P: p, Actual: slices.Index(order[:], i.Choice)}
		}
		next, err := f.at.With(ctx, i)
		if err != nil {
			return err // the next report goes on from here
		}
		f.at, f.items, f.met = next, append(f.items, i), append(f.met, one)
		f.trace.note(len(f.items), next.Posterior())
	}
	return nil
}

// cut forgets the items after the first n.
func (f *Follower) cut(ctx context.Context, s Source, n int) (err error) {
	if f.at == nil || n == 0 {
		f.at, f.items, f.met = posterior.New(posterior.Config{Model: s.Model}), nil, nil
		f.trace = newTrace(s.Model.Prior())
		return nil
	}
	if n < len(f.items) {
		if f.at, err = f.at.Replace(ctx, f.items[n].Seq, nil); err != nil {
			return err
		}
		f.items, f.met = slices.Clip(f.items[:n]), slices.Clip(f.met[:n])
		f.trace.cut(n)
	}
	return nil
}

// Wilson is quality.Wilson.
func wilson(k, n int) (low, high float64) { return quality.Wilson(k, n) }
