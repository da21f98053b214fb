//go:build mujoco

package mujoco

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A reference is one model of testdata/trajectories.json: what MuJoCo 2.2.2 made
// of Gym's own models, by a plain loop in C (docs/mujoco.md, section 3; the file
// says how it was made).
type reference struct {
	Timestep  float64
	FrameSkip int `json:"frame_skip"`
	NQ        int
	NV        int
	NU        int
	BodyMass  []float64 `json:"body_mass"`
	QPos0     []float64
	Runs      []struct {
		Initial  string
		QPosInit []float64 `json:"qpos_init"`
		QVelInit []float64 `json:"qvel_init"`
		States   []state
	}
	EnvRuns struct {
		Dt        float64
		ObsInit   []float64 `json:"obs_init"`
		FirstDone int       `json:"first_done_at_env_step"`
		States    []struct {
			EnvStep              int `json:"env_step"`
			Obs                  []float64
			Reward, Return       float64
			RewardWithoutContact *float64 `json:"reward_without_contact_cost"`
			Done                 bool
		}
	} `json:"env_runs"`
	Inertials     inertials
	OldInertials  inertials `json:"inertials_before_2_1_1"`
	ClassicStates []state   `json:"states_with_inertials_before_2_1_1"`
}

type state struct {
	Step        int
	Time        *float64
	QPos, QVel  []float64
	Sensitivity float64
	Contacts    *int
	CFrcExt     *float64 `json:"cfrc_ext_clip_abs_sum"`
}

type inertials struct{ Mass, DiagInertia []float64 }

// references calls f with every model of the file.
func references(t *testing.T, f func(t *testing.T, r robot, ref reference)) {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/trajectories.json"))(t)
	var file struct{ Models map[string]reference }
	must.Do(t, json.Unmarshal(b, &file))
	if len(file.Models) == 0 {
		t.Fatal("the file has no models")
	}
	if fourthOrder() {
		delete(file.Models, AntID) // its trajectories are those of testdata/versions
	}
	for _, name := range slices.Sorted(maps.Keys(file.Models)) {
		i := slices.IndexFunc(robots(), func(r robot) bool { return r.id == strings.ReplaceAll(name, "_", "-") })
		if i < 0 {
			t.Fatalf("there is no task for %s", name)
		}
		t.Run(name, func(t *testing.T) { f(t, robots()[i], file.Models[name]) })
	}
}

// fourthOrder reports whether RK4 moves a free body as MuJoCo does since 4.0, which
// is not as 2.2.2 does (docs/mujoco.md, section 2).
func fourthOrder() bool { return slices.Compare(parts(engine.Version()), []int{4}) >= 0 }

// closeTo reports whether all numbers agree to tol.
func closeTo(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s has %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: number %d = %v, want %v ± %v", what, i, got[i], want[i], tol)
		}
	}
}

func TestModelsAgreeWithGym(t *testing.T) {
	references(t, func(t *testing.T, r robot, ref reference) {
		m := must.Get(model(r.file))(t)
		if m.NQ != ref.NQ || m.NV != ref.NV || m.NU != ref.NU || m.TimestepSec != ref.Timestep || r.skip != ref.FrameSkip {
			t.Errorf("%d %d %d numbers, timestep %v, frame skip %d; want %+v", m.NQ, m.NV, m.NU, m.TimestepSec, r.skip, ref)
		}
		closeTo(t, "first positions", m.QPos0(), ref.QPos0, 1e-15)
		closeTo(t, "masses", m.BodyMass(), ref.BodyMass, 1e-12)
		closeTo(t, "inertias", m.BodyInertia()[3:], ref.Inertials.DiagInertia, 1e-12)
		classic := must.Get(model("classic/" + r.file))(t)
		closeTo(t, "classic masses", classic.BodyMass()[1:], ref.OldInertials.Mass, 1e-12)
		closeTo(t, "classic inertias", classic.BodyInertia()[3:], ref.OldInertials.DiagInertia, 1e-12)
	})
}

// control stores the controls of step k of a reference in dst.
func control(dst []float64, k int) {
	for i := range dst {
		dst[i] = 0.3 * math.Sin(0.1*float64(k)+float64(i))
	}
}

// TestStates plays each model from each of its starts.
func TestStates(t *testing.T) {
	references(t, func(t *testing.T, r robot, ref reference) {
		for _, run := range ref.Runs {
			t.Run(run.Initial, func(t *testing.T) { playStates(t, r.file, run.QPosInit, run.QVelInit, run.States) })
		}
		perturbed := ref.Runs[1]
		for i := range ref.ClassicStates { // the file has no sensitivities for these
			ref.ClassicStates[i].Sensitivity = perturbed.States[i].Sensitivity
		}
		t.Run("classic", func(t *testing.T) {
			playStates(t, "classic/"+r.file, perturbed.QPosInit, atRest(r, perturbed.QVelInit), ref.ClassicStates)
		})
	})
}

