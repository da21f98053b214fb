package librarian

import "tiebreak/envs/mujoco"

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
			{Name: "a run", Theta: map[string]float64{"Distance forward": 1, "Effort": -0.1}, By: Gait{Generations: 50}},
			{Name: "running", Theta: map[string]float64{"Distance forward": 1, "Effort": -0.1}, By: Feedback{From: "a run", Iterations: 40, Seed: 1}},
			{Name: "a run backward", Theta: map[string]float64{"Distance forward": -1, "Effort": -0.1, "Upright": 0.5}, By: Gait{Generations: 50}},
			{Name: "running backward", Theta: map[string]float64{"Distance forward": -1, "Effort": -0.1, "Upright": 0.5}, By: Feedback{From: "a run backward", Iterations: 40, Seed: 1}},
			{Name: "resting", By: Held{}},
		},
	},
	"ant": {
		Gaits: 40, Falls: true, Alive: map[string]float64{"Upright": 0.5}, Ends: []string{"Effort", "Height", "Turning left", "Upright"},
		Skills: []Skill{
			{Name: "wandering", Theta: map[string]float64{"Distance forward": 1, "Upright": 0.5}, Falls: true, By: Gait{Generations: 40}},
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
		Gaits: 20, Mutants: 150, Count: 36, Ends: none, Falls: true,
		Skills: []Skill{
			{Name: "hopping", Theta: forward(1), Falls: true, By: Network{Steps: 110_000, Seed: 3}},
			{Name: "standing", Theta: map[string]float64{"Standing": 1, "Height": 0.5, "Effort": -0.001}, Falls: true, By: Network{Steps: 30_000, From: "hopping", Seed: 3}},
			{Name: "hopping slowly", Theta: stand, Falls: true, By: Blend{"hopping", "standing", 0.6}},
			{Name: "hopping at ease", Theta: stand, Falls: true, By: Blend{"hopping", "standing", 0.3}},
		},
	},
	"walker2d": {
		Gaits: 20, Mutants: 120, Count: 36, Ends: none, Falls: true,
		Skills: []Skill{
			{Name: "running", Theta: forward(1), Falls: true, By: Network{Steps: 120_000, Seed: 3}},
			{Name: "standing", Theta: forward(-1), Falls: true, By: Network{Steps: 30_000, From: "running", Seed: 3}}, // it learns no better way back
			{Name: "walking slowly", Theta: stand, Falls: true, By: Blend{"running", "standing", 0.6}},
			{Name: "walking", Theta: stand, Falls: true, By: Blend{"running", "standing", 0.3}},
		},
	},
	"swimmer": {
		Skills: []Skill{
			{Name: "strokes forward", Theta: map[string]float64{"Distance forward": 1}, By: Gait{Generations: 30, Steps: 400}},
			{Name: "swimming forward", Theta: map[string]float64{"Distance forward": 1}, By: Feedback{From: "strokes forward", Iterations: 40, Seed: 1}},
			{Name: "strokes backward", Theta: map[string]float64{"Distance forward": -1}, By: Gait{Generations: 30, Steps: 400}},
			{Name: "swimming backward", Theta: map[string]float64{"Distance forward": -1}, By: Feedback{From: "strokes backward", Iterations: 40, Seed: 1}},
			{Name: "strokes to the left", Theta: map[string]float64{"Distance to the left": 1}, By: Gait{Generations: 30, Steps: 400}},
			{Name: "swimming to the left", Theta: map[string]float64{"Distance to the left": 1}, By: Feedback{From: "strokes to the left", Iterations: 40, Seed: 1}},
			{Name: "strokes to the right", Theta: map[string]float64{"Distance to the left": -1}, By: Gait{Generations: 30, Steps: 400}},
			{Name: "swimming to the right", Theta: map[string]float64{"Distance to the left": -1}, By: Feedback{From: "strokes to the right", Iterations: 40, Seed: 1}},
			{Name: "resting", By: Held{}},
		},
	},
}

var _ = mujoco.AntExplorer
