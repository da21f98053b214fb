package librarian

// RecipeFor returns the recipe of the robot of an environment; the zero Recipe if none
// is known.
func RecipeFor(env string) Recipe { return recipes[env] }

// none are the ends of features where gaits do not reach them.
var none = []string{}

// recipes are by environments. What a robot falls under its gaits must learn first:
// standing is learnt in episodes that end at a fall, and hopping and walking are found by
// soft actor-critic, as search among linear policies stays with standing.
var recipes = map[string]Recipe{
	"half-cheetah": {Alive: map[string]float64{"Upright": 0.5}},
	"ant": {
		Alive: map[string]float64{"Upright": 0.5}, Gaits: 48, Ends: none,
		Skills: []Skill{
			{Name: "walking", Theta: map[string]float64{"Distance forward": 1, "Upright": 0.5}, Falls: true, Generations: 40},
			{Name: "walking backward", Theta: map[string]float64{"Distance forward": -1, "Upright": 0.5}, Falls: true, Generations: 40},
		},
	},
	"hopper": {
		Gaits: 30, Mutants: 260, Count: 36, Ends: none,
		Skills: []Skill{
			{Name: "hopping", Theta: map[string]float64{"Distance forward": 1, "Standing": 1, "Effort": -0.001}, Falls: true, Steps: 110_000},
			{Name: "hopping steadily", Theta: map[string]float64{"Distance forward": 1, "Standing": 1, "Effort": -0.001}, Falls: true, Steps: 140_000},
			{Name: "standing", Theta: map[string]float64{"Standing": 1}, Falls: true, Iterations: 45},
		},
	},
	"walker2d": {
		Gaits: 30, Mutants: 160, Count: 36, Ends: none,
		Skills: []Skill{
			{Name: "running", Theta: map[string]float64{"Distance forward": 1, "Standing": 1, "Effort": -0.001}, Falls: true, Steps: 120_000},
			{Name: "walking", Theta: map[string]float64{"Distance forward": 1, "Standing": 1, "Effort": -0.001}, Falls: true, Steps: 120_000},
		},
	},
	"reacher": {
		Gaits: 30, Mutants: 40, Ends: none,
		Skills: []Skill{
			{Name: "reaching", Theta: map[string]float64{"Distance to the target": -1, "At the target": 1, "Effort": -0.02}, Steps: 15_000},
			{Name: "away from the target", Theta: map[string]float64{"Distance to the target": 1, "Effort": -0.02}, Steps: 5_000},
		},
	},
	"inverted-pendulum": {
		Gaits: 30, Mutants: 60, Ends: none,
		Skills: []Skill{
			{Name: "balancing", Theta: map[string]float64{"Tilt": -1}, Iterations: 40},
			{Name: "balancing to the right", Theta: map[string]float64{"Tilt": -1, "Cart to the right": 0.1}, Iterations: 40},
		},
	},
	"inverted-double-pendulum": {
		Gaits: 30, Mutants: 60, Ends: none,
		Skills: []Skill{{Name: "balancing", Theta: map[string]float64{"Tip too low": -1, "Tip off centre": -0.1}, Iterations: 60}},
	},
	"swimmer":          {},
	"swimmer-corridor": {Ends: none, Mutants: 30},
	"ant-corridor":     {Ends: none, Mutants: 30, Gaits: 40},
}
