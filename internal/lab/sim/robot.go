package sim

import (
	"fmt"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
)

// A weight is the true reward per unit of a feature, which goes by its name.
type weight struct {
	feature string
	value   float64
}

// robotTask returns the reward of one of the paper's tasks with the physics
// engine; ok is false if spec is of no such task.
func robotTask(spec idrl.EnvSpec) (t Task, ok bool) {
	t.Env = spec.ID
	id := robot(spec.ID)
	switch id {
	case "swimmer-corridor", "ant-corridor":
		t.Theta = byName(spec, corridorRewards(), 1)
		return t, true
	}
	weights, ok := paperRewards(id)
	if ok {
		t.Theta = perStep(spec, weights)
	}
	return t, ok
}

// robot returns an id without the suffix of the variant with old inertias.
func robot(envID string) string { return strings.TrimSuffix(envID, "-classic") }

// gymRewards returns the rewards of Gym v3 (v2 for pendulums and Reacher), per
// second: features are integrals over a step, and a reward is their mean rate.
// Source: docs/mujoco.md, section 1.
func gymRewards(id string) ([]weight, bool) {
	switch id {
	case "half-cheetah":
		return []weight{{"Distance forward", 1}, {"Effort", -0.1}}, true
	case "walker2d", "hopper":
		return []weight{{"Distance forward", 1}, {"Effort", -1e-3}, {"Constant", 1}}, true
	case "ant":
		return []weight{{"Distance forward", 1}, {"Effort", -0.5}, {"Contact forces", -5e-4}, {"Constant", 1}}, true
	case "swimmer":
		return []weight{{"Distance forward", 1}, {"Effort", -1e-4}}, true
	case "inverted-pendulum":
		return []weight{{"Constant", 1}}, true
	case "inverted-double-pendulum": // 10 − 0.01x² − (y−2)² − 10⁻³ω₁² − 5·10⁻³ω₂²
		return []weight{{"Constant", 10}, {"Tip off centre", -0.01}, {"Tip too low", -2}, {"Swing", -0.25}}, true
	case "reacher":
		return []weight{{"Distance to the target", -0.02}, {"Effort", -0.2}}, true
	}
	return nil, false
}

// paperRewards returns gymRewards as the paper changes them, where no episode
// ends early. Source: docs/paper-code.md, section 1.7.
func paperRewards(id string) ([]weight, bool) {
	weights, ok := gymRewards(id)
	switch id {
	case "walker2d", "hopper", "ant": // the bonus is paid only while healthy
		weights[len(weights)-1].feature = "Standing"
	case "inverted-pendulum":
		weights = append(weights, weight{"Tilt", -1})
	case "inverted-double-pendulum": // 10(y−1) more
		weights[0].value -= 10
		weights = append(weights, weight{"Tip height", 5})
	}
	return weights, ok
}

// corridorRewards pays for the way to the middle cell.
func corridorRewards() (weights []weight) {
	const cells, goal = 13, 6
	for c := range cells {
		if c != goal {
			weights = append(weights, weight{fmt.Sprintf("Cell %d: forward", c+1), float64(min(1, max(-1, goal-c)))})
		}
	}
	return weights
}

// perStep returns the weights of features that are integrals over a step.
func perStep(spec idrl.EnvSpec, weights []weight) []float64 {
	return byName(spec, weights, 1/spec.StepSeconds)
}

// byName returns scale times the weights, each at the place of its feature. It
// panics if the environment lacks one.
func byName(spec idrl.EnvSpec, weights []weight, scale float64) []float64 {
	theta := make([]float64, spec.FeatureDim())
	for _, w := range weights {
		i := slices.Index(spec.FeatureNames, w.feature)
		if i < 0 {
			panic(fmt.Sprintf("sim: environment %s without the feature %q", spec.ID, w.feature))
		}
		theta[i] = scale * w.value
	}
	return theta
}