// atRest returns velocities in which Reacher's target does not move.
func atRest(r robot, qvel []float64) []float64 {
	qvel = slices.Clone(qvel)
	if r.id == ReacherID {
		clear(qvel[2:])
	}
	return qvel
}

func playStates(t *testing.T, file string, qpos, qvel []float64, states []state) {
	m := must.Get(model(file))(t)
	d := newData(t, m)
	copy(d.QPos, qpos)
	copy(d.QVel, qvel)
	must.Do(t, d.Forward())
	seen := 0
	for k := 0; seen < len(states); k++ {
		control(d.Ctrl, k)
		must.Do(t, d.Step(1))
		if want := states[seen]; want.Step == k+1 {
			checkState(t, d, want)
			seen++
		}
	}
	if seen != 4 { // 1, 10, 50, 200
		t.Errorf("%d states compared", seen)
	}
}

// checkState compares to 1e-9, or, after 50 steps, to what a disturbance of 1e-7
// in the first velocities would do.
func checkState(t *testing.T, d *engine.Data, want state) {
	t.Helper()
	tol := 1e-9
	if want.Step > 50 {
		tol = max(tol, 1000*want.Sensitivity)
	}
	closeTo(t, "positions", d.QPos, want.QPos, tol)
	closeTo(t, "velocities", d.QVel, want.QVel, tol)
	if want.Time != nil && math.Abs(d.Time()-*want.Time) > 1e-12 {
		t.Errorf("time = %v, want %v", d.Time(), *want.Time)
	}
	if want.Contacts != nil && want.Step <= 50 && d.Contacts() != *want.Contacts {
		t.Errorf("step %d: %d contacts, want %d", want.Step, d.Contacts(), *want.Contacts)
	}
	if want.CFrcExt != nil && want.Step <= 50 {
		must.Do(t, d.ContactForces())
		sum := floats.Norm(clipped(nil, d.CFrcExt, 1), 1)
		closeTo(t, "external forces", []float64{sum}, []float64{*want.CFrcExt}, 1e-8) // forces are stiff
	}
}

func newData(t *testing.T, m *engine.Model) *engine.Data {
	t.Helper()
	d := must.Get(m.NewData())(t)
	return d
}

// startAt makes episodes of e begin in a given state.
func startAt(e *Env, qpos, qvel []float64) {
	changed := *e.task
	changed.reset = func(e *Env, _ *rand.Rand) {
		copy(e.d.QPos, qpos)
		copy(e.d.QVel, qvel)
	}
	e.task = &changed
}

// TestGymEpisodes compares observations, rewards, returns and ends of episodes
// with those that Gym's formulas give.
func TestGymEpisodes(t *testing.T) {
	references(t, func(t *testing.T, r robot, ref reference) {
		e := must.Get(r.newEnv(Options{}))(t)
		start := ref.Runs[1]
		startAt(e, start.QPosInit, atRest(r, start.QVelInit))
		theta := gymTheta(e)
		closeTo(t, "first observation", e.Reset(rng.New(1, "env", 0)).Obs, ref.EnvRuns.ObsInit, 1e-9)
		closeTo(t, "length of a step", []float64{e.Spec().StepSeconds}, []float64{ref.EnvRuns.Dt}, 1e-15)
		a := make(idrl.Action, ref.NU)
		seen, total := 0, 0.0
		for k := range 50 {
			control(a, k)
			step := e.Step(a)
			reward := floats.Dot(theta, step.Phi)
			total += reward
			if want := ref.EnvRuns.States[seen]; want.EnvStep == k+1 {
				closeTo(t, "observation", step.Obs, want.Obs, 1e-9)
				closeTo(t, "reward and return", []float64{reward, total}, []float64{want.Reward, want.Return}, 1e-9)
				seen++
			}
		}
		if seen != len(ref.EnvRuns.States) {
			t.Errorf("%d steps compared, want %d", seen, len(ref.EnvRuns.States))
		}
	})
}

func TestEpisodesEndWhereGymEndsThem(t *testing.T) {
	references(t, func(t *testing.T, r robot, ref reference) {
		e := must.Get(r.newEnv(Options{Ends: true}))(t)
		start := ref.Runs[1]
		startAt(e, start.QPosInit, atRest(r, start.QVelInit))
		step := e.Reset(rng.New(1, "env", 0))
		a := make(idrl.Action, ref.NU)
		ended := -1
		for k := 0; k < 50 && !step.Kind.Last(); k++ {
			control(a, k)
			if step = e.Step(a); step.Kind == idrl.Terminated {
				ended = k + 1
			}
		}
		if ended != ref.EnvRuns.FirstDone {
			t.Errorf("the episode ended at step %d, want %d", ended, ref.EnvRuns.FirstDone)
		}
	})
}
