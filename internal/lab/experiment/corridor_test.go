package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/corridor"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// toyCourse returns the toy's corridor in a mode, prepared.
func toyCourse(t *testing.T, mode string, o Options) *corridorSetup {
	t.Helper()
	e := must.Get(Config{Figure: "swimmer-corridor", Mode: mode, Seeds: 1}.Validate())(t)
	o = o.ToyCorridor()
	c := must.Get(newCorridorSetup(*o.robot, e, o))(t)
	must.Do(t, c.prepare(t.Context(), o))
	return c
}

func toyInstance(t *testing.T, mode string) *instance {
	t.Helper()
	w := must.Get(toyCourse(t, mode, Options{}).instance(t.Context(), 1))(t)
	return w
}

// The reward of a step is the way towards the goal.
func TestCorridorWeights(t *testing.T) {
	maze := corridor.Maze{CellSize: 3}
	theta := corridorWeights()
	for _, test := range []struct{ from, to, want float64 }{
		{0, 0.5, 0.5},    // cell 0
		{15, 15.2, 0.2},  // cell 5
		{16, 17, 0},      // into the goal, cell 6
		{18, 17.5, 0},    // within it
		{20, 19.75, .25}, // back, in cell 7
		{35, 36, -1},     // on, in cell 12
	} {
		phi := maze.Features(nil, test.from, 1, test.to, -0.5)
		within(t, "reward", dot(theta, phi), test.want, 1e-12)
	}
}

// A candidate query asks for the sum of the rewards of five consecutive steps of
// a rollout: its features are whole, and a robot that moves on is in cells that
// follow one another.
func TestCorridorQueries(t *testing.T) {
	w := toyInstance(t, Corrected)
	if len(w.queries) != 6*20 {
		t.Fatalf("%d queries, want 120", len(w.queries))
	}
	rollouts := map[string]bool{} // steps by their features
	c := toyCourse(t, Corrected, Options{})
	explorer := must.Get(solver.NewLinear(c.spec, c.explorer))(t)
	again := &corridorInstance{instance: w, c: c, env: &stepCounter{Environment: newToy()}}
	far := 0.0
	for k := range 6 {
		phi := must.Get(again.exploration(t.Context(), explorer, w.stream("exploration", k)))(t)
		for i := 0; i+corridorClip <= len(phi); i++ {
			sum := make([]float64, len(w.theta))
			for _, row := range phi[i : i+corridorClip] {
				floats.Add(sum, row)
			}
			rollouts[bits(sum)] = true
		}
		for _, row := range phi {
			far = max(far, row[3*12+2])
		}
	}
	if far == 0 {
		t.Error("the policy that explores never came to the last cell")
	}
	for i, q := range w.queries {
		if !rollouts[bits(q.X)] {
			t.Fatalf("query %d is about no five steps of a rollout", i)
		}
		if a := w.answer(i, uint64(i%3)); a.Choice != idrl.Rated || math.Abs(a.Rating-dot(w.theta, q.X)) > 1e-12 {
			t.Errorf("query %d: answer %+v, want %v", i, a, dot(w.theta, q.X))
		}
	}
	if mean := w.prior.Mean(nil); w.mse(w.theta) != 0 || !(w.mse(mean) > 0) {
		t.Errorf("error %v of the truth and %v of the prior mean", w.mse(w.theta), w.mse(mean))
	}
}

// One in ten actions of the exploration is drawn from the whole box.
func TestExplorationIsRandomNowAndThen(t *testing.T) {
	c := toyCourse(t, Paper, Options{})
	draws, steps := 0, 0
	c.robot.random = func(dst idrl.Action, a idrl.ActionSpec, stream *rand.Rand) {
		draws++
		uniformAction(dst, a, stream)
	}
	w := &corridorInstance{instance: &instance{theta: c.true}, c: c, env: &stepCounter{Environment: c.envs[0]}}
	explorer := must.Get(solver.NewLinear(c.spec, c.explorer))(t)
	for k := range 50 {
		phi := must.Get(w.exploration(t.Context(), explorer, rng.New(5, "test", uint64(k))))(t)
		steps += len(phi)
	}
	n := float64(steps)
	if got := float64(draws) / n; math.Abs(got-0.1) > 4*math.Sqrt(0.1*0.9/n) {
		t.Errorf("share of random actions %v of %v, want 0.1", got, n)
	}
}

