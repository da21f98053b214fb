package idrl

// A Scene is a display list in world units: x to the right, y up. Whoever draws
// it chooses pixels and colours; an environment knows neither.
type Scene struct {
	Camera Camera
	Static []Shape // the same in every scene of one environment instance
	Moving []Shape // the same kinds, paints and numbers of points in every scene
}

// A Camera is the part of the world in view. W and H are constant over the
// scenes of an environment; X and Y may follow something.
type Camera struct {
	X, Y float64 // centre, world units
	W, H float64 // width and height, world units
}

// ShapeKind is the form of a Shape.
type ShapeKind string

// Kinds of shape.
const (
	Polyline ShapeKind = "line"   // Pts joined, stroked with Size as width
	Polygon  ShapeKind = "poly"   // Pts closed, filled
	Circle   ShapeKind = "circle" // one point, filled, Size as radius
	Text     ShapeKind = "text"   // one point, its centre; Size as height
)

// Paint is a role that the theme gives a colour to.
type Paint string

// Paints. Object0 to Object9 are told apart by colour, so whatever uses them
// adds a letter too, for those who cannot.
const (
	Ground  Paint = "ground"  // the world beyond
	Surface Paint = "surface" // what one moves on: road, floor
	Mark    Paint = "mark"    // lines on the surface
	Detail  Paint = "detail"  // scenery that shows motion
	Wall    Paint = "wall"
	Agent   Paint = "agent" // who is judged
	AgentFg Paint = "agentfg"
	Other   Paint = "other" // another actor
	OtherFg Paint = "otherfg"
	Focus   Paint = "focus" // a ring around what the question is about
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
	Pts   []float64 // x0 y0 x1 y1 …, world units
	Text  string    // of a Text shape; constant over a clip
	Trail bool      // draw behind it the path of its centre since the clip began; only in Moving
}
