package session_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
)

// refusing is a journal that refuses generations.
type refusing struct {
	*journal
	why error // nil: it takes them; guarded by mu
}

func (r *refusing) Adopt(ctx context.Context, id idrl.SessionID, g idrl.Generation, seq int64, by ...record.PastTraining) error {
	r.mu.Lock()
	why := r.why
	r.mu.Unlock()
	if why != nil {
		return why
	}
	return r.journal.Adopt(ctx, id, g, seq, by...)
}

// trainerFunc is a Trainer.
type trainerFunc func(context.Context, idrl.TrainJob) (idrl.Generation, error)

func (f trainerFunc) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	return f(ctx, job)
}

// What a worker makes may be in good order and yet refused by the journal.
func TestRefusedGenerations(t *testing.T) {
	none := trainerFunc(func(context.Context, idrl.TrainJob) (idrl.Generation, error) { return idrl.Generation{}, nil })
	for _, test := range []struct {
		name     string
		trainer  idrl.Trainer
		why      error
		rejected bool
	}{
		{"a clip that is not there", fakeTrainer{d: dim}, idrl.Errorf(idrl.Invalid, "shows clip c"), true},
		{"no candidate", none, nil, true},
		{"a full disk", fakeTrainer{d: dim}, idrl.Errorf(idrl.Unavailable, "the disk is full"), false},
		{"a trainer that fails", fakeTrainer{err: errors.New("no memory")}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 0 })
				began, rejected := time.Now(), 0
				var at []time.Duration
				b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
					at = append(at, time.Since(began))
					return test.trainer.Train(ctx, job)
				})
				b.rejected = func(error) { rejected++ }
				j := &refusing{b.journal, test.why}
				s, _ := b.startOn(t, j)
				time.Sleep(20 * time.Minute) // of the bubble's clock
				synctest.Wait()
				want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111} // in seconds; at most 5 minutes apart
				for i := range want {
					want[i] *= time.Second
				}
				if !slices.Equal(at, want) {
					t.Errorf("trained at %v, want %v", at, want)
				}
				if (rejected == len(at)) != test.rejected || (rejected == 0) == test.rejected {
					t.Errorf("%d of %d results were rejected", rejected, len(at))
				}
				if o, err := s.Claim(t.Context(), "ann"); err != nil || !strings.Contains(o.Waiting, "could not be made") {
					t.Errorf("annotators are told %q, %v", o.Waiting, err)
				}
			})
		})
	}
}

// A session that is complete says that it needs no trainer once its last generation is
// in use, and trains again where an answer is withdrawn.
func TestCompleteSessionsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter, s.Budget = 0, 3 })
		trained, rested, last := []int64{}, []int64{}, []bool{}
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			trained, last = append(trained, job.BasedOn), append(last, job.Last)
			return fakeTrainer{d: dim}.Train(ctx, job)
		})
		b.rests = func() { rested = append(rested, trained[len(trained)-1]) }
		s, _ := b.start(t)
		synctest.Wait()
		for i := range 3 {
			if len(rested) > 0 {
				t.Fatalf("it rests after %d answers of 3", i)
			}
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
			synctest.Wait()
		}
		if !slices.Equal(trained, []int64{0, 3}) || !slices.Equal(rested, []int64{3}) {
			t.Errorf("trained from %v, rested after %v; want from 0 and 3, and once after 3", trained, rested)
		}
		if !slices.Equal(last, []bool{false, true}) {
			t.Errorf("the trainings are the last ones: %v; want the second alone", last)
		}
	})
}

