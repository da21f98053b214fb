package session_test

import (
	"context"
	"testing"

	"tiebreak/internal/idrl"
)

// playing names the episodes that the clips of candidates are of.
type playing struct{ ratingTrainer }

func (p playing) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := p.ratingTrainer.Train(ctx, job)
	for _, c := range g.Candidates {
		clip := g.Clips[c.Clip]
		clip.From = idrl.EpisodeName(c.ID, 0)
		g.Clips[c.Clip] = clip
	}
	return g, err
}

// A session that asks for verdicts takes failure, partial success and success, and when it went wrong where it did; others take no moment.
// What was said is there after a restart, and is counted by the policy that acted.
func TestVerdicts(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Kind, s.Acquisition = idrl.JudgeClip, idrl.UniformAcquisition })
	b.trainer = playing{ratingTrainer{fakeTrainer{d: dim}}}
	s, stop := b.start(t)
	try := func(rating float64, wrongMS int64) idrl.Answer {
		a := reply(claim(t, s, "ann").Open[0], 1)
		a.Choice, a.Rating, a.WrongMS = idrl.Rated, rating, wrongMS
		return a
	}
	for _, a := range []idrl.Answer{try(0.5, 0), try(idrl.Success, 100), try(idrl.Failure, -1), try(idrl.Failure, idrl.MaxWrongMS+1)} {
		if _, err := s.Answer(t.Context(), "ann", a); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("rating %v with the moment %d: error %v, want one of kind Invalid", a.Rating, a.WrongMS, err)
		}
	}
	mustAnswer(t, s, "ann", try(idrl.Failure, 1500))
	a := try(idrl.Partial, 0)
	a.ID = "answer-2"
	mustAnswer(t, s, "ann", a)
	a.WrongMS = 700
	if _, err := s.Answer(t.Context(), "ann", a); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("the same id with another moment: error %v, want one of kind Conflict", err)
	}
	stop()
	s, _ = b.start(t)
	given, err := s.Given(t.Context(), "ann")
	if err != nil || len(given) != 2 || given[1].WrongMS != 1500 || given[1].Rating != idrl.Failure || given[0].WrongMS != 0 {
		t.Errorf("given %+v, error %v", given, err)
	}
	report, err := s.Insight(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	failures, partial := 0, 0
	for _, r := range report.Verdicts.Rates {
		failures, partial = failures+r.Failures, partial+r.Partial
		if r.Policy == "" || r.Episodes() != 1 {
			t.Errorf("rate %+v, want one episode of a policy", r)
		}
	}
	if failures != 1 || partial != 1 || report.Verdicts.Moments != 1 {
		t.Errorf("verdicts %+v, want a failure with a moment and a partial success", report.Verdicts)
	}

	b = newBench(func(s *idrl.SessionSpec) { s.Kind = idrl.RateClip })
	b.trainer = ratingTrainer{fakeTrainer{d: dim}}
	s, _ = b.start(t)
	if _, err := s.Answer(t.Context(), "ann", try(idrl.Failure, 100)); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a moment beside a rating from 0 to 10: error %v, want one of kind Invalid", err)
	}
}
