// Package experiment measures how fast rewards are learned: the project's own
// belief, acquisition, solver and trainer, with a simulated expert in place of
// people and no server. It draws learning curves of paired methods.
package experiment

import (
	"math/rand/v2"
	"strings"

	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/internal/idrl"
	"tiebreak/internal/sim"

	"gonum.org/v1/gonum/floats"
)

// A Setting is an experiment but for its seeds.
type Setting struct {
	Name    string
	Title   string // of its plots
	Answers int    // of a run, unless Config says otherwise
	Unit    string // of the regret

	spec     idrl.SessionSpec                         // of the model; its acquisition is the method's
	newEnv   func(layout *rand.Rand) idrl.Environment // the instance of a seed
	expert   string                                   // kind
	options  func(returns []float64) sim.Options      // of the expert; returns are the pool's
	pool     int                                      // policies of the trainer's pool; negative for none
	restarts int                                      // random starts of every solve
	known    func(theta []float64) []float64          // the weights that answers can tell
}

// Settings returns every setting.
func Settings() []Setting {
	return []Setting{driverSetting(), gridworldSetting(1), gridworldSetting(2)}
}

// FindSetting returns the setting of a name, or an error of kind Invalid that
// lists the names there are.
func FindSetting(name string) (Setting, error) {
	var names []string
	for _, s := range Settings() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Setting{}, idrl.Errorf(idrl.Invalid, "unknown setting %q; known: %s", name, strings.Join(names, ", "))
}

// driverSetting compares whole drives. The expert is the paper's: with returns
// scaled to [0, 1] over the pool, it prefers a with probability (1+r_a−r_b)/2.
//
// The model is the live sessions' default, a probit with independent weights,
// set to the scale of the task: true weights have norm ½ over four features,
// and the returns of a pool span R = 5.84 on average (over 20 seeds from 1000
// on), where a probit with s = 0.8 R has the slope of the expert's answers at
// indifference. The expert never says equal, so the tie band is thin.
func driverSetting() Setting {
	return Setting{
		Name: "driver", Title: "Driver, comparisons of clips", Answers: 100, Unit: "return of 50 steps",
		spec: idrl.SessionSpec{
			Kind: idrl.CompareClips, Prior: "linear", Likelihood: "probit",
			PriorVar: 0.0625, NoiseStd: 4.7, TieBand: 0.02,
		},
		newEnv: func(*rand.Rand) idrl.Environment { return driver.New() },
		expert: "bernoulli",
		options: func(returns []float64) sim.Options {
			return sim.Options{Range: floats.Max(returns) - floats.Min(returns)}
		},
		pool: 100, restarts: 4,
		known: func(theta []float64) []float64 { return theta[:len(theta)-1] },
	}
}

// gridworldSetting rates states, as in the paper: rewards in [0, 1], answers
// with Gaussian noise of standard deviation 0.1, and the kernel of the
// authors' code with its variance of 4. Ratings are cut off at 1.
func gridworldSetting(tosses int) Setting {
	s := Setting{
		Name: "gridworld", Title: "Gridworld, ratings of states, walls as in the paper's text", Answers: 20, Unit: "discounted return",
		spec: idrl.SessionSpec{Kind: idrl.RateState, Prior: "kernel", PriorVar: 4, RatingVar: 0.01},
		newEnv: func(layout *rand.Rand) idrl.Environment {
			return gridworld.New(gridworld.Config{WallTosses: tosses}, layout)
		},
		expert:  "bernoulli",
		options: func([]float64) sim.Options { return sim.Options{Range: 1, NoiseStd: 0.1} },
		pool:    -1,
		known:   func(theta []float64) []float64 { return theta },
	}
	if tosses == 2 {
		s.Name, s.Title = "gridworld-code", "Gridworld, ratings of states, walls as in the authors' code"
	}
	return s
}
