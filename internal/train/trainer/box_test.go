package trainer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
)

// pushes returns a trainer in which linear policies push a mass along a line, as
// live sessions set it up for environments that must be searched.
func pushes(cfg pointmass.Config) *trainer.Thompson {
	return &trainer.Thompson{
		NewEnv: func() idrl.Environment { return pointmass.New(cfg) },
		First:  solver.Draft{},
		Solver: solver.ARS{StepSize: 0.3, NoiseStd: 0.2, Directions: 4, Episodes: 3, MaxSteps: 40 * 60},
		Remake: solver.FromParams,
		Pool:   8, Samples: 3, Rollouts: 2, Segments: 3, MuEpisodes: 3,
	}
}

// next returns the job after a generation: three answers later, with the same
// belief.
func next(job idrl.TrainJob, g idrl.Generation) idrl.TrainJob {
	job.BasedOn, job.First = job.BasedOn+3, false
	job.Warm = nil
	for _, c := range g.Candidates {
		job.Warm = append(job.Warm, c.Params)
	}
	return job
}

// TestGenerationsImprove follows a session with a belief that is all but certain:
// what is drafted first, the search makes better, and no generation loses what
// the one before it had found. Whoever repeats it gets the same bytes.
func TestGenerationsImprove(t *testing.T) {
	theta := []float64{0.2, -0.1, 1}
	play := func() (returns []float64, transcript []byte) {
		tr := pushes(pointmass.Config{})
		job := idrl.TrainJob{Posterior: mustGaussian(t, theta), Seed: 42, First: true}
		for range 4 {
			g := train(t, tr, job)
			best := g.Candidates[len(g.Candidates)-1]
			returns = append(returns, floats.Dot(theta, best.Mu))
			for i := range g.Candidates {
				g.Candidates[i].Policy = nil
			}
			b := must.Get(json.Marshal(g))(t)
			transcript = append(transcript, b...)
			job = next(job, g)
		}
		return returns, transcript
	}
	returns, transcript := play()
	if !slices.IsSorted(returns) {
		t.Errorf("returns of the mean-optimal policies: %v; a generation lost what it had", returns)
	}
	// Who stays at the mark from the beginning gets 60, who never moves about 60/5.
	if !(returns[3] > returns[0]+5 && returns[3] > 40) {
		t.Errorf("returns of the mean-optimal policies: %v; the search does not find the mark", returns)
	}
	if _, again := play(); !slices.Equal(transcript, again) {
		t.Error("the same session again gives other bytes")
	}
}

// A call is one of a solver.
type call struct {
	Theta []float64
	Warm  [][]float64
}

// recording is a solver that notes its calls.
type recording struct {
	idrl.Solver
	calls []call
}

func (r *recording) Solve(ctx context.Context, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	r.calls = append(r.calls, call{slices.Clone(task.Theta), task.Warm})
	return r.Solver.Solve(ctx, task, stream)
}

// TestFirst: nobody waits for the search before the first answer.
func TestFirst(t *testing.T) {
	tr := pushes(pointmass.Config{})
	first, search := &recording{Solver: tr.First}, &recording{Solver: tr.Solver}
	tr.First, tr.Solver = first, search
	job := jobFor(tr)
	job.BasedOn, job.First = 0, true
	g := train(t, tr, job)
	if len(first.calls) != 8+4 || len(search.calls) != 0 {
		t.Fatalf("%d calls of the first solver and %d of the other, want 12 and 0", len(first.calls), len(search.calls))
	}
	for k, c := range first.calls {
		if want := min(k/8, 1); len(c.Warm) != want { // the pool is to differ
			t.Errorf("call %d has %d warm starts, want %d", k, len(c.Warm), want)
		}
	}
	pool := must.Get(tr.PoolPolicies(t.Context(), job.Seed))(t)
	distinct := map[string]bool{}
	for _, p := range pool {
		distinct[fmt.Sprint(p.Params)] = true
	}
	if len(distinct) != 8 {
		t.Errorf("%d distinct policies in the pool, want 8", len(distinct))
	}
	train(t, tr, next(job, g))
	if len(first.calls) != 12 || len(search.calls) != 4 {
		t.Errorf("after an answer %d calls of the first solver and %d of the other, want 12 and 4", len(first.calls), len(search.calls))
	}
}

