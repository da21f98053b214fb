package mujoco

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"tiebreak/envs/corridor"
	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/base/drawing"
)

// An appearance is how a task is drawn. Lengths are metres, angles radians.
type appearance struct {
	body     int     // that the camera follows along x; 0: it stays
	whole    bool    // it follows the mean of all bodies from body on, so that a wriggle does not shake it
	sideways bool    // it follows along y too
	height   float64 // of the centre of the view; clips move it where the robot would leave the picture

	width              float64 // of the view
	distance           float64 // of the eye
	elevation, azimuth float64 // at azimuth 0 the eye looks along y, with x to the right

	tile    float64         // edge of the floor's squares; 0: 1
	limbs   []limb          // later ones count where two have the same body
	marks   []mark          // what is drawn besides the model's geoms
	trail   int             // body whose first geom leaves a trail; 0: none
	scenery []drawing.Shape // static; a Checker among them is in the place of the model's floor
	maze    *corridor.Maze  // nil: none
	reach   float64         // from where the root of the robot may be in the maze to where its walls are drawn
}

// A limb is a run of bodies of one paint: first, last, and all between them in
// the order of the model, in which what hangs from a body follows it.
type limb struct {
	first, last string
	paint       drawing.Paint
}

// A mark is a shape with one point that moves with a body.
type mark struct {
	body  string
	at    [3]float64 // in the frame of the body
	kind  drawing.ShapeKind
	size  float64
	paint drawing.Paint
}

// A part is a shape in the frame of a geom or a body.
type part struct {
	shape drawing.Shape // whose Pts are in that frame
	geom  bool
	index int // of the geom or body
}

// A stage holds the data that all pictures of an environment share.
type stage struct {
	static []drawing.Shape
	parts  []part
	size   int       // numbers of the points of all parts
	states []float64 // room for those of a step
	floor  float64   // height of it
	tile   float64   // edge of its squares; 0: there are none
	scene  drawing.Scene
}

// Draw stores the present state in dst. Static shapes belong to the environment;
// the caller must not change them.
func (e *Env) Draw(dst *drawing.Scene) {
	e.drawAt(dst, e.d.QPos)
	runtime.KeepAlive(e)
}

// Substeps returns the engine steps of a step.
func (e *Env) Substeps() int { return e.skip }

// DrawStep draws every engine step from before to after. Where the simulation
// broke down on the way it draws what it has.
func (e *Env) DrawStep(before, after []float64, frame func(*drawing.Scene)) {
	e.Restore(after)
	ctrl := slices.Clone(e.d.Ctrl)
	e.Restore(before)
	e.prepare()
	states, scene := e.scene.states, &e.scene.scene
	e.must(e.d.Roll(ctrl, e.skip, states))
	for k := range e.skip - 1 {
		e.drawAt(scene, states[k*(e.m.NQ+e.m.NV):][:e.m.NQ])
		frame(scene)
	}
	e.Restore(after)
	e.Draw(scene)
	frame(scene)
}

// drawAt draws the state with these positions.
func (e *Env) drawAt(dst *drawing.Scene, qpos []float64) {
	e.prepare()
	copy(e.pose.QPos, qpos)
	e.must(e.pose.Kinematics())
	dst.Camera = e.camera()
	dst.Static = e.scene.static
	dst.Moving = dst.Moving[:0]
	room := make([]float64, e.scene.size)
	for _, p := range e.scene.parts {
		s := p.shape
		n := len(s.Pts)
		s.Pts = p.place(room[:n:n], e.pose)
		dst.Moving, room = append(dst.Moving, s), room[n:]
	}
	if m := e.appearance.maze; m != nil {
		dst.Moving = append(dst.Moving, pointer(*m, dst.Camera, e.scene.floor))
	}
}

// camera returns the camera for the state of e.pose.
func (e *Env) camera() drawing.Camera {
	a := &e.appearance
	at := e.followed()
	if !a.sideways {
		at[1] = 0
	}
	return drawing.Camera{
		X: at[0], Y: at[1], Z: a.height, W: a.width, H: a.width * 3 / 4,
		Distance: a.distance, Azimuth: math.Pi/2 + a.azimuth, Elevation: a.elevation,
		Keeps: true,
	}
}

// followed returns x and y of what the camera follows.
func (e *Env) followed() (at [2]float64) {
	x := e.pose.XPos[3*e.appearance.body:]
	if !e.appearance.whole {
		return [2]float64(x[:2])
	}
	n := 0.0
	for i, g := range e.m.Geoms {
		if g.Moves && g.Body >= e.appearance.body {
			at[0], at[1], n = at[0]+e.pose.GeomXPos[3*i], at[1]+e.pose.GeomXPos[3*i+1], n+1
		}
	}
	return [2]float64{at[0] / n, at[1] / n}
}

// prepare sets e.pose and e.scene when the first picture is drawn.
func (e *Env) prepare() {
	if e.pose != nil {
		return
	}
	pose, err := e.m.NewData()
	e.must(err)
	e.must(pose.Kinematics())
	e.pose, e.scene = pose, e.newStage(pose)
}

