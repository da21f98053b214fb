package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// instanceOf returns the instance of a seed.
func instanceOf(t *testing.T, c Config, seed uint64) (Experiment, *instance) {
	t.Helper()
	e, build := instancesOf(t, c)
	w := must.Get(build(t.Context(), seed))(t)
	return e, w
}

// instancesOf returns the maker of a figure's instances.
func instancesOf(t *testing.T, c Config) (Experiment, maker) {
	t.Helper()
	c.Seeds = 1
	e := must.Get(c.Validate())(t)
	f := must.Get(e.figure())(t)
	build := must.Get(f.build(t.Context(), e, Options{}.SmallDriver().ToyCorridor()))(t)
	return e, build
}

// variants are instances of every figure, query type and mode.
func variants() map[string]Config {
	return map[string]Config{
		"chain states":             {Figure: "chain"},
		"chain comparisons":        {Figure: "chain", Queries: Comparisons},
		"chain people":             {Figure: "chain", Queries: Comparisons, Expert: People},
		"chain states, paper":      {Figure: "chain", Mode: Paper},
		"chain comparisons, paper": {Figure: "chain", Queries: Comparisons, Mode: Paper},
		"junction comparisons":     {Figure: "junction", Queries: Comparisons},
		"gridworld states":         {Figure: "gridworld"},
		"gridworld comparisons":    {Figure: "gridworld", Queries: Comparisons},
		"gridworld, paper":         {Figure: "gridworld", Queries: Comparisons, Mode: Paper},
		"gridworld, paper, text":   {Figure: "gridworld", Mode: Paper, Candidates: Text},
		"driver":                   {Figure: "driver"},
		"driver, paper":            {Figure: "driver", Mode: Paper},
		"garnet states":            {Figure: "garnet"},
		"garnet comparisons":       {Figure: "garnet", Queries: Comparisons},
		"corridor":                 {Figure: "swimmer-corridor"},
		"corridor, paper":          {Figure: "ant-corridor", Mode: Paper},
	}
}

// asked is a question as it was asked: query and how often before.
type asked struct {
	query int
	n     uint64
}

// recorded runs a method in an instance and returns the answers it got.
func recorded(t *testing.T, e Experiment, w *instance, method string, answers int) map[asked]idrl.Answer {
	t.Helper()
	log := map[asked]idrl.Answer{}
	own := *w
	own.answer = func(q int, n uint64) idrl.Answer {
		a := w.answer(q, n)
		log[asked{q, n}] = a
		return a
	}
	must.Get(own.learn(t.Context(), e.Method(method), answers))(t)
	if len(log) != answers {
		t.Fatalf("%s had %d answers in its record, want %d: the same question was asked twice as if it were new", method, len(log), answers)
	}
	return log
}

// Two methods on one seed meet the same instance, truth and answers.
func TestPaired(t *testing.T) {
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			e, w := instanceOf(t, c, 3)
			_, again := instanceOf(t, c, 3) // made anew, its tables too
			if !slices.Equal(w.theta, again.theta) || w.best != again.best || len(w.queries) != len(again.queries) {
				t.Fatal("two instances of one seed differ")
			}
			seen := map[idrl.QueryID]bool{}
			for q := range w.queries {
				if w.queries[q].ID != again.queries[q].ID || !slices.Equal(w.queries[q].X, again.queries[q].X) {
					t.Fatalf("query %d of two instances of one seed differs", q)
				}
				if seen[w.queries[q].ID] {
					t.Fatalf("query %d shares its name, and so its answers, with another", q)
				}
				seen[w.queries[q].ID] = true
			}
			one, two := recorded(t, e, w, "idrl", 3), recorded(t, e, again, "uniform", 12)
			for k, a := range one {
				if b := again.answer(k.query, k.n); a != b {
					t.Errorf("query %d asked for the time %d: %v for one method and %v for another", k.query, k.n, a, b)
				}
			}
			for k, a := range two {
				if b := w.answer(k.query, k.n); a != b {
					t.Errorf("query %d asked for the time %d: %v for one method and %v for another", k.query, k.n, b, a)
				}
			}
		})
	}
}

