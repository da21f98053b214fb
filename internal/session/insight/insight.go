package insight

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
)

// A Source is the input of a report on one moment of a session. Nothing in it changes afterwards.
type Source struct {
	Seq     int64              // of the last log row
	Log     []idrl.Answer      // by Seq
	History *posterior.History // of the answers that count, under the features in use
	Version int64              // of the features; 0 for those of the environment
	Model   idrl.RewardModel   // of the weights of these features
	Names   []string           // of the weights; nil where they have none
	Seed    uint64             // of the session

	// Turned are the questions whose answers of a and b change places (idrl.Query.Turned).
	Turned map[idrl.AssignmentID]bool

	// Episode returns what the clip of a question is a part of; ok is false if that is not known. It is nil but in
	// sessions of kind idrl.JudgeClip.
	Episode func(idrl.AssignmentID) (e Episode, ok bool)

	// Recorded are predictions that were made when the answers came, by Seq: under learnt
	// features of all, which cannot be made again, because the features in use now were learnt
	// from those answers; else of those after the first Followed. Their Actual is that of the
	// answer as it was given. Intact reports whether what was
	// recorded with a row was learnt from the answers that count now.
	Recorded []Forecast
	Intact   func(seq int64) bool

	// Networks returns the networks that the session has learnt, by version; nil for version 0.
	Networks func(ctx context.Context) ([]Network, error)
}

// Followed is how many answers, from the first that counts on, are predicted again when a report
// is made. Of later ones it has the predictions that were recorded, where they are still true: to
// make those of 100,000 answers again takes most of a minute.
const Followed = 1000

// A Report describes a session at one moment.
type Report struct {
	Seq       int64
	Answers   int        // that count
	Forecasts []Forecast // of those to comparisons, by Seq
	Recorded  bool       // they were made when the answers came, by the features in use then
	Left      int        // answers after the first Followed whose prediction is not known
	Fit       Calibration

	Best, Worst       []Forecast // of the clips of groups that were called the best, and the worst, by Seq
	FitBest, FitWorst Calibration
	Ratings           []RatingForecast // by Seq
	FitRatings        RatingCalibration

	Posterior Posterior
	Networks  []Network // by version
	Labour    Labour
	Verdicts  Verdicts // of sessions of kind idrl.JudgeClip
}

// A Follower makes reports one after another. The cost of a report is that of the answers that have changed since the
// last one. It may be used by any number of goroutines.
type Follower struct {
	last atomic.Pointer[made] // nil before the first report

	mu    sync.Mutex // held while a report is made; guards the rest
	items []posterior.Item
	at    *posterior.History // of items
	met   []foretold         // of items
	trace trace
}

// made is a report, and the version of the features that it is made under.
type made struct {
	report  *Report
	version int64
}

// Known returns the report on the log up to seq under a version of the features, if it is
// the last one that was made. It does not wait for one that is being made.
func (f *Follower) Known(seq, version int64) (*Report, bool) {
	last := f.last.Load()
	if last == nil || last.report.Seq != seq || last.version != version {
		return nil, false
	}
	return last.report, true
}

// Report returns the report on what a session handed over. It returns the error of ctx, and
// those of the model.
func (f *Follower) Report(ctx context.Context, s Source) (*Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := f.last.Load(); last != nil && last.report.Seq >= s.Seq && last.version == s.Version {
		return last.report, nil
	}
	r := &Report{Seq: s.Seq, Answers: s.History.Len(), Recorded: s.Version > 0, Labour: labourOf(s.Log, s.Turned)}
	if s.Episode != nil {
		r.Verdicts = verdictsOf(s.Log, s.Episode)
	}
	if s.Version == 0 {
		if err := f.follow(ctx, s); err != nil {
			return nil, err
		}
		r.gather(f.met, s.halfStep())
		r.later(s, len(f.items))
		r.Posterior = posteriorOf(s, f.trace)
	} else {
		r.Forecasts = recorded(s)
		if s.Networks != nil {
			networks, err := s.Networks(ctx)
			if err != nil {
				return nil, err
			}
			r.Networks = networks
		}
	}
	r.Fit, r.FitRatings = Calibrate(r.Forecasts, EvenSides, s.Seed), CalibrateRatings(r.Ratings)
	r.FitBest, r.FitWorst = Calibrate(r.Best, EvenClips, s.Seed), Calibrate(r.Worst, EvenClips, s.Seed)
	f.last.Store(&made{r, s.Version})
	return r, nil
}

// gather takes in what was said of the items, on buttons so far apart.
func (r *Report) gather(met []foretold, half float64) {
	pressed := !slices.ContainsFunc(met, func(one foretold) bool { return !onButton(one.rating.Rating, half) })
	for _, one := range met {
		if one.reply.Seq > 0 {
			r.Forecasts = append(r.Forecasts, one.reply)
		}
		if one.best.Seq > 0 {
			r.Best, r.Worst = append(r.Best, one.best), append(r.Worst, one.worst)
		}
		if one.rating.Seq > 0 {
			if pressed {
				one.rating.PIT = one.pressed
			}
			r.Ratings = append(r.Ratings, one.rating)
		}
	}
}

// later takes in the recorded predictions of the items after the first n.
func (r *Report) later(s Source, n int) {
	items := s.History.After(0)[n:]
	r.Left = len(items)
	for _, one := range s.Recorded {
		for len(items) > 0 && items[0].Seq < one.Seq {
			items = items[1:]
		}
		if len(items) > 0 && items[0].Seq == one.Seq && s.Intact(one.Seq-1) {
			r.Forecasts = append(r.Forecasts, one.Of(items[0].Choice))
			r.Left--
		}
	}
}

// Said returns the recorded prediction of the answer of a log row, if it is known and still true.
func (s Source) Said(seq int64) (said Forecast, ok bool) {
	i, ok := slices.BinarySearchFunc(s.Recorded, seq, func(f Forecast, seq int64) int { return cmp.Compare(f.Seq, seq) })
	if !ok || s.Version == 0 && !s.Intact(seq-1) {
		return Forecast{}, false
	}
	return s.Recorded[i], true
}

// recorded returns the recorded predictions of the answers that count.
func recorded(s Source) (out []Forecast) {
	rest := s.Recorded
	for a := range record.EachEffective(s.Log) {
		for len(rest) > 0 && rest[0].Seq < a.Seq {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0].Seq == a.Seq {
			out = append(out, rest[0].Of(a.Choice))
		}
	}
	return out
}

// follow takes the first items of s in, at most Followed, from the first one that is another than before.
func (f *Follower) follow(ctx context.Context, s Source) error {
	items := s.History.After(0)
	items = items[:min(len(items), Followed)]
	same := 0
	for same < min(len(items), len(f.items)) && items[same] == f.items[same] {
		same++
	}
	if err := f.cut(ctx, s, same); err != nil {
		return err
	}
	for _, i := range items[same:] {
		if err := ctx.Err(); err != nil {
			return err // the next report goes on from here
		}
		idrl.Pause(ctx)
		one := foretell(s.Model, f.at.Posterior(), i.Query, i.Answer(), s.halfStep(), rng.New(s.Seed, "transform", uint64(len(f.items))))
		next, err := f.at.With(ctx, i)
		if err != nil {
			return err
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
