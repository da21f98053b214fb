package training

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

// A gaitBench is a server and a worker of a session on a point mass whose policies are found
// by searches among gaits.
type gaitBench struct {
	records
	t      *testing.T
	spec   idrl.SessionSpec
	remote *Remote
	log    bytes.Buffer
	made   int            // environments so far
	die    func(int) bool // as that one is made
	told   []string
}

func newGaitBench(t *testing.T) *gaitBench {
	t.Helper()
	b := &gaitBench{
		t: t, records: records{&jobstest.Store{}, map[string][]byte{}},
		spec: settings.Complete(idrl.SessionSpec{ID: "s1", Env: pointmass.ID, Kind: idrl.CompareClips, Seed: 5, Solver: idrl.GaitSolver}),
	}
	b.restart()
	return b
}

// restart starts server and worker again.
func (b *gaitBench) restart() {
	b.t.Helper()
	tr, err := newTrainer(b.spec, func() idrl.Environment {
		if b.made++; b.die != nil && b.die(b.made) {
			panic(jobstest.ErrDied)
		}
		return pointmass.New(pointmass.Config{})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&b.log, nil))
	h := &Handler{Envs: envs.Catalogue, Log: log, trainers: []sessionTrainer{{b.spec.ID, threeWeights, nil, tr}}, GaitSteps: 6000}
	b.remote = &Remote{Jobs: jobstest.Memory{Store: b.Store, Handler: h}, Records: b.records, Spec: b.spec, Model: threeWeights, Log: log}
}

