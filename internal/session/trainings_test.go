package session_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// The list of past trainings says of each what it was trained from, how long it took and how it
// ended, counts the answers that counted then, and is there again after a restart.
func TestPastTrainings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter, s.TrainEvery = 0, 1 })
		var fail atomic.Pointer[error]
		var block atomic.Bool
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			time.Sleep(3 * time.Second)
			b.clock.advance(3 * time.Second)
			if err := fail.Load(); err != nil {
				return idrl.Generation{}, *err
			}
			if block.Load() {
				<-ctx.Done()
				return idrl.Generation{}, ctx.Err()
			}
			return fakeTrainer{d: dim}.Train(ctx, job)
		})
		s, stop := b.start(t)
		began := b.clock.Now()
		next := func(i int) {
			t.Helper()
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
			synctest.Wait()
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		next(1)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		must.Get(s.Undo(t.Context(), "ann", "undo", "answer-1"))(t)
		time.Sleep(4 * time.Second) // a training of row 2, of no answer
		synctest.Wait()
		lost := fmt.Errorf("train: %w", idrl.Errorf(idrl.Unavailable, "the environment ended"))
		fail.Store(&lost)
		next(2)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		fail.Store(nil)
		block.Store(true)
		time.Sleep(5 * time.Second) // it is tried again
		must.Do(t, s.CancelTraining(t.Context()))
		synctest.Wait()
		want := []record.PastTraining{
			{N: 5, BasedOn: 3, Answers: 1, End: record.TrainingCancelled},
			{N: 4, BasedOn: 3, Answers: 1, End: record.TrainingFailed, Why: "The reason: the environment ended"},
			{N: 3, BasedOn: 2, Answers: 0, End: record.TrainingDone, Candidates: 6},
			{N: 2, BasedOn: 1, Answers: 1, End: record.TrainingDone, Candidates: 6},
			{N: 1, BasedOn: 0, Answers: 0, End: record.TrainingDone, Candidates: 6},
		}
		got := must.Get(s.Trainings(t.Context(), 0))(t)
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(record.PastTraining{}, "Began", "Ended")); d != "" {
			t.Errorf("past trainings (-want +got):\n%s", d)
		}
		for _, p := range got {
			if took := p.Ended.Sub(p.Began); p.End != record.TrainingCancelled && took != 3*time.Second || took < 3*time.Second || p.Began.Before(began) {
				t.Errorf("training %d began at %v and took %v", p.N, p.Began, took)
			}
		}
		stop()
		block.Store(false)
		s, _ = b.start(t)
		if again, err := s.Trainings(t.Context(), 2); err != nil || !cmp.Equal(again, got[:2]) {
			t.Errorf("after a restart %+v, %v", again, err)
		}
	})
}

// A follow-up that makes way for a training is not listed; one that finds policies, and one that a
// researcher cancels, are.
func TestPastFollowUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, found := newBench(gaits), 0
		f := &follower{up: func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			if found++; found == 1 {
				return fakeTrainer{d: dim}.Train(ctx, job)
			}
			return endless(ctx, job)
		}}
		s := followed(t, b, f)
		answer(t, s, 1, 9) // a training of row 5, a follow-up, one that makes way, a training of row 9, another one
		must.Do(t, s.CancelTraining(t.Context()))
		synctest.Wait()
		got := must.Get(s.Trainings(t.Context(), 0))(t)
		want := []record.PastTraining{
			{N: 5, BasedOn: 9, Answers: 9, FollowUp: true, End: record.TrainingCancelled},
			{N: 4, BasedOn: 9, Answers: 9, End: record.TrainingDone, Candidates: 6},
			{N: 3, BasedOn: 5, Answers: 5, FollowUp: true, End: record.TrainingDone, Candidates: 2},
			{N: 2, BasedOn: 5, Answers: 5, End: record.TrainingDone, Candidates: 6},
			{N: 1, BasedOn: 0, End: record.TrainingDone, Candidates: 6},
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(record.PastTraining{}, "Began", "Ended")); d != "" {
			t.Errorf("past trainings (-want +got):\n%s", d)
		}
	})
}

// A follow-up trains from all answers that there are when it begins, also from those after the row
// that its generation is named by.
func TestPastFollowUpsCountAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, answered, found := newBench(gaits), make(chan struct{}), 0
		f := &follower{up: func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			if found++; found > 1 {
				return endless(ctx, job)
			}
			<-answered
			return fakeTrainer{d: dim}.Train(ctx, job)
		}}
		s := followed(t, b, f)
		answer(t, s, 1, 7)
		close(answered)
		synctest.Wait()
		must.Do(t, s.CancelTraining(t.Context()))
		synctest.Wait()
		got := must.Get(s.Trainings(t.Context(), 2))(t)
		want := []record.PastTraining{
			{N: 4, BasedOn: 5, Answers: 7, FollowUp: true, End: record.TrainingCancelled},
			{N: 3, BasedOn: 5, Answers: 5, FollowUp: true, End: record.TrainingDone, Candidates: 2},
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(record.PastTraining{}, "Began", "Ended")); d != "" {
			t.Errorf("past trainings (-want +got):\n%s", d)
		}
	})
}

// TestPastTrainingIsTheOneThatWasFinished: where a worker finishes an interrupted training in place of a new one, the list of past
// trainings has that one, with the answers that it learnt from.
func TestPastTrainingIsTheOneThatWasFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter, s.TrainEvery = 0, 4 })
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			if job.BasedOn == 4 {
				job.BasedOn = 2
			}
			return fakeTrainer{d: dim}.Train(ctx, job)
		})
		s, _ := b.start(t)
		synctest.Wait()
		for i := range 4 {
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
			synctest.Wait()
		}
		got, err := s.Trainings(t.Context(), 1)
		if err != nil || len(got) != 1 || got[0].BasedOn != 2 || got[0].Answers != 2 {
			t.Errorf("trainings %+v, %v; want the last one from row 2, with 2 answers", got, err)
		}
	})
}
