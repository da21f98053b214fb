//go:build mujoco

package behaviour_test

import (
	"fmt"
	"syscall"
	"testing"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/plan/sac"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// Half-cheetah is learnt on its true reward on one core: a gait until the first mark, another
// one from elsewhere until the second, and then feedback for the better of the two; beside linear policies by
// augmented random search and networks by soft actor-critic with the settings of live sessions.
const (
	firstMark  = 15 // CPU seconds
	secondMark = 27
	lastMark   = 60
)

// BenchmarkLearn reports at the two marks the mean and the least return over six starts
// that no training has seen, each in the whole episode of 1,000 steps. Testing is not
// counted as training.
//
//	go test -tags mujoco -run - -bench Learn -benchtime 1x ./internal/plan/behaviour
func BenchmarkLearn(b *testing.B) {
	for seed := uint64(21); seed <= 23; seed++ { // the settings were chosen on others
		for _, way := range []struct {
			name  string
			begin func(l *learner)
		}{{"gait", (*learner).gaits}, {"ars", (*learner).linear}, {"sac", (*learner).networks}} {
			b.Run(fmt.Sprintf("%s/seed=%d", way.name, seed), func(b *testing.B) {
				for b.Loop() {
					way.begin(newLearner(b, seed))
				}
			})
		}
	}
}

// A learner is one training.
type learner struct {
	*testing.B
	env, test idrl.Environment
	theta     []float64
	seed      uint64
	task      idrl.SolveTask

	began  float64   // CPU seconds of the process
	paused float64   // of these, not for training
	marks  []float64 // still to come
}

func newLearner(b *testing.B, seed uint64) *learner {
	l := &learner{B: b, seed: seed, began: cpu(), marks: []float64{firstMark, lastMark}}
	for _, env := range []*idrl.Environment{&l.env, &l.test} {
		var err error
		if *env, err = mujoco.NewTask(mujoco.HalfCheetahID, mujoco.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	l.theta = sim.NewTask(l.env, nil).Theta
	l.task = idrl.SolveTask{Env: l.env, Theta: l.theta}
	return l
}

// spent returns the CPU seconds of the training so far.
func (l *learner) spent() float64 { return cpu() - l.began - l.paused }

// before reports whether a mark is still to come. At a mark it tests the policy.
func (l *learner) before(mark float64, policy func() idrl.Policy) bool {
	if len(l.marks) > 0 && l.spent() >= l.marks[0] {
		now, pause := l.spent(), cpu()
		returns := l.returns(policy())
		l.Logf("%.1f CPU s: returns %.0f", now, returns)
		l.ReportMetric(floats.Sum(returns)/float64(len(returns)), fmt.Sprintf("mean/%.0fs", l.marks[0]))
		l.ReportMetric(floats.Min(returns), fmt.Sprintf("least/%.0fs", l.marks[0]))
		l.marks = l.marks[1:]
		l.paused += cpu() - pause
	}
	return l.spent() < mark
}

// returns plays the six episodes of a test.
func (l *learner) returns(p idrl.Policy) []float64 {
	rs := make([]float64, 6)
	for k := range rs {
		for _, step := range idrl.EpisodeOf(l.test, p, rng.New(1, "test start", uint64(k))) {
			if step.Kind != idrl.First {
				rs[k] += floats.Dot(l.theta, step.Phi)
			}
		}
	}
	return rs
}

func (l *learner) check(err error) {
	if err != nil {
		l.Fatal(err)
	}
}

// gaits learns two oscillators, and then feedback for the better one. Which gait a search
// ends in is decided early, and one in four ends in a poor one.
func (l *learner) gaits() {
	gait := func(best func([]float64) (solver.Known, bool)) idrl.Policy {
		k, _ := best(l.theta)
		p, err := solver.NewGait(l.env.Spec(), k.Params)
		l.check(err)
		return p
	}
	for k, mark := range []float64{firstMark, secondMark} {
		evolution, err := solver.Evolve{}.Begin(l.Context(), idrl.SolveTask{Env: l.env, Theta: l.theta}, l.seed+1000*uint64(k))
		l.check(err)
		for l.before(mark, func() idrl.Policy { return gait(evolution.Best) }) {
			l.check(evolution.Run(l.Context(), l.theta, 1))
		}
		l.task.Warm = append(l.task.Warm, gait(evolution.Best).Params())
	}
	feedback, err := solver.Feedback{}.Begin(l.Context(), l.task, l.seed)
	l.check(err)
	for l.before(lastMark, func() idrl.Policy { return gait(feedback.Best) }) {
		l.check(feedback.Run(l.Context(), l.theta, 1))
	}
}

// linear learns by rounds of augmented random search, each from the policy of the last.
func (l *learner) linear() {
	ars := solver.ARSFor(l.env.Spec())
	ars.Iterations = 10
	var p idrl.Policy
	for round := uint64(0); p == nil || l.before(lastMark, func() idrl.Policy { return p }); round++ {
		var err error
		p, err = ars.Solve(l.Context(), l.task, rng.New(l.seed, "ars", round))
		l.check(err)
		l.task.Warm = [][]float64{p.Params()}
	}
}

// networks learns by soft actor-critic.
func (l *learner) networks() {
	settings := sac.Live()
	settings.Features, settings.Time = true, true
	agent, err := sac.New(sac.Config{Settings: settings, Env: l.env, Reward: sac.Linear(l.theta), Seed: l.seed})
	l.check(err)
	for l.before(lastMark, func() idrl.Policy { return agent.Policy(false) }) {
		l.check(agent.Run(l.Context(), 500, nil))
	}
}

// cpu returns the CPU seconds of the process.
func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	sec := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return sec(r.Utime) + sec(r.Stime)
}
