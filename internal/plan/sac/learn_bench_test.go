//go:build mujoco

package sac_test

import (
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/plan/sac"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// BenchmarkHalfCheetah trains with the live settings on the true reward until the CPU
// time is spent, three seeds. It reports the last return and after how many CPU seconds
// one was above 4,500 for the first time, and logs seed, steps, return, CPU seconds.
//
//	go test -tags mujoco -run - -bench HalfCheetah -benchtime 1x ./internal/plan/sac
func BenchmarkHalfCheetah(b *testing.B) {
	const limit, wanted = 180, 4500 // CPU seconds, return
	for seed := uint64(1); seed <= 3; seed++ {
		b.Run(fmt.Sprintf("seed=%d", seed), func(b *testing.B) {
			for b.Loop() {
				s := newStudent(b, mujoco.HalfCheetahID, sac.Live(), seed)
				reached, value := 0.0, 0.0
				for s.spent < limit {
					s.train(5000)
					if value = s.value(); value >= wanted && reached == 0 {
						reached = s.spent
					}
					fmt.Printf("%d %d %.0f %.1f\n", seed, s.agent.Status().Steps, value, s.spent)
				}
				b.ReportMetric(value, "return")
				b.ReportMetric(s.spent, "cpu-s")
				b.ReportMetric(reached, "cpu-s/4500") // 0: never
			}
		})
	}
}

// BenchmarkTasks trains on every task as peers/sb3.py trains Stable-Baselines3, 15,000
// steps with the live settings, and logs in the same form: task, seed, steps, mean return,
// standard deviation, CPU seconds. peers/table.py compares the two logs.
func BenchmarkTasks(b *testing.B) {
	for seed := uint64(1); seed <= 8; seed++ {
		for _, id := range mujoco.Tasks() {
			b.Run(fmt.Sprintf("seed=%d/%s", seed, id), func(b *testing.B) { compareTask(b, id, seed) })
		}
	}
}

func compareTask(b *testing.B, id string, seed uint64) {
	for b.Loop() {
		s := newStudent(b, id, sac.Live(), seed)
		for range 3 {
			s.train(5000)
			mean, std := stat.PopMeanStdDev(s.returns(), nil)
			fmt.Printf("%s %d %d %.2f %.2f %.1f\n", id, seed, s.agent.Status().Steps, mean, std, s.spent)
		}
		b.ReportMetric(s.value(), "return")
	}
}

// A student is an agent that learns a task on its true reward.
type student struct {
	b     *testing.B
	agent *sac.Agent
	test  idrl.Environment
	theta []float64
	spent float64 // CPU seconds of training
}

func newStudent(b *testing.B, id string, s sac.Settings, seed uint64) *student {
	return newStudentIn(b, id, mujoco.Options{}, s, seed)
}

// newStudentIn returns a student that trains in an environment with options; episodes
// that are measured last to the horizon.
func newStudentIn(b *testing.B, id string, o mujoco.Options, s sac.Settings, seed uint64) *student {
	test := newTask(b, id)
	env := must.Get(mujoco.NewTask(id, o))(b)
	theta := sim.NewTask(env, nil).Theta
	s.Features = true
	s.Time = id != mujoco.InvertedPendulumID && id != mujoco.InvertedDoublePendulumID // as in the paper
	return &student{b: b, test: test, theta: theta, agent: newAgent(b, sac.Config{Settings: s, Env: env, Reward: sac.Linear(theta), Seed: seed})}
}

func newTask(b testing.TB, id string) idrl.Environment {
	b.Helper()
	env := must.Get(mujoco.NewTask(id, mujoco.Options{}))(b)
	return env
}

func (s *student) train(steps int) {
	began := cpu()
	run(s.b, s.agent, steps)
	s.spent += cpu() - began
}

// returns plays episodes with the mean actions, over 5,000 steps.
func (s *student) returns() (rs []float64) {
	p := s.agent.Policy(false)
	for steps := 0; steps < 5000; {
		sum := 0.0
		for _, step := range idrl.EpisodeOf(s.test, p, rng.New(1, "test episode", uint64(len(rs)))) {
			if step.Kind != idrl.First {
				sum += floats.Dot(s.theta, step.Phi)
				steps++
			}
		}
		rs = append(rs, sum)
	}
	return rs
}

func (s *student) value() float64 {
	return stat.Mean(s.returns(), nil)
}
