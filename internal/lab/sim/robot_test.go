package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"

	"gonum.org/v1/gonum/floats"
)

// newRobot returns a robot of which nothing but its description is known, with
// steps of half a second.
func newRobot(id string, features ...string) named {
	return named{spec: idrl.EnvSpec{ID: id, FeatureNames: features, StepSeconds: 0.5}}
}

// TestRobots compares weights with the formulas of the paper: a reward is the mean
// rate of features that are integrals over steps of half a second.
func TestRobots(t *testing.T) {
	for _, test := range []struct {
		id       string
		features []string
		want     []float64
	}{
		{"half-cheetah", []string{"Upright", "Distance forward", "Effort"}, []float64{0, 2, -0.2}},
		{"walker2d", []string{"Distance forward", "Effort", "Constant", "Standing"}, []float64{2, -0.002, 0, 2}},
		{"hopper-classic", []string{"Constant", "Standing", "Effort", "Distance forward"}, []float64{0, 2, -0.002, 2}},
		{
			"ant",
			[]string{"Distance forward", "Effort", "Constant", "Standing", "Contact forces"},
			[]float64{2, -1, 0, 2, -0.001},
		},
		{"swimmer", []string{"Distance forward", "Effort"}, []float64{2, -0.0002}},
		{"inverted-pendulum", []string{"Constant", "Tilt"}, []float64{2, -2}},
		{
			"inverted-double-pendulum", // 10 a second and 10 (y − 1) cancel but for 10 y, where the feature is 2 y
			[]string{"Constant", "Tip off centre", "Tip too low", "Swing", "Tip height"},
			[]float64{0, -0.02, -4, -0.5, 10},
		},
		{"reacher-classic", []string{"Effort", "Distance to the target"}, []float64{-0.4, -0.04}},
	} {
		t.Run(test.id, func(t *testing.T) {
			env := newRobot(test.id, test.features...)
			for _, got := range []struct {
				name string
				task sim.Task
			}{
				{"paper", sim.NewTask(env, rng.New(1, "task", 0))},
				{"code", sim.NewCodeTask(env, rng.New(1, "task", 0))},
				{"raw", sim.NewRawTask(env, rng.New(1, "task", 0))},
			} {
				if got.task.Env != test.id || !floats.EqualApprox(got.task.Theta, test.want, 1e-15) {
					t.Errorf("%s: %+v, want %v", got.name, got.task, test.want)
				}
			}
		})
	}
}

// TestCorridors compares with docs/paper-code.md, section 1.6.
func TestCorridors(t *testing.T) {
	var features []string
	var want []float64
	for c := range 13 {
		for _, what := range []string{"forward", "sideways", "staying"} {
			features = append(features, fmt.Sprintf("Cell %d: %s", c+1, what))
		}
		switch {
		case c < 6:
			want = append(want, 1, 0, 0)
		case c == 6:
			want = append(want, 0, 0, 0)
		default:
			want = append(want, -1, 0, 0)
		}
	}
	for _, id := range []string{"swimmer-corridor", "ant-corridor"} {
		if got := sim.NewTask(newRobot(id, features...), rng.New(1, "task", 0)); got.Env != id || !slices.Equal(got.Theta, want) {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

func TestRobotsPanic(t *testing.T) {
	for _, test := range []struct {
		name string
		make func() sim.Task
	}{
		{"a robot without its features", func() sim.Task {
			return sim.NewTask(newRobot("hopper", "Effort"), rng.New(1, "task", 0))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was accepted")
				}
			}()
			test.make()
		})
	}
}