func TestRandomActions(t *testing.T) {
	a := idrl.ActionSpec{Low: []float64{-1, 0}, High: []float64{1, 4}}
	stream := rng.New(1, "test", 0)
	dst := make(idrl.Action, 2)
	const n = 4000
	var sums, squares [2][2]float64
	for range n {
		for k, draw := range []func(idrl.Action, idrl.ActionSpec, *rand.Rand){uniformAction, normalAction} {
			if draw(dst, a, stream); !a.Contains(dst) {
				t.Fatalf("%v is not an action", dst)
			}
			for i, v := range dst {
				sums[k][i] += v / n
				squares[k][i] += v * v / n
			}
		}
	}
	// A normal that is cut to [−1, 1] has E[x²] = 1 − 2φ(1) = 0.516, and one cut to
	// [0, 4] half of 1. Squares have standard deviations below 1.3.
	within(t, "mean of uniform in [−1, 1]", sums[0][0], 0, 4/math.Sqrt(3*n))
	within(t, "mean of uniform in [0, 4]", sums[0][1], 2, 4*2/math.Sqrt(3*n))
	within(t, "mean of the cut normal", sums[1][0], 0, 4/math.Sqrt(n))
	within(t, "its square", squares[1][0], 0.516, 4*0.5/math.Sqrt(n))
	within(t, "square of the normal above 0", squares[1][1], 0.5, 4*1.3/math.Sqrt(n))
}

// A simulation that breaks down is played again, but not for ever.
func TestExplorationBreaksDown(t *testing.T) {
	c := toyCourse(t, Paper, Options{})
	env := newToy()
	env.broken = true
	w := &corridorInstance{instance: &instance{theta: c.true}, c: c, env: &stepCounter{Environment: env}}
	p := must.Get(solver.NewLinear(c.spec, c.explorer))(t)
	if _, err := w.exploration(t.Context(), p, rng.New(1, "test", 0)); err == nil || !strings.Contains(err.Error(), "broke down in each of 10 episodes") || w.env.steps != 10 {
		t.Errorf("error %v after %d steps", err, w.env.steps)
	}
	if _, err := w.evaluated(c.explorer); !errors.Is(err, solver.ErrBroken) {
		t.Errorf("evaluation: error %v", err)
	}
	// A solve whose every episode breaks down leaves what it began with.
	s := arsSolver{corridorInstance: w, iterations: 2}
	start := policy{params: c.explorer, mu: make([]float64, len(c.true))}
	if p, err := s.search(t.Context(), c.true, start, rng.New(1, "test", 0)); err != nil || !slices.Equal(p.params, c.explorer) {
		t.Errorf("found %v, error %v", p.params, err)
	}
	if _, err := s.search(t.Context(), c.true, policy{}, rng.New(1, "test", 0)); !errors.Is(err, solver.ErrBroken) {
		t.Errorf("without a start: error %v", err)
	}
}

// Before the first answer the mean-optimal policy is the one at rest, whose regret
// is the whole return of the reference.
func TestRestAtFirst(t *testing.T) {
	for _, mode := range []string{Corrected, Paper} {
		w := toyInstance(t, mode)
		p := must.Get(w.evalSolver.optimal(t.Context(), make([]float64, len(w.theta)), w.stream("judge", 0)))(t)
		if floats.Norm(p.params, 1) != 0 || math.Abs(p.value) > 0.3 || w.best < 4 {
			t.Errorf("%s: parameters %v of return %v; the reference has %v", mode, p.params, p.value, w.best)
		}
	}
}

// recorder is a warmStarter that notes what it is given to start from.
type recorder struct {
	policySolver
	seen *[][]policy
}

func (r recorder) from(known []policy) policySolver {
	*r.seen = append(*r.seen, known)
	return r.policySolver
}

