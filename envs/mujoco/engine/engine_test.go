//go:build mujoco

package engine_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"
)

// read returns one of the models of package mujoco.
func read(t testing.TB, name string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join("..", "models", name)))(t)
	return b
}

func load(t testing.TB, xml []byte) *engine.Model {
	t.Helper()
	m := must.Get(engine.Load(xml))(t)
	return m
}

func newData(t testing.TB, m *engine.Model) *engine.Data {
	t.Helper()
	d := must.Get(m.NewData())(t)
	return d
}

// TestLoadRefuses asks for the engine's own words.
func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct{ name, xml, says string }{
		{"no XML", "robot", "XML"},
		{"nothing", "", "empty"},
		{"an unknown element", "<mujoco><worldbody><leg/></worldbody></mujoco>", "leg"},
		{"a body without mass", `<mujoco><worldbody><body><joint type="hinge"/></body></worldbody></mujoco>`, "mass"},
		{"an actuator of a joint that is not there", `<mujoco><actuator><motor joint="knee"/></actuator></mujoco>`, "knee"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := engine.Load([]byte(test.xml))
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one of kind Invalid that says %q", err, test.says)
			}
		})
	}
	if _, err := engine.LoadFile(filepath.Join(t.TempDir(), "none.xml")); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestLoadFile(t *testing.T) {
	m := must.Get(engine.LoadFile("../models/cheetah.xml"))(t)
	if want := load(t, read(t, "cheetah.xml")); !slices.Equal(m.BodyMass(), want.BodyMass()) {
		t.Errorf("masses %v, want %v", m.BodyMass(), want.BodyMass())
	}
}

// TestModel reads a small model of every kind of thing.
func TestModel(t *testing.T) {
	m := load(t, []byte(`<mujoco>
		<compiler angle="radian"/><option timestep=".004"/>
		<worldbody>
			<geom name="floor" type="plane" size="1 1 1" rgba="1 1 1 .5"/>
			<body name="ball"><freejoint/><geom type="sphere" size=".3" mass="2" group="3"/></body>
			<body name="arm" pos="0 0 2">
				<joint name="swing" type="hinge" axis="0 1 0" limited="true" range="-1 2"/>
				<geom type="capsule" size=".1 .4" mass="1"/><site name="hand" pos="0 0 .4"/>
			</body>
		</worldbody>
		<actuator>
			<motor name="weak" joint="swing" ctrllimited="true" ctrlrange="-2 3"/>
			<motor joint="swing"/>
		</actuator>
		<sensor><jointpos joint="swing"/><framepos objtype="site" objname="hand"/></sensor>
	</mujoco>`))
	for _, test := range []struct {
		name      string
		got, want int
	}{
		{"positions", m.NQ, 8},
		{"velocities", m.NV, 7},
		{"controls", m.NU, 2},
		{"bodies", m.NBody, 3},
		{"geoms", m.NGeom, 3},
		{"sites", m.NSite, 1},
		{"body", m.ID(engine.BodyKind, "arm"), 2},
		{"joint", m.ID(engine.JointKind, "swing"), 1},
		{"geom", m.ID(engine.GeomKind, "floor"), 0},
		{"site", m.ID(engine.SiteKind, "hand"), 0},
		{"actuator", m.ID(engine.ActuatorKind, "weak"), 0},
		{"what there is not", m.ID(engine.SiteKind, "foot"), -1},
	} {
		if test.got != test.want {
			t.Errorf("%s: %d, want %d", test.name, test.got, test.want)
		}
	}
	if m.TimestepSec != 0.004 {
		t.Errorf("timestep %v", m.TimestepSec)
	}
	if want := []engine.Joint{{Type: engine.Free}, {Type: engine.Hinge, QPos: 7, QVel: 6, Limited: true, Range: [2]float64{-1, 2}}}; !slices.Equal(m.Joints, want) {
		t.Errorf("joints %+v, want %+v", m.Joints, want)
	}
	if g := m.Geoms; g[0].Type != engine.Plane || g[0].Moves || g[0].Alpha != 0.5 || g[1].Type != engine.Sphere || !g[1].Moves ||
		g[1].Group != 3 || g[1].Size[0] != 0.3 || g[2].Type != engine.Capsule || g[2].Body != 2 || g[2].Size[1] != 0.4 {
		t.Errorf("geoms %+v", g)
	}
	if want := []engine.Sensor{{At: 0, Dim: 1}, {At: 1, Dim: 3}}; !slices.Equal(m.Sensors, want) {
		t.Errorf("sensors %+v, want %+v", m.Sensors, want)
	}
	if !slices.Equal(m.CtrlLow, []float64{-2, math.Inf(-1)}) || !slices.Equal(m.CtrlHigh, []float64{3, math.Inf(1)}) {
		t.Errorf("controls within %v and %v", m.CtrlLow, m.CtrlHigh)
	}
	if got := m.BodyMass(); !slices.Equal(got, []float64{0, 2, 1}) {
		t.Errorf("masses %v", got)
	}
	d := newData(t, m)
	d.QPos[7] = math.Pi / 2
	must.Do(t, d.Forward())
	for k, want := range []float64{0.4, 0, 2} { // the hand points along x
		if math.Abs(d.SiteXPos[k]-want) > 1e-12 || d.SensorData[1+k] != d.SiteXPos[k] {
			t.Errorf("coordinate %d of the hand is %v and %v, want %v", k, d.SiteXPos[k], d.SensorData[1+k], want)
		}
	}
}

