package solver_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
)

// roverReturn returns the mean return of a gait from ten starts that no search has seen.
func roverReturn(t *testing.T, env idrl.Environment, params, theta []float64) float64 {
	t.Helper()
	sum := 0.0
	for k := range uint64(10) {
		for _, step := range idrl.EpisodeOf(env, newGait(t, env.Spec(), params), rng.New(77, "unseen", k)) {
			if step.Kind != idrl.First {
				sum += floats.Dot(theta, step.Phi) / 10
			}
		}
	}
	return sum
}

// bestWay is the way of a rover from rest under full power: velocities 0.5·(1 − 0.8ᵗ),
// and so 0.5·(60 − 0.8·(1 − 0.8⁶⁰)/0.2).
var bestWay = 0.5 * (roverHorizon - 4*(1-math.Pow(0.8, roverHorizon)))

func evolve(t *testing.T, e solver.Evolve, task idrl.SolveTask, seed uint64) []float64 {
	t.Helper()
	p := must.Get(e.Solve(t.Context(), task, rng.New(seed, "solve", 0)))(t)
	return p.Params()
}

// TestEvolveFindsTheBest: full power is best for the way along x; and where the square of
// the action costs as much, a part of it: per step of constant a the rover goes 0.5 a
// and pays a², so that a = 0.25 is best but for the start.
func TestEvolveFindsTheBest(t *testing.T) {
	for _, test := range []struct {
		name        string
		theta       []float64
		atLeast, at float64
	}{
		{"way", []float64{1, 0, 0}, 0.97 * bestWay, 1},
		{"back", []float64{-1, 0, 0}, 0.97 * bestWay, -1},
		{"way and ease", []float64{1, 1, 0}, 0.9 * (0.25*bestWay - roverHorizon*0.25*0.25), 0.25},
	} {
		for seed := range uint64(3) {
			env := &rover{}
			params := evolve(t, solver.Evolve{Generations: 60}, idrl.SolveTask{Env: env, Theta: test.theta}, seed)
			if v := roverReturn(t, env, params, test.theta); !(v >= test.atLeast) {
				t.Errorf("%s, seed %d: return %v, want at least %v", test.name, seed, v, test.atLeast)
			}
		}
	}
}

// TestEvolveStartsWarm: with no generation the result is the best of the warm starts in one
// episode, and it never becomes worse; feedback is kept.
func TestEvolveStartsWarm(t *testing.T) {
	theta := []float64{1, 0, 0}
	slow, fast := slices.Clone(balance()), slices.Clone(balance())
	slow[1], fast[1] = 0.1, 0.9
	task := idrl.SolveTask{Env: &rover{}, Theta: theta, Warm: [][]float64{slow, fast, slow[:7]}}
	if diff := cmp.Diff(fast, evolve(t, solver.Evolve{MaxSteps: 1}, task, 1)); diff != "" {
		t.Errorf("without a generation (-best start +got):\n%s", diff)
	}
	got := evolve(t, solver.Evolve{Generations: 30}, task, 1)
	if !slices.Equal(got[7:], fast[7:]) {
		t.Errorf("feedback = %v, want that of the start", got[7:])
	}
	if a, b := roverReturn(t, &rover{}, got, theta), roverReturn(t, &rover{}, fast, theta); !(a > b) {
		t.Errorf("return %v, the start has %v", a, b)
	}
}

// TestEvolveDoesNotDependOnWorkers, and is a function of its stream.
func TestEvolveDoesNotDependOnWorkers(t *testing.T) {
	e := solver.Evolve{Generations: 12, Every: 3}
	task := idrl.SolveTask{Env: &rover{}, Theta: []float64{1, 0.3, 0}}
	want := evolve(t, e, task, 4)
	e.NewEnv = func() idrl.Environment { return &rover{} }
	for _, workers := range []int{1, 3, 20} {
		e.Workers = workers
		if diff := cmp.Diff(want, evolve(t, e, task, 4)); diff != "" {
			t.Errorf("%d workers (-one +many):\n%s", workers, diff)
		}
	}
	if slices.Equal(want, evolve(t, e, task, 5)) {
		t.Error("another stream gives the same gait")
	}
}

