package engine

import (
	"os"

	"tiebreak/internal/idrl"
)

// Install says how to get the library, for people.
const Install = `install it with "pip install mujoco" or, on Debian, "apt install libmujoco-dev"`

// missing returns why no library can be loaded and what to do about it, as a
// continuation of the name of an environment.
func missing(tried []attempt) error {
	switch named := os.Getenv(PathVariable); {
	case named != "" && len(tried) == 0:
		return idrl.Errorf(idrl.Invalid, "needs MuJoCo: the folder that %s names, %s, holds no library of it; name the library or the folder that it is in, or unset %[1]s", PathVariable, named)
	case named != "":
		return idrl.Errorf(idrl.Invalid, "needs MuJoCo, and what %s names cannot be used: %s; name a library of MuJoCo 2.2 or newer, or unset %[1]s", PathVariable, refusals(tried))
	case len(tried) == 0:
		return idrl.Errorf(idrl.Invalid, "needs MuJoCo, which is not on this machine: %s, or name the library in %s", Install, PathVariable)
	}
	return idrl.Errorf(idrl.Invalid, "needs MuJoCo, and what is on this machine cannot be used: %s; %s, or name another library in %s", refusals(tried), Install, PathVariable)
}

// ErrBroken says that a simulation broke down: the engine computed numbers that
// are not finite or out of bounds, or its buffers were full. The state must not be
// used until the next Reset.
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

// Kinds of things that Model.ID looks up.
const (
	BodyKind Kind = iota
	JointKind
	GeomKind
	SiteKind
	ActuatorKind
	SensorKind
)
