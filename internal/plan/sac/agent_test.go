package sac_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"
)

// nearness pays for being near the mark of the point mass, 2 metres to the right, and
// charges for effort.
var nearness = sac.Linear([]float64{0, -0.1, 1})

// small returns settings that learn the point mass within seconds.
func small() sac.Settings {
	s := sac.Live()
	s.Hidden, s.Batch, s.Rate, s.Starts, s.Replay, s.Features = []int{32, 32}, 64, 2e-3, 240, 3000, true
	return s
}

func newAgent(t testing.TB, c sac.Config) *sac.Agent {
	t.Helper()
	if c.Env == nil {
		c.Env = pointmass.New(pointmass.Config{})
	}
	if c.Reward == nil {
		c.Reward = nearness
	}
	a := must.Get(sac.New(c))(t)
	return a
}

func run(t testing.TB, a *sac.Agent, n int) {
	t.Helper()
	must.Do(t, a.Run(context.Background(), n, nil))
}

func checkpoint(t testing.TB, a *sac.Agent) []byte {
	t.Helper()
	b := must.Get(a.Checkpoint())(t)
	return b
}

// returns of the point mass, averaged over episodes.
func meanReturn(p idrl.Policy) float64 {
	env, sum := pointmass.New(pointmass.Config{}), 0.0
	const n = 20
	for k := range uint64(n) {
		for _, step := range idrl.EpisodeOf(env, p, rng.New(9, "test episode", k)) {
			if step.Kind != idrl.First {
				sum += step.Phi[2] - 0.1*step.Phi[1]
			}
		}
	}
	return sum / n
}

// TestLearns holds that the agent finds the mark and stays there. No constant force
// returns more than 34 of 60: one that reaches the mark runs past it.
func TestLearns(t *testing.T) {
	constant := math.Inf(-1)
	for f := -1.0; f <= 1; f += 0.02 {
		constant = max(constant, meanReturn(force(f)))
	}
	a := newAgent(t, sac.Config{Settings: small(), Seed: 1})
	fresh := meanReturn(a.Policy(false))
	run(t, a, 2400)
	mean, drawn := meanReturn(a.Policy(false)), meanReturn(a.Policy(true))
	t.Logf("constant forces return up to %.1f, the untrained policy %.1f, the trained one %.1f, with drawn actions %.1f", constant, fresh, mean, drawn)
	if !(mean > 45 && drawn > 40 && constant < 36 && fresh < 36) {
		t.Errorf("returns: trained %.1f, drawn %.1f, constant %.1f, untrained %.1f", mean, drawn, constant, fresh)
	}
}

// A force is the policy of a constant force.
type force float64

func (f force) Act(dst idrl.Action, _ []float64, _ *rand.Rand) idrl.Action {
	dst[0] = float64(f)
	return dst
}
func (f force) Params() []float64 { return nil }

// TestResume interrupts a training at many places and holds that it goes on with the
// same bytes: before the first step, in and between episodes, before and after the first
// update, and once the replay has begun to overwrite.
func TestResume(t *testing.T) {
	s := small()
	s.Hidden, s.Batch, s.Starts, s.Replay, s.NormaliseReward, s.Updates, s.Every = []int{8}, 8, 70, 150, true, 2, 3
	for _, limit := range []float64{0, 0.55} { // the second breaks down now and then
		c := sac.Config{Settings: s, Seed: 7, Reward: nearness}
		fresh := func() sac.Config {
			c.Env = pointmass.New(pointmass.Config{Limit: limit})
			return c
		}
		const steps = 200
		whole := newAgent(t, fresh())
		var states [][]byte
		for range steps {
			states = append(states, checkpoint(t, whole))
			run(t, whole, 1)
		}
		want := checkpoint(t, whole)
		if broken := whole.Status().Broken; (broken > 0) != (limit > 0) {
			t.Fatalf("limit %v: %d episodes broke down", limit, broken)
		}
		for k, b := range states {
			a := must.Get(sac.Resume(fresh(), b))(t)
			if got := checkpoint(t, a); !bytes.Equal(got, b) {
				t.Fatalf("limit %v: resumed after step %d, the checkpoint differs", limit, k)
			}
			if a.Status() != status(t, fresh(), b) {
				t.Fatalf("limit %v: the status after step %d differs", limit, k)
			}
			run(t, a, steps-k)
			if got := checkpoint(t, a); !bytes.Equal(got, want) {
				t.Fatalf("limit %v: interrupted after step %d, the training ends in other bytes", limit, k)
			}
		}
	}
}

func status(t *testing.T, c sac.Config, b []byte) sac.Status {
	t.Helper()
	a := must.Get(sac.Resume(c, b))(t)
	return a.Status()
}

// TestSeeds holds that a seed fixes the training and another one changes it.
func TestSeeds(t *testing.T) {
	final := func(seed uint64) []float64 {
		s := small()
		s.Starts = 20
		a := newAgent(t, sac.Config{Settings: s, Seed: seed})
		run(t, a, 100)
		return a.Policy(false).Params()
	}
	one := final(1)
	if !slices.Equal(one, final(1)) || slices.Equal(one, final(2)) {
		t.Error("equal seeds differ or different ones agree")
	}
}

