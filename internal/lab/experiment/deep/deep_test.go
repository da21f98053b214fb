package deep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"

	"gonum.org/v1/gonum/floats"
)

// line is a mass that is to stay near a mark two metres to the right, at little effort.
func line() *World {
	return newWorld(func() idrl.Environment { return pointmass.New(pointmass.Config{Horizon: 40, ClipSteps: 10}) }, []float64{0, -0.1, 1})
}

// tiny is a budget of a second or two.
func tiny() Budget {
	b := Small()
	b.Labels, b.Steps, b.Every, b.CandidateSteps = 60, 900, 300, 300
	b.Clips, b.Pairs, b.Rollouts, b.Evaluations, b.Updates = 40, 200, 2, 2, 40
	b.Agent.Hidden, b.Agent.Batch, b.Agent.Starts, b.Agent.Replay = []int{16, 16}, 32, 200, 10_000
	return b
}

func config(method string, mode neural.Mode, seed uint64) Config {
	return Config{Task: pointmass.ID, Method: method, Mode: mode, Budget: tiny(), Seed: seed}
}

func learn(t *testing.T, c Config) Run {
	t.Helper()
	r := must.Get(Learn(t.Context(), line(), c, Watch{}))(t)
	return r
}

// A run is a function of its configuration; methods and modes differ.
func TestRunIsAFunctionOfItsConfig(t *testing.T) {
	seen := map[string]string{}
	for _, mode := range []neural.Mode{neural.Corrected, neural.Paper} {
		for _, method := range Methods() {
			a, b := learn(t, config(method, mode, 1)), learn(t, config(method, mode, 1))
			first, _ := json.Marshal(a)
			second, _ := json.Marshal(b)
			if string(first) != string(second) {
				t.Errorf("%s, %s: two runs differ:\n%s\n%s", method, mode, first, second)
			}
			name := fmt.Sprint(method, ", ", mode)
			if other, ok := seen[string(first)]; ok {
				t.Errorf("%s is the same as %s", name, other)
			}
			seen[string(first)] = name
		}
	}
}

// A run that goes on from any of its checkpoints ends with the same bytes as one that was
// not interrupted; a damaged one begins anew.
func TestResume(t *testing.T) {
	for _, c := range []Config{config("idrl", neural.Corrected, 4), config("igr", neural.Paper, 4)} {
		var states [][]byte
		whole, err := Learn(t.Context(), line(), c, Watch{Save: func(state func() ([]byte, error)) error {
			b, err := state()
			states = append(states, b)
			return err
		}})
		if err != nil || len(states) != 4 {
			t.Fatalf("%d checkpoints, %v", len(states), err)
		}
		want, _ := json.Marshal(whole)
		damaged := slices.Clone(states[2])
		damaged[len(damaged)/2] ^= 1
		for i, from := range append(states, damaged, nil) {
			batches := 0
			r := must.Get(Learn(t.Context(), line(), c, Watch{From: from, Progress: func(Point) { batches++ }}))(t)
			if got, _ := json.Marshal(r); string(got) != string(want) {
				t.Errorf("%s: from checkpoint %d:\n%s\nwant\n%s", c.Method, i, got, want)
			}
			if left := max(0, 3-i); i < 4 && batches != left {
				t.Errorf("%s: %d batches after checkpoint %d, want %d", c.Method, batches, i, left)
			}
		}
	}
}

// Labels follow the schedule, and a point says with how many the policy was trained.
func TestPointsFollowTheSchedule(t *testing.T) {
	first, perStep := neural.LabelSchedule(neural.Corrected, 60, 3, firstShare)
	r := learn(t, config("idrl", neural.Corrected, 2))
	if len(r.Points) != 4 {
		t.Fatalf("%d points for 3 batches", len(r.Points))
	}
	labels := first
	for i, p := range r.Points {
		if i >= 2 {
			labels += perStep[i-2]
		}
		if p.Labels != labels || p.Steps != 300*i {
			t.Errorf("point %d has %d labels and %d steps, want %d and %d", i, p.Labels, p.Steps, labels, 300*i)
		}
	}
	if want := 900 + 300*(3+2); r.AllSteps != want { // all three candidates first, then one at a time
		t.Errorf("%d steps of all trainings, want %d", r.AllSteps, want)
	}
}

