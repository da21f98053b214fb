//go:build cgo && (linux || darwin)

package engine

// #include "shim.h"
import "C"

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
)

// checkModel has one of each thing that this package reads.
const checkModel = `<mujoco>
	<compiler angle="radian"/><option timestep=".004"/><size njmax="50" nconmax="10" nstack="20000"/>
	<worldbody>
		<geom type="plane" size="1 1 1" rgba="1 1 1 .5"/>
		<body name="ball" pos="0 0 .29"><freejoint/><geom type="sphere" size=".3" mass="2" group="3" condim="1"/></body>
		<body name="arm" pos="0 0 2">
			<joint name="swing" type="hinge" axis="0 1 0" limited="true" range="-1 2"/>
			<geom type="capsule" size=".1 .4" mass="1" contype="0" conaffinity="0"/><site name="hand" pos="0 0 .4"/>
		</body>
	</worldbody>
	<actuator>
		<motor name="weak" joint="swing" gear="0"/>
		<general name="lag" joint="swing" dyntype="integrator" gainprm="0" ctrllimited="true" ctrlrange="-2 3"/>
	</actuator>
	<sensor><jointpos name="angle" joint="swing"/><framepos name="place" objtype="site" objname="hand"/></sensor>
</mujoco>`

// selfCheck loads a small model and compares everything that this package reads
// with what it must be, by the model and by laws of motion. It returns an error if
// something differs: the structures of the opened library are not where they are
// looked for. A wild pointer gives an error too.
func selfCheck() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("self-check: %v", r)
		}
	}()
	c, err := compile("", []byte(checkModel))
	if err != nil {
		return fmt.Errorf("self-check: %w", err)
	}
	v := &verdict{}
	v.sizes(c)
	if v.err != nil {
		return v.err // arrays would have the wrong lengths; the model is left alone
	}
	m := newModel(c)
	v.model(m)
	if v.err != nil {
		return v.err
	}
	d, err := m.NewData()
	if err != nil {
		return fmt.Errorf("self-check: %w", err)
	}
	v.data(m, d)
	return v.err
}

// A verdict keeps the first difference.
type verdict struct{ err error }

// same compares lists exactly.
func same[T comparable](v *verdict, what string, got []T, want ...T) {
	if v.err == nil && !slices.Equal(got, want) {
		v.err = fmt.Errorf("self-check: %s read as %v, want %v", what, got, want)
	}
}

// near compares numbers to 10⁻⁹.
func (v *verdict) near(what string, got, want float64) {
	if v.err == nil && !(math.Abs(got-want) <= 1e-9) {
		v.err = fmt.Errorf("self-check: %s read as %v, want %v", what, got, want)
	}
}

// sizes compares the sizes of checkModel.
func (v *verdict) sizes(p *C.tb_model) {
	same(v, "sizes", []int{
		int(p.nq), int(p.nv), int(p.nu), int(p.na), int(p.nbody), int(p.njnt), int(p.ngeom), int(p.nsite), int(p.nsensor), int(p.nsensordata),
	}, 8, 7, 2, 1, 3, 2, 3, 1, 2, 4)
	v.near("timestep", float64(p.timestep), 0.004)
}

// model compares what is read of checkModel.
func (v *verdict) model(m *Model) {
	same(v, "joints", m.Joints, Joint{Type: Free}, Joint{Type: Hinge, QPos: 7, QVel: 6, Limited: true, Range: [2]float64{-1, 2}})
	same(v, "sensors", m.Sensors, Sensor{At: 0, Dim: 1}, Sensor{At: 1, Dim: 3})
	same(v, "geoms", m.Geoms,
		Geom{Type: Plane, Size: [3]float64{1, 1, 1}, Alpha: 0.5},
		Geom{Type: Sphere, Body: 1, Group: 3, Size: [3]float64{0.3}, Alpha: 1, Moves: true},
		Geom{Type: Capsule, Body: 2, Size: [3]float64{0.1, 0.4}, Alpha: 1, Moves: true})
	same(v, "lower limits", m.CtrlLow, math.Inf(-1), -2)
	same(v, "upper limits", m.CtrlHigh, math.Inf(1), 3)
	same(v, "positions", m.QPos0(), 0, 0, 0.29, 1, 0, 0, 0, 0)
	same(v, "masses", m.BodyMass(), 0, 2, 1)
	v.near("inertia", m.BodyInertia()[3], 0.4*2*0.09)
	for k, name := range []string{"ball", "swing", "", "hand", "lag", "place"} {
		if name != "" {
			same(v, "index of "+name, []int{m.ID(Kind(k), name)}, []int{1, 1, 0, 0, 1, 1}[k])
		}
	}
}

// data compares what is read of a simulation of checkModel.
func (v *verdict) data(m *Model, d *Data) {
	same(v, "first positions", d.QPos, m.QPos0()...)
	same(v, "first velocities", d.QVel, make([]float64, m.NV)...)
	same(v, "first controls", d.Ctrl, 0, 0)
	same(v, "first activations", d.Act, 0)
	same(v, "first time", []float64{d.Time()}, 0)
	if v.err != nil {
		return // nothing is written to memory that is not what it seems
	}
	v.contact(d)
	v.fall(d)
	v.breakdown(d)
}

// contact lets the ball lie in the floor.
func (v *verdict) contact(d *Data) {
	if err := d.Forward(); err != nil {
		v.err = err
		return
	}
	same(v, "contacts", []int{d.Contacts()}, 1)
	if err := d.ContactForces(); err != nil {
		v.err = err
		return
	}
	if up := d.QFrcConstraint[2]; !(up > 0) {
		v.err = fmt.Errorf("self-check: force of a contact read as %v", up)
	}
	v.near("force on a body", d.CFrcExt[6+5], d.QFrcConstraint[2])
	same(v, "frame of a body", d.XPos[3:6], 0, 0, 0.29)
	same(v, "rotation of a body", d.XMat[9:18], 1, 0, 0, 0, 1, 0, 0, 0, 1)
	same(v, "place of a geom", d.GeomXPos[3:6], 0, 0, 0.29)
	same(v, "rotation of a geom", d.GeomXMat[9:18], 1, 0, 0, 0, 1, 0, 0, 0, 1)
	v.near("place of a site", d.SiteXPos[2], 2.4)
	same(v, "sensors of a place", d.SensorData[1:4], d.SiteXPos[:3]...)
}

// fall lets the ball fall freely.
func (v *verdict) fall(d *Data) {
	const steps, stepSec, start, gravity = 10, 0.004, 5.0, 9.81
	d.QPos[2], d.Ctrl[1] = start, 1
	if err := d.Step(steps); err != nil {
		v.err = err
		return
	}
	v.near("time", d.Time(), steps*stepSec)
	v.near("speed", d.QVel[2], -gravity*steps*stepSec)
	v.near("height", d.QPos[2], start-gravity*stepSec*stepSec*steps*(steps+1)/2)
	v.near("activation", d.Act[0], steps*stepSec)
	v.near("start of the solver", d.Warmstart[2], -gravity)
	if err := d.Forward(); err != nil {
		v.err = err
		return
	}
	v.near("speed of a body", d.CVel[6+5], d.QVel[2])
	same(v, "contacts in the air", []int{d.Contacts()}, 0)
}

// breakdown gives the ball a speed that the engine refuses.
func (v *verdict) breakdown(d *Data) {
	if v.err != nil {
		return
	}
	d.QVel[2] = 1e30
	if err := d.Step(1); err == nil {
		v.err = fmt.Errorf("self-check: a simulation that broke down is not reported")
	}
}
