package seeing

import (
	"cmp"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// A Taste says what a person likes to see in an environment.
type Taste struct {
	Env, Name string
	About     string  // in the words of a person
	Equal     float64 // clips whose worths differ by less are equal to the person; > 0
	Low, High float64 // worths that get the least and the highest rating: about those of what the libraries show
	Stills    bool    // still states can be judged, too

	worth func(c *clip.Clip) (float64, error)
}

// Worth returns how much the person likes a clip, by its drawn states. Speeds count in world units
// per simulated second. It returns an error of kind Invalid if the clip is of another
// environment, or a still that the taste cannot judge.
func (t Taste) Worth(c *clip.Clip) (float64, error) {
	if c.Header.Env != t.Env {
		return 0, idrl.Errorf(idrl.Invalid, "a taste about %s is asked about a clip of %s", t.Env, c.Header.Env)
	}
	return t.worth(c)
}

// Find returns the taste of a name about an environment; the first one if the name is empty. It
// returns an error of kind Invalid if there is none.
func Find(env, name string) (Taste, error) {
	var names []string
	for _, t := range Tastes() {
		if t.Env != env {
			continue
		}
		if t.Name == cmp.Or(name, t.Name) {
			return t, nil
		}
		names = append(names, t.Name)
	}
	if names == nil {
		return Taste{}, idrl.Errorf(idrl.Invalid, "there is no taste for %q: choose one of the environments %s", env, strings.Join(Environments(), ", "))
	}
	return Taste{}, idrl.Errorf(idrl.Invalid, "there is no taste %q for %s: choose one of %s", name, env, strings.Join(names, ", "))
}

// Environments returns the ids of the environments that there are tastes about.
func Environments() (out []string) {
	for _, t := range Tastes() {
		if !slices.Contains(out, t.Env) {
			out = append(out, t.Env)
		}
	}
	return out
}

// Robots returns those of Environments that are robots.
func Robots() []string {
	return slices.DeleteFunc(Environments(), func(env string) bool {
		_, ok := bodies[env]
		return !ok
	})
}

// Tastes returns all tastes.
func Tastes() []Taste {
	return slices.Concat(flatTastes(), []Taste{
		{"half-cheetah", "forward", "run forward, on your feet", 0.1, -2, 6, false, robot(func(m motion) float64 { return m.speed + m.upright })},
		{"half-cheetah", "backward", "run backward, on your feet", 0.1, -2, 6, false, robot(func(m motion) float64 { return -m.speed + m.upright })},
		{"half-cheetah", "still", "stand still, on your feet", 0.1, -4, 2, false, robot(steady)},
		{"half-cheetah", "limp", "keep your front foot off the ground and your body level", 0.03, 0, 0.8, false, robot(func(m motion) float64 { return m.lifted })},
		{"half-cheetah", "backflip", "turn over backwards, again and again", 0.05, -0.5, 0.5, false, robot(over)},
		{"hopper", "forward", "hop forward without falling", 0.1, 0, 4, false, robot(onFeet)},
		{"hopper", "backflip", "turn over backwards, again and again", 0.05, -0.5, 0.5, false, robot(over)},
		{"walker2d", "forward", "walk forward without falling", 0.1, 0, 4, false, robot(onFeet)},
		{"ant", "forward", "walk to the right of the picture, on your feet", 0.1, -1, 3, false, robot(func(m motion) float64 { return 2*m.speed + m.upright })},
		{"ant", "backward", "walk to the left of the picture, on your feet", 0.1, -1, 3, false, robot(func(m motion) float64 { return -2*m.speed + m.upright })},
		{"ant", "still", "stand still, on your feet", 0.1, -2, 2, false, robot(steady)},
		{"swimmer", "forward", "swim to the right of the picture", 0.02, -0.2, 0.3, false, robot(func(m motion) float64 { return m.speed })},
		{"reacher", "reach", "bring the tip to the ball and hold it there", 0.05, -1.6, 0, false, robot(func(m motion) float64 { return -m.away })},
		{"inverted-pendulum", "balance", "keep the pole up, and still", 0.1, -3, 2, false, robot(steady)},
		{"inverted-double-pendulum", "balance", "keep both poles up, and still", 0.1, -14, 2, false, robot(steady)},
		{"swimmer-corridor", "goal", "swim to the goal", 0.03, -0.1, 0.25, false, robot(toGoal)},
		{"ant-corridor", "goal", "walk to the goal", 0.05, -0.6, 0.8, false, robot(toGoal)},
	})
}

func onFeet(m motion) float64 { return m.speed + 2*m.upright }
func steady(m motion) float64 { return 2*m.upright - m.motion }
func over(m motion) float64   { return m.turning }
func toGoal(m motion) float64 { return m.nearer }
