// Package engine runs MuJoCo 2.2: it loads models and steps simulations. The
// library is opened when it is first needed, so that a program that was built
// with it runs without it; a program built without the build tag mujoco has the
// same package, in which nothing can be loaded.
//
// Slices of a Data and a Model are views of the engine's memory, without copies.
// They live as long as the value that they came from: whoever keeps one keeps
// that value too (runtime.KeepAlive).
package engine

import "tiebreak/internal/idrl"

// Package is the Debian package that brings headers and library.
const Package = "libmujoco-dev"

// missing is why nothing can be loaded, with what to do about it, such that it
// goes on from the name of what was to be loaded.
func missing(why string) error {
	return idrl.Errorf(idrl.Invalid, "needs MuJoCo 2.2, which is not available here: %s; install the Debian package %s and build with -tags mujoco, or start with go tool task run, which does both", why, Package)
}

// ErrBroken says that a simulation broke down: the engine met numbers that are
// not finite or out of all bounds, or ran out of its buffers. The state is not
// to be used until the next Reset.
var ErrBroken = idrl.Errorf(idrl.Internal, "the simulation broke down")

// GeomType is the form of a geom.
type GeomType int

// Forms of a geom, as the engine numbers them.
const (
	Plane GeomType = iota
	HeightField
	Sphere
	Capsule
	Ellipsoid
	Cylinder
	Cuboid
	Mesh
)

// A Geom is one body shape of a model.
type Geom struct {
	Type  GeomType
	Body  int        // index of its body
	Group int        // 0 to 2 are shown by viewers, 3 and more are not
	Size  [3]float64 // metres: radius; radius and half length; half edges
	Alpha float64    // opacity
	Moves bool       // its body is not fixed to the world
}

// JointType is the kind of a joint.
type JointType int

// Kinds of a joint, as the engine numbers them.
const (
	Free JointType = iota
	BallJoint
	Slide
	Hinge
)

// A Joint is one joint of a model.
type Joint struct {
	Type    JointType
	QPos    int // index of its first position
	QVel    int // index of its first velocity
	Limited bool
	Range   [2]float64
}

// A Sensor is one sensor of a model: Dim numbers of SensorData from At on.
type Sensor struct{ At, Dim int }

// Kind is a kind of named thing in a model.
type Kind int

// Kinds of things that Model.ID looks up, as the engine numbers them.
const (
	BodyKind     Kind = 1
	JointKind    Kind = 3
	GeomKind     Kind = 5
	SiteKind     Kind = 6
	ActuatorKind Kind = 18
	SensorKind   Kind = 19
)
