//go:build mujoco

package mujoco

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"

	"gonum.org/v1/gonum/floats"
)

// A moment is what Gym's formulas read at one end of a step.
type moment struct {
	qpos, qvel []float64
	body       func(name int) []float64 // place of a body as the engine left it, by its number
	site       []float64                // of the first site
	forces     []float64                // constraint forces of joints
	external   []float64                // external forces on bodies
}

func momentOf(e *Env) moment {
	places := slices.Clone(e.d.XPos)
	return moment{
		qpos: slices.Clone(e.d.QPos), qvel: slices.Clone(e.d.QVel),
		body:   func(i int) []float64 { return places[3*i : 3*i+3] },
		site:   slices.Clone(e.d.SiteXPos),
		forces: slices.Clone(e.d.QFrcConstraint), external: slices.Clone(e.d.CFrcExt),
	}
}

// A formula holds Gym's observation and reward of a task and the paper's reward,
// written from docs/mujoco.md, section 1, and docs/paper-code.md, section 1.7.
type formula struct {
	id    string
	obs   func(m moment) []float64
	gym   func(before, after moment, a []float64) float64
	paper func(after moment, gym float64) float64
}

func squares(x []float64) float64 { return floats.Dot(x, x) }

func tail(m moment, hidden int) []float64 { return slices.Concat(m.qpos[hidden:], m.qvel) }

func clip10(x []float64) []float64 { return clipped(nil, x, 10) }

func less(ok bool) float64 { // what the paper takes from an alive bonus of 1
	if ok {
		return 0
	}
	return 1
}

func formulas() []formula {
	speed := func(before, after moment, dt float64) float64 { return (after.qpos[0] - before.qpos[0]) / dt }
	same := func(_ moment, gym float64) float64 { return gym }
	legged := func(m moment) []float64 { return slices.Concat(m.qpos[1:], clip10(m.qvel)) }
	hop := func(b, a moment, u []float64) float64 { return speed(b, a, 0.008) + 1 - 1e-3*squares(u) }
	reach := func(m moment) []float64 { // fingertip − target
		out := make([]float64, 3)
		floats.SubTo(out, m.body(3), m.body(4))
		return out
	}
	return []formula{
		{
			HalfCheetahID, func(m moment) []float64 { return tail(m, 1) },
			func(b, a moment, u []float64) float64 { return speed(b, a, 0.05) - 0.1*squares(u) }, same,
		},
		{Walker2dID, legged, hop, func(m moment, gym float64) float64 {
			return gym - less(m.qpos[1] > 0.8 && m.qpos[1] < 2 && math.Abs(m.qpos[2]) < 1)
		}},
		{HopperID, legged, hop, func(m moment, gym float64) float64 {
			small := floats.Norm(tail(m, 2), math.Inf(1)) < 100
			return gym - less(m.qpos[1] > 0.7 && math.Abs(m.qpos[2]) < 0.2 && small)
		}},
		{
			AntID, func(m moment) []float64 { return slices.Concat(tail(m, 2), clipped(nil, m.external, 1)) },
			func(b, a moment, u []float64) float64 {
				return (a.body(1)[0]-b.body(1)[0])/0.05 + 1 - 0.5*squares(u) - 5e-4*squares(clipped(nil, a.external, 1))
			},
			func(m moment, gym float64) float64 { return gym - less(m.qpos[2] >= 0.2 && m.qpos[2] <= 1) },
		},
		{
			SwimmerID, func(m moment) []float64 { return tail(m, 2) },
			func(b, a moment, u []float64) float64 { return speed(b, a, 0.04) - 1e-4*squares(u) }, same,
		},
		{
			InvertedPendulumID, func(m moment) []float64 { return tail(m, 0) },
			func(_, _ moment, _ []float64) float64 { return 1 },
			func(m moment, _ float64) float64 { return 1 - m.qpos[1]*m.qpos[1] },
		},
		{
			InvertedDoublePendulumID,
			func(m moment) []float64 {
				q := m.qpos
				return slices.Concat([]float64{q[0], math.Sin(q[1]), math.Sin(q[2]), math.Cos(q[1]), math.Cos(q[2])}, clip10(m.qvel), clip10(m.forces))
			},
			func(_, a moment, _ []float64) float64 {
				x, y, v := a.site[0], a.site[2], a.qvel
				return 10 - (0.01*x*x + (y-2)*(y-2)) - (1e-3*v[1]*v[1] + 5e-3*v[2]*v[2])
			},
			func(m moment, gym float64) float64 { return gym + 10*(m.site[2]-1) },
		},
		{
			ReacherID,
			func(m moment) []float64 {
				q := m.qpos
				angles := []float64{math.Cos(q[0]), math.Cos(q[1]), math.Sin(q[0]), math.Sin(q[1])}
				return slices.Concat(angles, q[2:], m.qvel[:2], reach(m))
			},
			func(b, _ moment, u []float64) float64 { return -floats.Norm(reach(b), 2) - squares(u) }, same,
		},
	}
}

