package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/session/insight"
)

// awaited returns a session whose second training takes until a value is sent, with the answers after which nothing is chosen before
// that training is in use: ann has answered two questions, and holds others.
func awaited(t *testing.T, b *bench, second error) (s *session.Session, held []record.Assignment, end chan<- struct{}) {
	t.Helper()
	gate := make(chan struct{})
	b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
		if job.BasedOn == 0 {
			return fakeTrainer{d: dim}.Train(ctx, job)
		}
		return fakeTrainer{d: dim, gate: gate, err: second}.Train(ctx, job)
	})
	s, _ = b.start(t)
	synctest.Wait()
	for i := range 2 {
		open := claim(t, s, "ann").Open
		mustAnswer(t, s, "ann", reply(open[0], i))
		held = open[1:]
	}
	synctest.Wait()
	return s, held, gate
}

func eachAnswer(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead = 1, 1, 3 }

// TestPagesDoNotWaitForTrainings: while a session waits for a training before it takes the next answer, its pages are answered, it can
// be paused and closed, and leases are renewed. Answers and claims wait.
func TestPagesDoNotWaitForTrainings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(eachAnswer)
		s, held, end := awaited(t, b, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if st := must.Get(s.Status(ctx))(t); st.Answers != 2 || st.BasedOn != 0 || !st.Training.Running || st.Training.Cancel {
			t.Errorf("status: %d answers, generation %d, %+v", st.Answers, st.BasedOn, st.Training)
		}
		must.Get(s.Insight(ctx))(t)
		must.Get(s.Learnt(ctx))(t)
		must.Get(s.Open(ctx))(t)
		must.Get(s.Posterior(ctx))(t)
		_, _, err := s.Questions(ctx, insight.Wanted{N: 2})
		must.Do(t, err)
		if list := must.Get(s.Given(ctx, "ann"))(t); len(list) != 2 {
			t.Errorf("%d answers can be withdrawn, want 2", len(list))
		}
		if have := must.Get(s.Have(ctx, "ann", []idrl.AnswerID{"answer-1", "answer-9"}))(t); len(have) != 1 {
			t.Errorf("it has %v, want answer-1", have)
		}
		must.Do(t, s.Renew(ctx, "ann", held[0].ID))
		if err := s.CancelTraining(ctx); idrl.KindOf(err) != idrl.Conflict || !strings.Contains(err.Error(), "wait for it") {
			t.Errorf("cancelling: %v", err)
		}
		answered := make(chan error, 1)
		go func() {
			_, err := s.Answer(t.Context(), "ann", reply(held[0], 2))
			answered <- err
		}()
		for _, state := range []record.SessionState{record.StatePaused, record.StateClosed, record.StateRunning} {
			b.want(0, record.Settings{State: state})
			must.Do(t, s.Follow(ctx))
			if st := must.Get(s.Status(ctx))(t); st.State != state || st.Answers != 2 {
				t.Errorf("%s with %d answers, want %s with 2", st.State, st.Answers, state)
			}
		}
		if _, err := s.Claim(ctx, "bob"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a claim while the training is awaited: %v", err)
		}
		end <- struct{}{}
		must.Do(t, <-answered)
		synctest.Wait()
		if st := must.Get(s.Status(t.Context()))(t); st.Answers != 3 || st.BasedOn != 1 {
			t.Errorf("afterwards %d answers, generation %d; want 3 and 1", st.Answers, st.BasedOn)
		}
	})
}

// TestPagesChangeNoOrder: what is recorded is the same, to the byte, whether pages are read while trainings are awaited or not.
func TestPagesChangeNoOrder(t *testing.T) {
	run := func(read bool) (rec record.Record) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(eachAnswer)
			b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
				time.Sleep(time.Minute)
				return fakeTrainer{d: dim}.Train(ctx, job)
			})
			s, _ := b.start(t)
			time.Sleep(2 * time.Minute)
			for i := range 15 {
				mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
				for range 3 {
					if time.Sleep(10 * time.Second); read {
						must.Get(s.Status(t.Context()))(t)
						must.Get(s.Insight(t.Context()))(t)
						must.Get(s.Learnt(t.Context()))(t)
						must.Do(t, s.Follow(t.Context()))
					}
				}
			}
			must.Do(t, session.Inside{Of: s}.Settle(t.Context()))
			rec = must.Get(b.journal.Load(t.Context(), "s1"))(t)
		})
		return rec
	}
	if d := cmp.Diff(run(false), run(true)); d != "" {
		t.Errorf("with pages that are read another record (-without +with):\n%s", d)
	}
}

// TestAwaitedTrainingThatFails: answers that wait for a training go on when it fails, and the page says that it failed.
func TestAwaitedTrainingThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(eachAnswer)
		s, held, end := awaited(t, b, idrl.Errorf(idrl.Unavailable, "the environment ended"))
		answered := make(chan error, 1)
		go func() {
			_, err := s.Answer(t.Context(), "ann", reply(held[0], 2))
			answered <- err
		}()
		synctest.Wait()
		end <- struct{}{}
		must.Do(t, <-answered)
		go func() { // it fails for ever
			for {
				select {
				case end <- struct{}{}:
				case <-t.Context().Done():
					return
				}
			}
		}()
		time.Sleep(time.Hour)
		for i := range 5 {
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 3+i))
		}
		st := must.Get(s.Status(t.Context()))(t)
		if !strings.Contains(st.Training.Err, "the environment ended") || st.Answers != 8 || st.BasedOn != 0 {
			t.Errorf("%d answers, generation %d, %q; want 8, generation 0 and why", st.Answers, st.BasedOn, st.Training.Err)
		}
	})
}
