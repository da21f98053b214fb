package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/envs/chain"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/session"
	"tiebreak/internal/session/view"

	"github.com/google/go-cmp/cmp"
)

// libraryTrainer begins with four behaviours of a library. Each later generation has policies that were trained for the
// posterior mean and go far beyond the library along it.
type libraryTrainer struct{}

func (libraryTrainer) Train(_ context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g := idrl.Generation{BasedOn: job.BasedOn, Clips: map[idrl.ClipID]idrl.Clip{}}
	stream := rng.New(job.Seed, "library", 0)
	var clips []idrl.Clip
	add := func(id string, origin idrl.Origin, mu []float64) {
		raw := idrl.StepsID("steps-" + id)
		c := idrl.Candidate{ID: idrl.PolicyID(id), Origin: origin, Mu: mu, Params: mu, Theta: mu, Rollouts: []idrl.StepsID{raw}}
		for k := range 3 {
			phi := slices.Clone(mu)
			phi[k] += 0.1
			clip := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("%s-%d", id, k)), Start: 5 * k, Steps: 5, Phi: phi, Raw: raw}
			clips, g.Clips[clip.ID], c.Clip = append(clips, clip), clip, clip.ID
		}
		g.Candidates = append(g.Candidates, c)
	}
	library := func() (mu []float64) {
		for range dim {
			mu = append(mu, stream.NormFloat64())
		}
		return mu
	}
	for k := range 4 {
		if mu := library(); job.First {
			add(fmt.Sprintf("g0.p%d", k), idrl.FromLibrary, mu)
		}
	}
	if !job.First {
		mean := job.Posterior.Mean(nil)
		floats.Scale(6/floats.Norm(mean, 2), mean)
		add(fmt.Sprintf("g%d.p0", job.BasedOn), idrl.FromMean, mean)
		half := floats.ScaleTo(make([]float64, dim), 0.5, mean)
		add(fmt.Sprintf("g%d.p1", job.BasedOn), idrl.FromSample, half)
	}
	for i, a := range clips {
		for _, b := range clips[:i] {
			g.Queries = append(g.Queries, idrl.NewComparison(a, b))
		}
	}
	return g, nil
}

// seeing returns the answer of somebody to whom clips of the library are worth their first feature, and clips of
// trained policies are worth trained.
func seeing(t *testing.T, rec record.Record, as record.Assignment, n int, trained float64) idrl.Answer {
	t.Helper()
	var worth [2]float64
	for k, id := range as.Query.Clips {
		clip, ok := rec.Generation.Clips[id]
		if !ok {
			clip, ok = rec.Clips[id]
		}
		if !ok {
			t.Fatalf("clip %s is not known", id)
		}
		if worth[k] = trained; strings.HasPrefix(string(id), "g0.") {
			worth[k] = clip.Phi[0]
		}
	}
	a := reply(as, n)
	if a.Choice = idrl.ChoseB; worth[0] > worth[1] {
		a.Choice = idrl.ChoseA
	}
	return a
}

// A policy that was trained takes the lead only after people preferred its clips to those of the policy that led, and
// as long as they have not, the session says so. It is the same after restarts.
func TestRecommendationIsTested(t *testing.T) {
	for _, test := range []struct {
		name    string
		trained float64 // worth of what is trained
		takes   bool
	}{{"disliked", -20, false}, {"liked", 20, true}} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead, s.Tolerance = 4, 4, 1, 0.05 })
			b.trainer = libraryTrainer{}
			s, stop := b.start(t)
			duels, untested, first := 0, false, 0
			var asked []record.Assignment
			for n := range 30 {
				as := claim(t, s, "ann").Open[0]
				asked = append(asked, as)
				if as.Why.Purpose == record.ForDuel {
					duels++
				}
				mustAnswer(t, s, "ann", seeing(t, b.record(t, s), as, n, test.trained))
				st := status(t, s)
				if trained := !strings.HasPrefix(string(st.Best), "g0."); trained && first == 0 {
					first = n + 1
				}
				if want := map[bool]string{true: view.LedByDuel, false: view.LedFirst}[!strings.HasPrefix(string(st.Best), "g0.")]; n >= 6 && st.Led != want {
					t.Errorf("after %d answers %s is said to lead by %q, want %q", n+1, st.Best, st.Led, want)
				} else if n < 5 && st.Led != "" {
					t.Errorf("after %d answers the lead is said to be tested: %q", n+1, st.Led)
				}
				untested = untested || slices.Contains(codes(st), stopping.ByUntested)
				if n%3 == 2 {
					stop()
					s, stop = b.start(t)
					if now := status(t, s); now.Best != st.Best || !slices.Equal(codes(now), codes(st)) {
						t.Fatalf("after %d answers %s, %v; after a restart %s, %v", n+1, st.Best, codes(st), now.Best, codes(now))
					}
				}
			}
			if got := first > 0; got != test.takes {
				t.Errorf("a trained policy was recommended after %d answers", first)
			}
			if test.takes && first > 14 {
				t.Errorf("a policy that people like took the lead only after %d answers", first)
			}
			if duels < 2 || duels > 15 || !untested {
				t.Errorf("%d questions of duels; the session said that something is not tested: %t", duels, untested)
			}
			for i, as := range asked {
				if i > 0 && as.Why.Purpose == record.ForDuel && asked[i-1].Why.Purpose == record.ForDuel {
					t.Errorf("questions %d and %d are both of a duel", i, i+1)
				}
			}
			if want, got := status(t, s).Best, reviewOf(t, b).Best.ID; got != want {
				t.Errorf("the record recommends %s, the session %s", got, want)
			}
		})
	}
}

