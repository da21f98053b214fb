package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
)

// gradualTrainer makes the clips of an arena in parts: those of one start at first, and of one more with each follow-up, for which it waits.
type gradualTrainer struct {
	arenaTrainer
	mu   sync.Mutex
	made int           // starts; guarded by mu
	next chan struct{} // a follow-up begins when it may take one
}

func (g *gradualTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	if !job.First {
		select {
		case <-g.next:
		case <-ctx.Done():
			return idrl.Generation{}, ctx.Err()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before := arenaTrainer{g.arena, g.made, g.t}
	old, err := before.Train(ctx, idrl.TrainJob{First: true})
	if err != nil {
		return old, err
	}
	if job.First {
		g.made = 1
	} else if g.made < g.starts {
		g.made++
	}
	now := arenaTrainer{g.arena, g.made, g.t}
	all, err := now.Train(ctx, idrl.TrainJob{First: true})
	if err != nil {
		return all, err
	}
	all.BasedOn = job.BasedOn
	if g.made < g.starts {
		all.Agents = map[string][]byte{"encounters": {byte(g.made)}}
	}
	if job.First {
		return all, nil
	}
	all.Candidates, all.Queries = nil, all.Queries[len(old.Queries):]
	for id := range old.Clips {
		delete(all.Clips, id)
	}
	return all, nil
}

// newRecordedArena is newArena of recorded policies, in one task.
func newRecordedArena(t *testing.T, starts int) *bench {
	t.Helper()
	b := newArena(t, starts)
	b.journal.rec.Spec.Arena.Tasks, b.journal.rec.Spec.Arena.Planned = []idrl.ArenaTask{{Name: "cup"}}, []int{starts, starts, starts}
	return b
}

// TestArenaGrows: an arena whose clips are cut in parts asks about those that there are. A person who has answered all of them waits for the next part,
// and has done their part only after the last one; so it is after a restart. Each question is asked once.
func TestArenaGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRecordedArena(t, 3)
		trainer := &gradualTrainer{arenaTrainer: b.trainer.(arenaTrainer), next: make(chan struct{})} //nolint:forcetypeassert // of newArena
		b.trainer = trainer
		s, stop := b.start(t)
		asked := map[idrl.QueryID]bool{}
		answerAll := func() {
			t.Helper()
			for range 3 {
				o := claim(t, s, "ann")
				if len(o.Open) == 0 {
					t.Fatalf("after %d answers there is no question: %+v", len(asked), o)
				}
				q := o.Open[0].Query.ID
				if asked[q] {
					t.Fatalf("question %s comes again", q)
				}
				asked[q] = true
				mustAnswer(t, s, "ann", reply(o.Open[0], len(asked)))
			}
		}
		for part := 1; ; part++ {
			answerAll()
			o := must.Get(s.Claim(t.Context(), "ann"))(t)
			if part == 3 {
				if !o.Done || !strings.Contains(o.Waiting, "You have compared all clips") || status(t, s).Training.More {
					t.Errorf("after the last part: %+v", o)
				}
				break
			}
			if o.Done || !strings.Contains(o.Waiting, "More clips are being made") || !status(t, s).Training.More {
				t.Errorf("after part %d of 3: %+v", part, o)
			}
			if part == 2 {
				stop()
				b.uncut = true
				s, stop = b.start(t)
				if o, err := s.Claim(t.Context(), "ann"); err != nil || o.Done {
					t.Errorf("after a restart: %+v, %v", o, err)
				}
			}
			trainer.next <- struct{}{}
			synctest.Wait()
		}
		stop()
		b.uncut = false
		s, stop = b.start(t)
		if o, err := s.Claim(t.Context(), "ann"); err != nil || !o.Done || status(t, s).Training.More || status(t, s).Training.Running {
			t.Errorf("after a restart with all parts: %+v, %+v, %v", o, status(t, s).Training, err)
		}
		rec := b.record(t, s)
		if n := len(rec.Generation.Queries); n != 9 || len(rec.Generation.Candidates) != 3 {
			t.Errorf("%d questions about %d policies are recorded", n, len(rec.Generation.Candidates))
		}
		stop()
	})
}

