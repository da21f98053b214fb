package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/view"
)

// gaits are sessions that have follow-ups: trained after the fifth row, and then after every
// fourth.
func gaits(s *idrl.SessionSpec) { s.AdoptAfter, s.Solver = 0, idrl.GaitSolver }

// A follower is a trainer that notes its jobs. What is no follow-up is done by fakeTrainer.
type follower struct {
	jobs []idrl.TrainJob
	up   func(context.Context, idrl.TrainJob) (idrl.Generation, error) // does follow-ups; nil: fakeTrainer
}

func (f *follower) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	f.jobs = append(f.jobs, job)
	if job.From > 0 && f.up != nil {
		return f.up(ctx, job)
	}
	return fakeTrainer{d: dim}.Train(ctx, job)
}

// log returns which jobs there were: the row that each is based on, and the number of
// candidates that a follow-up found in use.
func (f *follower) log() (out []string) {
	for _, j := range f.jobs {
		if j.From == 0 {
			out = append(out, fmt.Sprint(j.BasedOn))
		} else {
			out = append(out, fmt.Sprintf("%d+%d", j.BasedOn, j.From))
		}
	}
	return out
}

// nothingNew is a follow-up that finds no policy that is not in use, as it is from that
// many candidates on.
func nothingNew(from int) func(context.Context, idrl.TrainJob) (idrl.Generation, error) {
	return func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
		if job.From >= from {
			return idrl.Generation{BasedOn: job.BasedOn}, nil
		}
		return fakeTrainer{d: dim}.Train(ctx, job)
	}
}

// endless is a follow-up that ends when it is cancelled.
func endless(ctx context.Context, _ idrl.TrainJob) (idrl.Generation, error) {
	<-ctx.Done()
	return idrl.Generation{}, fmt.Errorf("search: %w", ctx.Err())
}

// followed starts a session on b with that trainer.
func followed(t *testing.T, b *bench, f *follower) *session.Session {
	t.Helper()
	b.trainer = f
	s, _ := b.start(t)
	synctest.Wait()
	return s
}

// answer has an annotator answer questions from to to.
func answer(t *testing.T, s *session.Session, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
		synctest.Wait()
	}
}

// While no answers come the searches go on, for a bounded time: their candidates are in use
// and asked about, the best known policy gets no worse, and no generation is retired.
func TestFollowUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newBench(gaits), &follower{}
		s := followed(t, b, f)
		answer(t, s, 1, 5)
		want := []string{"0", "5"}
		for k := range 12 {
			want = append(want, fmt.Sprintf("5+%d", 6+2*k))
		}
		if got := f.log(); !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
		for _, j := range f.jobs[2:] {
			if len(j.Warm) < j.From || j.First || j.Last || j.Seed != 7 {
				t.Errorf("a follow-up of %d candidates knows %d policies; first %v, last %v", j.From, len(j.Warm), j.First, j.Last)
			}
		}
		rec := b.record(t, s)
		if g := rec.Generation; len(g.Candidates) != 30 || len(rec.Archive) != 1 || rec.AdoptedAt != 5 || g.Candidates[29].ID != "g5.p29" {
			t.Errorf("%d candidates in use, %d generations of the past, adopted at %d", len(g.Candidates), len(rec.Archive), rec.AdoptedAt)
		}
		if q := claim(t, s, "other").Open[0].Query; !strings.HasPrefix(string(q.Clips[0]), "clip-5-") {
			t.Errorf("the next question is about %v", q.Clips)
		}
		if st := status(t, s); st.Training.Running || st.BasedOn != 5 {
			t.Errorf("training %+v of generation %d, want none any more", st.Training, st.BasedOn)
		}
		answer(t, s, 6, 9)
		if got := f.log()[14:16]; !slices.Equal(got, []string{"9", "9+6"}) {
			t.Errorf("after the next answers: jobs %v", got)
		}
		if past := b.record(t, s).Archive; len(past) != 2 || len(past[1]) != 30 {
			t.Errorf("%d generations of the past", len(past))
		}
	})
}

