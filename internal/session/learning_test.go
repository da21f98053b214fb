package session_test

import (
	"context"
	"testing"
	"testing/synctest"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// Annotators and researchers are told how many answers the generation in use has not learnt
// from, and whether a training that will is under way or waits for a worker.
func TestLearning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter, s.TrainEvery = 0, 2 })
		goOn := make(chan struct{}, 1)
		soon := []bool{}
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			soon = append(soon, job.Soon)
			if job.BasedOn > 0 {
				job.Outlook(idrl.Outlook{Waiting: true, Ahead: 1})
				<-goOn
				job.Outlook(idrl.Outlook{Paused: true})
				<-goOn
			}
			return fakeTrainer{d: dim}.Train(ctx, job)
		})
		s, _ := b.start(t)
		told := func(when string, want view.Learning, what string) {
			t.Helper()
			synctest.Wait()
			st, err := s.Status(t.Context())
			if got := claim(t, s, "ann").Learning; err != nil || got != want || st.Learning != want || st.Training.What != what {
				t.Errorf("%s: annotators are told %+v, researchers %+v and %q, %v; want %+v and %q", when, got, st.Learning, st.Training.What, err, want, what)
			}
		}
		say := func(choice int) {
			t.Helper()
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], choice))
		}
		synctest.Wait()
		told("at first", view.Learning{}, "")
		say(0)
		told("before a training is due", view.Learning{Answers: 1}, "")
		say(1)
		told("while it waits", view.Learning{Answers: 2, Running: true}, "waiting for the trainer, 1 other training is before this one")
		say(2)
		goOn <- struct{}{}
		told("while it is paused", view.Learning{Answers: 3, Running: true}, "paused while a shorter training of another session is done")
		goOn <- struct{}{}
		told("when it is in use", view.Learning{Answers: 1}, "")
		if len(soon) != 2 || soon[0] || !soon[1] {
			t.Errorf("trainings wanted soon: %v; want the second, as the first generation has learnt from no answer", soon)
		}
	})
}
