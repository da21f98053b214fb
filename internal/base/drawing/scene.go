package drawing

// A Scene is a display list in world units. The renderer chooses pixels and
// colours; an environment knows neither.
//
// A flat scene (Camera.Distance is 0) is seen from above: x to the right, y up,
// and a point is two numbers. A solid scene is seen in perspective: z is up, and
// a point is three numbers. In it Polygon, Polyline and Circle lie on the ground
// or float without thickness and are drawn first, in order; then the shadows that
// Capsule, Ball and Box throw on the Checker; then these bodies, by depth.
type Scene struct {
	Camera Camera
	Static []Shape // the same in every scene of one environment instance
	Moving []Shape // the same kinds, paints and numbers of points in every scene
}

// A Camera is the part of the world in view. X, Y and Z may follow something;
// the rest is constant over the scenes of an environment.
type Camera struct {
	X, Y, Z float64 // centre of the view, world units; Z is 0 in a flat scene
	W, H    float64 // width and height of the view at the centre, world units

	Distance  float64 // of the eye from the centre, world units; 0: the scene is flat
	Azimuth   float64 // radians from the x axis to where the eye looks: at π/2 it looks along y, with x to the right
	Elevation float64 // radians by which it looks down; below π/2

	// Keeps says that clips of solid scenes move the centre, smoothly and no farther than they must, so that bodies
	// that move stay in the picture.
	Keeps bool
}

// Solid reports whether points have three coordinates.
func (c Camera) Solid() bool { return c.Distance > 0 }

// PointDim returns the coordinates of a point: 3 in a solid scene, else 2.
func (c Camera) PointDim() int {
	if c.Solid() {
		return 3
	}
	return 2
}

// ShapeKind is the form of a Shape.
type ShapeKind string

// Kinds of shape.
const (
	Polyline ShapeKind = "line"   // Pts joined, stroked with Size as width
	Polygon  ShapeKind = "poly"   // Pts closed, filled
	Circle   ShapeKind = "circle" // one point, filled, Size as radius
	Text     ShapeKind = "text"   // one point, its centre; Size as height; upright in a solid scene

	// In solid scenes alone.
	Capsule ShapeKind = "capsule" // two points, the centres of its ends; Size as radius
	Ball    ShapeKind = "ball"    // one point, Size as radius
	Box     ShapeKind = "box"     // four points: its centre, and the middles of three faces that meet
	Checker ShapeKind = "checker" // only in Static: one point on an endless level floor, Size as the edge of its squares
)

// Paint is a role that the theme gives a colour to.
type Paint string

// Paints. Object0 to Object9 differ in colour, so whatever uses them adds a letter too, for people
// who cannot distinguish the colours.
const (
	Ground  Paint = "ground"  // the world beyond
	Surface Paint = "surface" // floor: road, field
	Mark    Paint = "mark"    // lines on the surface
	Detail  Paint = "detail"  // scenery that shows motion
	Wall    Paint = "wall"
	Agent   Paint = "agent" // the agent that is judged
	AgentFg Paint = "agentfg"
	Other   Paint = "other" // another actor
	OtherFg Paint = "otherfg"
	Focus   Paint = "focus" // a ring around the subject of the question
	Ink     Paint = "ink"   // text and letters
	Object0 Paint = "object0"
	Object1 Paint = "object1"
	Object2 Paint = "object2"
	Object3 Paint = "object3"
	Object4 Paint = "object4"
	Object5 Paint = "object5"
	Object6 Paint = "object6"
	Object7 Paint = "object7"
	Object8 Paint = "object8"
	Object9 Paint = "object9"
)

// A Shape is one figure of a Scene.
type Shape struct {
	Kind  ShapeKind
	Paint Paint
	Size  float64   // stroke width, radius or text height, world units; constant over a clip
	Pts   []float64 // x0 y0 (z0) x1 y1 (z1) …, world units
	Text  string    // of a Text shape; constant over a clip
	Trail bool      // draw behind it, on the ground of a solid scene, the path of its centre since the clip began; only in Moving
}