// A follow-up that finds nothing new leaves where the searches go on, and counts as three.
func TestFollowUpsThatFindNothingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(gaits)
		f := &follower{up: func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			g, err := nothingNew(8)(ctx, job)
			g.Agents = map[string][]byte{"gaits": {1}}
			return g, err
		}}
		s := followed(t, b, f)
		answer(t, s, 1, 5)
		if got, want := f.log(), []string{"0", "5", "5+6", "5+8", "5+8", "5+8", "5+8"}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
		if g := b.record(t, s).Generation; len(g.Candidates) != 8 || status(t, s).Training.Err != "" {
			t.Errorf("%d candidates", len(g.Candidates))
		}
	})
}

// The recommended policy is the best of all under the posterior mean, follow-ups included.
func TestFollowUpsImproveTheRecommendedPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(gaits)
		f := &follower{up: func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			g, err := nothingNew(10)(ctx, job)
			if job.From == 8 { // far along the weights
				mean := job.Posterior.Mean(nil)
				for i := range mean {
					mean[i] *= 1000
				}
				g.Candidates[1].Mu = mean
			}
			return g, err
		}}
		s := followed(t, b, f)
		answer(t, s, 1, 5)
		if best := status(t, s).Best; best != "g5.p9" {
			t.Errorf("%s is recommended, want the policy of the second follow-up", best)
		}
	})
}

// After a restart the session is as it was before: what it shows, and what it does next.
func TestRestartAfterFollowUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		play := func(restart bool) (record.Record, []view.Status) {
			b := newBench(gaits)
			b.trainer = &follower{up: nothingNew(10)}
			s, stop := b.start(t)
			synctest.Wait()
			var seen []view.Status
			for i := range 12 {
				answer(t, s, i, i)
				if restart {
					stop()
					s, stop = b.start(t)
					synctest.Wait()
				}
				seen = append(seen, status(t, s))
				seen[i].Training.BasedOn = 0 // of the last training, which a restart forgets
			}
			rec := b.record(t, s)
			stop()
			return rec, seen
		}
		want, wantSeen := play(false)
		got, gotSeen := play(true)
		if d := cmp.Diff(want, got, journaltest.Same); d != "" || len(want.Generation.Candidates) != 10 {
			t.Errorf("%d candidates; records differ (-left alone +restarted):\n%s", len(want.Generation.Candidates), d)
		}
		if d := cmp.Diff(wantSeen, gotSeen, journaltest.Same); d != "" {
			t.Errorf("what researchers see differs (-left alone +restarted):\n%s", d)
		}
	})
}

// A session whose last answer is old is left as it is when it is loaded.
func TestSessionsOfThePastStay(t *testing.T) {
	for age, want := range map[time.Duration]bool{9 * time.Minute: true, 11 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(gaits)
			b.trainer = &follower{up: nothingNew(0)}
			s, stop := b.start(t)
			synctest.Wait()
			answer(t, s, 1, 5)
			stop()
			b.clock.advance(age)
			f := &follower{}
			followed(t, b, f)
			if got := len(f.jobs) > 0; got != want {
				t.Errorf("%v after the last answer: jobs %v", age, f.log())
			}
		})
	}
}

// Answers that make a training due end the follow-up at once, which is no failure; others
// leave it alone.
func TestFollowUpsMakeWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(gaits)
		var ended []int64 // rows at which follow-ups ended
		f := &follower{up: func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			job.Outlook(idrl.Outlook{})
			job.Progress(1, 4, "adding feedback")
			<-ctx.Done()
			b.journal.mu.Lock()
			ended = append(ended, int64(len(b.journal.rec.Log)))
			b.journal.mu.Unlock()
			return idrl.Generation{}, ctx.Err()
		}}
		s := followed(t, b, f)
		answer(t, s, 1, 5)
		st := status(t, s).Training
		if want := "improving the best policy while no answers come: adding feedback"; !st.Running || !st.FollowUp || !st.Cancel || st.What != want || st.Done != 1 {
			t.Errorf("training %+v, want one that can be cancelled: %s", st, want)
		}
		answer(t, s, 6, 8)
		if len(ended) != 0 {
			t.Errorf("follow-ups ended at rows %v", ended)
		}
		answer(t, s, 9, 9)
		if st := status(t, s).Training; !slices.Equal(ended, []int64{9}) || st.Err != "" || !st.FollowUp || st.BasedOn != 9 {
			t.Errorf("follow-ups ended at rows %v, want 9; then %+v", ended, st)
		}
		if got, want := f.log(), []string{"0", "5", "5+6", "9", "9+6"}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
		if n := len(b.record(t, s).Generation.Candidates); n != 6 {
			t.Errorf("%d candidates, want those of the training alone", n)
		}
	})
}

