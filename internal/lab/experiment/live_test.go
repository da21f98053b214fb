package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/study/settings"

	"gonum.org/v1/gonum/floats"
)

// gridStage is a stage in a gridworld, under the schedule of a session.
func gridStage(t *testing.T, s learning.Schedule) *stage {
	t.Helper()
	const seed = 7
	newEnv := func() idrl.Environment { return gridworld.New(gridworld.Config{}, rng.New(seed, "layout", 0)) }
	env := newEnv()
	spec := settings.Complete(idrl.SessionSpec{Env: "gridworld", Kind: idrl.CompareClips, NoiseStd: 1, Noise: idrl.SharedNoise})
	model := must.Get(belief.ForSpec(spec, env))(t)
	sol := must.Get(solver.For(env))(t)
	theta := sim.NewTask(env, rng.New(3, "task", 0)).Theta
	expert := must.Get(sim.NewExpert("bradley-terry", sim.Task{Theta: theta}, sim.Options{Range: 10}))(t)
	return &stage{
		seed: seed, schedule: s, kind: spec.Kind, theta: theta, prior: model.Start, newEnv: newEnv, solver: sol, mu: solver.Mu,
		mse: func([]float64) float64 { return 0 }, cosine: func([]float64) float64 { return 0 },
		answers: func([]idrl.QueryVector) (belief.Model, func(idrl.QueryVector, uint64) idrl.Answer, error) {
			return model, func(q idrl.QueryVector, n uint64) idrl.Answer {
				return expert.Answer(q, rng.New(seed, "answer "+string(q.ID), n))
			}, nil
		},
	}
}

// Each question of a session is chosen from the generation that the schedule says, while one before it is not answered:
// here every one is worth more than that which waits.
func TestScheduleOfSessions(t *testing.T) {
	for _, test := range []struct {
		name    string
		s       learning.Schedule
		basedOn []int64 // of the first twelve questions
	}{
		{"live", learning.Live(), []int64{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"slow", learning.Dear(), []int64{0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 6, 6}},
	} {
		l := must.Get(gridStage(t, test.s).start(t.Context(), Experiment{}.Method("lvar")))(t)
		defer l.session.Close()
		for range test.basedOn {
			must.Do(t, l.step(t.Context()))
		}
		var basedOn []int64
		for n, as := range l.given {
			basedOn = append(basedOn, as.Why.BasedOn)
			if want := int64(max(0, n-1)); as.Why.AfterSeq != want {
				t.Errorf("%s: question %d was chosen after %d answers, want %d", test.name, n+1, as.Why.AfterSeq, want)
			}
		}
		if !slices.Equal(basedOn, test.basedOn) {
			t.Errorf("%s: the generations of questions are %v, want %v", test.name, basedOn, test.basedOn)
		}
	}
}

// Runs are those that docs/adr/0011-the-default-method.md has results of, but for questions that are asked before others
// that wait (docs/adr/0051-waiting-questions.md).
func TestLiveRuns(t *testing.T) {
	for _, test := range []struct {
		figure, schedule, queries, method string
		seed                              uint64
		regret, mse                       float64 // sums over the run
		solves                            int
	}{
		{"gridworld", LiveSchedule, Comparisons, "lvar", 9001, 216.4247805584189, 2.8144000124678974, 210},
		{"gridworld", LiveSchedule, Clips, "idrl", 9001, 475.8488669003907, 0.5918559605993245, 210},
		{"chain", LiveSchedule, Comparisons, "uniform", 9002, 40.60493702974276, 34.117517219901615, 210},
		{"chain", SlowSchedule, Comparisons, "lvar", 9003, 188.89684372577875, 10.264071378119464, 90},
		{"gridworld", SlowSchedule, Comparisons, "idrl", 9003, 362.01685929085335, 3.143914920928847, 90},
		{"gridworld", CrowdSchedule, Comparisons, "lvar:ideal", 1001, 251.6979440613663, 3.83080901220371, 396},
	} {
		e := must.Get(Config{
			Figure: test.figure, Schedule: test.schedule, Queries: test.queries, Methods: []string{test.method}, Seeds: 1, FirstSeed: test.seed,
		}.Validate())(t)
		r := must.Get(Do(t.Context(), e, Options{}))(t)
		run := r.Runs[0][0]
		near := func(got []float64, want float64) bool {
			return math.Abs(floats.Sum(got)-want) <= 1e-9*want
		}
		if !near(run.Regret, test.regret) || !near(run.MSE, test.mse) || run.Solves != test.solves {
			t.Errorf("%s by %s: regret %v, error %v, %d solves", e.Name(), test.method, floats.Sum(run.Regret), floats.Sum(run.MSE), run.Solves)
		}
	}
}

// Made clips are asked about by a method that chooses, and by none that asks at random.
func TestRunsOfMadeClips(t *testing.T) {
	curve := func(method, clips string) []float64 {
		e := must.Get(Config{Figure: "gridworld", Schedule: LiveSchedule, Queries: Comparisons, Methods: []string{method}, Seeds: 1, FirstSeed: 9001, Answers: 20, ClipsFrom: clips}.Validate())(t)
		r := must.Get(Do(t.Context(), e, Options{}))(t)
		return r.Runs[0][0].MSE
	}
	if slices.Equal(curve("lvar", idrl.FoundClips), curve("lvar", idrl.MadeClips)) {
		t.Error("made clips change nothing")
	}
	if !slices.Equal(curve("uniform", idrl.FoundClips), curve("uniform", idrl.MadeClips)) {
		t.Error("questions at random are about made clips")
	}
	for _, c := range []Config{{ClipsFrom: "drawn", Schedule: LiveSchedule}, {ClipsFrom: idrl.MadeClips}} {
		c.Figure, c.Seeds = "gridworld", 1
		if _, err := c.Validate(); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// flat is an environment in which all clips are alike.
type flat struct{ idrl.Tabular }

func (f flat) Step(a idrl.Action) idrl.TimeStep {
	s := f.Tabular.Step(a)
	s.Phi = make([]float64, len(s.Phi))
	return s
}

// Where there is nothing to ask answers are counted that say nothing, of one person and of a crowd.
func TestNothingToAsk(t *testing.T) {
	for _, c := range []*crowd{nil, {people: 3, ahead: 2}, {people: 1, ahead: 1, instant: true}} {
		s := gridStage(t, learning.Live())
		env := s.newEnv().(idrl.Tabular)
		prepared := solver.Prepare(env)
		s.solver, s.newEnv, s.crowd = solver.Tabular{For: prepared}, func() idrl.Environment { return flat{env} }, c
		s.mu = func(idrl.Environment, idrl.Policy, *rand.Rand) []float64 { return make([]float64, len(s.theta)) }
		run, err := s.learn(t.Context(), Experiment{}.Method("lvar"), 4)
		if err != nil || len(run.Regret) != 5 || slices.Max(run.Regret) != slices.Min(run.Regret) || len(run.SelectNS) > 0 {
			t.Errorf("%+v: %d measurements and %d choices, %v", c, len(run.Regret), len(run.SelectNS), err)
		}
	}
}