// reviewOf returns what the record of a session says of it.
func reviewOf(t *testing.T, b *bench) session.Review {
	t.Helper()
	rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
	r := must.Get(session.ReviewRecord(session.Config{
		Record: rec, Model: b.model, Acquisition: b.method, Journal: b.journal, Log: slog.New(slog.DiscardHandler),
	}))(t)
	return r
}

// The answer that decides a duel decides it no more when it is taken back.
func TestDuelsFollowTheLog(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead, s.Tolerance = 4, 4, 1, 0.05 })
	b.trainer = libraryTrainer{}
	s, _ := b.start(t)
	for n := range 30 {
		before := status(t, s).Best
		as := claim(t, s, "ann").Open[0]
		mustAnswer(t, s, "ann", seeing(t, b.record(t, s), as, n, 20))
		if strings.HasPrefix(string(status(t, s).Best), "g0.") {
			continue
		}
		if as.Why.Purpose != record.ForDuel {
			t.Fatalf("answer %d to a question for %s decided", n+1, as.Why.Purpose)
		}
		must.Get(s.Undo(t.Context(), "ann", "undo", idrl.AnswerID(fmt.Sprintf("answer-%d", n))))(t)
		if diff := cmp.Diff(before, status(t, s).Best); diff != "" {
			t.Errorf("recommended after the answer was taken back (-before +now):\n%s", diff)
		}
		return
	}
	t.Error("no duel was decided")
}

// drawnLibrary has drawings of the clips of a libraryTrainer: each policy of the library walks in a way of its own, and all
// that are trained in one other way.
type drawnLibrary struct {
	libraryTrainer
	t *testing.T
}

// named is an environment whose clips all have one name.
type named struct {
	*chain.Env
	name string
}

func (n named) Name([][]float64) drawing.Happening { return drawing.Happening{Name: n.name} }

// walksLike returns the name of the clips of a policy of the library, and one name of those of all others.
func walksLike(id idrl.ClipID) string {
	if policy, _, _ := strings.Cut(string(id), "-"); strings.HasPrefix(policy, "g0.") {
		return policy
	}
	return "trained"
}

func (d drawnLibrary) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := d.libraryTrainer.Train(ctx, job)
	walks := map[string][]int{
		"g0.p0": {1, 2, 3, 4, 5, 6, 7, 8}, "g0.p1": {8, 7, 6, 5, 4, 3, 2, 1}, "g0.p2": {4, 5, 6, 7, 6, 5, 4, 3}, "g0.p3": {6, 5, 4, 3, 2, 3, 4, 5},
	}
	for id, c := range g.Clips {
		name := walksLike(id)
		fields, ok := walks[name]
		if !ok {
			fields = []int{2, 1, 2, 1, 2, 1, 2, 1}
		}
		drawn := idrl.Clip{Steps: len(fields) - 1, Phi: c.Phi}
		for i, f := range fields {
			drawn.Snapshots = append(drawn.Snapshots, []float64{float64(f), float64(i)})
		}
		media, err := clip.Encode(named{chain.New(chain.Config{}), name}, drawn)
		if err != nil {
			d.t.Error(err)
		}
		c.Media = media
		g.Clips[id] = c
	}
	return g, err
}