// TestOneWarmStart: a search starts from the best known policy by θ·μ.
func TestOneWarmStart(t *testing.T) {
	tr := pushes(pointmass.Config{})
	search := &recording{Solver: tr.Solver}
	tr.Solver = search
	job := jobFor(tr)
	known := must.Get(tr.PoolPolicies(t.Context(), job.Seed))(t)
	before := train(t, tr, job)
	known = append(known, before.Candidates...)
	search.calls = nil
	after := train(t, tr, next(job, before))
	for k, c := range search.calls {
		best := known[0]
		for _, p := range known {
			if floats.Dot(c.Theta, p.Mu) > floats.Dot(c.Theta, best.Mu) {
				best = p
			}
		}
		if d := cmp.Diff([][]float64{best.Params}, c.Warm); d != "" {
			t.Errorf("warm starts of candidate %d:\n%s", k, d)
		}
		mine := after.Candidates[k]
		if floats.Dot(c.Theta, mine.Mu) < floats.Dot(c.Theta, best.Mu) {
			t.Errorf("candidate %d is worse than where it started", k)
		}
		known = append(known, mine)
	}
	tr.Remake = func(idrl.Environment, []float64) (idrl.Policy, error) { return nil, errors.New("no such policy") }
	if _, err := tr.Train(t.Context(), next(job, before)); err == nil || !strings.Contains(err.Error(), "no such policy") {
		t.Errorf("error = %v, want that of Remake", err)
	}
}

// TestMuOfEpisodes derives the feature expectation of a policy from its rollouts,
// all of which are shown whole.
func TestMuOfEpisodes(t *testing.T) {
	tr := pushes(pointmass.Config{Horizon: 12, ClipSteps: 12})
	tr.Rollouts = 3
	g := train(t, tr, jobFor(tr))
	for _, c := range g.Candidates {
		p := must.Get(solver.FromParams(tr.NewEnv(), c.Params))(t)
		want := make([]float64, 3)
		for n := range uint64(3) {
			env, stream := tr.NewEnv(), rng.New(42, "rollout", n)
			for step := env.Reset(stream); !step.Kind.Last(); {
				step = env.Step(p.Act(make(idrl.Action, 1), step.Obs, stream))
				floats.AddScaled(want, 1.0/3, step.Phi)
			}
		}
		if !floats.EqualApprox(c.Mu, want, 1e-12) {
			t.Errorf("%s: Mu = %v, want %v", c.ID, c.Mu, want)
		}
	}
	if len(g.Clips) > 12*3 { // 8 policies of the pool and 4 candidates
		t.Errorf("%d clips, want one a rollout", len(g.Clips))
	}
}

// startsOf returns the first steps of the clips of each trajectory.
func startsOf(g idrl.Generation) map[idrl.TrajectoryID][]int {
	out := map[idrl.TrajectoryID][]int{}
	for _, c := range g.Clips {
		out[c.From] = append(out[c.From], c.Start)
	}
	for _, starts := range out {
		slices.Sort(starts)
	}
	return out
}

