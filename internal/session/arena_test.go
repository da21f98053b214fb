package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/study/settings"
)

// arenaTrainer makes the generation of an arena of three entrants that meet from some starts. It must not be
// asked for another one.
type arenaTrainer struct {
	arena  idrl.Arena
	starts int
	t      *testing.T
}

func (a arenaTrainer) Train(_ context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	if !job.First {
		a.t.Errorf("an arena trains again, after row %d", job.BasedOn)
	}
	g := idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}}
	for start := range a.starts {
		var clips []idrl.Clip
		for k := range a.arena.Entrants {
			c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("clip-%d-%d", k, start)), From: idrl.EntrantTrajectory(k, start), Steps: 5, Phi: []float64{1, 2}}
			g.Clips[c.ID] = c
			for _, b := range clips {
				g.Queries = append(g.Queries, idrl.NewComparison(b, c))
			}
			clips = append(clips, c)
		}
	}
	for k := range a.arena.Entrants {
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.EntrantID(k), Origin: idrl.FromMean, Params: []float64{1}, Mu: a.arena.Indicator(k), Clip: idrl.ClipID(fmt.Sprintf("clip-%d-0", k)),
		})
	}
	return g, nil
}

func newArena(t *testing.T, starts int) *bench {
	t.Helper()
	arena := idrl.Arena{Entrants: []idrl.Entrant{{Title: "A", Policy: "1"}, {Title: "B", Policy: "2"}, {Title: "C", Policy: "3"}}}
	b := newBench(func(s *idrl.SessionSpec) {
		s.Arena, s.TrainEvery, s.AdoptAfter = arena, 0, 0
		*s = settings.Complete(s.AsArena())
	})
	spec := b.journal.rec.Spec
	b.trainer, b.method = arenaTrainer{arena, starts, t}, method(t, spec.Acquisition)
	b.model.Comparison = belief.BradleyTerry{Beta: 1, TieWidth: spec.TieBand}
	return b
}

// The researcher reads why people cannot compare the entrants of an arena, people that there is
// nothing to do, and the attempt, which would come to the same, is not repeated until a restart.
func TestArenaOfOneBehaviour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, attempts := newArena(t, 4), 0
		b.trainer = trainerFunc(func(context.Context, idrl.TrainJob) (idrl.Generation, error) {
			attempts++
			return idrl.Generation{}, idrl.Errorf(idrl.Invalid, "people could not distinguish the entrants.")
		})
		s, stop := b.start(t)
		defer stop()
		time.Sleep(3 * time.Second) // the first pause before another attempt is one second
		synctest.Wait()
		if o, err := s.Claim(t.Context(), "ann"); err != nil || len(o.Open) > 0 || !strings.Contains(o.Waiting, "There are no questions") {
			t.Errorf("an annotator gets %+v, %v", o, err)
		}
		if st := status(t, s).Training; attempts != 1 || !strings.HasSuffix(st.Err, "The reason: people could not distinguish the entrants.") {
			t.Errorf("after %d attempts the page says %q", attempts, st.Err)
		}
	})
}

// An arena asks every person each question once, wherever it is started again, leaves no pair out at
// first, and trains nothing.
func TestArenaAsksEachQuestionOnce(t *testing.T) {
	const starts = 4
	b := newArena(t, starts)
	s, stop := b.start(t)
	pairs := map[string]int{}
	for _, who := range []idrl.AnnotatorID{"ann", "bob"} {
		asked := map[idrl.QueryID]bool{}
		for n := range 3 * starts {
			o := claim(t, s, who)
			if o.Done {
				t.Fatalf("%s has done their part after %d answers", who, n)
			}
			q := o.Open[0].Query
			if asked[q.ID] {
				t.Fatalf("%s is asked %v twice", who, q.Clips)
			}
			asked[q.ID] = true
			a := reply(o.Open[0], n)
			a.ID += idrl.AnswerID(who)
			a.Choice = []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}[n%3]
			if who == "ann" && n < 6 {
				from := func(i int) string {
					name, _, _ := strings.Cut(strings.TrimPrefix(string(q.Clips[i]), "clip-"), "-")
					return name
				}
				pairs[min(from(0), from(1))+max(from(0), from(1))]++
			}
			mustAnswer(t, s, who, a)
			if n == 5 {
				stop()
				s, stop = b.start(t)
			}
		}
		if o := claim(t, s, who); !o.Done || len(o.Open) > 0 {
			t.Errorf("%s is asked more: %+v", who, o)
		}
	}
	for pair, n := range pairs {
		if n > 3 || len(pairs) != 3 {
			t.Errorf("pair %s is asked about %d times in the first six questions, of all %v", pair, n, pairs)
		}
	}
	rec := b.record(t, s)
	last := rec.Log[len(rec.Log)-1]
	if _, err := s.Undo(t.Context(), "bob", "undo", last.ID); err != nil {
		t.Fatal(err)
	}
	o := claim(t, s, "bob")
	if o.Done || len(o.Open) != 1 || o.Open[0].Query.ID != last.Query {
		t.Fatalf("after an undo: %+v", o)
	}
	again := reply(o.Open[0], 99)
	mustAnswer(t, s, "bob", again)
	if o := claim(t, s, "bob"); !o.Done {
		t.Error("bob is asked more after the answer that was given again")
	}
	st, err := s.Status(t.Context())
	if err != nil || st.Answers != 6*starts || len(st.Regret) != 0 || len(st.Weights) != 0 || st.Training.Running {
		t.Errorf("status %+v, %v", st, err)
	}
}