// rightward is a belief that motion to the right is good, and effort a little bad.
func rightward(b *gaitBench) idrl.Posterior {
	p, err := belief.NewGaussian([]float64{1, -0.1, 0}, mat.NewSymDense(3, []float64{0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01}))
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// train trains from row n, and adopts the generation.
func (b *gaitBench) train(n int64, p idrl.Posterior) idrl.Generation {
	b.t.Helper()
	g, err := b.remote.Train(b.t.Context(), idrl.TrainJob{
		BasedOn: n, Posterior: p, Seed: b.spec.Seed, First: n == 0,
		Progress: func(_, _ int, what string) { b.told = append(b.told, what) },
	})
	if err != nil {
		b.t.Fatalf("train from %d: %v\n%s", n, err, b.log.String())
	}
	b.adopt(g)
	return g
}

func (b *gaitBench) state() gaitState {
	b.t.Helper()
	s, err := pack.Decode[gaitState](b.agents[gaitsName])
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// score returns that of the policy for the mean of a generation, by other episodes than
// those it was chosen by.
func score(g idrl.Generation, theta []float64) float64 {
	return solver.Known{Mus: g.Candidates[0].Mus}.Score(theta)
}

// gaitJobs are the rows that the jobs of the tests below are based on.
var gaitJobs = []int64{0, 5, 8, 14, 17, 20}

// The search for the mean goes on from job to job and finds better policies, feedback comes
// later, and the generations are the same in another worker.
func TestGaitsGoOn(t *testing.T) {
	play := func(restart bool) (*gaitBench, []idrl.Generation) {
		b := newGaitBench(t)
		var out []idrl.Generation
		for _, n := range gaitJobs {
			if restart {
				b.restart()
			}
			out = append(out, b.train(n, rightward(b)))
			if s, late := b.agents[gaitsName], n >= feedbackRow; n > 0 && (s == nil || (b.state().Feedback != nil) != late) {
				t.Errorf("row %d: %d bytes are kept; feedback must begin with row %d", n, len(s), feedbackRow)
			}
		}
		return b, out
	}
	b, all := play(false)
	theta := rightward(b).Mean(nil)
	var scores []float64
	for i, g := range all {
		if len(g.Candidates) < 2 || len(g.Queries) < 50 {
			t.Errorf("generation %d: %d candidates, %d questions", g.BasedOn, len(g.Candidates), len(g.Queries))
		}
		for _, c := range g.Candidates {
			episodes := maxValuedStarts
			if i == 0 { // of the rollouts
				episodes = 2
			}
			if _, ok := behaviour.Gait.Own(c.Params); !ok || len(c.Mus) != episodes {
				t.Errorf("candidate %s: parameters %v, %d episodes", c.ID, c.Params, len(c.Mus))
			}
		}
		if scores = append(scores, score(g, theta)); i > 0 && g.Candidates[0].Origin != idrl.FromMean {
			t.Errorf("generation %d: the first candidate is from %s", g.BasedOn, g.Candidates[0].Origin)
		}
	}
	if !slices.IsSorted(scores) || !(scores[5] > scores[1] && scores[1] > scores[0]) {
		t.Errorf("scores %.3f; want better and better", scores)
	}
	said := strings.Join(b.told, "\n")
	for _, what := range []string{"searching for the mean: generation 12, best return", "adding feedback to the best gait: iteration 3", "searching for draw 5 of 5: generation 1", "drawing clips"} {
		if !strings.Contains(said, what) {
			t.Errorf("nothing was told of %q in\n%s", what, said)
		}
	}
	if _, again := play(true); cmp.Diff(all, again) != "" {
		t.Errorf("the same session with restarts:\n%s", cmp.Diff(all, again))
	}
}

// The search for the mean of a job begins where that of the last job ended.
func TestSearchForTheMeanGoesOn(t *testing.T) {
	b := newGaitBench(t)
	generations := func(n int64) (first, last int) {
		b.told = nil
		b.train(n, rightward(b))
		for _, what := range b.told {
			if _, err := fmt.Sscanf(what, "searching for the mean: generation %d,", &last); err == nil && first == 0 {
				first = last
			}
		}
		return first, last
	}
	generations(0)
	from, to := generations(5)
	again, further := generations(7)
	if from != 1 || to < 5 || again != to+1 || further < again {
		t.Errorf("generations %d to %d and then %d to %d; want the second job to go on where the first one ended", from, to, again, further)
	}
}

// The last job of a session takes its time for feedback.
func TestLastSearchAddsFeedback(t *testing.T) {
	b := newGaitBench(t)
	b.train(0, rightward(b))
	b.train(5, rightward(b))
	job := idrl.TrainJob{BasedOn: 6, Posterior: rightward(b), Seed: b.spec.Seed, Last: true}
	iterations := 0
	job.Progress = func(_, _ int, what string) {
		_, _ = fmt.Sscanf(what, "adding feedback to the best gait: iteration %d,", &iterations)
	}
	g := must.Get(b.remote.Train(t.Context(), job))(t)
	// Of the steps of lastRows, 6,000 each, 3/4 go into iterations of 16 episodes of 60 steps
	// and, in every fifth, up to 16 more that judge.
	if most, least := lastRows*6000*3/4/(16*60)+1, lastRows*6000*3/4/(16*60+16*60/5); iterations < least || iterations > most {
		t.Errorf("%d iterations of feedback, want %d to %d", iterations, least, most)
	}
	if len(g.Candidates) < 2 || g.Candidates[0].Mus == nil {
		t.Errorf("%d candidates", len(g.Candidates))
	}
}

// A job whose worker dies, wherever that is, gives the same generation and the same state.
func TestKilledGaits(t *testing.T) {
	calm := newGaitBench(t)
	var want [][]byte
	var made []int
	for _, n := range gaitJobs {
		made = append(made, calm.made)
		want = append(want, encoded(t, calm.train(n, rightward(calm))))
	}
	for death := 1; ; death++ {
		b := newGaitBench(t)
		for i, n := range gaitJobs[:3] {
			from, dead := b.made, false
			b.die = func(made int) bool {
				if n == 0 || dead || made != from+death {
					return false
				}
				dead = true
				return true
			}
			if got := encoded(t, b.train(n, rightward(b))); !bytes.Equal(got, want[i]) {
				t.Errorf("death as environment %d of job %d is made: another generation", death, n)
			}
		}
		if death > made[2]-made[1] {
			break
		}
	}
}

// A job that is cancelled leaves the state as it was, and the next one goes on.
func TestCancelledGaits(t *testing.T) {
	b := newGaitBench(t)
	b.train(0, rightward(b))
	b.train(5, rightward(b))
	before := slices.Clone(b.agents[gaitsName])
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.remote.Train(ctx, idrl.TrainJob{BasedOn: 8, Posterior: rightward(b), Seed: b.spec.Seed, Progress: func(_, _ int, what string) {
		if strings.HasPrefix(what, "searching for the mean") {
			cancel()
		}
	}})
	if err == nil || ctx.Err() == nil || !bytes.Equal(before, b.agents[gaitsName]) {
		t.Errorf("error = %v, and the state must stay", err)
	}
	b.train(9, rightward(b))
	if got := b.state().BasedOn; got != 9 {
		t.Errorf("the state is of row %d, want 9", got)
	}
}

// What cannot be used of a state begins anew, and the log says so.
func TestDamagedGaits(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(s *gaitState) []byte
		says   string
	}{
		{"what the store lost", func(*gaitState) []byte { return []byte{} }, "damaged"},
		{"no state", func(*gaitState) []byte { return []byte("nonsense") }, "all searches start again"},
		{"of other features", func(s *gaitState) []byte { s.Found[0].Known.Mus[0] = []float64{1}; return state(t, s) }, "all searches start again"},
		{"no search for the mean", func(s *gaitState) []byte { s.Mean = []byte("nonsense"); return state(t, s) }, "search for the mean begins anew"},
		{"no search for feedback", func(s *gaitState) []byte { s.Feedback = []byte("nonsense"); return state(t, s) }, "search for feedback begins anew"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newGaitBench(t)
			for _, n := range []int64{0, 5, 16} {
				b.train(n, rightward(b))
			}
			s := b.state()
			b.agents[gaitsName] = test.damage(&s)
			if g := b.train(19, rightward(b)); len(g.Candidates) < 2 || !strings.Contains(b.log.String(), test.says) {
				t.Errorf("%d candidates; the log says %s, want %q", len(g.Candidates), b.log.String(), test.says)
			}
		})
	}
}

