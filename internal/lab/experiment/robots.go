package experiment

import (
	"math/rand/v2"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/idrl"
)

// A robot is what differs between the two corridors.
type robot struct {
	// newEnv returns its corridor, with the features and the geometry of package
	// corridor; or an error where there is no simulator. All that it returns are
	// equal.
	newEnv func() (idrl.Environment, error)

	// explorer returns the parameters of the linear policy that moves along the
	// whole corridor.
	explorer func() ([]float64, error)

	// random stores in dst the action that takes the place of the explorer's in
	// one of ten steps.
	random func(dst idrl.Action, a idrl.ActionSpec, stream *rand.Rand)
}

func swimmer() robot {
	return robot{newEnv: simulated(mujoco.NewSwimmerCorridor), explorer: gait(mujoco.SwimmerExplorer), random: uniformAction}
}

func ant() robot {
	return robot{newEnv: simulated(mujoco.NewAntCorridor), explorer: gait(mujoco.AntExplorer), random: normalAction}
}

// simulated returns the constructor of an environment as a robot has it.
func simulated(newEnv func() (*mujoco.Env, error)) func() (idrl.Environment, error) {
	return func() (idrl.Environment, error) {
		env, err := newEnv()
		if err != nil {
			return nil, err // and not a nil *mujoco.Env
		}
		return env, nil
	}
}

// gait returns a function that reads a trained gait.
func gait(name string) func() ([]float64, error) {
	return func() ([]float64, error) {
		g, err := mujoco.FindGait(name)
		if err != nil {
			return nil, err
		}
		return g.Params()
	}
}

// check returns an error if the robot cannot be simulated here.
func (r robot) check() error {
	if _, err := r.newEnv(); err != nil {
		return err
	}
	_, err := r.explorer()
	return err
}

// uniformAction draws from within the bounds of the actions.
func uniformAction(dst idrl.Action, a idrl.ActionSpec, stream *rand.Rand) {
	for i := range dst {
		dst[i] = a.Low[i] + (a.High[i]-a.Low[i])*stream.Float64()
	}
}

// normalAction draws standard normal numbers, cut to the bounds of the actions.
// The authors' Ant has none. Source: docs/paper-code.md, section 1.6.
func normalAction(dst idrl.Action, a idrl.ActionSpec, stream *rand.Rand) {
	for i := range dst {
		dst[i] = max(a.Low[i], min(a.High[i], stream.NormFloat64()))
	}
}
