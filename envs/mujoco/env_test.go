//go:build mujoco

package mujoco

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

func randomAction(e *Env, stream *rand.Rand) idrl.Action {
	box := e.Spec().Actions
	a := make(idrl.Action, box.Dim())
	for i := range a {
		a[i] = box.Low[i] + (box.High[i]-box.Low[i])*stream.Float64()
	}
	return a
}

func TestNewTaskRefuses(t *testing.T) {
	if _, err := NewTask("half-cheetah-classic", Options{}); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "half-cheetah, walker2d") {
		t.Errorf("error %v, want one that names the tasks", err)
	}
}

func TestSpecs(t *testing.T) {
	for _, test := range []struct {
		id       string
		obs, act int
		stepSec  float64
		horizon  int
	}{ // docs/mujoco.md, section 1
		{"half-cheetah", 17, 6, 0.05, 1000},
		{"walker2d", 17, 6, 0.008, 1000},
		{"hopper", 11, 3, 0.008, 1000},
		{"ant", 111, 8, 0.05, 1000},
		{"swimmer", 8, 2, 0.04, 1000},
		{"inverted-pendulum", 4, 1, 0.04, 1000},
		{"inverted-double-pendulum", 11, 1, 0.05, 1000},
		{"reacher", 11, 2, 0.02, 50},
	} {
		for _, classic := range []bool{false, true} {
			s := mustTask(t, test.id, Options{Classic: classic}).Spec()
			id := test.id
			if classic {
				id += "-classic"
			}
			if s.ID != id || s.ObsDim != test.obs || s.Actions.Dim() != test.act || math.Abs(s.StepSeconds-test.stepSec) > 1e-15 || s.Horizon != test.horizon {
				t.Errorf("%s: %+v, want %+v", id, s, test)
			}
			if shown := float64(s.ClipSteps) * s.StepSeconds / s.Playback; shown < 1 || shown > 4 {
				t.Errorf("%s: a clip lasts %v s", id, shown)
			}
		}
	}
}

// TestClipsAreOfSizeOne keeps the sums of features over clips of random actions
// within what sessions expect of a question.
func TestClipsAreOfSizeOne(t *testing.T) {
	for _, id := range Tasks() {
		e := mustTask(t, id, Options{})
		s := e.Spec()
		stream := rng.New(3, "act", 0)
		size := make([]float64, s.FeatureDim())
		const clips = 5
		for range clips {
			sum := make([]float64, s.FeatureDim())
			e.Reset(stream)
			for range s.ClipSteps {
				floats.Add(sum, e.Step(randomAction(e, stream)).Phi)
			}
			for i, v := range sum {
				size[i] += math.Abs(v) / clips
			}
		}
		for i, v := range size {
			if v < 0.05 || v > 20 {
				t.Errorf("%s: %q is of size %v", id, s.FeatureNames[i], v)
			}
		}
	}
}

// TestNoise compares the first states with docs/mujoco.md, section 1.
func TestNoise(t *testing.T) {
	const n = 400
	for _, test := range []struct {
		id           string
		qpos, qvel   float64 // bound of uniform noise
		qvelStd      float64 // of normal noise
		fixed, still int     // positions and velocities at the end that have other noise or none
	}{
		{HalfCheetahID, 0.1, 0, 0.1, 0, 0},
		{Walker2dID, 0.005, 0.005, 0, 0, 0},
		{HopperID, 0.005, 0.005, 0, 0, 0},
		{AntID, 0.1, 0, 0.1, 0, 0},
		{SwimmerID, 0.1, 0.1, 0, 0, 0},
		{InvertedPendulumID, 0.01, 0.01, 0, 0, 0},
		{InvertedDoublePendulumID, 0.1, 0, 0.1, 0, 0},
		{ReacherID, 0.1, 0.005, 0, 2, 2},
	} {
		t.Run(test.id, func(t *testing.T) {
			e := mustTask(t, test.id, Options{})
			stream := rng.New(4, "env", 0)
			var qpos, qvel []float64 // deviations
			for range n {
				e.fresh()
				e.task.reset(e, stream) // before quaternions are normalised
				for i, v := range e.d.QPos[:e.m.NQ-test.fixed] {
					qpos = append(qpos, v-e.m.QPos0()[i])
				}
				qvel = append(qvel, e.d.QVel[:e.m.NV-test.still]...)
			}
			checkUniform(t, "positions", qpos, test.qpos)
			if test.qvelStd == 0 {
				checkUniform(t, "velocities", qvel, test.qvel)
				return
			}
			mean, std := stat.MeanStdDev(qvel, nil)
			se := test.qvelStd / math.Sqrt(float64(len(qvel)))
			if math.Abs(mean) > 4*se || math.Abs(std-test.qvelStd) > 4*se/math.Sqrt2 {
				t.Errorf("velocities: mean %v, standard deviation %v; want 0 and %v", mean, std, test.qvelStd)
			}
		})
	}
}