// goesOn holds that a solve that was interrupted after any generation or iteration ends
// with the same policy and the same states, and plays none of them again.
func goesOn(t *testing.T, s idrl.Solver, warm [][]float64) {
	t.Helper()
	solve := func(state []byte, seed uint64, theta float64) (params []float64, states []string, steps int) {
		env := &rover{}
		p := must.Get(s.Solve(t.Context(), idrl.SolveTask{
			Env: env, Theta: []float64{theta, 0.1, 0}, Warm: warm, Resume: state,
			Save: func(b []byte) { states = append(states, string(b)) },
		}, rng.New(seed, "solve", 0)))(t)
		return p.Params(), states, env.steps
	}
	want, states, all := solve(nil, 1, 1)
	if len(states) < 6 {
		t.Fatalf("%d states", len(states))
	}
	for k, state := range states {
		got, after, steps := solve([]byte(state), 1, 1)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after state %d: another policy:\n%s", k, diff)
		}
		if !slices.Equal(states[k+1:], after) {
			t.Errorf("after state %d: other states follow", k)
		}
		if steps >= all || k == len(states)-1 && steps > 0 {
			t.Errorf("after state %d: %d steps of %d", k, steps, all)
		}
	}
	_, others, _ := solve(nil, 1, 2)
	_, streams, _ := solve(nil, 2, 1)
	for name, state := range map[string]string{"of other weights": others[1], "of another stream": streams[1], "damaged": states[1][:40], "of another program": "what"} {
		if got, _, steps := solve([]byte(state), 1, 1); cmp.Diff(want, got) != "" || steps != all {
			t.Errorf("a state %s: %d steps of %d, or another policy", name, steps, all)
		}
	}
}

func TestEvolveGoesOn(t *testing.T) {
	goesOn(t, solver.Evolve{Generations: 14, Every: 2, Rivals: 3, Trial: 3, Judging: solver.Judging{Keep: 2}}, nil)
	goesOn(t, solver.Evolve{Generations: 10, Every: 3, Narrow: 0.28}, still()) // begins anew on the way
}

// TestEvolutionIsKept: a search whose weights change goes on from its bytes as if it had
// not been put away, and what it recommends follows the weights.
func TestEvolutionIsKept(t *testing.T) {
	e := solver.Evolve{Every: 4}
	there, back := []float64{1, 0, 0}, []float64{-1, 0, 0}
	env := &rover{}
	v := must.Get(e.Begin(t.Context(), idrl.SolveTask{Env: env, Theta: there}, 3))(t)
	run := func(v *solver.Evolution, theta []float64, n int) {
		must.Do(t, v.Run(t.Context(), theta, n))
	}
	run(v, there, 20)
	w := must.Get(e.Continue(&rover{}, v.Encode()))(t)
	run(v, back, 60)
	run(w, back, 60)
	if diff := cmp.Diff(v.Encode(), w.Encode()); diff != "" || v.Spent() != w.Spent() || v.Done() != 80 || v.Spent() != env.steps {
		t.Errorf("after %d generations and %d steps of %d the states differ", v.Done(), v.Spent(), env.steps)
	}
	for name, theta := range map[string][]float64{"there": there, "back": back} {
		k, ok := v.Best(theta)
		if !ok {
			t.Fatal("nothing is known")
		}
		if value := roverReturn(t, &rover{}, k.Params, theta); name == "back" && !(value > 0.9*bestWay) {
			t.Errorf("%s: return %v, want nearly %v", name, value, bestWay)
		}
		// what is recommended is valued by mean less half of the spread
		returns := make([]float64, len(k.Mus))
		for i, mu := range k.Mus {
			returns[i] = floats.Dot(mu, theta)
		}
		mean, square := floats.Sum(returns)/8, floats.Dot(returns, returns)/8
		if want := mean - math.Sqrt(square-mean*mean)/2; len(returns) != 8 || math.Abs(k.Score(theta)-want) > 1e-9 || math.Abs(floats.Dot(k.Mu(), theta)-mean) > 1e-9 {
			t.Errorf("%s: score %v, want %v over 8 starts", name, k.Score(theta), want)
		}
	}
}