// An expert of the text and people answer anew every time; the authors' code has
// one rating of a state for good, but new answers to comparisons.
func TestFreshAnswers(t *testing.T) {
	for _, test := range []struct {
		c     Config
		fixed bool
	}{
		{Config{Figure: "chain"}, false},
		{Config{Figure: "chain", Expert: People}, false},
		{Config{Figure: "chain", Mode: Paper}, true},
		{Config{Figure: "chain", Queries: Comparisons}, false},
		{Config{Figure: "chain", Queries: Comparisons, Mode: Paper}, false},
	} {
		e, w := instanceOf(t, test.c, 1)
		// A comparison of two states of nearly equal reward has either answer.
		q, least := 0, math.Inf(1)
		for i, query := range w.queries {
			if u := math.Abs(dot(w.theta, query.X)); e.Queries == Comparisons && u < least {
				q, least = i, u
			}
		}
		same := true
		for n := range uint64(40) {
			same = same && w.answer(q, n) == w.answer(q, 0)
		}
		if same != test.fixed {
			t.Errorf("%s: 40 answers to one question are all the same: %v, want %v", e.Name(), same, test.fixed)
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// The authors' rating of a state is its reward and an error of standard deviation
// 0.01, that of the text has one of 0.1.
func TestNoiseOfRatings(t *testing.T) {
	for mode, std := range map[string]float64{Corrected: 0.1, Paper: 0.01} {
		sum, n := 0.0, 0
		_, build := instancesOf(t, Config{Figure: "chain", Mode: mode})
		for seed := range uint64(20) {
			w := must.Get(build(t.Context(), seed+1))(t)
			for q, query := range w.queries {
				d := w.answer(q, 0).Rating - dot(w.theta, query.X)
				sum += d * d
				n++
			}
		}
		// n = 400 squares of a normal have a relative standard error of √(2/400) = 0.07.
		if got := sum / float64(n); math.Abs(got/(std*std)-1) > 4*0.0707 {
			t.Errorf("mode %s: mean squared error %v of %d ratings, want %v", mode, got, n, std*std)
		}
	}
}

// A slowPlanner takes a while to solve.
type slowPlanner struct {
	policySolver
	time time.Duration
}

func (s slowPlanner) optimal(ctx context.Context, theta []float64, stream *rand.Rand) (policy, error) {
	spin(s.time)
	return s.policySolver.optimal(ctx, theta, stream)
}

// slowRating takes a while to learn from.
type slowRating struct {
	idrl.Likelihood
	time time.Duration
}

func (s slowRating) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	spin(s.time)
	return s.Likelihood.LogZ(a, m, v)
}

func spin(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

// The time of a selection holds the update with the answer before, in belief and
// table, and not the solves: those take 18 ms a step here, more than the quickest
// selection can have taken for any other reason.
func TestSelectTimes(t *testing.T) {
	const answers = 8
	e, w := instanceOf(t, Config{Figure: "chain"}, 1)
	w.candidateSolver = slowPlanner{w.candidateSolver, 3 * time.Millisecond}
	w.evalSolver = w.candidateSolver
	r, err := w.learn(t.Context(), e.Method("idrl"), answers)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.SelectNS) != answers || slices.Min(r.SelectNS) <= 0 {
		t.Fatalf("times %v, want %d above zero", r.SelectNS, answers)
	}
	if least := time.Duration(slices.Min(r.SelectNS)); least > 9*time.Millisecond {
		t.Errorf("the quickest selection took %v", least)
	}
	_, w = instanceOf(t, Config{Figure: "chain"}, 1)
	const slow = 2 * time.Millisecond
	w.model.Rating = slowRating{w.model.Rating, slow}
	if r, err = w.learn(t.Context(), e.Method("uniform"), answers); err != nil {
		t.Fatal(err)
	}
	for n, ns := range r.SelectNS[1:] { // once in the belief and once in the table
		if time.Duration(ns) < 2*slow {
			t.Errorf("selection %d took %v, less than the update before it", n+1, time.Duration(ns))
		}
	}
}

// Each step looks at the context, whatever the solver.
func TestCancel(t *testing.T) {
	for _, method := range []string{"idrl", "uniform", "lvar"} {
		e, w := instanceOf(t, Config{Figure: "chain"}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		count, answer := 0, w.answer
		w.answer = func(q int, n uint64) idrl.Answer {
			if count++; count == 3 {
				cancel()
			}
			return answer(q, n)
		}
		_, err := w.learn(ctx, e.Method(method), 1000)
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "answer 4: ") || count != 3 {
			t.Errorf("%s: error %v after %d answers, want that the context is cancelled after 3", method, err, count)
		}
	}
}

// A solver that fails says which solve it was.
type failing struct{}

func (failing) optimal(context.Context, []float64, *rand.Rand) (policy, error) {
	return policy{}, errors.New("no optimum")
}

func TestPlannerFails(t *testing.T) {
	for method, want := range map[string]string{
		"idrl":   "answer 1: candidate policy: no optimum",
		"lvar":   "answer 1: candidate policy: no optimum",
		"leader": "answer 1: candidate policy: no optimum",
		"epd":    "answer 1: by EPD: policy of the mean: no optimum",
	} {
		e, w := instanceOf(t, Config{Figure: "chain"}, 1)
		w.candidateSolver = failing{}
		if _, err := w.learn(t.Context(), e.Method(method), 2); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", method, err, want)
		}
		w.evalSolver = failing{}
		if _, err := w.learn(t.Context(), e.Method(method), 2); err == nil || err.Error() != "mean-optimal policy: no optimum" {
			t.Errorf("%s: error %v", method, err)
		}
	}
}

// IDRL looks at five Thompson policies, in the authors' Driver at the mean-optimal
// one too; the methods with an archive at both and all that came before.
func TestCandidates(t *testing.T) {
	for _, test := range []struct {
		name    string
		c       Config
		method  string
		present int
		solves  int // for them
	}{
		{"text", Config{Figure: "chain"}, "idrl", 5, 5},
		{"code", Config{Figure: "chain", Mode: Paper}, "idrl", 5, 5},
		{"Driver of the text", Config{Figure: "driver"}, "idrl", 5, 5},
		{"Driver of the code", Config{Figure: "driver", Mode: Paper}, "idrl", 6, 6},
		{"archive", Config{Figure: "chain"}, "lvar", 6, 5},
		{"a baseline", Config{Figure: "chain"}, "igr", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, w := instanceOf(t, test.c, 1)
			l := w.learner(e.Method(test.method))
			must.Do(t, l.recommend(t.Context()))
			for range 3 {
				before := l.run.Solves
				must.Do(t, l.candidates(t.Context()))
				if got := len(l.core.Policies().Present()); got != test.present || l.run.Solves-before != test.solves {
					t.Errorf("%d candidates by %d solves; want %d by %d", got, l.run.Solves-before, test.present, test.solves)
				}
				if (l.noise != nil) != (w.paper && test.method == "idrl") {
					t.Errorf("noise of the authors' code: %v", l.noise != nil)
				}
				must.Do(t, l.step(t.Context()))
			}
		})
	}
}