// After a success the pauses begin anew.
func TestPausesBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter, s.TrainEvery = 0, 1 })
		j := &refusing{b.journal, idrl.Errorf(idrl.Invalid, "shows clip c")}
		fail := make(chan bool, 1)
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			select {
			case <-fail:
				return idrl.Generation{}, errors.New("no memory")
			default:
				return fakeTrainer{d: dim}.Train(ctx, job)
			}
		})
		s, _ := b.startOn(t, j)
		time.Sleep(4 * time.Second) // two pauses are over, the third lasts until second 7
		synctest.Wait()
		j.mu.Lock()
		j.why = nil
		j.mu.Unlock()
		time.Sleep(4 * time.Second)
		synctest.Wait()
		fail <- true
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 0))
		synctest.Wait()
		st, err := s.Status(t.Context())
		if err != nil || !strings.Contains(st.Training.Err, "in 1s") {
			t.Errorf("after a success and a failure: %q, %v", st.Training.Err, err)
		}
	})
}

func TestAnnotatorsAreToldHowLongTheyWait(t *testing.T) {
	for _, test := range []struct {
		outlook     idrl.Outlook
		in          time.Duration // until Outlook.Ready; 0 leaves it unknown
		done, total int
		says, page  string // to annotators; to researchers, what is done and how long it takes
		stepSec     float64
	}{
		{idrl.Outlook{Waiting: true}, 0, 0, 0, "The first clips are being made.", "waiting for the trainer|", 0},
		{idrl.Outlook{Waiting: true, Ahead: 1}, 0, 0, 0, "The first clips are being made. 1 other session is before this one.", "waiting for the trainer, 1 other training is before this one|", 0},
		{idrl.Outlook{Waiting: true, Ahead: 3}, 2 * time.Minute, 0, 0, "The first clips are being made. 3 other sessions are before this one; about 2 minutes.", "waiting for the trainer, 3 other trainings are before this one|about 2 minutes", 0},
		{idrl.Outlook{}, 18 * time.Second, 2, 8, "The first clips are being made: step 3 of 8, about 20 seconds.", "solving|about 20 seconds", 0},
		{idrl.Outlook{}, 0, 2, 8, "The first clips are being made: step 3 of 8.", "solving|", 0},
		{idrl.Outlook{}, time.Second, 8, 8, "The first clips are being made: step 8 of 8, a few seconds.", "solving|a few seconds", 0},
		{idrl.Outlook{}, -time.Second, 1, 8, "The first clips are being made: step 2 of 8.", "solving|", 0},
		{idrl.Outlook{}, time.Minute, 0, 8, "The first clips are being made: step 1 of 8, about a minute.", "solving|about a minute", 0},
		{idrl.Outlook{}, 3 * time.Hour, 0, 8, "The first clips are being made: step 1 of 8, about 3 hours.", "solving|about 3 hours", 0},
		{idrl.Outlook{}, 20 * time.Second, 3, 8, "The first clips are being made: step 4 of 8, about 20 seconds.", "solving|about 20 seconds", 0.0005},
		{
			idrl.Outlook{},
			4 * time.Minute, 2, 8,
			"The first clips are being made: step 3 of 8, about 4 minutes. The simulation is slow; this page continues by itself when the clips are ready.",
			"solving; a step of this environment takes 200 ms of processor time, so the first clips take long; shorter episodes or a faster simulation help (docs/outside.md)|about 4 minutes", 0.2,
		},
	} {
		t.Run(test.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(nil)
				b.stepSec = test.stepSec
				b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
					o := test.outlook
					if test.in != 0 {
						o.Ready = b.clock.Now().Add(test.in)
					}
					job.Outlook(o)
					if test.total > 0 {
						job.Progress(test.done, test.total, "solving")
					}
					<-ctx.Done()
					return idrl.Generation{}, ctx.Err()
				})
				s, _ := b.start(t)
				synctest.Wait()
				if o, err := s.Claim(t.Context(), "ann"); err != nil || o.Waiting != test.says {
					t.Errorf("annotators are told %q, %v", o.Waiting, err)
				}
				st, err := s.Status(t.Context())
				if now := st.Training.What + "|" + st.Training.Left; err != nil || now != test.page {
					t.Errorf("researchers are told %q, %v, want %q", now, err, test.page)
				}
			})
		})
	}
}