// TestFormulas plays random actions in all tasks.
func TestFormulas(t *testing.T) {
	for i, f := range formulas() {
		if f.id != Tasks()[i] {
			t.Fatalf("task %d is %s, its formula is of %s", i, Tasks()[i], f.id)
		}
		for _, classic := range []bool{false, true} {
			e := mustTask(t, f.id, Options{Classic: classic})
			t.Run(e.Spec().ID, func(t *testing.T) { checkFormula(t, e, f) })
		}
	}
}

func mustTask(t testing.TB, id string, o Options) *Env {
	t.Helper()
	e := must.Get(NewTask(id, o))(t)
	return e
}

// gymTheta returns the weights with which the features of a task give the reward of
// Gym v3 (v2 for the pendulums and Reacher; docs/mujoco.md, section 1). Features are
// integrals over a step.
func gymTheta(e *Env) []float64 {
	spec := e.Spec()
	perSec := map[string]map[string]float64{
		HalfCheetahID:            {"Distance forward": 1, "Effort": -0.1},
		Walker2dID:               {"Distance forward": 1, "Effort": -1e-3, "Constant": 1},
		HopperID:                 {"Distance forward": 1, "Effort": -1e-3, "Constant": 1},
		AntID:                    {"Distance forward": 1, "Effort": -0.5, "Contact forces": -5e-4, "Constant": 1},
		SwimmerID:                {"Distance forward": 1, "Effort": -1e-4},
		InvertedPendulumID:       {"Constant": 1},
		InvertedDoublePendulumID: {"Constant": 10, "Tip off centre": -0.01, "Tip too low": -2, "Swing": -0.25},
		ReacherID:                {"Distance to the target": -0.02, "Effort": -0.2},
	}[strings.TrimSuffix(spec.ID, "-classic")]
	theta := make([]float64, spec.FeatureDim())
	for i, name := range spec.FeatureNames {
		theta[i] = perSec[name] / spec.StepSeconds
	}
	return theta
}

func checkFormula(t *testing.T, e *Env, f formula) {
	gym, paper := gymTheta(e), sim.NewTask(e, rng.New(1, "task", 0))
	if paper.Env != e.Spec().ID {
		t.Errorf("task of %s", paper.Env)
	}
	stream := rng.New(1, "act", 0)
	step := e.Reset(rng.New(1, "env", 0))
	closeTo(t, "first observation", step.Obs, f.obs(momentOf(e)), 1e-15)
	for range min(100, e.Spec().Horizon) {
		before := momentOf(e)
		a := randomAction(e, stream)
		step = e.Step(a)
		after := momentOf(e)
		closeTo(t, "observation", step.Obs, f.obs(after), 1e-15)
		want := f.gym(before, after, a)
		got := []float64{floats.Dot(gym, step.Phi), floats.Dot(paper.Theta, step.Phi)}
		closeTo(t, "rewards of Gym and the paper", got, []float64{want, f.paper(after, want)}, 1e-11)
		if t.Failed() {
			return
		}
	}
}