// Candidates are updated so often in a run, evenly: IDRL looks at the same ones
// in between. Solves start from the candidates before.
func TestUpdates(t *testing.T) {
	e, w := instanceOf(t, Config{Figure: "chain"}, 1)
	const answers = 20
	for _, test := range []struct {
		updates int
		at      []int // answers before an update
	}{
		{20, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}},
		{40, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}},
		{4, []int{0, 5, 10, 15}},
		{3, []int{0, 7, 14}},
		{2, []int{0, 10}},
		{1, []int{0}},
	} {
		own := *w
		own.updates = test.updates
		var seen [][]policy
		own.candidateSolver = recorder{w.candidateSolver, &seen}
		l := own.learner(e.Method("idrl"))
		l.answers = answers
		must.Do(t, l.recommend(t.Context()))
		var at []int
		for n := range answers {
			before := len(seen)
			must.Do(t, l.step(t.Context()))
			if len(seen) > before {
				at = append(at, n)
			}
		}
		if !slices.Equal(at, test.at) {
			t.Errorf("%d updates: after %v answers, want %v", test.updates, at, test.at)
		}
		if len(seen[0]) != 0 {
			t.Errorf("%d updates: the first solve starts from %d policies, want none", test.updates, len(seen[0]))
		}
		if len(seen) > samples && len(seen[samples]) != samples {
			t.Errorf("%d updates: a later solve starts from %d policies, want %d", test.updates, len(seen[samples]), samples)
		}
	}
}

// A run is measured after Measure answers and at the end, and what is measured
// does not depend on that. An archive wants the policy for the mean at every
// answer.
func TestMeasure(t *testing.T) {
	for _, method := range []string{"idrl", "uniform", "lvar", "leader"} {
		e, w := instanceOf(t, Config{Figure: "chain"}, 1)
		all := must.Get(w.learn(t.Context(), e.Method(method), 7))(t)
		w.every = 3
		some := must.Get(w.learn(t.Context(), e.Method(method), 7))(t)
		e.Answers, e.Measure = 7, 3
		for i, n := range e.Counts() {
			if some.Regret[i] != all.Regret[n] || some.MSE[i] != all.MSE[n] || some.Cosine[i] != all.Cosine[n] {
				t.Errorf("%s after %d answers: regret %v, want %v", method, n, some.Regret[i], all.Regret[n])
			}
		}
		if len(some.Regret) != 4 || len(some.SelectNS) != 7 {
			t.Errorf("%s: %d measurements and %d selections, want 4 and 7", method, len(some.Regret), len(some.SelectNS))
		}
		left := 4 // policies for the mean that nobody wants
		if method == "lvar" || method == "leader" {
			left = 0
		}
		if all.Solves-some.Solves != left {
			t.Errorf("%s: %d solves less, want %d", method, all.Solves-some.Solves, left)
		}
	}
}

// A solve starts from what is best under its weights, of the pool and of what the
// run has found.
func TestStart(t *testing.T) {
	w := &corridorInstance{instance: &instance{}}
	pool := &solver.Table{Params: [][]float64{{0}, {1}, {2}}, Mu: [][]float64{{0, 0}, {1, 0}, {0, 1}}}
	known := []policy{{params: []float64{3}, mu: []float64{2, -1}}, {params: []float64{4}, mu: []float64{2, -1}}}
	s := arsSolver{corridorInstance: w, pool: pool}.from(known).(arsSolver)
	for _, test := range []struct {
		theta []float64
		want  float64
	}{{[]float64{0, 0}, 0}, {[]float64{-1, -1}, 0}, {[]float64{0, 1}, 2}, {[]float64{1, 0}, 3}, {[]float64{1, 3}, 2}} {
		if got := s.start(test.theta).params[0]; got != test.want {
			t.Errorf("for %v it starts from policy %v, want %v", test.theta, got, test.want)
		}
	}
	s.pool = nil
	if p := s.start([]float64{0, 1}); p.params[0] != 3 {
		t.Errorf("without a pool it starts from %v, want the first known policy", p.params)
	}
	s.rest = policy{params: []float64{5}, mu: []float64{0, 0}}
	for want, theta := range map[float64][]float64{5: {0, 1}, 3: {1, 0}} {
		if p := s.start(theta); p.params[0] != want {
			t.Errorf("for %v it starts from policy %v, want %v", theta, p.params, want)
		}
	}
	s.known = nil
	if p := s.start([]float64{0, 1}); p.params != nil {
		t.Errorf("with nothing known it starts from %v", p.params)
	}
	s.known, s.scratch = known, true
	if p := s.start([]float64{1, 0}); p.params != nil {
		t.Errorf("a solve from scratch starts from %v", p.params)
	}
}