// TestSetReward trains for one reward, then for its opposite, from the same replay.
func TestSetReward(t *testing.T) {
	s := small()
	s.NormaliseReward = true
	a := newAgent(t, sac.Config{Settings: s, Seed: 1, Reward: sac.Linear([]float64{1, 0, 0})})
	ahead := func() float64 {
		return a.Policy(false).Act(make(idrl.Action, 1), []float64{0, 0, 1}, nil)[0]
	}
	run(t, a, 700)
	if right := ahead(); !(right > 0.5) {
		t.Errorf("paid for moving right, the force is %.2f", right)
	}
	must.Do(t, a.SetReward(sac.Linear([]float64{-1, 0, 0})))
	if got := a.Status(); got.Transitions != got.Steps || got.RewardMean >= 0 {
		t.Errorf("after the change: %+v", got)
	}
	run(t, a, 700)
	if left := ahead(); !(left < -0.5) {
		t.Errorf("paid for moving left, the force is %.2f", left)
	}
	if err := a.SetReward(func(dst []float32, _ sac.Batch) { dst[0] = float32(math.NaN()) }); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a reward that is no number: %v", err)
	}
}

// TestRewardArguments holds what a reward is given: the observation before the action,
// without the time, the action of the environment, and its features.
func TestRewardArguments(t *testing.T) {
	env := &scribe{Env: pointmass.New(pointmass.Config{Horizon: 5, ClipSteps: 5})}
	seen := 0
	s := small()
	a := newAgent(t, sac.Config{Settings: s, Env: env, Reward: func(dst []float32, b sac.Batch) {
		for i := range dst {
			w := env.steps[len(env.steps)-b.N+i]
			got := fmt.Sprint(b.Obs[3*i:3*i+3], b.Act[i:i+1], b.Phi[3*i:3*i+3])
			if want := fmt.Sprint(w[:3], w[3:4], w[4:]); got != want {
				t.Errorf("step %d: %s, want %s", seen, got, want)
			}
			seen++
		}
	}})
	run(t, a, 12)
	if seen != 12 {
		t.Errorf("%d rewards were asked for, want 12", seen)
	}
	if err := a.SetReward(a.Reward); err != nil || seen != 24 {
		t.Errorf("%d rewards with those of the replay, want 24; %v", seen, err)
	}
}

// A scribe notes observation, action and features of each step.
type scribe struct {
	*pointmass.Env
	obs   []float64
	steps [][]float32
}

func (s *scribe) Reset(rng *rand.Rand) idrl.TimeStep {
	step := s.Env.Reset(rng)
	s.obs = slices.Clone(step.Obs)
	return step
}

func (s *scribe) Step(a idrl.Action) idrl.TimeStep {
	step := s.Env.Step(a)
	var row []float32
	for _, v := range slices.Concat(s.obs, a, step.Phi) {
		row = append(row, float32(v))
	}
	s.steps = append(s.steps, row)
	s.obs = slices.Clone(step.Obs)
	return step
}

// TestAllocations holds that neither a step within an episode nor an update allocates.
func TestAllocations(t *testing.T) {
	a := newAgent(t, sac.Config{Settings: small(), Env: quiet{pointmass.New(pointmass.Config{Horizon: 10000})}})
	run(t, a, 300)
	if n := testing.AllocsPerRun(50, func() {
		must.Do(t, a.Update())
	}); n != 0 {
		t.Errorf("an update allocates %v times", n)
	}
	if n := testing.AllocsPerRun(50, func() {
		must.Do(t, a.Step())
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

// quiet is the point mass without what it allocates in a step.
type quiet struct{ *pointmass.Env }

var quietStep = idrl.TimeStep{Kind: idrl.Mid, Obs: []float64{1, 2, 1}, Phi: []float64{0, 0, 1}}

func (quiet) Step(idrl.Action) idrl.TimeStep { return quietStep }

func TestRun(t *testing.T) {
	a := newAgent(t, sac.Config{Settings: small()})
	ctx, cancel := context.WithCancel(context.Background())
	var told []sac.Status
	err := a.Run(ctx, 1000, func(s sac.Status) {
		if told = append(told, s); len(told) == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(told) != 3 {
		t.Fatalf("%v after %d episodes", err, len(told))
	}
	for i, s := range told {
		if s.Steps != 60*(i+1) || s.Episodes != i+1 || !(s.Return > 0 && s.Return < 60) {
			t.Errorf("episode %d: %+v", i, s)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*sac.Config){
		"no hidden layer":     func(c *sac.Config) { c.Settings.Hidden = nil },
		"an empty layer":      func(c *sac.Config) { c.Settings.Hidden = []int{64, 0} },
		"no batch":            func(c *sac.Config) { c.Settings.Batch = 0 },
		"a rate of NaN":       func(c *sac.Config) { c.Settings.Rate = math.NaN() },
		"a discount of 1":     func(c *sac.Config) { c.Settings.Discount = 1 },
		"no Polyak":           func(c *sac.Config) { c.Settings.Polyak = 0 },
		"a replay of one row": func(c *sac.Config) { c.Settings.Replay = 1 },
		"discrete actions":    func(c *sac.Config) { c.Env = odd{c.Env, idrl.ActionSpec{Num: 3}} },
		"an endless action": func(c *sac.Config) {
			c.Env = odd{c.Env, idrl.ActionSpec{Low: []float64{0}, High: []float64{math.Inf(1)}}}
		},
		"no snapshots": func(c *sac.Config) { c.Env = odd{c.Env, c.Env.Spec().Actions} },
	} {
		t.Run(name, func(t *testing.T) {
			c := sac.Config{Settings: small(), Env: pointmass.New(pointmass.Config{}), Reward: nearness}
			change(&c)
			if _, err := sac.New(c); idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("error %v, want one of kind Invalid", err)
			}
		})
	}
}

// odd is an environment with other actions, and without snapshots.
type odd struct {
	idrl.Environment
	actions idrl.ActionSpec
}

func (o odd) Spec() idrl.EnvSpec {
	s := o.Environment.Spec()
	s.Actions = o.actions
	return s
}