// TestOtherFeatures recomputes the features that no reward of Gym uses.
func TestOtherFeatures(t *testing.T) {
	distance := func(a, b []float64) float64 {
		var d [3]float64
		floats.SubTo(d[:], a, b)
		return floats.Norm(d[:], 2)
	}
	pitch := func(m moment) float64 { return m.qpos[2] }
	leaning := func(_, m moment, dt float64) float64 { return 4 * math.Sin(pitch(m)) * dt }
	backwards := func(b, m moment, _ float64) float64 { return pitch(b) - pitch(m) }
	height := func(_, m moment, dt float64) float64 { return (m.qpos[1] - 1.25) * 10 * dt }
	upright := func(_, m moment, dt float64) float64 { return 2 * math.Cos(pitch(m)) * dt }
	cart := func(_, m moment, dt float64) float64 { return 5 * m.qpos[0] * dt }
	left := func(i int) func(b, m moment, _ float64) float64 {
		return func(b, m moment, _ float64) float64 { return m.qpos[i] - b.qpos[i] }
	}
	for _, test := range []struct {
		id, feature string
		want        func(before, after moment, dt float64) float64
	}{
		{HalfCheetahID, "Height", func(_, m moment, dt float64) float64 { return 10 * m.qpos[1] * dt }},
		{HalfCheetahID, "Upright", upright},
		{HalfCheetahID, "Nose up", func(_, m moment, dt float64) float64 { return 2 * math.Sin(-pitch(m)) * dt }},
		{HalfCheetahID, "Rotation backwards", backwards},
		{Walker2dID, "Height", height},
		{Walker2dID, "Lean forward", leaning},
		{Walker2dID, "Rotation backwards", backwards},
		{Walker2dID, "Legs apart", func(_, m moment, dt float64) float64 { return 2 * math.Abs(m.qpos[6]-m.qpos[3]) * dt }},
		{HopperID, "Height", height},
		{HopperID, "Upright", upright},
		{HopperID, "Lean forward", leaning},
		{HopperID, "Rotation backwards", backwards},
		{AntID, "Distance to the left", func(b, m moment, _ float64) float64 { return m.body(1)[1] - b.body(1)[1] }},
		{AntID, "Height", func(_, m moment, dt float64) float64 { return (m.qpos[2] - 0.75) * 10 * dt }},
		{SwimmerID, "Distance to the left", left(1)},
		{SwimmerID, "Turning left", left(2)},
		{SwimmerID, "Bend", func(_, m moment, dt float64) float64 { return squares(m.qpos[3:]) * dt }},
		{InvertedPendulumID, "Leaning to the right", func(_, m moment, dt float64) float64 { return 2 * math.Sin(m.qpos[1]) * dt }},
		{InvertedPendulumID, "Cart to the right", cart},
		{InvertedPendulumID, "Cart off centre", func(_, m moment, dt float64) float64 { return 5 * m.qpos[0] * m.qpos[0] * dt }},
		{InvertedDoublePendulumID, "Cart to the right", cart},
		{ReacherID, "At the target", func(_, m moment, dt float64) float64 {
			return 5 * dt * math.Exp(-400*math.Pow(distance(m.body(3), m.body(4)), 2))
		}},
		{ReacherID, "Way of the fingertip", func(b, m moment, _ float64) float64 { return 10 * distance(m.body(3), b.body(3)) }},
		{ReacherID, "Reaching out", func(_, m moment, dt float64) float64 { return 5 * math.Cos(m.qpos[1]) * dt }},
		{ReacherID, "Turning left", left(0)},
	} {
		t.Run(test.id+" "+test.feature, func(t *testing.T) {
			e := mustTask(t, test.id, Options{})
			i := slices.Index(e.Spec().FeatureNames, test.feature)
			stream := rng.New(2, "act", 0)
			e.Reset(rng.New(2, "env", 0))
			for range 30 {
				before := momentOf(e)
				step := e.Step(randomAction(e, stream))
				closeTo(t, "feature", []float64{step.Phi[i]}, []float64{test.want(before, momentOf(e), e.Spec().StepSeconds)}, 1e-12)
			}
		})
	}
}

// TestJerkiness compares with the change from action to action, the first of
// which follows rest.
func TestJerkiness(t *testing.T) {
	scales := map[string]float64{Walker2dID: 0.5, InvertedPendulumID: 0.5, InvertedDoublePendulumID: 2, ReacherID: 2}
	for _, id := range Tasks() {
		e := mustTask(t, id, Options{})
		i := slices.Index(e.Spec().FeatureNames, "Jerkiness")
		if i < 0 {
			continue
		}
		stream := rng.New(2, "act", 0)
		for range 2 { // episodes
			e.Reset(stream)
			last := make(idrl.Action, e.Spec().Actions.Dim())
			for range 10 {
				a := randomAction(e, stream)
				got := e.Step(a).Phi[i]
				scale, ok := scales[id]
				if !ok {
					scale = 1
				}
				want := scale * e.Spec().StepSeconds * math.Pow(floats.Distance(a, last, 2), 2)
				closeTo(t, id, []float64{got}, []float64{want}, 1e-12)
				last = a
			}
		}
	}
}

// TestTurned turns a body that already has some orientation.
func TestTurned(t *testing.T) {
	about := func(axis int, angle float64) []float64 {
		q := make([]float64, 4)
		q[0], q[1+axis] = math.Cos(angle/2), math.Sin(angle/2)
		return q
	}
	times := func(p, q []float64) []float64 {
		return []float64{
			p[0]*q[0] - p[1]*q[1] - p[2]*q[2] - p[3]*q[3],
			p[0]*q[1] + p[1]*q[0] + p[2]*q[3] - p[3]*q[2],
			p[0]*q[2] - p[1]*q[3] + p[2]*q[0] + p[3]*q[1],
			p[0]*q[3] + p[1]*q[2] - p[2]*q[1] + p[3]*q[0],
		}
	}
	negative := func(q []float64) []float64 {
		q = slices.Clone(q)
		floats.Scale(-1, q)
		return q
	}
	start := times(about(0, 1), times(about(1, -0.7), about(2, 2)))
	left := times(about(2, 0.3), start)
	for _, test := range []struct {
		name     string
		from, to []float64
		want     float64
	}{
		{"not at all", start, start, 0},
		{"to the left", start, left, 0.3},
		{"to the right", left, start, -0.3},
		{"the same orientation with another sign", start, negative(left), 0.3},
		{"by a roll", start, times(about(0, 0.5), start), 0},
		{"by a pitch", start, times(about(1, 0.5), start), 0},
		{"by nearly half a turn", start, times(about(2, 3), start), 3},
	} {
		if got := turned(test.from, test.to); math.Abs(got-test.want) > 1e-14 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