// Duels whose clips look like those that were compared three times lately wait: also of policies that win every second
// comparison, questions about one pair of walks come three times in thirty at most.
func TestDuelsDifferInMeaning(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead, s.Tolerance = 4, 4, 1, 0.05 })
	b.trainer = drawnLibrary{t: t}
	s, _ := b.start(t)
	duels, pairs := 0, map[[2]string]int{}
	for n := range 30 {
		as := claim(t, s, "ann").Open[0]
		if as.Why.Purpose == record.ForDuel {
			duels++
		}
		var looks [2]string
		for k, id := range as.Query.Clips {
			looks[k] = walksLike(id)
		}
		slices.Sort(looks[:])
		pairs[looks]++
		mustAnswer(t, s, "ann", seeing(t, b.record(t, s), as, n, float64(40*(n%2)-20)))
	}
	t.Logf("%d questions of duels; pairs: %v", duels, pairs)
	if duels < 2 {
		t.Errorf("%d questions of duels", duels)
	}
	for pair, n := range pairs {
		if n > 3 && pair[0] != pair[1] { // later generations ask about trained policies alone

			t.Errorf("%v were compared %d times in thirty questions", pair, n)
		}
	}
}

// A session whose policies are trained from the start has no duels, nor has one that was created by
// an earlier version, or that is to recommend what is expected to be the best.
func TestNoDuels(t *testing.T) {
	for _, test := range []struct {
		name    string
		trainer idrl.Trainer
		change  func(*idrl.SessionSpec)
	}{
		{"no library", fakeTrainer{d: dim}, nil},
		{"earlier", libraryTrainer{}, func(s *idrl.SessionSpec) { s.Leader = "" }},
		{"expected", libraryTrainer{}, func(s *idrl.SessionSpec) { s.Leader = idrl.ExpectedLeader }},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(test.change)
			b.trainer = test.trainer
			s, _ := b.start(t)
			for n := range 20 {
				as := claim(t, s, "ann").Open[0]
				mustAnswer(t, s, "ann", reply(as, n))
				if st := status(t, s); as.Why.Purpose == record.ForDuel || slices.Contains(codes(st), stopping.ByUntested) {
					t.Fatalf("answer %d: purpose %s, objections %v", n+1, as.Why.Purpose, codes(st))
				}
			}
		})
	}
}

// Several people answer duels together: no more questions of one are open than may decide it, the answers of all count, and
// the lead is the same after a restart and by the record.
func TestDuelsOfSeveralPeople(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead, s.Tolerance = 4, 4, 1, 0.05 })
	b.trainer = libraryTrainer{}
	s, stop := b.start(t)
	people := []idrl.AnnotatorID{"ann", "bob", "cem"}
	answered, first := map[idrl.AnnotatorID]int{}, 0
	for n := range 45 {
		open := map[idrl.PolicyID]int{}
		var next []record.Assignment
		for _, who := range people {
			as := claim(t, s, who).Open[0]
			next = append(next, as)
			if as.Why.Purpose == record.ForDuel {
				open[as.Why.First]++
			}
		}
		for challenger, k := range open {
			if k > learning.DuelMargin {
				t.Errorf("before answer %d, %d questions about %s are open", n+1, k, challenger)
			}
		}
		who := n % len(people)
		if as := next[who]; as.Why.Purpose == record.ForDuel {
			answered[people[who]]++
		}
		mustAnswer(t, s, people[who], seeing(t, b.record(t, s), next[who], n, 20))
		if best := status(t, s).Best; first == 0 && !strings.HasPrefix(string(best), "g0.") {
			first = n + 1
			if answered["ann"]+answered["bob"]+answered["cem"] < learning.DuelMargin {
				t.Errorf("%s leads after %v answers to duels", best, answered)
			}
		}
		if n%5 == 4 {
			before := status(t, s).Best
			stop()
			s, stop = b.start(t)
			if now := status(t, s).Best; now != before {
				t.Errorf("after answer %d %s leads, after a restart %s", n+1, before, now)
			}
		}
	}
	if len(answered) < 2 || first == 0 {
		t.Errorf("questions of duels by person: %v; a trained policy leads after answer %d", answered, first)
	}
	if want, got := status(t, s).Best, reviewOf(t, b).Best.ID; got != want {
		t.Errorf("the record recommends %s, the session %s", got, want)
	}
}
