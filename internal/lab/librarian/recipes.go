package librarian

import (
	"cmp"
	"fmt"

	"tiebreak/envs/corridor"
	"tiebreak/envs/mujoco"
)

// RecipeFor returns the recipe of the robot of an environment; the zero Recipe if none
// is known.
func RecipeFor(env string) Recipe { return recipes[env] }

// none are the ends of features where gaits do not reach them.
var none = []string{}

// forward are the weights of what goes forward or, with −1, backward, and stands.
func forward(speed float64) map[string]float64 {
	return map[string]float64{"Distance forward": speed, "Standing": 1, "Effort": -0.001}
}

// stand are the weights of what stands, by which is chosen among blends.
var stand = map[string]float64{"Standing": 1}

// antSight are the ant's tilt, its velocity and its spin, whatever its legs do.
var antSight = Observations{2, 3, 4, 13, 14, 15, 16, 17, 18}

// recipes are by environments. What a robot falls under its gaits must learn first:
// standing is learnt in episodes that end at a fall, and hopping and walking are found by
// soft actor-critic, as search among linear policies stays with standing. Seeds of
// soft actor-critic are the best of three that were tried (BenchmarkGaits of package sac).
var recipes = map[string]Recipe{
	"half-cheetah": {
		Alive: map[string]float64{"Upright": 0.5},
		Skills: []Skill{
			{Name: "a run", Step: true, Theta: map[string]float64{"Distance forward": 1, "Effort": -0.1}, By: Gait{Generations: 50}},
			{Name: "running", Theta: map[string]float64{"Distance forward": 1, "Effort": -0.1}, By: Feedback{From: "a run", Iterations: 40, Seed: 1}},
			{Name: "a run backward", Step: true, Theta: map[string]float64{"Distance forward": -1, "Effort": -0.1, "Upright": 0.5}, By: Gait{Generations: 50}},
			{Name: "running backward", Theta: map[string]float64{"Distance forward": -1, "Effort": -0.1, "Upright": 0.5}, By: Feedback{From: "a run backward", Iterations: 40, Seed: 1}},
			{Name: "resting", By: Held{}},
		},
	},
	"ant": {
		Gaits: 40, Falls: true, Alive: map[string]float64{"Upright": 0.5}, Ends: []string{"Effort", "Height", "Turning left", "Upright"},
		Skills: []Skill{
			{Name: "wandering", Step: true, Theta: map[string]float64{"Distance forward": 1, "Upright": 0.5}, Falls: true, By: Gait{Generations: 40}},
			{
				Name: "walking", Theta: map[string]float64{"Distance forward": 1, "Upright": 1}, Falls: true,
				By: Feedback{From: "wandering", Iterations: 30, Sight: antSight, Seed: 1},
			},
			{Name: "walking to the left", By: Turned{From: "walking", Quarters: 1}},
			{Name: "walking backward", By: Turned{From: "walking", Quarters: 2}},
			{Name: "walking to the right", By: Turned{From: "walking", Quarters: 3}},
			{Name: "resting", By: Held{}},
		},
	},
	"hopper": {
		Gaits: 30, Mutants: 150, Wide: 10, Count: 30, Ends: none, Falls: true,
		Skills: []Skill{
			{Name: "hopping", Theta: forward(1), Falls: true, By: Network{Steps: 110_000, Seed: 3}},
			{Name: "standing", Theta: map[string]float64{"Standing": 1, "Height": 0.5, "Effort": -0.001}, Falls: true, By: Network{Steps: 30_000, From: "hopping", Seed: 3}},
			{Name: "hopping slowly", Theta: stand, Falls: true, By: Blend{"hopping", "standing", 0.6}},
			{Name: "hopping at ease", Step: true, Theta: stand, Falls: true, By: Blend{"hopping", "standing", 0.3}},
		},
	},
	"walker2d": {
		Gaits: 20, Mutants: 120, Count: 36, Ends: none, Falls: true,
		Skills: []Skill{
			{Name: "running", Theta: forward(1), Falls: true, By: Network{Steps: 120_000, Seed: 3}},
			{Name: "standing", Theta: forward(-1), Falls: true, By: Network{Steps: 30_000, From: "running", Seed: 3}}, // it learns no better way back
			{Name: "walking", Theta: forward(1), Falls: true, By: Network{Steps: 120_000, Seed: 2}},
		},
	},
	"swimmer": {
		Skills: []Skill{
			{Name: "swimming", Theta: map[string]float64{"Distance forward": 1}, By: Linear{Iterations: 150, Directions: 1, StepSize: 0.02, Noise: 0.01}},
			{Name: "swimming backward", Theta: map[string]float64{"Distance forward": -1}, By: Gait{Generations: 30, Steps: 400}},
			{Name: "to the left", Theta: map[string]float64{"Distance to the left": 1}, By: Gait{Generations: 30, Steps: 400}},
			{Name: "to the right", Theta: map[string]float64{"Distance to the left": -1}, By: Gait{Generations: 30, Steps: 400, Seed: 1}},
			{Name: "resting", By: Held{}},
		},
	},
	"reacher": {
		Gaits: 30, Mutants: 60, Ends: none,
		Skills: []Skill{
			{Name: "coming near", Step: true, Theta: map[string]float64{"Distance to the target": -0.1, "At the target": 0.2, "Effort": -0.02}, By: Network{Steps: 40_000, Seed: 1}},
			{Name: "reaching", Theta: map[string]float64{"Distance to the target": -1, "At the target": 0.2, "Effort": -0.01}, By: Network{Steps: 40_000, From: "coming near", Seed: 1}},
			{Name: "away from the target", Theta: map[string]float64{"Distance to the target": 0.1, "Effort": -0.02}, By: Network{Steps: 6_000, From: "coming near", Seed: 1}},
			{Name: "circling", By: Held{Shares: "0.15"}},
			{Name: "resting", By: Held{}},
		},
	},
	"inverted-pendulum": {
		Gaits: 30, Mutants: 80, Ends: none, Falls: true,
		Skills: []Skill{
			{Name: "balancing", By: Given{Gains: cartGains}},
			{Name: "balancing to the right", By: Given{Gains: cartGains, Aim: "0.5"}},
			{Name: "balancing to the left", By: Given{Gains: cartGains, Aim: "-0.5"}},
			{Name: "hanging", By: Held{}},
		},
	},
	"inverted-double-pendulum": {
		Gaits: 30, Mutants: 300, Wide: 0.3, Ends: none, Falls: true,
		Skills: []Skill{
			{Name: "balancing", By: Given{Gains: doubleGains}},
			{Name: "balancing to the right", By: Given{Gains: doubleGains, Aim: "0.1"}},
			{Name: "balancing to the left", By: Given{Gains: doubleGains, Aim: "-0.1"}},
			{Name: "hanging", By: Held{}},
		},
	},
	"swimmer-corridor": {
		Ends: none, Shown: corridorEnds, Mutants: 60,
		Skills: []Skill{
			{Name: "along the corridor", By: Shipped{mujoco.SwimmerExplorer}},
			{Name: "to the goal", Theta: toGoal(0.05), By: Linear{Iterations: 25, From: "along the corridor"}},
			{Name: "resting", By: Held{}},
		},
	},
	"ant-corridor": {
		Ends: none, Shown: corridorEnds, Mutants: 30, Gaits: 40,
		Skills: []Skill{
			{Name: "along the corridor", By: Shipped{mujoco.AntExplorer}},
			{Name: "to the left", By: Held{"1"}},
			{Name: "forward", By: Held{"0 1"}},
			{Name: "to the right", By: Held{"0 0 1"}},
			{Name: "backward", By: Held{"0 0 0 1"}},
			{Name: "standing", By: Held{"0 0 0 0 1"}},
		},
	},
}

// Gains with which a pole is balanced: place of the cart, angle, and their velocities; of two
// poles, the sines and cosines of their angles. They were found by CMA-ES (package cmaes) over
// steps before a fall, those of two poles then among 400 random changes over 60 starts: 300
// steps pass without a fall from 99 of 100 fresh ones. Soft actor-critic for as many steps as other robots need balances neither, since
// episodes do not end where the pole falls.
const (
	cartGains   = "1.2484 12.226 1.2236 0.84211"
	doubleGains = "-0.21886 -2.2220 -10.747 0 0 -0.80974 -1.6790 -1.4775"
)

// corridorEnds are the features of the cell in which episodes of a corridor begin.
var corridorEnds = []string{"Cell 1: forward", "Cell 1: sideways"}

// toGoal are the weights of what goes to the seventh cell of a corridor and stays there.
func toGoal(staying float64) map[string]float64 {
	out := map[string]float64{"Cell 7: staying": staying}
	for cell := 1; cell <= corridor.Cells; cell++ {
		if way := cmp.Compare(7, cell); way != 0 {
			out[fmt.Sprintf("Cell %d: forward", cell)] = float64(way)
		}
	}
	return out
}