// A run does not depend on those of its seed that were made before it, though
// they share solves, and neither do its steps.
func TestRowsShareSolves(t *testing.T) {
	e := must.Get(Config{Figure: "swimmer-corridor", Seeds: 1}.Validate())(t)
	c := toyCourse(t, Corrected, Options{})
	shared := must.Get(c.instance(t.Context(), 1))(t)
	env := shared.candidateSolver.(arsSolver).env
	const rest, candidates = 60 * (3 + 10), 60 * samples * (3 + 8 + 3) // steps of what is solved for before the first answer
	least := map[string]int64{
		"igr": rest, "eir": rest, "idrl:20": rest, "idrl:4": rest + candidates, "idrl:2": rest + candidates, "idrl:1": rest + candidates,
	}
	for _, m := range e.Methods {
		alone := must.Get(c.instance(t.Context(), 1))(t)
		want := must.Get(alone.withVariant(m).learn(t.Context(), e.Method(m), 6))(t)
		before := env.steps
		got := must.Get(shared.withVariant(m).learn(t.Context(), e.Method(m), 6))(t)
		if !slices.Equal(got.Regret, want.Regret) || !slices.Equal(got.MSE, want.MSE) || got.Steps != want.Steps || got.Solves != want.Solves {
			t.Errorf("%s: regret %v in %d steps after other runs, and %v in %d alone", m, got.Regret, got.Steps, want.Regret, want.Steps)
		}
		saved := got.Steps - (env.steps - before)
		if saved < least[m] || m == "uniform" && saved > 0 || got.WallNS <= 0 {
			t.Errorf("%s: %d of %d steps were another run's, want %d or more; wall time %d", m, saved, got.Steps, least[m], got.WallNS)
		}
	}
}

// The steps of a run are those of its solves, and of ten episodes for each
// measurement: three episodes for the start, and after each iteration, of four
// directions forth and back.
func TestSteps(t *testing.T) {
	w := toyInstance(t, Corrected)
	w.every = 20
	r := must.Get(w.withVariant("idrl:2").learn(t.Context(), methodOf("idrl:2"), 20))(t)
	const horizon, start, iteration, judged = 60, 3, 8 + 3, 10
	const scratch = 6 // iterations of the toy from scratch, as the first generation is
	candidates := samples*(start+scratch*iteration) + samples*(start+iteration)
	mean := (start + judged) + (start + 2*iteration + judged) // before the first answer nothing is searched for
	if want := int64(horizon * (candidates + mean)); r.Steps != want || r.Solves != 2*samples+2 {
		t.Errorf("%d steps in %d solves, want %d in %d", r.Steps, r.Solves, want, 2*samples+2)
	}
}

// A run does not depend on the number of workers that its searches have.
func TestCorridorWorkers(t *testing.T) {
	for _, mode := range []string{Corrected, Paper} {
		var one Run
		for _, workers := range []int{1, 3} {
			w := must.Get(toyCourse(t, mode, Options{Workers: workers}).instance(t.Context(), 1))(t)
			r := must.Get(w.withVariant("idrl:2").learn(t.Context(), methodOf("idrl:2"), 6))(t)
			if workers == 1 {
				one = r
			} else if !slices.Equal(r.Regret, one.Regret) || !slices.Equal(r.MSE, one.MSE) || r.Steps != one.Steps {
				t.Errorf("%s: regret %v in %d steps with %d workers, %v in %d with one", mode, r.Regret, r.Steps, workers, one.Regret, one.Steps)
			}
		}
	}
}

