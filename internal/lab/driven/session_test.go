package driven_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/driven"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/study/settings"
)

const dim = 3

// trainer makes generations of random clips, a function of the job alone.
type trainer struct {
	takes time.Duration
	fails int64 // the training from that answer; 0: none
	done  []idrl.TrainJob
}

var errBroken = errors.New("broken")

func (f *trainer) Train(_ context.Context, job idrl.TrainJob) (idrl.Generation, time.Duration, error) {
	f.done = append(f.done, job)
	if f.fails > 0 && job.BasedOn >= f.fails {
		return idrl.Generation{}, 0, errBroken
	}
	r := rng.New(job.Seed, "fake", uint64(job.BasedOn)+uint64(job.From)<<32)
	g := idrl.Generation{BasedOn: job.BasedOn, Clips: map[idrl.ClipID]idrl.Clip{}, Agents: map[string][]byte{"search": {byte(len(f.done))}}}
	var clips []idrl.Clip
	for k := job.From; k < job.From+6; k++ {
		phi := job.Posterior.Sample(nil, r)
		for i := range phi {
			phi[i] += r.NormFloat64()
		}
		c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("clip-%d-%d", job.BasedOn, k)), Steps: 5, Phi: phi, Media: []byte(fmt.Sprint("media ", k))}
		clips, g.Clips[c.ID] = append(clips, c), c
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.PolicyID(fmt.Sprintf("g%d.p%d", job.BasedOn, k)), Origin: idrl.FromSample, Params: phi, Theta: phi, Mu: phi, Clip: c.ID,
		})
	}
	for i, a := range clips {
		for _, b := range clips[:i] {
			g.Queries = append(g.Queries, idrl.NewComparison(a, b))
		}
	}
	return g, f.takes, nil
}

// start starts a session in which each training takes seven seconds.
func start(t *testing.T, f *trainer, change func(*driven.Config)) *driven.Session {
	t.Helper()
	f.takes = 7 * time.Second
	spec := settings.Complete(idrl.SessionSpec{ID: "s1", Title: "test", Env: "none", Seed: 7, TrainEvery: 2, Ahead: 1, Solver: idrl.OwnSolver, Questions: idrl.AnyQuestions, Features: []string{"x", "y", "z"}})
	c := driven.Config{
		Spec: spec, Model: belief.Model{Start: belief.Isotropic(dim, 1), Comparison: belief.Probit{NoiseStd: 1, TieBand: 0.1}},
		Method: acquisition.Methods()[0], Trainer: f,
	}
	if change != nil {
		change(&c)
	}
	s := must.Get(driven.Start(t.Context(), c))(t)
	t.Cleanup(s.Close)
	return s
}

// answer answers questions, each after three seconds, and returns the generations that they came from.
func answer(t *testing.T, s *driven.Session, n int) (basedOn []int64) {
	t.Helper()
	for range n {
		open, err := s.Claim(t.Context(), "ann")
		if err != nil || len(open) == 0 {
			t.Fatalf("%d questions, %v", len(open), err)
		}
		q, err := s.Question(open[0].Query)
		if err != nil || len(q.X) != dim || len(q.Mid) != dim {
			t.Fatalf("question %+v, %v", q, err)
		}
		basedOn = append(basedOn, open[0].Why.BasedOn)
		a := idrl.Answer{Choice: idrl.ChoseA}
		if q.X[0] < 0 {
			a.Choice = idrl.ChoseB
		}
		must.Do(t, errors.Join(s.Until(t.Context(), s.Now()+3*time.Second), s.Answer(t.Context(), open[0], a)))
	}
	return basedOn
}