// TestSegments: besides its opening, clips of a rollout begin at the same steps
// as those of every policy's rollout of that number, in every generation.
func TestSegments(t *testing.T) {
	for _, test := range []struct {
		name     string
		cfg      pointmass.Config
		segments int
		want     int // segments of each rollout
	}{
		{"half an episode", pointmass.Config{Horizon: 20, ClipSteps: 10}, 3, 3},
		{"a tenth", pointmass.Config{Horizon: 100, ClipSteps: 10}, 5, 5},
		{"more than half", pointmass.Config{Horizon: 20, ClipSteps: 11}, 3, 0},
		{"the whole episode", pointmass.Config{Horizon: 20, ClipSteps: 20}, 3, 0},
		{"none wanted", pointmass.Config{Horizon: 100, ClipSteps: 10}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := pushes(test.cfg)
			tr.Segments, tr.MaxQueries, tr.Kind = test.segments, 100000, idrl.RateClip
			job := jobFor(tr)
			want := map[bool][]int{} // starts in the first and second rollout
			for n := range uint64(2) {
				starts, stream := []int{0}, rng.New(job.Seed, "segments", n)
				for range test.want {
					starts = append(starts, stream.IntN(test.cfg.Horizon-test.cfg.ClipSteps+1))
				}
				slices.Sort(starts)
				want[n == 1] = slices.Compact(starts)
			}
			first := train(t, tr, job)
			for _, g := range []idrl.Generation{first, train(t, tr, next(job, first))} {
				trajectories := startsOf(g)
				for id, starts := range trajectories {
					if w := want[strings.HasSuffix(string(id), ".1")]; !slices.Equal(starts, w) {
						t.Errorf("clips of %s begin at %v, want %v", id, starts, w)
					}
				}
				if len(trajectories) < 2*8 { // of the pool; a candidate may be one of them
					t.Errorf("clips of %d trajectories, want two for each policy of the pool", len(trajectories))
				}
				for _, c := range g.Candidates {
					if clip := g.Clips[c.Clip]; clip.Start != 0 || clip.Steps != test.cfg.ClipSteps {
						t.Errorf("the clip of %s is of %d steps from step %d, want its opening", c.ID, clip.Steps, clip.Start)
					}
				}
			}
		})
	}
}

// TestStillsOfLongEpisodes: a long episode gives ten stills, not one for every
// fifth step.
func TestStillsOfLongEpisodes(t *testing.T) {
	for _, test := range []struct{ horizon, every int }{{50, 5}, {60, 6}, {100, 10}} {
		tr := pushes(pointmass.Config{Horizon: test.horizon})
		tr.Kind = idrl.RateState
		g := train(t, tr, jobFor(tr))
		stills := 0
		for _, c := range g.Clips {
			if c.Steps > 0 {
				continue // a candidate's own
			}
			stills++
			if (c.Start+1)%test.every != 0 {
				t.Errorf("%d steps: a still of step %d, want one in %d", test.horizon, c.Start+1, test.every)
			}
		}
		if stills == 0 || stills > 12*2*10 {
			t.Errorf("%d steps: %d stills, want up to 240", test.horizon, stills)
		}
	}
}

// limit is where the simulation breaks down in the tests below, metres. Whoever
// pushes one way all the time comes there.
const limit = 4.0

// Params of policies that push right, stay where they are, and creep: at 0.2 m/s
// for 12 s.
var (
	right = []float64{0, 0, 1}
	stay  = []float64{0, 0, 0}
	creep = []float64{0, 0, 0.05}
)

// scripted solves the k-th task by the k-th of its policies, the last for ever.
// Where there is none the simulation broke down.
type scripted struct{ params [][]float64 }

func (s *scripted) Solve(_ context.Context, task idrl.SolveTask, _ *rand.Rand) (idrl.Policy, error) {
	p := s.params[0]
	if len(s.params) > 1 {
		s.params = s.params[1:]
	}
	if p == nil {
		return nil, fmt.Errorf("search: %w", trainer.ErrBroken)
	}
	return solver.FromParams(task.Env, p)
}