// Visits of the authors' code are the sums of one rollout's features, and what
// two of them differ in is counted by states: resting at a wall is one state.
func TestCorridorVisits(t *testing.T) {
	w := toyInstance(t, Paper)
	rest := w.visits(policy{params: make([]float64, toyObs)}, w.stream("test", 0))
	steps := 0
	for _, n := range rest.states {
		steps += n
	}
	within(t, "steps in the first cell", rest.counts[2], 60, 0)
	if steps != 60 {
		t.Errorf("%d states were met, want 60", steps)
	}
	if got := rest.noise(rest, 0.001); got != 0 {
		t.Errorf("a policy differs from itself with noise %v", got)
	}
	a := visitation{states: map[string]int{"wall": 10, "x": 1, "y": 2}}
	b := visitation{states: map[string]int{"wall": 4, "y": 2, "z": 3}}
	within(t, "noise", a.noise(b, 0.5), 0.5*(36+1+9), 1e-12)
	within(t, "the other way round", b.noise(a, 0.5), 0.5*(36+1+9), 1e-12)
}

// In paper mode candidates are solved for from scratch, with the environment's
// settings, and described by one rollout; there is no pool.
func TestCorridorAsInCode(t *testing.T) {
	w := toyInstance(t, Paper)
	s := w.candidateSolver.(arsSolver)
	if s.c.pool != nil || !s.scratch || s.iterations != 6 || w.noiseVar != 0.001 || w.grounded || w.noisy {
		t.Errorf("pool %v, scratch %v, %d iterations, noise variance %v, grounded %v, noisy samples %v", s.c.pool, s.scratch, s.iterations, w.noiseVar, w.grounded, w.noisy)
	}
	l := w.learner(methodOf("idrl"))
	must.Do(t, l.candidates(t.Context()))
	c := l.core.Policies().Present()
	if len(c) != 5 || l.noise == nil {
		t.Errorf("%d candidates, noise %v", len(c), l.noise != nil)
	}
	for _, p := range c {
		stays := 0.0
		for cell := range corridor.Cells {
			stays += p.Mu[3*cell+2]
		}
		within(t, "steps of the one rollout", stays, 60, 1e-12)
	}
}

// methodOf returns the method of a name.
func methodOf(name string) acquisition.Method { return Experiment{}.Method(name) }

// IDRL, IGR and EIR choose among a few queries that are drawn for the step, the
// same for all; Uniform among all.
func TestCorridorDraws(t *testing.T) {
	w := toyInstance(t, Corrected)
	for name, want := range map[string]int{"idrl": 20, "igr": 20, "eir": 20, "uniform": 120} {
		l := w.learner(methodOf(name))
		queries, index := l.present()
		if queries == nil {
			queries = w.queries
		}
		if n := len(queries); n != want {
			t.Errorf("%s chooses among %d queries, want %d", name, n, want)
		}
		if name == "uniform" {
			continue
		}
		_, other := w.learner(methodOf("idrl")).present()
		if !slices.Equal(index, other) {
			t.Errorf("%s does not choose among what IDRL does", name)
		}
	}
}

// tables returns the files of a cache by name.
func tables(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	paths := must.Get(filepath.Glob(filepath.Join(dir, "*")))(t)
	for _, p := range paths {
		b := must.Get(os.ReadFile(p))(t)
		out[filepath.Base(p)] = string(b)
	}
	return out
}

// The pool and the reference are made once, are the same whatever the number of
// workers, and go on where they were stopped.
func TestCorridorCache(t *testing.T) {
	one, two, cut := t.TempDir(), t.TempDir(), t.TempDir()
	made := 0
	count := Options{Cache: one, Preparing: func(int, int, string) { made++ }}
	c := toyCourse(t, Corrected, count)
	if c.pool.Len() != 2+4 || made != 4+2 {
		t.Errorf("%d policies in the pool by %d solves in all, want 6 by 6", c.pool.Len(), made)
	}
	if !slices.Equal(c.pool.Params[0], c.rest()) || !slices.Equal(c.pool.Params[1], c.explorer) {
		t.Error("the pool does not begin with the policies that are known")
	}
	again := toyCourse(t, Corrected, count)
	if made != 6 || !slices.Equal(again.strong, c.strong) {
		t.Errorf("%d solves for what is in the cache", made-6)
	}
	toyCourse(t, Corrected, Options{Cache: two, Workers: 3})
	want := tables(t, one)
	if got := tables(t, two); len(want) != 2 || !equalFiles(got, want) {
		t.Errorf("%d files by one worker and %d others by three", len(want), len(got))
	}
	ctx, stop := context.WithCancel(t.Context())
	o := Options{Cache: cut, Preparing: func(done, _ int, _ string) {
		if done == 2 {
			stop()
		}
	}}.ToyCorridor()
	e := must.Get(Config{Figure: "swimmer-corridor", Seeds: 1, Answers: 1}.Validate())(t)
	if _, err := Do(ctx, e, o); !errors.Is(err, context.Canceled) || len(tables(t, cut)) != 1 {
		t.Errorf("stopped: error %v, %d files", err, len(tables(t, cut)))
	}
	made = 0
	toyCourse(t, Corrected, Options{Cache: cut, Preparing: count.Preparing})
	if got := tables(t, cut); made != 2+2 || !equalFiles(got, want) {
		t.Errorf("%d solves after the stop, want 4, and the same files", made)
	}
	for name := range want {
		must.Do(t, os.WriteFile(filepath.Join(cut, name), []byte("damaged"), 0o600))
	}
	toyCourse(t, Corrected, Options{Cache: cut})
	if !equalFiles(tables(t, cut), want) {
		t.Error("damaged files were not made again")
	}
}