// While the follow-up is about to end, the training that is due counts as under way.
func TestTrainingIsDueWhileAFollowUpEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, gate := newBench(gaits), make(chan struct{})
		f := &follower{up: func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			<-ctx.Done()
			<-gate
			return idrl.Generation{}, ctx.Err()
		}}
		s := followed(t, b, f)
		answer(t, s, 1, 9)
		if st := status(t, s).Training; !st.Running || st.FollowUp || st.BasedOn != 9 || st.What != "waiting for the trainer" {
			t.Errorf("training %+v", st)
		}
		close(gate)
		synctest.Wait()
		if st := status(t, s); st.BasedOn != 9 {
			t.Errorf("generation %d is in use, want 9", st.BasedOn)
		}
	})
}

// A researcher can end a follow-up; the next one begins after the next answer, from all
// answers so far.
func TestCancelledFollowUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newBench(gaits), &follower{up: endless}
		s := followed(t, b, f)
		answer(t, s, 1, 5)
		must.Do(t, s.CancelTraining(t.Context()))
		synctest.Wait()
		if st := status(t, s).Training; st.Running || st.Err != "" || st.Cancel {
			t.Errorf("training %+v, want none", st)
		}
		if err := s.CancelTraining(t.Context()); idrl.KindOf(err) != idrl.Conflict {
			t.Errorf("cancelled again: %v", err)
		}
		answer(t, s, 6, 6)
		if got, want := f.log(), []string{"0", "5", "5+6", "5+6"}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
		before, after := f.jobs[2].Posterior.Mean(nil), f.jobs[3].Posterior.Mean(nil)
		if slices.Equal(before, after) {
			t.Error("the second follow-up does not know the new answer")
		}
	})
}

// A follow-up that fails, or whose result cannot be recorded, is not tried again, and the
// session goes on.
func TestFollowUpsThatFail(t *testing.T) {
	other := func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
		job.BasedOn++
		return fakeTrainer{d: dim}.Train(ctx, job)
	}
	lost := func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
		g, err := fakeTrainer{d: dim}.Train(ctx, job)
		g.Candidates[0].Clip = "nowhere"
		return g, err
	}
	unknown := func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
		g, err := fakeTrainer{d: dim}.Train(ctx, job)
		g.Queries[0].Clips = []idrl.ClipID{"nowhere", "nowhere"}
		return g, err
	}
	for _, test := range []struct {
		name     string
		up       func(context.Context, idrl.TrainJob) (idrl.Generation, error)
		full     bool // the disk
		rejected int
	}{
		{"it fails", func(context.Context, idrl.TrainJob) (idrl.Generation, error) {
			return idrl.Generation{}, errors.New("no memory")
		}, false, 0},
		{"of another generation", other, false, 0},
		{"a clip that is not there", lost, false, 1},
		{"a question about nothing", unknown, false, 1},
		{"a full disk", nil, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, rejected := newBench(gaits), 0
				b.rejected = func(error) { rejected++ }
				f := &follower{}
				f.up = func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
					if test.full {
						b.journal.mu.Lock()
						b.journal.fail = idrl.Errorf(idrl.Unavailable, "the disk is full")
						b.journal.mu.Unlock()
						return fakeTrainer{d: dim}.Train(ctx, job)
					}
					return test.up(ctx, job)
				}
				s := followed(t, b, f)
				answer(t, s, 1, 5)
				time.Sleep(time.Hour) // of the bubble's clock
				synctest.Wait()
				st := status(t, s)
				if got := f.log(); !slices.Equal(got, []string{"0", "5", "5+6"}) || st.Training.Running || st.Training.Err != "" || rejected != test.rejected {
					t.Errorf("jobs %v, %d rejected; training %+v", got, rejected, st.Training)
				}
				if n := len(b.record(t, s).Generation.Candidates); n != 6 || len(st.Candidates) > 7 {
					t.Errorf("%d candidates are recorded and %d shown, want the 6 of the training", n, len(st.Candidates))
				}
				b.journal.mu.Lock()
				b.journal.fail = nil
				b.journal.mu.Unlock()
				f.up = nothingNew(0)
				answer(t, s, 6, 9)
				if st := status(t, s); st.BasedOn != 9 {
					t.Errorf("generation %d is in use, want 9", st.BasedOn)
				}
			})
		})
	}
}