// TestEvolveLeavesOutWhatBreaksDown: beyond 3 the simulation breaks down, so that the best
// gait stays below.
func TestEvolveLeavesOutWhatBreaksDown(t *testing.T) {
	env := &rover{limit: 3}
	params := evolve(t, solver.Evolve{Generations: 60}, idrl.SolveTask{Env: env, Theta: []float64{1, 0, 0}}, 1)
	if v := roverReturn(t, env, params, []float64{1, 0, 0}); !(v > 2 && v < 3.2) {
		t.Errorf("return %v, want nearly 3", v)
	}
	_, err := solver.Evolve{Generations: 2}.Solve(t.Context(), idrl.SolveTask{Env: &rover{limit: 1e-9}, Theta: []float64{1, 0, 0}}, rng.New(1, "", 0))
	if !errors.Is(err, solver.ErrBroken) {
		t.Errorf("all break down: error = %v", err)
	}
}

// refusals are bad input to a solver of gaits; good are settings of it that are right.
func refusals(t *testing.T, with func(change string) idrl.Solver, changes []string, warm [][]float64) {
	t.Helper()
	unbounded := &unboundedRover{}
	for name, task := range map[string]idrl.SolveTask{
		"discrete actions": {Env: chain([]float64{0, 1}), Theta: []float64{1}, Warm: warm},
		"no bounds":        {Env: unbounded, Theta: make([]float64, 3), Warm: warm},
		"short weights":    {Env: &rover{}, Theta: []float64{1}, Warm: warm},
		"weights NaN":      {Env: &rover{}, Theta: []float64{1, math.NaN(), 0}, Warm: warm},
		"a bad warm start": {Env: &rover{}, Theta: make([]float64, 3), Warm: append(slices.Clone(warm), []float64{1, 2})},
	} {
		if p, err := with("").Solve(t.Context(), task, rng.New(1, "", 0)); p != nil || err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v, want one of kind Invalid", name, err)
		}
	}
	for _, change := range changes {
		if _, err := with(change).Solve(t.Context(), idrl.SolveTask{Env: &rover{}, Theta: make([]float64, 3), Warm: warm}, rng.New(1, "", 0)); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v, want one of kind Invalid", change, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := with("").Solve(cancelled, idrl.SolveTask{Env: &rover{}, Theta: make([]float64, 3), Warm: warm}, rng.New(1, "", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error = %v", err)
	}
}

type unboundedRover struct{ rover }

func (e *unboundedRover) Spec() idrl.EnvSpec {
	spec := e.rover.Spec()
	spec.Actions = idrl.ActionSpec{Low: []float64{-1, math.Inf(-1)}, High: []float64{1, math.Inf(1)}}
	return spec
}

func TestEvolveRefusals(t *testing.T) {
	settings := map[string]solver.Evolve{
		"":                     {},
		"sigma below 0":        {Sigma: -1},
		"one candidate":        {Lambda: 1},
		"negative generations": {Generations: -1},
		"negative steps":       {Steps: -1},
		"negative bound":       {MaxSteps: -1},
		"no first gaits":       {First: -1},
		"judged never":         {Every: -1},
		"no starts":            {Judging: solver.Judging{Starts: -1}},
	}
	var changes []string
	for name := range settings {
		if name != "" {
			changes = append(changes, name)
		}
	}
	refusals(t, func(change string) idrl.Solver { return settings[change] }, changes, nil)
	// states of other searches
	v := must.Get(solver.Evolve{}.Begin(t.Context(), idrl.SolveTask{Env: &rover{}, Theta: make([]float64, 3)}, 1))(t)
	for name, e := range map[string]solver.Evolve{"other settings": {Lambda: 20}, "bad settings": {Lambda: 20, Every: -1}} {
		if _, err := e.Continue(&rover{}, v.Encode()); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	if _, err := (solver.Evolve{}).Continue(&glider{}, v.Encode()); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("another environment: error = %v", err)
	}
}