func state(t *testing.T, s *gaitState) []byte {
	t.Helper()
	b := must.Get(pack.Encode(s))(t)
	return b
}

// progressless is a reporter that keeps nothing.
type progressless struct{ jobs.Reporter }

func (progressless) Progress(int, int, string) {}

// topple is a point mass that has fallen where it is far to the left.
type topple struct{ *pointmass.Env }

func (e topple) Fallen() bool { return e.Snapshot(nil)[1] < -1 }

// Episodes of a search end at a fall if the best policy stands and gains by it.
func TestSearchEndsAtFalls(t *testing.T) {
	push := func(force float64) []float64 { return behaviour.Gait.Params([]float64{0, force, 0, 0}) }
	for _, test := range []struct {
		name  string
		known []float64
		theta []float64
		ends  bool
	}{
		{"it stands and gains", push(1), []float64{1, 0, 0}, true},
		{"it stands and loses", push(1), []float64{-1, 0, 0}, false},
		{"it has fallen and gains", push(-1), []float64{-1, 0, 0}, false},
		{"nothing is known", nil, []float64{1, 0, 0}, false},
	} {
		s := &gaitTraining{newEnv: func() idrl.Environment { return topple{pointmass.New(pointmass.Config{})} }, to: progressless{}}
		s.valuer = valuer{env: s.newEnv(), seed: 1}
		if test.known != nil {
			must.Do(t, s.find(t.Context(), test.known, test.theta))
		}
		s.falls = s.endAtFall(test.theta)
		if _, plain := s.ground().(topple); plain == test.ends {
			t.Errorf("%s: episodes end at a fall: %v, want %v", test.name, !plain, test.ends)
		}
		// What is found meanwhile changes nothing: workers begin at different times.
		must.Do(t, s.find(t.Context(), push(2*test.theta[0]), test.theta))
		if _, plain := s.ground().(topple); plain == test.ends {
			t.Errorf("%s: a worker that begins later plays in another environment", test.name)
		}
	}
}

// A policy that is plainly worse in its first episode is not played further, and not kept.
func TestOnlyPromisingPoliciesAreValued(t *testing.T) {
	push := func(force float64) []float64 { return behaviour.Gait.Params([]float64{0, force, 0, 0}) }
	s := &gaitTraining{newEnv: func() idrl.Environment { return pointmass.New(pointmass.Config{}) }, to: progressless{}}
	s.valuer = valuer{env: s.newEnv(), seed: 1}
	right := []float64{1, 0, 0}
	var took []int
	for _, force := range []float64{0.5, 0.4, 1, -1} { // two are kept whatever they do
		before := s.valuer.took
		must.Do(t, s.find(t.Context(), push(force), right))
		took = append(took, s.valuer.took-before)
	}
	horizon := s.valuer.env.Spec().Horizon
	whole := max(valuedStarts, min(maxValuedStarts, valuedSteps/horizon)) * horizon
	if want := []int{whole, whole, whole, horizon}; !slices.Equal(took, want) || len(s.state.Found) != 3 {
		t.Errorf("steps %v, want %v; %d policies are kept, want 3", took, want, len(s.state.Found))
	}
}