// Only sessions whose searches go on have follow-ups, and only once there were searches;
// never where questions may not depend on how fast the machine is.
func TestNoFollowUps(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*idrl.SessionSpec)
		rows   int
	}{
		"own solver":          {func(s *idrl.SessionSpec) { s.AdoptAfter = 0 }, 9},
		"agents":              {func(s *idrl.SessionSpec) { s.AdoptAfter, s.Solver = 0, idrl.ActorCritic }, 9},
		"before the searches": {gaits, 4},
		"fixed rows":          {func(s *idrl.SessionSpec) { s.Solver = idrl.GaitSolver }, 9},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &follower{}
				s := followed(t, newBench(test.change), f)
				answer(t, s, 1, test.rows)
				if slices.ContainsFunc(f.jobs, func(j idrl.TrainJob) bool { return j.From > 0 }) {
					t.Errorf("jobs %v", f.log())
				}
			})
		})
	}
}

// A session that is complete has its last training first, then follow-ups, and then needs
// no trainer any more.
func TestFollowUpsOfCompleteSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { gaits(s); s.Budget = 6 })
		f := &follower{up: nothingNew(10)}
		var rested []string
		b.rests = func() { rested = append(rested, f.log()[len(f.jobs)-1]) }
		s := followed(t, b, f)
		answer(t, s, 1, 6)
		got := f.log()
		if want := []string{"6", "6+6", "6+8", "6+10"}; !slices.Equal(got[len(got)-4:], want) || !f.jobs[len(got)-4].Last {
			t.Errorf("jobs %v, want %v at the end", got, want)
		}
		if !slices.Equal(rested, []string{"6+10"}) {
			t.Errorf("it rests after the jobs %v, want the last follow-up", rested)
		}
	})
}

// A generation has no more questions than a session asks for: new ones first, and no clip
// that nothing shows.
func TestFollowUpsLeaveOutOldQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(gaits)
		var made [][]idrl.Query
		f := &follower{up: func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			g, err := nothingNew(10)(ctx, job)
			if err != nil || len(g.Candidates) == 0 {
				return g, err
			}
			clips := []idrl.Clip{g.Clips[g.Candidates[0].Clip], g.Clips[g.Candidates[1].Clip]}
			for k := range 63 {
				c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("more-%d-%d", job.From, k)), Steps: 5, Phi: []float64{float64(k), 1, 0}}
				g.Clips[c.ID], clips = c, append(clips, c)
			}
			g.Queries = nil
			for i, x := range clips {
				for _, y := range clips[:i] {
					g.Queries = append(g.Queries, idrl.NewComparison(x, y))
				}
			}
			g.Queries = g.Queries[:1990]
			made = append(made, slices.Clone(g.Queries))
			return g, nil
		}}
		s := followed(t, b, f)
		answer(t, s, 1, 5)
		g := b.record(t, s).Generation
		if want := slices.Concat(made[1], made[0][:10]); cmp.Diff(want, g.Queries) != "" || len(want) != 2000 {
			t.Errorf("%d questions, want the 1,990 of the second follow-up and ten of the first", len(g.Queries))
		}
		shown := map[idrl.ClipID]bool{}
		for _, c := range g.Candidates {
			shown[c.Clip] = true
		}
		for _, q := range g.Queries {
			shown[q.Clips[0]], shown[q.Clips[1]] = true, true
		}
		if len(shown) != len(g.Clips) || g.Clips["clip-5-0"].ID == "" || g.Clips["more-6-62"].ID != "" {
			t.Errorf("%d clips, want the %d that candidates and questions show", len(g.Clips), len(shown))
		}
	})
}