// newStage returns the stage of e, whose fixed geoms are where pose has them.
func (e *Env) newStage(pose *engine.Data) stage {
	s := stage{states: make([]float64, e.skip*(e.m.NQ+e.m.NV))}
	s.static = append(s.static, e.floor(pose)...)
	if i := slices.IndexFunc(s.static, func(s drawing.Shape) bool { return s.Kind == drawing.Checker }); i >= 0 {
		s.floor, s.tile = s.static[i].Pts[2], s.static[i].Size
	}
	paints := e.paints()
	trail := e.appearance.trail
	for i, g := range e.m.Geoms {
		p := part{geom: true, index: i}
		if g.Group > 2 || !(g.Alpha > 0) || !form(g, &p.shape) {
			continue
		}
		p.shape.Paint = paints[g.Body]
		if !g.Moves {
			p.shape.Pts = p.place(make([]float64, len(p.shape.Pts)), pose)
			s.static = append(s.static, p.shape)
			continue
		}
		if trail > 0 && g.Body == trail {
			p.shape.Trail, trail = true, 0
		}
		s.parts = append(s.parts, p)
	}
	for _, m := range e.appearance.marks {
		shape := drawing.Shape{Kind: m.kind, Paint: m.paint, Size: m.size, Pts: m.at[:]}
		s.parts = append(s.parts, part{shape: shape, index: e.body(m.body)})
	}
	for _, p := range s.parts {
		s.size += len(p.shape.Pts)
	}
	return s
}

// paints returns the paint of each body: what is fixed is a wall, what moves is
// the agent unless it belongs to a limb.
func (e *Env) paints() []drawing.Paint {
	out := slices.Repeat([]drawing.Paint{drawing.Agent}, e.m.NBody)
	for _, g := range e.m.Geoms {
		if !g.Moves {
			out[g.Body] = drawing.Wall
		}
	}
	for _, l := range e.appearance.limbs {
		for b := e.body(l.first); b <= e.body(l.last); b++ {
			out[b] = l.paint
		}
	}
	return out
}

// body returns the index of a body, which must be there.
func (e *Env) body(name string) int {
	i := e.m.ID(engine.BodyKind, name)
	if i < 0 {
		panic("mujoco: the model has no body " + name)
	}
	return i
}

// place stores the points of p in dst, as d has its frame, and returns it.
func (p part) place(dst []float64, d *engine.Data) []float64 {
	at, axes := d.XPos, d.XMat
	if p.geom {
		at, axes = d.GeomXPos, d.GeomXMat
	}
	at, axes = at[3*p.index:], axes[9*p.index:]
	for i := 0; i < len(dst); i += 3 {
		v := p.shape.Pts[i : i+3]
		for k := range 3 {
			dst[i+k] = at[k] + axes[3*k]*v[0] + axes[3*k+1]*v[1] + axes[3*k+2]*v[2]
		}
	}
	return dst
}

// form stores kind, size and points of a geom, in its own frame, in s. It
// returns false if the geom is not drawn so: a plane, or a height field.
//
// Geoms for which scenes have no shape are approximated: a cylinder by a capsule of
// its length, or a box if it is a disc; an ellipsoid by a ball of the mean radius, or
// a box if it is far from round; a mesh by the box of its size.
func form(g engine.Geom, s *drawing.Shape) bool {
	a, b, c := g.Size[0], g.Size[1], g.Size[2]
	switch g.Type {
	case engine.Sphere:
		ball(s, a)
	case engine.Capsule:
		capsule(s, a, b)
	case engine.Cylinder:
		if disc := a * math.Sqrt(math.Pi) / 2; b < a { // a square of the same area
			box(s, disc, disc, b)
		} else {
			capsule(s, a, b-a)
		}
	case engine.Ellipsoid:
		if max(a, b, c) > 1.5*min(a, b, c) {
			box(s, a, b, c)
		} else {
			ball(s, (a+b+c)/3)
		}
	case engine.Cuboid, engine.Mesh:
		box(s, a, b, c)
	default:
		return false
	}
	return true
}

func ball(s *drawing.Shape, radius float64) {
	s.Kind, s.Size, s.Pts = drawing.Ball, radius, make([]float64, 3)
}

// capsule lies along z; half is half the distance of its ends' centres.
func capsule(s *drawing.Shape, radius, half float64) {
	s.Kind, s.Size, s.Pts = drawing.Capsule, radius, []float64{0, 0, -half, 0, 0, half}
}

// box has half edges a, b and c.
func box(s *drawing.Shape, a, b, c float64) {
	s.Kind, s.Pts = drawing.Box, []float64{0, 0, 0, a, 0, 0, 0, b, 0, 0, 0, c}
}

// floor returns the scenery, the floor, and the cells of a maze.
func (e *Env) floor(pose *engine.Data) []drawing.Shape {
	out := slices.Clone(e.appearance.scenery)
	isFloor := func(s drawing.Shape) bool { return s.Kind == drawing.Checker }
	level := func(i int) bool { return e.m.Geoms[i].Type == engine.Plane && pose.GeomXMat[9*i+8] > 0.99 }
	for i := range e.m.Geoms {
		if level(i) && !slices.ContainsFunc(out, isFloor) {
			at := slices.Clone(pose.GeomXPos[3*i : 3*i+3])
			out = append(out, checker(cmp.Or(e.appearance.tile, 1), at...))
		}
	}
	if i := slices.IndexFunc(out, isFloor); i >= 0 && e.appearance.maze != nil {
		out = append(out, cells(*e.appearance.maze, e.appearance.reach, out[i].Pts[2])...)
	}
	return out
}
