package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/record"
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
		const later = "They are learnt from when more answers have come."
		synctest.Wait()
		told("at first", view.Learning{}, "")
		say(0)
		told("before a training is due", view.Learning{Answers: 1, Untrained: true, Why: later}, "")
		say(1)
		told("while it waits", view.Learning{Answers: 2, Untrained: true, Running: true, Waits: true}, "waiting for the trainer, 1 other training is before this one")
		say(2)
		goOn <- struct{}{}
		told("while it is paused", view.Learning{Answers: 3, Untrained: true, Running: true, Waits: true}, "paused while a shorter training of another session is done")
		goOn <- struct{}{}
		told("when it is in use", view.Learning{Answers: 1, Why: later}, "")
		if len(soon) != 2 || soon[0] || !soon[1] {
			t.Errorf("trainings wanted soon: %v; want the second, as the first generation has learnt from no answer", soon)
		}
	})
}

// While a training is under way annotators are told how far it is, and how long it still takes only where
// it learns from all of the answers.
func TestLearningTellsHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter, s.TrainEvery, s.Budget = 0, 1, 2 })
		gate, ready := make(chan struct{}), b.clock.now.Add(15*time.Second)
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			if job.BasedOn > 0 {
				job.Outlook(idrl.Outlook{Ready: ready})
				job.Progress(2, 8, "solving")
				<-gate
			}
			return fakeTrainer{d: dim}.Train(ctx, job)
		})
		s, _ := b.start(t)
		synctest.Wait()
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 0))
		synctest.Wait()
		if got := claim(t, s, "ann").Learning; got.Done != 2 || got.Total != 8 || got.Left != "about 15 seconds" {
			t.Errorf("a training from all answers: %+v, want step 2 of 8 and about 15 seconds", got)
		}
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 1))
		synctest.Wait()
		if o := claim(t, s, "ann"); !o.Done || !o.Learning.Running || o.Learning.Left != "" {
			t.Errorf("another training follows, and it is told that it takes %q: %+v", o.Learning.Left, o.Learning)
		}
		close(gate)
		synctest.Wait()
		if got := claim(t, s, "ann").Learning; got != (view.Learning{}) {
			t.Errorf("once all is learnt from: %+v", got)
		}
	})
}

// Answers that are held out are never learnt from, so they are not among those that are yet to be.
func TestHeldOutAnswersAreNotYetToBeLearntFrom(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter, s.TrainEvery, s.HeldOut = 0, 100, 0.5 })
	s, _ := b.start(t)
	learns := 0
	for i := range 12 {
		as := claim(t, s, "ann").Open[0]
		mustAnswer(t, s, "ann", reply(as, i))
		if as.Condition != record.HeldOut {
			learns++
		}
		if got := claim(t, s, "ann").Learning.Answers; got != learns {
			t.Errorf("after %d answers %d are yet to be learnt from, want %d", i+1, got, learns)
		}
	}
	if learns == 0 || learns == 12 {
		t.Errorf("%d of 12 answers are learnt from; the test needs both kinds", learns)
	}
}