// checkUniform compares range and variance with those of uniform noise on ±bound.
func checkUniform(t *testing.T, what string, x []float64, bound float64) {
	t.Helper()
	if floats.Max(x) > bound || floats.Min(x) < -bound {
		t.Errorf("%s: from %v to %v, want within ±%v", what, floats.Min(x), floats.Max(x), bound)
	}
	mean, variance := stat.MeanVariance(x, nil)
	want := bound * bound / 3
	n := float64(len(x))
	// The fourth moment is bound⁴/5, so the variance of squares is 4/45 bound⁴.
	if math.Abs(mean) > 4*math.Sqrt(want/n) || math.Abs(variance-want) > 4*bound*bound*math.Sqrt(4/45./n) {
		t.Errorf("%s: mean %v, variance %v; want 0 and %v", what, mean, variance, want)
	}
}

// TestReacherTargets are uniform on a disc of radius 0.2: the share within a
// radius r is (r/0.2)².
func TestReacherTargets(t *testing.T) {
	e := mustTask(t, ReacherID, Options{})
	stream := rng.New(5, "env", 0)
	const n = 2000
	inner, right := 0.0, 0.0
	for range n {
		e.Reset(stream)
		x, y := e.d.QPos[2], e.d.QPos[3]
		r := math.Hypot(x, y)
		if r >= 0.2 || e.d.QVel[2] != 0 || e.d.QVel[3] != 0 {
			t.Fatalf("target at %v %v moves with %v", x, y, e.d.QVel[2:])
		}
		if r < 0.1 {
			inner += 1. / n
		}
		if x > 0 {
			right += 1. / n
		}
	}
	if math.Abs(inner-0.25) > 4*math.Sqrt(0.25*0.75/n) || math.Abs(right-0.5) > 4*0.5/math.Sqrt(n) {
		t.Errorf("share within half the radius %v, to the right %v", inner, right)
	}
}

// TestEpisodesLast plays hoppers that fall.
func TestEpisodesLast(t *testing.T) {
	e, ends := mustTask(t, HopperID, Options{}), mustTask(t, HopperID, Options{Ends: true})
	e.Shorten(300)
	length := func(e *Env) (n int, kind idrl.StepKind) {
		stream := rng.New(6, "act", 0)
		step := e.Reset(rng.New(6, "env", 0))
		for ; !step.Kind.Last(); n++ {
			step = e.Step(randomAction(e, stream))
		}
		return n, step.Kind
	}
	if n, kind := length(e); n != 300 || kind != idrl.Truncated {
		t.Errorf("%d steps, end %d", n, kind)
	}
	if n, kind := length(ends); n >= 200 || kind != idrl.Terminated {
		t.Errorf("%d steps, end %d; want it to have fallen", n, kind)
	}
}

// TestBreakdown has velocities beyond all bounds.
func TestBreakdown(t *testing.T) {
	for _, id := range Tasks() {
		t.Run(id, func(t *testing.T) {
			e := mustTask(t, id, Options{})
			e.Reset(rng.New(7, "env", 0))
			rest := make(idrl.Action, e.Spec().Actions.Dim())
			e.Step(rest)
			s := e.Snapshot(nil)
			s[2+e.m.NQ] = 1e30 // the first velocity
			e.Restore(s)
			step := e.Step(rest)
			if step.Kind != idrl.Truncated || !step.Broken || floats.Norm(step.Phi, 1) != 0 || floats.Norm(step.Obs, 1) != 0 {
				t.Errorf("after a breakdown: %+v", step)
			}
			if !finite(e.Snapshot(nil)) || e.Snapshot(nil)[0] != 2 {
				t.Errorf("after a breakdown the state is %v", e.Snapshot(nil))
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Error("a step follows a breakdown")
					}
				}()
				e.Step(rest)
			}()
			other := mustTask(t, id, Options{})
			again, want := e.Reset(rng.New(8, "env", 0)), other.Reset(rng.New(8, "env", 0))
			for range 20 {
				if !slices.Equal(again.Obs, want.Obs) || again.Broken {
					t.Fatalf("after a breakdown and a reset: %v, want %v", again, want)
				}
				again, want = e.Step(rest), other.Step(rest)
			}
		})
	}
}

// TestTasksSideBySide plays all tasks at once, twice each, on goroutines.
func TestTasksSideBySide(t *testing.T) {
	play := func(e *Env) []float64 {
		stream := rng.New(9, "act", 0)
		e.Reset(stream)
		for range 40 {
			e.Step(randomAction(e, stream))
		}
		return e.Snapshot(nil)
	}
	ids := slices.Concat(Tasks(), Tasks())
	got := make([][]float64, len(ids))
	var group sync.WaitGroup
	for i, id := range ids {
		e := mustTask(t, id, Options{})
		group.Go(func() { got[i] = play(e) })
	}
	group.Wait()
	for i, id := range ids {
		if want := play(mustTask(t, id, Options{})); !slices.Equal(got[i], want) {
			t.Errorf("%s: %v side by side, %v alone", id, got[i], want)
		}
	}
}

func TestStepsAllocateNothing(t *testing.T) {
	for _, id := range Tasks() {
		e := mustTask(t, id, Options{})
		e.Shorten(1e6)
		a := make(idrl.Action, e.Spec().Actions.Dim())
		e.Reset(rng.New(1, "env", 0))
		state := e.Snapshot(nil)
		if n := testing.AllocsPerRun(30, func() {
			e.Step(a)
			state = e.Snapshot(state)
			e.Restore(state)
		}); n != 0 {
			t.Errorf("%s: %v allocations", id, n)
		}
	}
}
