package envtest_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tiebreak/envs/driver"
	"tiebreak/envs/envtest"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/envs/gridworld"
	"tiebreak/envs/junction"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// A broken environment is a sound one with one fault.
type broken struct {
	*driver.Env
	reset func(*driver.Env, idrl.TimeStep) idrl.TimeStep
	step  func(*driver.Env, idrl.TimeStep) idrl.TimeStep
	spec  func(idrl.EnvSpec) idrl.EnvSpec
	draw  func(*drawing.Scene)
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

func (b *broken) Draw(dst *drawing.Scene) {
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

// flawed is a point mass with one fault.
type flawed struct {
	*pointmass.Env
	step   func(*flawed, idrl.TimeStep) idrl.TimeStep
	draw   func(*drawing.Scene)
	frames func(e *flawed, before, after []float64, frame func(*drawing.Scene)) // in place of DrawStep
	count  int                                                                  // added to Substeps
}

func (f *flawed) Step(a idrl.Action) idrl.TimeStep {
	ts := f.Env.Step(a)
	if f.step != nil {
		ts = f.step(f, ts)
	}
	return ts
}

func (f *flawed) Draw(dst *drawing.Scene) {
	f.Env.Draw(dst)
	if f.draw != nil {
		f.draw(dst)
	}
}

func (f *flawed) Substeps() int { return f.Env.Substeps() + f.count }

func (f *flawed) DrawStep(before, after []float64, frame func(*drawing.Scene)) {
	spoilt := func(s *drawing.Scene) {
		if f.draw != nil {
			f.draw(s)
		}
		frame(s)
	}
	if f.frames != nil {
		f.frames(f, before, after, spoilt)
		return
	}
	f.Env.DrawStep(before, after, spoilt)
}

// TestSoundEnvironmentsPass: what the faults are put into has none.
func TestSoundEnvironmentsPass(t *testing.T) {
	t.Run("driver", func(t *testing.T) {
		envtest.Run(t, func() idrl.Environment { return &broken{Env: driver.New()} })
	})
	t.Run("point mass", func(t *testing.T) {
		search := idrl.Search{Directions: 8, LiveSteps: 60 * 18}
		envtest.Run(t, func() idrl.Environment { return &flawed{Env: pointmass.New(pointmass.Config{Search: search})} })
	})
}

// solidFaults are environments with a solid scene that must not pass.
func solidFaults() map[string]func() idrl.Environment {
	with := func(spoil func(*flawed)) func() idrl.Environment {
		return func() idrl.Environment {
			f := &flawed{Env: pointmass.New(pointmass.Config{Limit: 0.6})}
			spoil(f)
			return f
		}
	}
	moving := func(spoil func(*drawing.Shape)) func() idrl.Environment {
		return with(func(f *flawed) { f.draw = func(s *drawing.Scene) { spoil(&s.Moving[0]) } })
	}
	camera := func(spoil func(*drawing.Camera)) func() idrl.Environment {
		return with(func(f *flawed) { f.draw = func(s *drawing.Scene) { spoil(&s.Camera) } })
	}
	drift := 0.0 // what the scene must not remember
	return map[string]func() idrl.Environment{
		"a search that is cut short": func() idrl.Environment {
			return pointmass.New(pointmass.Config{Search: idrl.Search{Directions: 8, LiveSteps: 60*18 - 1}})
		},
		"a breakdown that is not the end": with(func(f *flawed) {
			f.step = func(_ *flawed, ts idrl.TimeStep) idrl.TimeStep {
				ts.Broken = true
				return ts
			}
		}),
		"a breakdown that terminates": with(func(f *flawed) {
			f.step = func(_ *flawed, ts idrl.TimeStep) idrl.TimeStep {
				if ts.Broken {
					ts.Kind = idrl.Terminated
				}
				return ts
			}
		}),
		"an early end for no reason": with(func(f *flawed) {
			f.step = func(_ *flawed, ts idrl.TimeStep) idrl.TimeStep { ts.Broken = false; return ts }
		}),
		"no substeps":          with(func(f *flawed) { f.count = -f.Env.Substeps() }),
		"one frame too few":    with(func(f *flawed) { f.count = 1 }),
		"one frame too many":   with(func(f *flawed) { f.count = -1 }),
		"another last picture": with(func(f *flawed) { f.frames = wrongOrder }),
		"left in the state before": with(func(f *flawed) {
			f.frames = func(f *flawed, before, after []float64, frame func(*drawing.Scene)) {
				f.Env.DrawStep(before, after, frame)
				f.Restore(before)
			}
		}),
		"flat points in a solid scene": moving(func(s *drawing.Shape) { s.Pts = s.Pts[:2] }),
		"a ball without a size":        moving(func(s *drawing.Shape) { s.Size = 0 }),
		"a ball of two points":         moving(func(s *drawing.Shape) { s.Pts = append(s.Pts, 0, 0, 0) }),
		"a capsule of one point":       moving(func(s *drawing.Shape) { s.Kind = drawing.Capsule }),
		"a box of one point":           moving(func(s *drawing.Shape) { s.Kind = drawing.Box }),
		"a floor that moves":           moving(func(s *drawing.Shape) { s.Kind, s.Trail = drawing.Checker, false }),
		"a point nowhere":              moving(func(s *drawing.Shape) { s.Pts[2] = math.NaN() }),
		"solid shapes in a flat scene": with(func(f *flawed) {
			f.draw = func(s *drawing.Scene) {
				s.Camera = drawing.Camera{W: 4, H: 3}
				s.Static = s.Static[:0]
				s.Moving = s.Moving[:1]
				s.Moving[0].Pts = s.Moving[0].Pts[:2]
			}
		}),
		"a flat camera above the floor": with(func(f *flawed) {
			f.draw = func(s *drawing.Scene) { s.Camera.Distance, s.Static, s.Moving = 0, s.Static[:0], s.Moving[:0] }
		}),
		"a camera that looks straight down": camera(func(c *drawing.Camera) { c.Elevation = math.Pi / 2 }),
		"a camera that turns":               camera(func(c *drawing.Camera) { drift += 0.1; c.Azimuth += drift }),
		"a camera that comes nearer":        camera(func(c *drawing.Camera) { drift += 0.1; c.Distance -= drift }),
	}
}

// wrongOrder draws the right frames, the last one first.
func wrongOrder(f *flawed, before, after []float64, frame func(*drawing.Scene)) {
	f.Restore(after)
	var last drawing.Scene
	f.Env.Draw(&last)
	frame(&last)
	left := f.Env.Substeps() - 1
	f.Env.DrawStep(before, after, func(s *drawing.Scene) {
		if left > 0 {
			frame(s)
		}
		left--
	})
}

// faults are environments that must not pass.
func faults() map[string]func() idrl.Environment {
	all := solidFaults()
	maps.Copy(all, flatFaults())
	return all
}

func flatFaults() map[string]func() idrl.Environment {
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
			b.draw = func(s *drawing.Scene) {
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