// A session that leaves it to how long trainings take trains after every answer while
// they take less than a second, and else after every third. Searches among gaits begin with
// the fifth answer.
func TestTrainsAsOftenAsItIsCheap(t *testing.T) {
	for _, test := range []struct {
		solver string
		every  int64
		took   []time.Duration // by the trainings, in order; the last for all others
		want   []int64         // the log rows that trainings are based on
	}{
		{"", 0, []time.Duration{100 * time.Millisecond}, []int64{0, 1, 2, 3, 4, 5, 6, 7}},
		{"", 0, []time.Duration{time.Second}, []int64{0, 3, 6}},
		{"", 0, []time.Duration{0, 3 * time.Second, 0}, []int64{0, 1, 4, 5, 6, 7}},
		{"", 2, []time.Duration{100 * time.Millisecond}, []int64{0, 2, 4, 6}},
		{idrl.GaitSolver, 0, []time.Duration{100 * time.Millisecond}, []int64{0, 5, 6, 7}},
		{idrl.GaitSolver, 0, []time.Duration{3 * time.Second}, []int64{0, 5}},
		{idrl.GaitSolver, 4, []time.Duration{3 * time.Second}, []int64{0, 5}},
		{idrl.ActorCritic, 4, []time.Duration{3 * time.Second}, []int64{0, 4}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(func(s *idrl.SessionSpec) {
				s.AdoptAfter, s.TrainEvery, s.Solver = 0, test.every, cmp.Or(test.solver, s.Solver)
			})
			var based []int64
			b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
				if job.From > 0 {
					return idrl.Generation{BasedOn: job.BasedOn}, nil
				}
				b.clock.advance(test.took[min(len(based), len(test.took)-1)])
				based = append(based, job.BasedOn)
				return fakeTrainer{d: dim}.Train(ctx, job)
			})
			s, _ := b.start(t)
			for i := range 7 {
				synctest.Wait()
				mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
			}
			synctest.Wait()
			if !slices.Equal(based, test.want) {
				t.Errorf("train every %d, trainings that take %v: based on %v, want %v", test.every, test.took, based, test.want)
			}
		})
	}
}

// A training that fails again and again does not stop a session that adopts generations at fixed rows: annotators go on
// with the generation in use, researchers see the failure and can close the session. When training succeeds again, the
// generation is that of the newest answers.
func TestFailingTrainingStopsNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(nil) // trains every 4 answers, adopts 2 answers later
		var broken atomic.Bool
		broken.Store(true)
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			if job.BasedOn > 0 && broken.Load() {
				return idrl.Generation{}, errors.New("no memory")
			}
			return fakeTrainer{d: dim}.Train(ctx, job)
		})
		s, _ := b.start(t)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for i := range 22 {
			o := must.Get(s.Claim(ctx, "ann"))(t)
			if len(o.Open) == 0 {
				t.Fatalf("after %d answers nothing is asked: %q", i, o.Waiting)
			}
			must.Get(s.Answer(ctx, "ann", reply(o.Open[0], i)))(t)
			synctest.Wait()
		}
		if st := must.Get(s.Status(ctx))(t); !strings.Contains(st.Training.Err, "Training failed") || st.BasedOn != 0 {
			t.Errorf("researchers see generation %d and %q", st.BasedOn, st.Training.Err)
		}
		time.Sleep(10 * time.Minute)
		broken.Store(false)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if st := must.Get(s.Status(ctx))(t); st.Training.Err != "" || st.BasedOn != 20 {
			t.Errorf("when training succeeds again: generation %d, %q", st.BasedOn, st.Training.Err)
		}
		b.want(0, record.Settings{State: record.StateClosed})
		must.Do(t, s.Follow(ctx))
		if o := must.Get(s.Claim(ctx, "ann"))(t); !o.Done {
			t.Errorf("closed, the session offers %+v", o)
		}
	})
}