// The policy that is trained on learnt rewards gains most of what one gains that is
// trained on the true reward.
func TestLearnsFromComparisons(t *testing.T) {
	w, b := line(), tiny()
	w.theta = []float64{1, -0.3, 0} // to the right, which no observation limits
	b.Steps, b.Every, b.CandidateSteps, b.Labels, b.Updates = 6000, 1000, 500, 100, 100
	b.Agent.Hidden, b.Agent.Batch, b.Agent.Rate, b.Agent.Every = []int{32, 32}, 64, 1e-3, 1
	plan := Config{Task: pointmass.ID, Mode: neural.Corrected, Budget: b, Seed: 1}
	last := func(method string, seed uint64) float64 {
		c := plan
		c.Method, c.Seed = method, seed
		r := must.Get(one(t.Context(), w, c, Options{}, nil))(t)
		return r.Final()
	}
	random, expert := last(Random, 1), last(Expert, 1)
	if expert < random+5 {
		t.Fatalf("the expert reaches %.1f, random actions %.1f", expert, random)
	}
	for seed := range uint64(3) {
		if v := last("idrl", seed+1); (v-random)/(expert-random) < 0.8 {
			t.Errorf("seed %d: return %.1f, random %.1f, expert %.1f", seed+1, v, random, expert)
		}
	}
}

// One bad measurement of an expert does not decide what a score of 100 is.
func TestFinal(t *testing.T) {
	run := func(returns ...float64) (r Run) {
		for _, v := range returns {
			r.Points = append(r.Points, Point{Return: v})
		}
		return r
	}
	for _, c := range []struct {
		run  Run
		want float64
	}{{run(5), 5}, {run(5, 7), 7}, {run(5, 7, 9), 8}, {run(9, 1, 2, 3, 40), 15}} {
		if got := c.run.Final(); got != c.want {
			t.Errorf("the end of %v is %v, want %v", c.run.Points, got, c.want)
		}
	}
}

// trained returns a model that has seen a few answers, and clips.
func trained(t *testing.T) (*run, []clip) {
	t.Helper()
	r := must.Get(newRun(line(), config("idrl", neural.Corrected, 3)))(t)
	must.Do(t, r.begin(t.Context(), 0))
	for k := range r.warm {
		must.Do(t, r.train(t.Context(), 1, k))
	}
	clips := must.Get(r.rollouts(t.Context(), 1, 40))(t)
	return r, clips
}

// Of questions that say the same, the authors' choice takes all. One that counts those
// chosen before as answered turns to the next pair of candidates, and leaves less to know.
func TestBatchHoldsNoEchoes(t *testing.T) {
	r, _ := trained(t)
	const n = 10
	var questions []idrl.QueryVector
	var policies []idrl.Candidate // which differ as the questions do
	draws := rng.New(1, "directions", 0)
	for k := range 4 {
		x := r.model.Posterior().Sample(nil, draws)
		policies = append(policies, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprint(k)), Origin: idrl.FromSample, Mu: x})
		for range n { // echoes
			q := idrl.Query{ID: idrl.QueryID(fmt.Sprint(len(questions))), Kind: idrl.CompareClips, Clips: []idrl.ClipID{"a", "b"}}
			questions = append(questions, idrl.QueryVector{Query: q, X: x})
		}
	}
	best := topK(r.model, r.by, policies, questions, 1, nil)[0]
	stream := rng.New(1, "choice", 0)
	greedy := must.Get(oneByOne(r.model, r.by, policies, questions, n, stream))(t)
	k := topK(r.model, r.by, policies, questions, n, stream)
	for _, i := range k {
		if !floats.Equal(questions[i].X, questions[best].X) {
			t.Errorf("of the best, %v, %d is not the echo", k, i)
		}
	}
	if one, all := least(r, policies, questions, greedy), least(r, policies, questions, k); one > 0.9*all {
		t.Errorf("one by one leaves a variance of %v, the best by themselves %v", one, all)
	}
	slices.Sort(greedy)
	if len(slices.Compact(greedy)) != n {
		t.Errorf("a question was chosen twice: %v", greedy)
	}
}

