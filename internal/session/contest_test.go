package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// entrant returns which entrant of an arenaTrainer a clip shows.
func entrant(clip idrl.ClipID) (k int) {
	name, _, _ := strings.Cut(strings.TrimPrefix(string(clip), "clip-"), "-")
	_, _ = fmt.Sscan(name, &k)
	return k
}

// TestArenaEndsWithItsTest: an arena with a test asks about the pair that decides, ends when a winner is found, goes on when an answer that decided
// is taken back, and is the same after a restart. Its report says the same at each of its answers.
func TestArenaEndsWithItsTest(t *testing.T) {
	b := newArena(t, 200)
	b.journal.rec.Spec.Arena.Detect = 0.8
	s, stop := b.start(t)
	defer func() { stop() }()
	people := []idrl.AnnotatorID{"ann", "bob"}
	reported := func() bradley.Report {
		t.Helper()
		r, _, err := bradley.NewReport(b.record(t, s))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var last idrl.Answer
	var who idrl.AnnotatorID
	asked := map[[2]int]int{}
	n := 0
	for ; ; n++ {
		who = people[n%2]
		o := claim(t, s, who)
		if over := reported().Test.Over; o.Done != over {
			t.Fatalf("after %d answers the session is over: %v, its report: %v", n, o.Done, over)
		}
		if o.Done {
			break
		}
		if n > 300 || len(o.Open) == 0 {
			t.Fatalf("after %d answers: %+v", n, o)
		}
		q := o.Open[0].Query
		i, j := entrant(q.Clips[0]), entrant(q.Clips[1])
		asked[[2]int{min(i, j), max(i, j)}]++
		last = reply(o.Open[0], n)
		last.ID += idrl.AnswerID(who)
		if last.Choice = idrl.ChoseA; j == 2 || i == 0 && j == 1 && n%4 > 0 { // the last entrant wins; of the others, the second
			last.Choice = idrl.ChoseB
		}
		if i == 2 {
			last.Choice = idrl.ChoseA
		}
		mustAnswer(t, s, who, last)
		if n == 9 {
			stop()
			s, stop = b.start(t)
		}
	}
	if r := reported(); r.Test.Winner != "C" {
		t.Errorf("the winner is %q after %d answers", r.Test.Winner, n)
	}
	if about := asked[[2]int{0, 1}]; 3*about > n {
		t.Errorf("of %d questions %d are about the two that lose", n, about)
	}
	if st := status(t, s); !st.Decided {
		t.Error("the status does not say that the arena is decided")
	}
	if _, err := s.Undo(t.Context(), people[(n+1)%2], "undo", last.ID); err != nil {
		t.Fatal(err)
	}
	if o := claim(t, s, people[(n+1)%2]); o.Done || len(o.Open) == 0 || status(t, s).Decided {
		t.Errorf("the answer that decided is taken back: %+v", o)
	}
}

// TestTasksTakeTurns: in an arena of recorded policies the questions about two of them go through all tasks in turn, whatever is answered and also after a
// restart, although one task has many more pairs of episodes.
func TestTasksTakeTurns(t *testing.T) {
	for _, detect := range []float64{0, 0.8} {
		b := newArena(t, 0)
		arena := &b.journal.rec.Spec.Arena
		arena.Detect, arena.Tasks, arena.Planned = detect, []idrl.ArenaTask{{Name: "many"}, {Name: "few"}, {Name: "some"}}, []int{90, 90, 90}
		clips := map[idrl.ClipID]idrl.Clip{}
		g := idrl.Generation{Clips: clips}
		for task, pairs := range []int{60, 12, 18} {
			for n := range pairs {
				var of []idrl.Clip
				for k := range arena.Entrants {
					c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("clip-%d-%d-%d", k, task, n)), From: idrl.EntrantEpisode(k, n, idrl.Meeting{Task: task, Start: -1}), Steps: 5, Phi: []float64{1, 2}}
					for _, other := range of {
						g.Queries = append(g.Queries, idrl.NewComparison(other, c))
					}
					clips[c.ID], of = c, append(of, c)
				}
			}
		}
		for k := range arena.Entrants {
			g.Candidates = append(g.Candidates, idrl.Candidate{ID: idrl.EntrantID(k), Origin: idrl.FromMean, Params: []float64{1}, Mu: arena.Indicator(k), Clip: idrl.ClipID(fmt.Sprintf("clip-%d-0-0", k))})
		}
		b.trainer = trainerFunc(func(context.Context, idrl.TrainJob) (idrl.Generation, error) { return g, nil })
		s, stop := b.start(t)
		asked := map[[3]int]int{} // by two entrants and a task
		for n := range 27 {
			q := claim(t, s, "ann")
			if len(q.Open) == 0 {
				t.Fatalf("there is no question after %d answers", n)
			}
			m, ok := arena.MeetingOf(clips[q.Open[0].Query.Clips[0]].From)
			if !ok {
				t.Fatal("a question is about no task")
			}
			i, j := entrant(q.Open[0].Query.Clips[0]), entrant(q.Open[0].Query.Clips[1])
			asked[[3]int{min(i, j), max(i, j), m.Task}]++
			a := reply(q.Open[0], n)
			a.Choice = idrl.ChoseA
			if n%2 == 1 {
				a.Choice = idrl.ChoseB
			}
			mustAnswer(t, s, "ann", a)
			if n == 9 {
				stop()
				s, stop = b.start(t)
			}
		}
		stop()
		for i := range 3 {
			for j := range i {
				least, most := 99, 0
				for task := range 3 {
					n := asked[[3]int{j, i, task}]
					least, most = min(least, n), max(most, n)
				}
				if most > least+1 {
					t.Errorf("detect %v: entrants %d and %d are asked about %v", detect, j, i, asked)
				}
			}
		}
	}
}