func TestBreakdowns(t *testing.T) {
	all := func(p ...[]float64) *scripted { return &scripted{p} }
	for _, test := range []struct {
		name          string
		first, solver *scripted
		pool          int
		want          [][]float64 // Params of the candidates; nil for an error
	}{
		{"nothing breaks", all(stay), all(stay), 2, [][]float64{stay, stay, stay, stay}},
		{"one candidate goes", all(stay), all(right, stay), -1, [][]float64{stay, stay, stay}},
		{"one solve fails", all(stay), all(stay, nil, stay), -1, [][]float64{stay, stay, stay}},
		{"one is replaced", all(stay), all(creep, right, creep), 2, [][]float64{creep, stay, creep, creep}},
		{"one failure is replaced", all(stay), all(nil, creep), 2, [][]float64{stay, creep, creep, creep}},
		{"the pool goes", all(right), all(creep), 2, [][]float64{creep, creep, creep, creep}},
		{"the pool fails", all(nil), all(creep), 2, [][]float64{creep, creep, creep, creep}},
		{"one is left", all(stay), all(right, right, right, stay), -1, nil},
		{"none is left", all(right), all(right), 2, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := pushes(pointmass.Config{Limit: limit})
			tr.First, tr.Solver, tr.Pool, tr.Remake = test.first, test.solver, test.pool, nil
			tr.Rollouts, tr.MuEpisodes = 8, 8
			g, err := tr.Train(t.Context(), jobFor(tr))
			if test.want == nil {
				if !errors.Is(err, trainer.ErrBroken) || !strings.Contains(err.Error(), "of 4 candidates are left") {
					t.Fatalf("error = %v, want one that says how many candidates are left", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got [][]float64
			for _, c := range g.Candidates {
				got = append(got, c.Params)
				if _, ok := g.Clips[c.Clip]; !ok {
					t.Errorf("the clip of %s is missing", c.ID)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("candidates:\n%s", d)
			}
			checkUnbroken(t, g)
		})
	}
}

// checkUnbroken: no clip comes from an episode that broke down.
func checkUnbroken(t *testing.T, g idrl.Generation) {
	t.Helper()
	for _, c := range g.Clips {
		for _, s := range c.Snapshots {
			if math.Abs(s[1]) > limit {
				t.Fatalf("a clip of %s shows the mass at %v", c.From, s[1])
			}
		}
	}
}

// TestSomeRolloutsBreak: under one policy the simulation breaks down where the
// mass starts far from the origin. Those rollouts are not shown and count for
// nothing.
func TestSomeRolloutsBreak(t *testing.T) {
	const rollouts = 12
	slow := []float64{0.09, 0, 0} // away from the origin, the faster the farther
	near := func(n uint64) bool { // derived anew: one episode without the limit
		env, stream := pointmass.New(pointmass.Config{}), rng.New(42, "rollout", n)
		p := must.Get(solver.FromParams(env, slow))(t)
		step := env.Reset(stream)
		for !step.Kind.Last() {
			step = env.Step(p.Act(make(idrl.Action, 1), step.Obs, stream))
		}
		return math.Abs(step.Obs[0]) <= limit
	}
	want := map[idrl.TrajectoryID]bool{}
	for n := range uint64(rollouts) {
		id := "g7.p0"
		if n > 0 {
			id = fmt.Sprintf("g7.p0.%d", n)
		}
		if near(n) {
			want[idrl.TrajectoryID(id)] = true
		}
	}
	if len(want) == 0 || len(want) == rollouts {
		t.Fatalf("%d of %d rollouts are sound; the test needs some of both", len(want), rollouts)
	}
	tr := pushes(pointmass.Config{Limit: limit})
	tr.Solver, tr.Remake, tr.Pool, tr.Rollouts = &scripted{[][]float64{slow, stay}}, nil, -1, rollouts
	g := train(t, tr, jobFor(tr))
	got := map[idrl.TrajectoryID]bool{}
	for id := range startsOf(g) {
		if id == "g7.p0" || strings.HasPrefix(string(id), "g7.p0.") {
			got[id] = true
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("trajectories that are shown:\n%s", d)
	}
	checkUnbroken(t, g)
	for _, c := range g.Candidates {
		if floats.HasNaN(c.Mu) {
			t.Errorf("%s: Mu = %v", c.ID, c.Mu)
		}
	}
}

// counting is an environment that calls out when an episode begins.
type counting struct {
	*pointmass.Env
	reset func()
}

func (c *counting) Reset(stream *rand.Rand) idrl.TimeStep {
	c.reset()
	return c.Env.Reset(stream)
}

// TestCancelBetweenEpisodes: no further episode begins once ctx is done.
func TestCancelBetweenEpisodes(t *testing.T) {
	for _, at := range []int{1, 5, 30, 100} {
		tr := pushes(pointmass.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		episodes := 0
		tr.NewEnv = func() idrl.Environment {
			return &counting{pointmass.New(pointmass.Config{}), func() {
				if episodes++; episodes == at {
					cancel()
				}
			}}
		}
		if _, err := tr.Train(ctx, jobFor(tr)); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want context.Canceled", err)
		}
		if episodes != at {
			t.Errorf("%d episodes, cancelled in number %d", episodes, at)
		}
		cancel()
	}
}

// TestPoolOfTheFirst: the belief of a session has no say in its pool, and no
// warm start is lost on the way to it.
func TestPoolOfTheFirst(t *testing.T) {
	one, two := pushes(pointmass.Config{}), pushes(pointmass.Config{})
	job := jobFor(one)
	train(t, one, job)
	job.Posterior, job.BasedOn = belief.Isotropic(3, 9), 30
	train(t, two, job)
	a := must.Get(one.PoolPolicies(t.Context(), job.Seed))(t)
	b := must.Get(two.PoolPolicies(t.Context(), job.Seed))(t)
	noPolicies := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Policy" }, cmp.Ignore())
	if d := cmp.Diff(a, b, noPolicies); d != "" || len(a) != 8 {
		t.Errorf("pools of %d and %d policies differ:\n%s", len(a), len(b), d)
	}
}

// TestPoolOfAScaledPrior: the weights of the pool are those of N(0, I) times the scales.
func TestPoolOfAScaledPrior(t *testing.T) {
	weights := func(scale []float64) (out [][]float64) {
		tr := pushes(pointmass.Config{})
		first := &recording{Solver: tr.First}
		tr.First, tr.PriorScale = first, scale
		must.Get(tr.PoolPolicies(t.Context(), 42))(t)
		for _, c := range first.calls {
			out = append(out, c.Theta)
		}
		return out
	}
	scale := []float64{10, 1, 0.1}
	plain := weights(nil)
	for k, got := range weights(scale) {
		want := slices.Clone(plain[k])
		floats.Mul(want, scale)
		if !slices.Equal(got, want) {
			t.Errorf("policy %d of the pool is for %v, want %v", k, got, want)
		}
	}
}

// TestBrief: the first generation is about the openings of first rollouts alone, of which no others
// are drawn; the next one is about all clips.
func TestBrief(t *testing.T) {
	tr := pushes(pointmass.Config{Horizon: 100, ClipSteps: 10})
	tr.Brief, tr.MaxQueries = true, 100000
	drawn := map[idrl.ClipID]bool{}
	tr.Encode = func(_ idrl.Environment, c idrl.Clip) ([]byte, error) {
		drawn[c.ID] = true
		return []byte(c.ID), nil
	}
	job := jobFor(tr)
	job.First = true
	first := train(t, tr, job)
	for id, starts := range startsOf(first) {
		if strings.HasSuffix(string(id), ".1") || !slices.Equal(starts, []int{0}) {
			t.Errorf("the first generation has clips of %s at %v", id, starts)
		}
	}
	if n := len(drawn); n != len(first.Clips) || n > 8 {
		t.Errorf("%d clips are drawn and %d handed over, want as many, and at most one for each of 8 policies", n, len(first.Clips))
	}
	if second := train(t, tr, next(job, first)); len(second.Clips) < 4*len(first.Clips) {
		t.Errorf("the second generation has %d clips, the first %d; want all clips", len(second.Clips), len(first.Clips))
	}
}