// least returns the variance of the least certain difference in return of two policies
// that is expected after the chosen questions.
func least(r *run, policies []idrl.Candidate, questions []idrl.QueryVector, chosen []int) (most float64) {
	var asked []idrl.QueryVector
	for _, i := range chosen {
		asked = append(asked, questions[i])
	}
	p := r.model.RewardModel().ConditionOnPending(r.model.Posterior(), asked...)
	work := make([]float64, r.model.Dim())
	for i, a := range policies {
		for _, b := range policies[i+1:] {
			delta := floats.SubTo(make([]float64, len(work)), a.Mu, b.Mu)
			p.CovMul(work, delta)
			most = max(most, floats.Dot(work, delta))
		}
	}
	return most
}

// The first question is the one after which the difference in return of the two least
// certain candidates has the smallest variance, by conditioning on each.
func TestFirstChoiceIsIDRLs(t *testing.T) {
	r, clips := trained(t)
	questions := vectors(r.model, clips, somePairs(len(clips), 200, rng.New(1, "pairs", 0)))
	delta := widest(r.model, r.policies())
	left, best := 0.0, -1
	for i, q := range questions {
		work := make([]float64, r.model.Dim())
		r.model.Given(q.X).CovMul(work, delta)
		if v := floats.Dot(work, delta); best < 0 || v < left {
			left, best = v, i
		}
	}
	got := topK(r.model, r.by, r.policies(), questions, 1, nil)[0]
	if got != best {
		t.Errorf("the best is %d, not %d", got, best)
	}
	first := must.Get(oneByOne(r.model, r.by, r.policies(), questions, 1, rng.New(1, "choice", 0)))(t)
	if want := mostInformative(r.model, questions, delta); first[0] != want {
		t.Errorf("one by one begins with %d, not with %d", first[0], want)
	}
}

// mostInformative returns the question that is expected to take the most from the variance
// of the return along delta, where its information is averaged over the posterior and not
// taken at the mean.
func mostInformative(m *neural.Model, questions []idrl.QueryVector, delta []float64) int {
	most, best := 0.0, -1
	p, work := m.Posterior(), make([]float64, m.Dim())
	for i, q := range questions {
		mean, v := idrl.Moments(p, q.X, p.Mean(nil), work) // leaves Σx in work
		cov := floats.Dot(work, delta)
		if gone := cov * cov * m.Config().Comparison.Info(mean, v); best < 0 || gone > most {
			most, best = gone, i
		}
	}
	return best
}

// Pairs are different clips, and each pair comes once.
func TestPairs(t *testing.T) {
	for _, n := range []int{1, 100, 189, 190, 1000} {
		pairs := somePairs(20, n, rng.New(1, "pairs", uint64(n)))
		seen := map[pair]bool{}
		for _, p := range pairs {
			key := pair{min(p.a, p.b), max(p.a, p.b)}
			if p.a == p.b || seen[key] || key.a < 0 || key.b >= 20 {
				t.Errorf("of %d: pair %v", n, p)
			}
			seen[key] = true
		}
		if want := min(n, 190); len(pairs) != want {
			t.Errorf("%d pairs, want %d", len(pairs), want)
		}
	}
}

func TestWrongConfigs(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"method":           func(c *Config) { c.Method = "best" },
		"variant":          func(c *Config) { c.Method = "idrl:slow" },
		"nothing to leave": func(c *Config) { c.Method = "uniform:main" },
		"too slow":         func(c *Config) { c.Method = "epd" },
		"not the paper's":  func(c *Config) { c.Method, c.Mode = "lvar", neural.Paper },
		"mode":             func(c *Config) { c.Mode = "fast" },
		"labels":           func(c *Config) { c.Budget.Labels = 0 },
		"steps":            func(c *Config) { c.Budget.Steps = -1 },
		"every":            func(c *Config) { c.Budget.Every = c.Budget.Steps + 1 },
		"clips":            func(c *Config) { c.Budget.Clips = 1 },
		"replay":           func(c *Config) { c.Budget.Agent.Replay = 0 },
	} {
		c := config("idrl", neural.Corrected, 1)
		change(&c)
		if _, err := Learn(t.Context(), line(), c, Watch{}); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Learn(c, line(), config("idrl", neural.Corrected, 1), Watch{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was stopped returned %v", err)
	}
}
