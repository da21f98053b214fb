package episodes

import (
	"context"
	"math"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
)

// verdictNames are what the table calls ratings of a session about success.
var verdictNames = map[float64]string{idrl.Failure: "failure", idrl.Partial: "partial", idrl.Success: "success"}

// verdicts adds to the episodes what people said of their success: the first verdict of each that counts, when it went wrong by that one, and how
// many there are. Sessions of other kinds have none.
func (w *writer) verdicts(ctx context.Context) error {
	if w.spec.Kind != idrl.JudgeClip {
		return nil
	}
	return bundle.Ratings(ctx, w.from, func(r *record.Labelled) error {
		at, err := w.places.of(&r.Clips[0])
		if err != nil {
			return err
		}
		e := &w.episodes[at]
		if e.Verdicts++; e.Verdicts == 1 {
			name := verdictNames[idrl.Verdict(r.Answer.Rating)]
			e.Verdict, e.Wrong = &name, w.places.frame(&r.Clips[0], r.Answer.WrongMS)
		}
		w.counts.Verdicts++
		return nil
	})
}

// frame returns the frame of an episode, from 0, that a clip of it shows so many milliseconds after it began; nil for 0, where no moment was
// named. The moment may have been rounded to the millisecond before.
func (p *places) frame(c *idrl.Clip, ms int64) *int64 {
	if ms == 0 {
		return nil
	}
	frames := math.Floor((float64(ms)+0.5)/1000/p.set.StepSeconds() + 1e-9)
	out := int64(c.Start) + min(int64(frames), int64(c.Steps))
	return &out
}