// A body that nothing touches falls for as long as it takes.
func TestFreeFall(t *testing.T) {
	m := load(t, []byte(`<mujoco><option timestep=".001"/><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>`))
	d := newData(t, m)
	must.Do(t, d.Step(500))
	v := -9.81 * 0.5
	if math.Abs(d.QVel[2]-v) > 1e-9 || math.Abs(d.QPos[2]-(v*0.5/2+v*0.0005)) > 1e-9 { // semi-implicit: half a step more
		t.Errorf("height %v, velocity %v", d.QPos[2], d.QVel[2])
	}
	if math.Abs(d.Time()-0.5) > 1e-12 {
		t.Errorf("time %v", d.Time())
	}
	d.SetTime(7)
	if d.Time() != 7 {
		t.Errorf("time %v after it was set", d.Time())
	}
	if err := d.Reset(); err != nil || d.Time() != 0 || d.QPos[2] != 0 || d.QVel[2] != 0 {
		t.Errorf("after a reset (%v): time %v, height %v, velocity %v", err, d.Time(), d.QPos[2], d.QVel[2])
	}
}

// TestRollIsSteps compares a chunk with single steps.
func TestRollIsSteps(t *testing.T) {
	m := load(t, read(t, "cheetah.xml"))
	a, b := newData(t, m), newData(t, m)
	const steps, skip = 30, 5
	ctrl := make([]float64, steps*m.NU)
	for i := range ctrl {
		ctrl[i] = math.Sin(float64(i))
	}
	rows := make([]float64, steps*skip*(m.NQ+m.NV))
	must.Do(t, a.Roll(ctrl, skip, rows))
	for i := range steps {
		copy(b.Ctrl, ctrl[i*m.NU:])
		for range skip {
			must.Do(t, b.Step(1))
			row := rows[:m.NQ+m.NV]
			rows = rows[len(row):]
			if !slices.Equal(row[:m.NQ], b.QPos) || !slices.Equal(row[m.NQ:], b.QVel) {
				t.Fatalf("step %d: %v, want %v %v", i, row, b.QPos, b.QVel)
			}
		}
	}
}

func TestRollPanics(t *testing.T) {
	m := load(t, read(t, "cheetah.xml"))
	d := newData(t, m)
	for name, f := range map[string]func() error{
		"controls": func() error { return d.Roll(make([]float64, m.NU+1), 1, nil) },
		"rows":     func() error { return d.Roll(make([]float64, m.NU), 2, make([]float64, m.NQ+m.NV)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("slices of the wrong length are accepted")
				}
			}()
			if err := f(); err != nil {
				t.Error(err)
			}
		})
	}
}

// falling is a model of six balls that fall to the floor, and then need more of
// some buffer than they have.
func falling(size string) string {
	xml := `<mujoco><size ` + size + `/><worldbody><geom type="plane" size="9 9 1"/>`
	for i := range 6 {
		xml += fmt.Sprintf(`<body pos="%d 0 .4"><freejoint/><geom size=".1"/></body>`, i)
	}
	return xml + `</worldbody></mujoco>`
}

// sizes returns attributes of size that give too little of each buffer. Those of
// 2.2 have numbers of their own; since 2.3 they share one memory.
func sizes() []string {
	if strings.HasPrefix(engine.Version(), "2.2.") {
		return []string{`njmax="5" nconmax="100" nstack="100000"`, `njmax="500" nconmax="2" nstack="100000"`, `njmax="500" nconmax="100" nstack="1500"`}
	}
	var all []string
	for kB := 6; kB <= 20; kB += 2 { // what compiling the model takes, up to what some release needs for the contacts
		all = append(all, fmt.Sprintf(`memory="%dK"`, kB))
	}
	return all
}

// TestBuffersRunOut goes on after a reset.
func TestBuffersRunOut(t *testing.T) {
	t.Chdir(t.TempDir()) // the engine would write MUJOCO_LOG.TXT here
	for _, size := range sizes() {
		d := newData(t, load(t, []byte(falling(size))))
		if err := d.Step(1000); !errors.Is(err, engine.ErrBroken) {
			t.Errorf("%s: error %v, want a breakdown", size, err)
		}
		if err := d.Reset(); err != nil {
			t.Errorf("%s: %v", size, err)
		}
		if err := d.Step(10); err != nil {
			t.Errorf("%s, after a reset: %v", size, err)
		}
	}
	empty(t)
}

// empty fails if the engine left files in the working directory.
func empty(t *testing.T) {
	t.Helper()
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("the engine left files behind: %v %v", files, err)
	}
}