// The archive holds each distinct policy once, behind the present ones, and
// keeps it.
func TestArchive(t *testing.T) {
	e, w := instanceOf(t, Config{Figure: "garnet"}, 2)
	l := w.learner(e.Method("lvar"))
	must.Do(t, l.recommend(t.Context()))
	var met []idrl.Candidate
	for range 5 {
		must.Do(t, l.candidates(t.Context()))
		now, present := l.core.Policies().Known(), len(l.core.Policies().Present())
		same := func(p idrl.Candidate) func(idrl.Candidate) bool {
			return func(o idrl.Candidate) bool { return learning.Alike(o.Mu, p.Mu) }
		}
		for i, p := range now {
			if i >= present && slices.ContainsFunc(now[:i], same(p)) {
				t.Errorf("policy %d of the archive is among those before it", i)
			}
		}
		for _, p := range met {
			if !slices.ContainsFunc(now, same(p)) {
				t.Error("a policy was forgotten")
			}
		}
		met = now
		must.Do(t, l.step(t.Context()))
	}
	if len(met) <= 6 {
		t.Errorf("%d policies in all; the test needs some that are of the past", len(met))
	}
}

// The leader is the mean-optimal policy, and its rival differs where a few draws
// give one that does.
func TestDuel(t *testing.T) {
	e, w := instanceOf(t, Config{Figure: "junction"}, 1)
	l := w.learner(e.Method("leader"))
	must.Do(t, l.recommend(t.Context()))
	must.Do(t, l.candidates(t.Context()))
	c := l.core.Policies().Present()
	if len(c) != 2 || !slices.Equal(c[0].Params, l.mean.params) {
		t.Fatalf("%d policies", len(c))
	}
	if slices.Equal(c[0].Params, c[1].Params) && l.run.Solves != 1+samples {
		t.Errorf("the rival equals the leader after %d solves", l.run.Solves)
	}
}

// Different vectors have different keys, also those whose numbers are small and
// whole as the actions of policies are.
func TestBits(t *testing.T) {
	seen := map[string]bool{}
	x := make([]float64, 8)
	for k := range 1 << 16 {
		for i := range x {
			x[i] = float64(k >> (2 * i) & 3)
		}
		seen[bits(x)] = true
	}
	if len(seen) != 1<<16 {
		t.Errorf("%d keys of %d vectors", len(seen), 1<<16)
	}
}

// The feature expectation of a policy is its own, however many policies were
// solved for before.
func TestExactRemembers(t *testing.T) {
	_, w := instanceOf(t, Config{Figure: "garnet"}, 1)
	x := w.candidateSolver.(*exact)
	draws := w.stream("test", 0)
	for range 100 {
		p := must.Get(x.optimal(t.Context(), w.prior.Sample(nil, draws), nil))(t)
		if want := x.prepared.Mu(x.start, p.params); !slices.Equal(p.mu, want) {
			t.Fatalf("a policy has the feature expectation %v, want %v", p.mu, want)
		}
	}
}
