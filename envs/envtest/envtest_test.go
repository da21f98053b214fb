package envtest_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tiebreak/envs/driver"
	"tiebreak/envs/envtest"
	"tiebreak/envs/gridworld"
	"tiebreak/envs/junction"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
)

// A broken environment is a sound one with one fault.
type broken struct {
	*driver.Env
	reset func(*driver.Env, idrl.TimeStep) idrl.TimeStep
	step  func(*driver.Env, idrl.TimeStep) idrl.TimeStep
	spec  func(idrl.EnvSpec) idrl.EnvSpec
	draw  func(*idrl.Scene)
	shift float64 // of what Return says
}

func (b *broken) Spec() idrl.EnvSpec {
	if b.spec == nil {
		return b.Env.Spec()
	}
	return b.spec(b.Env.Spec())
}

func (b *broken) Reset(stream *rand.Rand) idrl.TimeStep {
	ts := b.Env.Reset(stream)
	if b.reset != nil {
		ts = b.reset(b.Env, ts)
	}
	return ts
}

func (b *broken) Step(a idrl.Action) idrl.TimeStep {
	ts := b.Env.Step(a)
	if b.step != nil {
		ts = b.step(b.Env, ts)
	}
	return ts
}

func (b *broken) Draw(dst *idrl.Scene) {
	b.Env.Draw(dst)
	if b.draw != nil {
		b.draw(dst)
	}
}

func (b *broken) Return(grad, actions, theta []float64) float64 {
	return b.Env.Return(grad, actions, theta) + b.shift
}

// drunk is a gridworld whose table says other than its steps.
type drunk struct{ *gridworld.Env }

func (d drunk) Transition(dst []float64, s, a int) []float64 {
	return d.Env.Transition(dst, s, (a+1)%d.Spec().Actions.Num)
}

// restless is a junction that draws when a state is restored.
type restless struct {
	*junction.Env
	stream *rand.Rand
}

func (r *restless) Reset(stream *rand.Rand) idrl.TimeStep {
	r.stream = stream
	return r.Env.Reset(stream)
}

func (r *restless) Restore(s []float64) {
	r.stream.Uint64()
	r.Env.Restore(s)
}

// faults are environments that must not pass.
func faults() map[string]func() idrl.Environment {
	with := func(spoil func(*broken)) func() idrl.Environment {
		return func() idrl.Environment {
			b := &broken{Env: driver.New()}
			spoil(b)
			return b
		}
	}
	calls := 0 // what the environment must not remember
	return map[string]func() idrl.Environment{
		"a first step with features": with(func(b *broken) {
			b.reset = func(_ *driver.Env, ts idrl.TimeStep) idrl.TimeStep { ts.Phi = make([]float64, 5); return ts }
		}),
		"an observation too short": with(func(b *broken) {
			b.step = func(_ *driver.Env, ts idrl.TimeStep) idrl.TimeStep { ts.Obs = ts.Obs[1:]; return ts }
		}),
		"memory across episodes": with(func(b *broken) {
			b.step = func(_ *driver.Env, ts idrl.TimeStep) idrl.TimeStep {
				calls++
				ts.Phi[0] += float64(calls)
				return ts
			}
		}),
		"no horizon": with(func(b *broken) {
			b.spec = func(s idrl.EnvSpec) idrl.EnvSpec { s.Horizon = 0; return s }
		}),
		"two features of one name": with(func(b *broken) {
			b.spec = func(s idrl.EnvSpec) idrl.EnvSpec {
				s.FeatureNames = append([]string{s.FeatureNames[1]}, s.FeatureNames[1:]...)
				return s
			}
		}),
		"a scene that changes shape": with(func(b *broken) {
			b.draw = func(s *idrl.Scene) {
				calls++
				s.Moving = s.Moving[:len(s.Moving)-calls%2]
			}
		}),
		"a wrong return": with(func(b *broken) { b.shift = 0.01 }),
		"a restore that draws": func() idrl.Environment {
			return &restless{Env: junction.New(junction.Config{})}
		},
		"a table unlike the steps": func() idrl.Environment {
			return drunk{gridworld.New(gridworld.Config{}, rng.New(1, "layout", 0))}
		},
	}
}

const childKey = "ENVTEST_FAULT"

// TestFaultsAreFound runs the contract on each fault in a process of its own,
// where it must fail.
func TestFaultsAreFound(t *testing.T) {
	if name := os.Getenv(childKey); name != "" {
		envtest.Run(t, faults()[name])
		return
	}
	for name := range faults() {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestFaultsAreFound$")
			cmd.Env = append(os.Environ(), childKey+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Error("the contract did not find it")
			} else if !strings.Contains(string(out), "--- FAIL: TestFaultsAreFound") {
				t.Errorf("the process failed otherwise: %v\n%s", err, out)
			}
		})
	}
}
