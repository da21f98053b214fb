//go:build !cgo || (!linux && !darwin)

package engine

import "tiebreak/internal/idrl"

// Check returns an error of kind Invalid that says what to do.
func Check() error {
	return idrl.Errorf(idrl.Invalid, "needs MuJoCo, which this program cannot open: it was built without cgo; build it on Linux or macOS with a C compiler (Debian: gcc libc6-dev)")
}

// Version returns nothing.
func Version() string { return "" }

// Origin returns nothing.
func Origin() string { return "" }

// A Model cannot be had in this build.
type Model struct {
	NQ, NV, NU, NBody, NGeom, NSite int
	TimestepSec                     float64
	Joints                          []Joint
	Geoms                           []Geom
	Sensors                         []Sensor
	CtrlLow, CtrlHigh               []float64
}

// Load returns Check's error.
func Load([]byte) (*Model, error) { return nil, Check() }

// LoadFile returns Check's error.
func LoadFile(string) (*Model, error) { return nil, Check() }

// None of the following is ever called, for there is no Model.

// ID panics.
func (*Model) ID(Kind, string) int { panic(none) }

// QPos0 panics.
func (*Model) QPos0() []float64 { panic(none) }

// BodyMass panics.
func (*Model) BodyMass() []float64 { panic(none) }

// BodyInertia panics.
func (*Model) BodyInertia() []float64 { panic(none) }

// NewData panics.
func (*Model) NewData() (*Data, error) { panic(none) }

const none = "engine: there is no model in this build"

// A Data cannot be had in this build.
type Data struct {
	QPos, QVel, Ctrl   []float64
	Warmstart, Act     []float64
	QFrcConstraint     []float64
	XPos, XMat         []float64
	GeomXPos, GeomXMat []float64
	SiteXPos           []float64
	CFrcExt, CVel      []float64
	SensorData         []float64
}

// Time panics.
func (*Data) Time() float64 { panic(none) }

// SetTime panics.
func (*Data) SetTime(float64) { panic(none) }

// Contacts panics.
func (*Data) Contacts() int { panic(none) }

// Reset panics.
func (*Data) Reset() error { panic(none) }

// Forward panics.
func (*Data) Forward() error { panic(none) }

// Kinematics panics.
func (*Data) Kinematics() error { panic(none) }

// ContactForces panics.
func (*Data) ContactForces() error { panic(none) }

// Step panics.
func (*Data) Step(int) error { panic(none) }

// Roll panics.
func (*Data) Roll([]float64, int, []float64) error { panic(none) }

// Loop panics.
func (*Data) Loop([]float64, int, int, int) { panic(none) }