func equalFiles(a, b map[string]string) bool {
	for name, text := range a {
		if b[name] != text {
			return false
		}
	}
	return len(a) == len(b)
}

// What the tables are made from names them: another robot does not find them.
func TestCorridorKeys(t *testing.T) {
	c := toyCourse(t, Paper, Options{})
	key := c.key("pool", 0)
	for what, change := range map[string]func(*corridorSetup){
		"search":   func(c *corridorSetup) { c.spec.Search.NoiseStd *= 2 },
		"physics":  func(c *corridorSetup) { c.fingerprint = append(slices.Clone(c.fingerprint[1:]), 0.5) },
		"explorer": func(c *corridorSetup) { c.explorer = append(slices.Clone(c.explorer[1:]), 0.5) },
		"pool":     func(c *corridorSetup) { c.sizes.pool++ },
		"steps":    func(c *corridorSetup) { c.sizes.poolSteps++ },
		"strong":   func(c *corridorSetup) { c.sizes.strong++ },
	} {
		other := *c
		if change(&other); other.key("pool", 0) == key {
			t.Errorf("another %s has the same key", what)
		}
	}
	if c.key("pool", 1) == key || c.key("strong", 0) == key {
		t.Error("another table has the same key")
	}
}

// The authors' reference is of a seed, and kept in the cache too.
func TestReferenceOfPaper(t *testing.T) {
	dir := t.TempDir()
	c := toyCourse(t, Paper, Options{Cache: dir})
	one := must.Get(c.instance(t.Context(), 1))(t)
	before := one.candidateSolver.(arsSolver).env.steps
	again := must.Get(c.instance(t.Context(), 1))(t)
	two := must.Get(c.instance(t.Context(), 2))(t)
	if one.best != again.best || one.best == two.best || len(tables(t, dir)) != 2 {
		t.Errorf("best returns %v, %v and %v; %d files", one.best, again.best, two.best, len(tables(t, dir)))
	}
	if saved := before - again.candidateSolver.(arsSolver).env.steps; saved != 60*(3+6*(8+3)) {
		t.Errorf("%d steps saved by the cache", saved)
	}
}

// The figure says what it lacks before anything is computed.
func TestUnavailable(t *testing.T) {
	none := errors.New("no simulator")
	lacking := robot{newEnv: func() (idrl.Environment, error) { return nil, none }}
	o := Options{robot: &lacking}
	e := must.Get(Config{Figure: "ant-corridor", Seeds: 1}.Validate())(t)
	if _, err := Do(t.Context(), e, o); !errors.Is(err, none) {
		t.Errorf("error %v, want that there is no simulator", err)
	}
	f := Figure{Title: "Moon"}
	if err := f.Available(); err != nil {
		t.Errorf("without a robot: %v", err)
	}
	f.robot = func() robot { return lacking }
	if err := f.Available(); idrl.KindOf(err) != idrl.Unavailable || err.Error() != "Moon cannot be run: no simulator" {
		t.Errorf("error %v", err)
	}
	lacking.newEnv, lacking.explorer = o.ToyCorridor().robot.newEnv, func() ([]float64, error) { return nil, none }
	if err := f.Available(); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("without a policy that explores: error %v", err)
	}
}
