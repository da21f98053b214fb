//go:build cgo && (linux || darwin)

package engine

/*
#cgo CFLAGS: -O2 -Wall
#cgo linux LDFLAGS: -ldl
#cgo noescape tb_step
#cgo nocallback tb_step
#cgo noescape tb_roll
#cgo nocallback tb_roll
#cgo noescape tb_loop
#cgo nocallback tb_loop
#cgo noescape tb_forward
#cgo nocallback tb_forward
#cgo noescape tb_reset
#cgo nocallback tb_reset
#cgo noescape tb_kinematics
#cgo nocallback tb_kinematics
#cgo noescape tb_contact_forces
#cgo nocallback tb_contact_forces
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"tiebreak/internal/idrl"
)

// live counts the models and simulations that have not been freed.
var live atomic.Int64

// A Model is a compiled model. It is immutable and may be shared by goroutines.
// It is freed when nothing refers to it.
type Model struct {
	p *C.tb_model

	NQ, NV, NU, NBody, NGeom, NSite int
	TimestepSec                     float64
	Joints                          []Joint
	Geoms                           []Geom
	Sensors                         []Sensor
	CtrlLow, CtrlHigh               []float64 // of each control; infinite where it is not limited
}

// loading serialises the compiler, which is not safe for use by several threads.
var loading sync.Mutex

// Load compiles MJCF. It returns an error of kind Invalid with the engine's own
// words if the engine refuses it, and Check's error if there is no engine.
func Load(xml []byte) (*Model, error) { return load("", xml) }

// LoadFile is Load for a file, which may refer to others beside it.
func LoadFile(path string) (*Model, error) { return load(path, nil) }

func load(path string, xml []byte) (*Model, error) {
	if err := Check(); err != nil {
		return nil, err
	}
	if path == "" && len(xml) == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "MuJoCo refuses the model: it is empty")
	}
	p, err := compile(path, xml)
	if err != nil {
		return nil, err
	}
	return newModel(p), nil
}

// compile compiles the file at path, or xml if path is empty.
func compile(path string, xml []byte) (*C.tb_model, error) {
	loading.Lock()
	defer loading.Unlock()
	text := (*C.char)(C.calloc(1, C.TB_TEXT))
	defer C.free(unsafe.Pointer(text))
	var file *C.char
	if path != "" {
		file = C.CString(path)
		defer C.free(unsafe.Pointer(file))
	}
	p := C.tb_load(file, unsafe.Pointer(unsafe.SliceData(xml)), C.int(len(xml)), text)
	if p == nil {
		return nil, idrl.Errorf(idrl.Invalid, "MuJoCo refuses the model: %s", C.GoString(text))
	}
	return p, nil
}

func newModel(p *C.tb_model) *Model {
	live.Add(1)
	m := &Model{
		p:  p,
		NQ: int(p.nq), NV: int(p.nv), NU: int(p.nu), NBody: int(p.nbody), NGeom: int(p.ngeom), NSite: int(p.nsite),
		TimestepSec: float64(p.timestep),
	}
	runtime.AddCleanup(m, func(p *C.tb_model) {
		C.tb_free_model(p)
		live.Add(-1)
	}, p)
	m.joints()
	m.geoms()
	m.sensors()
	m.controls()
	return m
}

func (m *Model) joints() {
	p, n := m.p, int(m.p.njnt)
	types, qpos, qvel := ints(p.jnt_type, n), ints(p.jnt_qposadr, n), ints(p.jnt_dofadr, n)
	limited, ranges := flags(p.jnt_limited, n), view(p.jnt_range, 2*n)
	for i := range n {
		m.Joints = append(m.Joints, Joint{
			Type: JointType(types[i]), QPos: int(qpos[i]), QVel: int(qvel[i]),
			Limited: limited[i] != 0, Range: [2]float64(ranges[2*i : 2*i+2]),
		})
	}
}

func (m *Model) geoms() {
	p, n := m.p, m.NGeom
	types, body, group := ints(p.geom_type, n), ints(p.geom_bodyid, n), ints(p.geom_group, n)
	size, weld := view(p.geom_size, 3*n), ints(p.body_weldid, m.NBody)
	rgba := unsafe.Slice((*float32)(p.geom_rgba), 4*n)
	for i := range n {
		m.Geoms = append(m.Geoms, Geom{
			Type: GeomType(types[i]), Body: int(body[i]), Group: int(group[i]), Size: [3]float64(size[3*i : 3*i+3]),
			Alpha: float64(rgba[4*i+3]), Moves: weld[body[i]] != 0,
		})
	}
}

func (m *Model) sensors() {
	n := int(m.p.nsensor)
	at, dim := ints(m.p.sensor_adr, n), ints(m.p.sensor_dim, n)
	for i := range n {
		m.Sensors = append(m.Sensors, Sensor{At: int(at[i]), Dim: int(dim[i])})
	}
}

func (m *Model) controls() {
	limited, ranges := flags(m.p.actuator_ctrllimited, m.NU), view(m.p.actuator_ctrlrange, 2*m.NU)
	for i := range m.NU {
		low, high := inf(-1), inf(1)
		if limited[i] != 0 {
			low, high = ranges[2*i], ranges[2*i+1]
		}
		m.CtrlLow, m.CtrlHigh = append(m.CtrlLow, low), append(m.CtrlHigh, high)
	}
}

// ID returns the index of a named thing, or −1 if there is none.
func (m *Model) ID(kind Kind, name string) int {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	defer runtime.KeepAlive(m)
	return int(C.tb_id(m.p, C.int(kind), text))
}

// QPos0 returns the positions after a reset, length NQ.
func (m *Model) QPos0() []float64 { return view(m.p.qpos0, m.NQ) }

// BodyMass returns the masses in kilograms, length NBody; body 0 is the world.
func (m *Model) BodyMass() []float64 { return view(m.p.body_mass, m.NBody) }

// BodyInertia returns the moments of inertia about the principal axes, 3·NBody.
func (m *Model) BodyInertia() []float64 { return view(m.p.body_inertia, 3*m.NBody) }

// A Data is a simulation of a model. One goroutine uses it at a time. Its slices
// may be written to where the engine reads them: QPos, QVel, Ctrl, Warmstart.
type Data struct {
	s *C.tb_sim
	m *Model // keeps the model alive

	QPos, QVel, Ctrl []float64 // lengths NQ, NV, NU
	Warmstart        []float64 // where the solver of constraints starts, NV
	Act              []float64 // states of actuators that have one
	QFrcConstraint   []float64 // NV
	XPos, XMat       []float64 // frames of bodies: 3·NBody, 9·NBody by rows
	GeomXPos         []float64 // 3·NGeom
	GeomXMat         []float64 // 9·NGeom
	SiteXPos         []float64 // 3·NSite
	CFrcExt          []float64 // external torque and force on bodies, 6·NBody
	CVel             []float64 // rotational and linear velocity of bodies, 6·NBody
	SensorData       []float64
}

// The collector does not see the engine's memory, and a simulation may hold
// megabytes of it. So a collection is forced after so many bytes of simulations.
const collectAfter = 64 << 20

// made counts the bytes of simulations since the last forced collection.
var made atomic.Int64

// NewData returns a simulation in the state after a reset. It is freed when
// nothing refers to it.
func (m *Model) NewData() (*Data, error) {
	text := (*C.char)(C.calloc(1, C.TB_TEXT))
	defer C.free(unsafe.Pointer(text))
	s := C.tb_make(m.p, text)
	if s == nil {
		return nil, idrl.Errorf(idrl.Internal, "MuJoCo cannot simulate the model: %s", C.GoString(text))
	}
	live.Add(1)
	if made.Add(int64(s.bytes)) > collectAfter {
		made.Store(0)
		runtime.GC()
	}
	d := &Data{
		s: s, m: m,
		QPos: view(s.qpos, m.NQ), QVel: view(s.qvel, m.NV), Ctrl: view(s.ctrl, m.NU),
		Warmstart: view(s.qacc_warmstart, m.NV), Act: view(s.act, int(m.p.na)), QFrcConstraint: view(s.qfrc_constraint, m.NV),
		XPos: view(s.xpos, 3*m.NBody), XMat: view(s.xmat, 9*m.NBody),
		GeomXPos: view(s.geom_xpos, 3*m.NGeom), GeomXMat: view(s.geom_xmat, 9*m.NGeom), SiteXPos: view(s.site_xpos, 3*m.NSite),
		CFrcExt: view(s.cfrc_ext, 6*m.NBody), CVel: view(s.cvel, 6*m.NBody), SensorData: view(s.sensordata, int(m.p.nsensordata)),
	}
	runtime.AddCleanup(d, func(s *C.tb_sim) {
		C.tb_free(s)
		live.Add(-1)
	}, s)
	return d, nil
}

// Time returns the simulated seconds since the reset.
func (d *Data) Time() float64 { return float64(*d.s.time) }

// SetTime sets what Time returns.
func (d *Data) SetTime(sec float64) { *d.s.time = C.double(sec) }

// Contacts returns the number of contacts.
func (d *Data) Contacts() int { return int(*d.s.contacts) }

// Reset returns to the model's first state and forgets a breakdown.
func (d *Data) Reset() error { return d.result(C.tb_reset(d.s)) }

// Forward computes everything that depends on the state.
func (d *Data) Forward() error { return d.result(C.tb_forward(d.s)) }

// Kinematics computes where bodies, geoms and sites are.
func (d *Data) Kinematics() error { return d.result(C.tb_kinematics(d.s)) }

// ContactForces computes CFrcExt, which steps leave out.
func (d *Data) ContactForces() error { return d.result(C.tb_contact_forces(d.s)) }

// Step makes n engine steps in one call. It returns an error that is ErrBroken
// if the simulation broke down.
func (d *Data) Step(n int) error { return d.result(C.tb_step(d.s, C.int(n))) }

// Roll plays controls that are known ahead in one call: rows of NU, each held for
// skip engine steps. Where out is not nil it receives QPos and QVel after every
// engine step, (NQ+NV)·skip numbers a row of controls. Errors are those of Step.
func (d *Data) Roll(ctrl []float64, skip int, out []float64) error {
	steps := len(ctrl) / max(1, d.m.NU)
	if len(ctrl) != steps*d.m.NU || out != nil && len(out) != steps*skip*(d.m.NQ+d.m.NV) {
		panic("engine: slices have the wrong length")
	}
	return d.result(C.tb_roll(d.s, doubles(ctrl), C.int(steps), C.int(skip), doubles(out)))
}

// Loop runs a plain C loop of steps steps that plays rows of controls round and
// round in episodes: what bindings are measured against.
func (d *Data) Loop(ctrl []float64, steps, skip, episode int) {
	C.tb_loop(d.s, doubles(ctrl), C.int(len(ctrl)/d.m.NU), C.int(steps), C.int(skip), C.int(episode))
	runtime.KeepAlive(d)
}

// result turns the value of a call into an error.
func (d *Data) result(code C.int) error {
	if code == C.TB_OK {
		runtime.KeepAlive(d)
		return nil
	}
	text := C.GoString(&d.s.text[0])
	runtime.KeepAlive(d)
	return broken(text)
}

// broken returns an error that is ErrBroken, with what the engine said.
func broken(text string) error { return fmt.Errorf("%w: %s", ErrBroken, text) }

// inf returns infinity with the sign of v.
func inf(v int) float64 { return math.Inf(v) }

func doubles(x []float64) *C.double { return (*C.double)(unsafe.SliceData(x)) }

func view(p *C.double, n int) []float64 { return unsafe.Slice((*float64)(p), n) }

func ints(p *C.int, n int) []int32 { return unsafe.Slice((*int32)(unsafe.Pointer(p)), n) }

func flags(p *C.tb_byte, n int) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), n) }
