package mujoco

import (
	"math"
	"strings"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"
)

// Ids of the tasks of NewTask.
const (
	HalfCheetahID            = "half-cheetah"
	Walker2dID               = "walker2d"
	HopperID                 = "hopper"
	AntID                    = "ant"
	SwimmerID                = "swimmer"
	InvertedPendulumID       = "inverted-pendulum"
	InvertedDoublePendulumID = "inverted-double-pendulum"
	ReacherID                = "reacher"
)

// Options of NewTask.
type Options struct {
	Classic bool // the masses and inertias of MuJoCo before 2.1.1; the id gets the suffix "-classic"
	Ends    bool // episodes end where Gym ends them; by default they last to the horizon, as in the paper
}

// A robot is a task of NewTask.
type robot struct {
	id, file  string
	skip      int // engine steps of a step, as in Gym
	obsDim    int
	clipSteps int
	playback  float64
	search    idrl.Search
	gait      idrl.Gait
	build     func(t *task, m *engine.Model) // fills what the numbers above do not say
}

// robots returns every task. Settings of random search begin with those of Mania,
// Guy and Recht ("Simple random search of static linear policies is competitive
// for reinforcement learning", NeurIPS 2018, appendix), which are for millions of
// steps. Few directions and long steps bring more within the seconds of a live
// solve.
func robots() []robot {
	return []robot{
		{
			id: HalfCheetahID, file: "cheetah.xml", skip: 5, obsDim: 17, clipSteps: 40, playback: 1, build: halfCheetah,
			search: idrl.Search{StepSize: 0.02, NoiseStd: 0.03, Directions: 4, Top: 2, Iterations: 100, Episodes: 1, Normalise: true, LiveSteps: 100_000},
		},
		{
			id: Walker2dID, file: "walker2d.xml", skip: 4, obsDim: 17, clipSteps: 125, playback: 0.5, build: walker2d,
			search: idrl.Search{StepSize: 0.05, NoiseStd: 0.1, Directions: 4, Top: 2, Iterations: 100, Episodes: 1, Normalise: true, LiveSteps: 40_000},
		},
		{
			id: HopperID, file: "hopper.xml", skip: 4, obsDim: 11, clipSteps: 125, playback: 0.5, build: hopper,
			search: idrl.Search{StepSize: 0.05, NoiseStd: 0.1, Directions: 4, Top: 2, Iterations: 100, Episodes: 1, Normalise: true, LiveSteps: 60_000},
		},
		{
			id: AntID, file: "ant.xml", skip: 5, obsDim: 111, clipSteps: 40, playback: 1, build: ant,
			search: idrl.Search{StepSize: 0.05, NoiseStd: 0.1, Directions: 4, Top: 2, Iterations: 100, Episodes: 1, Normalise: true, LiveSteps: 20_000},
			gait:   idrl.Gait{Feedback: antFeedback()},
		},
		{
			id: SwimmerID, file: "swimmer.xml", skip: 4, obsDim: 8, clipSteps: 100, playback: 2, build: swimmer,
			search: idrl.Search{StepSize: 0.06, NoiseStd: 0.06, Directions: 4, Iterations: 50, Episodes: 1, LiveSteps: 100_000},
			gait:   idrl.Gait{Hertz: 0.5}, // faster strokes wind on the spot
		},
		{
			id: InvertedPendulumID, file: "inverted_pendulum.xml", skip: 2, obsDim: 4, clipSteps: 50, playback: 1, build: invertedPendulum,
			search: idrl.Search{StepSize: 0.2, NoiseStd: 0.2, Directions: 4, Iterations: 50, Episodes: 3, LiveSteps: 100_000},
		},
		{
			id: InvertedDoublePendulumID, file: "inverted_double_pendulum.xml", skip: 5, obsDim: 11, clipSteps: 40, playback: 1, build: invertedDoublePendulum,
			search: idrl.Search{StepSize: 0.2, NoiseStd: 0.2, Directions: 4, Iterations: 100, Episodes: 1, LiveSteps: 100_000},
		},
		{
			id: ReacherID, file: "reacher.xml", skip: 2, obsDim: 11, clipSteps: 50, playback: 0.5, build: reacher,
			search: idrl.Search{StepSize: 0.02, NoiseStd: 0.03, Directions: 16, Top: 8, Iterations: 100, Episodes: 10, LiveSteps: 150_000},
		},
	}
}

// antFeedback returns the ant's observations without the forces of contacts: its height,
// orientation, joints and velocities.
func antFeedback() []int {
	used := make([]int, antObs)
	for i := range used {
		used[i] = i
	}
	return used
}