// TestBreakdown disturbs a simulation in each way in which it can break down, and
// goes on with it after a reset.
func TestBreakdown(t *testing.T) {
	t.Chdir(t.TempDir()) // the engine would write MUJOCO_LOG.TXT here
	cart := `<mujoco><worldbody><body><joint name="a" type="slide"/><geom size="1"/></body></worldbody><actuator><motor joint="a"/></actuator></mujoco>`
	for _, test := range []struct {
		name, xml string
		disturb   func(d *engine.Data)
		says      string
	}{
		{"a control that is no number", cart, func(d *engine.Data) { d.Ctrl[0] = math.NaN() }, ""},
		{"an endless control", cart, func(d *engine.Data) { d.Ctrl[0] = math.Inf(1) }, ""},
		{"a huge velocity", cart, func(d *engine.Data) { d.QVel[0] = 1e30 }, "QVEL"},
		{"a position that is no number", cart, func(d *engine.Data) { d.QPos[0] = math.NaN() }, "QPOS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newData(t, load(t, []byte(test.xml)))
			must.Do(t, d.Step(10))
			test.disturb(d)
			err := d.Step(1000)
			if !errors.Is(err, engine.ErrBroken) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("error %v, want a breakdown that says %q", err, test.says)
			}
			if err := d.Step(1); !errors.Is(err, engine.ErrBroken) {
				t.Errorf("it goes on after a breakdown: %v", err)
			}
			must.Do(t, d.Reset())
			if err := d.Step(10); err != nil {
				t.Errorf("after a reset: %v", err)
			}
		})
	}
	empty(t)
}

// TestBreakdownInARoll has the same effect in the middle of a chunk.
func TestBreakdownInARoll(t *testing.T) {
	m := load(t, read(t, "cheetah.xml"))
	d := newData(t, m)
	ctrl := make([]float64, 20*m.NU)
	ctrl[5*m.NU] = math.NaN()
	if err := d.Roll(ctrl, 5, nil); !errors.Is(err, engine.ErrBroken) {
		t.Errorf("error %v", err)
	}
}

// TestThreads runs simulations of shared models side by side, some of which break
// down, while models are loaded, and compares with one after another.
func TestThreads(t *testing.T) {
	names := []string{"cheetah.xml", "ant.xml", "hopper.xml", "cheetah.xml"}
	var models []*engine.Model
	for _, name := range names {
		models = append(models, load(t, read(t, name)))
	}
	play := func(m *engine.Model) []float64 {
		d, err := m.NewData()
		if err != nil {
			t.Error(err)
			return nil
		}
		for k := range 100 {
			for i := range d.Ctrl {
				d.Ctrl[i] = math.Sin(float64(k + i))
			}
			if err := d.Step(4); err != nil {
				t.Error(err)
			}
			if k%20 == 7 {
				brokenOnce(t, m)
				if _, err := engine.Load([]byte("<mujoco><leg/></mujoco>")); err == nil {
					t.Error("it was accepted")
				}
			}
		}
		return slices.Clone(d.QPos)
	}
	want := make([][]float64, len(models))
	for i, m := range models {
		want[i] = play(m)
	}
	got := make([][]float64, len(models))
	var group sync.WaitGroup
	for i, m := range models {
		group.Go(func() { got[i] = play(m) })
	}
	group.Wait()
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("%s: %v side by side, %v one after another", names[i], got[i], want[i])
		}
	}
}

// brokenOnce breaks a simulation.
func brokenOnce(t *testing.T, m *engine.Model) {
	d, err := m.NewData()
	if err != nil {
		t.Error(err)
		return
	}
	d.QVel[0] = math.NaN()
	if err := d.Step(1); !errors.Is(err, engine.ErrBroken) {
		t.Errorf("error %v", err)
	}
}

// TestMemory makes and drops simulations and models.
func TestMemory(t *testing.T) {
	before := residentMB(t)
	drop(t)
	if grown := residentMB(t) - before; grown > 200 { // three times what is made between collections
		t.Errorf("2,000 simulations that were dropped left %d MB", grown)
	}
	for range 100 { // cleanups run some time after a collection
		if runtime.GC(); engine.Live() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d models and simulations are left", engine.Live())
}

// drop makes 2,000 simulations of half a megabyte and 50 models, and keeps none.
func drop(t *testing.T) {
	hopper, cheetah := load(t, read(t, "hopper.xml")), read(t, "cheetah.xml")
	for range 2000 {
		must.Do(t, newData(t, hopper).Step(1))
	}
	for range 50 {
		load(t, cheetah)
	}
}

// residentMB returns the memory of the process, in MB.
func residentMB(t *testing.T) int {
	t.Helper()
	b := must.Get(os.ReadFile("/proc/self/statm"))(t)
	pages := must.Get(strconv.Atoi(strings.Fields(string(b))[1]))(t)
	return pages * os.Getpagesize() >> 20
}

func TestStepsAllocateNothing(t *testing.T) {
	m := load(t, read(t, "ant.xml"))
	d := newData(t, m)
	ctrl := make([]float64, 4*m.NU)
	if n := testing.AllocsPerRun(20, func() {
		if d.Reset() != nil || d.Forward() != nil || d.Step(2) != nil || d.ContactForces() != nil || d.Roll(ctrl, 2, nil) != nil || d.Kinematics() != nil {
			t.Error("a breakdown")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