// TestQuestionsOfAPartAreAskedOnce: while clips are being cut two people are not asked the same, and wait. Once all are cut each is asked all.
func TestQuestionsOfAPartAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRecordedArena(t, 2)
		trainer := &gradualTrainer{arenaTrainer: b.trainer.(arenaTrainer), next: make(chan struct{})} //nolint:forcetypeassert // of newArena
		b.trainer = trainer
		s, stop := b.start(t)
		defer stop()
		asked := map[idrl.QueryID]int{}
		ask := func(who idrl.AnnotatorID, want int) {
			t.Helper()
			for n := 0; ; n++ {
				o, err := s.Claim(t.Context(), who)
				if err != nil {
					t.Fatal(err)
				}
				if len(o.Open) == 0 {
					if n != want {
						t.Errorf("%s is asked %d questions, want %d: %+v", who, n, want, o)
					}
					return
				}
				asked[o.Open[0].Query.ID]++
				a := reply(o.Open[0], n)
				a.ID = idrl.AnswerID(fmt.Sprint(who, len(asked), n))
				mustAnswer(t, s, who, a)
			}
		}
		synctest.Wait()
		ask("ann", 3)
		ask("bob", 0)
		trainer.next <- struct{}{}
		synctest.Wait()
		ask("bob", 6)
		ask("ann", 3)
		for q, n := range asked {
			if n != 2 || len(asked) != 6 {
				t.Errorf("question %s is answered %d times, of %d", q, n, len(asked))
			}
		}
	})
}

// TestArenaGoesOnAfterAFailure: an arena tries again to cut further clips; if that cannot succeed, people do not wait for them.
func TestArenaGoesOnAfterAFailure(t *testing.T) {
	for _, hopeless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b, failed := newRecordedArena(t, 2), 0
			trainer := &gradualTrainer{arenaTrainer: b.trainer.(arenaTrainer), next: make(chan struct{}, 9)} //nolint:forcetypeassert // of newArena
			for range 9 {
				trainer.next <- struct{}{}
			}
			b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
				if !job.First && (failed == 0 || hopeless) {
					if failed++; hopeless {
						return idrl.Generation{}, idrl.Errorf(idrl.Invalid, "a video is gone")
					}
					return idrl.Generation{}, context.DeadlineExceeded
				}
				return trainer.Train(ctx, job)
			})
			s, stop := b.start(t)
			defer stop()
			time.Sleep(3 * time.Second) // the first pause before another attempt is one second
			synctest.Wait()
			for n := range map[bool]int{false: 6, true: 3}[hopeless] {
				o := claim(t, s, "ann")
				if len(o.Open) == 0 {
					t.Fatalf("after %d answers: %+v", n, o)
				}
				mustAnswer(t, s, "ann", reply(o.Open[0], n))
			}
			if o := claim(t, s, "ann"); !o.Done || failed != 1 {
				t.Errorf("after %d failures: %+v", failed, o)
			}
			if st := status(t, s).Training; strings.Contains(st.Err, "a video is gone") != hopeless || st.More {
				t.Errorf("the page says %+v", st)
			}
		})
	}
}

// TestArenaWithoutFurtherClips: where a researcher has cancelled the cutting of further clips, people who have answered all
// questions do not wait for them; they do again once it goes on.
func TestArenaWithoutFurtherClips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRecordedArena(t, 2)
		b.trainer = &gradualTrainer{arenaTrainer: b.trainer.(arenaTrainer), next: make(chan struct{})} //nolint:forcetypeassert // of newArena
		s, stop := b.start(t)
		defer stop()
		for i := range 3 {
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
		}
		synctest.Wait()
		if err := s.CancelTraining(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if o, err := s.Claim(t.Context(), "ann"); err != nil || !o.Done || status(t, s).Training.More {
			t.Errorf("no further clips are cut: %+v, %v", o, err)
		}
		a := reply(claim(t, s, "bob").Open[0], 10)
		mustAnswer(t, s, "bob", a)
		synctest.Wait()
		if o, err := s.Claim(t.Context(), "ann"); err != nil || o.Done || !status(t, s).Training.More {
			t.Errorf("further clips are cut: %+v, %v", o, err)
		}
	})
}