// Tasks returns the ids of the tasks of NewTask.
func Tasks() (ids []string) {
	for _, r := range robots() {
		ids = append(ids, r.id)
	}
	return ids
}

// NewTask returns one of the eight locomotion tasks. It returns an error of kind
// Invalid if there is no such task or no engine.
//
// Observations, noise, frame skips and where episodes end are Gym's
// (docs/mujoco.md, section 1); horizons are those of the paper. Features are of
// the project's making: the rewards of Gym and of the paper are linear in them
// (package sim has the weights), and so are others that people may have in mind.
// Most are integrals over time, so that their sum over a clip of usual motion is
// of size 1 to 10.
func NewTask(id string, o Options) (*Env, error) {
	for _, r := range robots() {
		if r.id == id {
			return r.newEnv(o)
		}
	}
	return nil, idrl.Errorf(idrl.Invalid, "unknown task %q; known: %s", id, strings.Join(Tasks(), ", "))
}

func (r robot) newEnv(o Options) (*Env, error) {
	id, file := r.id, r.file
	if o.Classic {
		id, file = id+"-classic", "classic/"+file
	}
	m, err := model(file)
	if err != nil {
		return nil, err
	}
	t := &task{
		skip: r.skip,
		spec: idrl.EnvSpec{
			ID: id, ObsDim: r.obsDim, Horizon: 1000, Discount: 1,
			Actions: idrl.ActionSpec{Low: m.CtrlLow, High: m.CtrlHigh}, StepSeconds: m.TimestepSec * float64(r.skip),
			ClipSteps: r.clipSteps, Playback: r.playback, StillLabel: "this moment", Search: r.search, Gait: r.gait,
		},
	}
	r.build(t, m)
	t.travels = t.appearance.body > 0
	e, err := newEnv(t, m)
	if err == nil {
		e.ends = o.Ends
	}
	return e, err
}

// A feature is one number of φ.
type feature struct {
	name  string // for people
	value func(e *Env, a idrl.Action) float64
	scale float64 // EnvSpec.PriorScale
}

// prior returns f with a scale of its prior. README.md says how it was found.
func (f feature) prior(scale float64) feature {
	f.scale = scale
	return f
}

// measured is a feature without a scale of its prior yet.
func measured(name string, value func(e *Env, a idrl.Action) float64) feature {
	return feature{name, value, 1}
}

// features makes φ of a list of features.
func (t *task) features(list ...feature) {
	for _, f := range list {
		t.spec.FeatureNames = append(t.spec.FeatureNames, f.name)
		t.spec.PriorScale = append(t.spec.PriorScale, f.scale)
	}
	t.phi = func(e *Env, a idrl.Action, dst []float64) {
		for i, f := range list {
			dst[i] = f.value(e, a)
		}
	}
}

// Features that several tasks have. They are integrals over the step, whose
// length is that of the task.

// effort is scale times the integral of the squared size of the controls.
func effort(scale float64) feature {
	return measured("Effort", func(e *Env, a idrl.Action) float64 {
		sum := 0.0
		for _, v := range a {
			sum += v * v
		}
		return scale * e.spec.StepSeconds * sum
	})
}

// jerkiness is scale times the integral of the squared change of the controls
// from step to step.
func jerkiness(scale float64) feature {
	return measured("Jerkiness", func(e *Env, a idrl.Action) float64 {
		sum := 0.0
		for i, v := range a {
			sum += (v - e.held[i]) * (v - e.held[i])
		}
		return scale * e.spec.StepSeconds * sum
	})
}

// constant is the simulated time.
func constant() feature {
	return measured("Constant", func(e *Env, _ idrl.Action) float64 { return e.spec.StepSeconds })
}

// standing is the time in which the robot is not unstable.
func standing() feature {
	return measured("Standing", func(e *Env, _ idrl.Action) float64 {
		if e.unstable(e) {
			return 0
		}
		return e.spec.StepSeconds
	})
}

// moved is scale times the change of position i of the engine.
func moved(name string, i int, scale float64) feature {
	return measured(name, func(e *Env, _ idrl.Action) float64 { return scale * (e.d.QPos[i] - e.from[i]) })
}

// integral is the integral of f.
func integral(name string, f func(e *Env) float64) feature {
	return measured(name, func(e *Env, _ idrl.Action) float64 { return e.spec.StepSeconds * f(e) })
}

// clipped appends the numbers of x, clipped to [−bound, bound], to dst.
func clipped(dst, x []float64, bound float64) []float64 {
	for _, v := range x {
		dst = append(dst, math.Max(-bound, math.Min(bound, v)))
	}
	return dst
}