// Generations come into use when their trainings have ended by the clock, and the next ones begin
// then.
func TestGenerationsComeByTheClock(t *testing.T) {
	f := &trainer{}
	s := start(t, f, nil)
	if s.Now() != 7*time.Second || s.Trained() != s.Now() || s.Trains() {
		t.Errorf("the first generation is there after %v, of which %v were training", s.Now(), s.Trained())
	}
	// Answers come at 10, 13, 16 s and so on. The training from answer 2, which begins at 13 s, ends at
	// 20 s; that from answer 4 at 27 s; that from answer 6 at 34 s, when answer 9 comes.
	got, want := answer(t, s, 10), []int64{0, 0, 0, 0, 0, 2, 2, 4, 4, 6}
	if !slices.Equal(got, want) {
		t.Errorf("questions come from generations %v, want %v", got, want)
	}
	if s.Now() != 37*time.Second || s.Trained() != 31*time.Second { // 0 to 7 s, and 13 s to the end
		t.Errorf("%v on the clock, %v of it training", s.Now(), s.Trained())
	}
	if got := s.Policies(); got != 4*6 {
		t.Errorf("%d policies, want those of four generations", got)
	}
	best, err := s.Recommended(t.Context())
	if err != nil || best.Params == nil {
		t.Fatalf("recommended: %+v, %v", best, err)
	}
	if media, err := s.Media(t.Context(), best.Clip); err != nil || string(media[:5]) != "media" {
		t.Errorf("its clip: %q, %v", media, err)
	}
	p, err := s.Posterior(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := start(t, &trainer{}, nil)
	answer(t, again, 10)
	if q, err := again.Posterior(t.Context()); err != nil || !slices.Equal(q.Mean(nil), p.Mean(nil)) {
		t.Errorf("the same session again has another posterior, %v", err)
	}
}

// A session that adopts after a number of answers waits by itself, whatever the clock says.
func TestGenerationsComeByTheCount(t *testing.T) {
	s := start(t, &trainer{}, func(c *driven.Config) { c.Spec.AdoptAfter = 1 })
	if got, want := answer(t, s, 8), []int64{0, 0, 0, 2, 2, 4, 4, 6}; !slices.Equal(got, want) {
		t.Errorf("questions come from generations %v, want %v", got, want)
	}
}

// A follow-up makes way for a training. What it had found is lost, and the time is spent.
func TestFollowUpMakesWay(t *testing.T) {
	f := &trainer{}
	var taken []byte
	s := start(t, f, func(c *driven.Config) {
		c.Spec.Solver, c.Spec.TrainEvery = idrl.GaitSolver, 5
		c.Taken = func(g idrl.Generation) { taken = append(taken, g.Agents["search"]...) }
	})
	answer(t, s, 7) // to 28 s; the training from answer 5 begins at 22 s and ends at 29 s
	if !s.Trains() || s.FollowsUp() {
		t.Fatal("no training is under way at 28 s")
	}
	answer(t, s, 2) // to 34 s; a follow-up begins at 29 s
	if s.Trains() || !s.FollowsUp() {
		t.Fatal("no follow-up is under way at 34 s")
	}
	answer(t, s, 1) // it has ended at 36 s when answer 10 comes at 37 s; the next follow-up makes way
	if !s.Trains() || s.Trained() != 7*time.Second+15*time.Second {
		t.Errorf("at %v: trains %v, %v of training", s.Now(), s.Trains(), s.Trained())
	}
	answer(t, s, 3) // the training from answer 10 ends at 44 s
	var from []int
	for _, job := range f.done {
		from = append(from, job.From)
	}
	// The follow-up that made way was begun, since it might have ended before the answer.
	if want := []int{0, 0, 6, 12, 0, 6}; !slices.Equal(from, want) || f.done[4].BasedOn != 10 {
		t.Errorf("jobs go on from candidates %v, want %v", from, want)
	}
	if want := []byte{1, 2, 3, 5}; !slices.Equal(taken, want) {
		t.Errorf("the session took the results of jobs %v, want %v", taken, want)
	}
}

// The caller is told why a training has failed, at the start and later.
func TestTrainingThatFails(t *testing.T) {
	for _, waits := range []int64{0, 2} {
		f := &trainer{fails: 2}
		s := start(t, f, func(c *driven.Config) { c.Spec.AdoptAfter = waits })
		var err error
		for range 5 { // at the latest when the generation is due; where the session waits by itself, it may be sooner
			open, failed := s.Claim(t.Context(), "ann")
			if err = failed; err == nil {
				err = s.Answer(t.Context(), open[0], idrl.Answer{Choice: idrl.Equal})
			}
			if err == nil {
				_, _, err = s.Ends(t.Context())
			}
			if err != nil {
				break
			}
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("adopting after %d answers: error %v, want that of the training", waits, err)
		}
	}
}

// A researcher may want one answer after another.
func TestWant(t *testing.T) {
	f := &trainer{}
	s := start(t, f, func(c *driven.Config) { c.Spec.Budget, c.Spec.Ahead = 1, 3 })
	for n := range 4 {
		open, err := s.Claim(t.Context(), "ann")
		if err != nil || len(open) != 1 || open[0].Why.BasedOn != int64(n) {
			t.Fatalf("question %d: %+v, %v", n+1, open, err)
		}
		must.Do(t, s.Answer(t.Context(), open[0], idrl.Answer{Choice: idrl.Equal}))
		ends, ok, err := s.Ends(t.Context())
		if err != nil || !ok {
			t.Fatalf("no training after answer %d, %v", n+1, err)
		}
		must.Do(t, errors.Join(s.Until(t.Context(), ends), s.Want(t.Context(), n+2)))
	}
}
