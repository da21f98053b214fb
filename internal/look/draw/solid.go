package draw

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"tiebreak/internal/base/drawing"
)

// drawSolid draws the scene on c.
func (p *Painter) drawSolid(c *canvas, frame float64) {
	v := look(p.scene.Camera, c.w, c.h)
	ground, floor := 0.0, p.floor()
	if floor != nil {
		ground = floor.Pts[2]
	}
	h := v.eye.Z - ground
	v.paintWorld(c, h)
	if floor != nil {
		v.paintChecker(c, floor)
	}
	p.paintGround(c, v, frame, ground)
	v.paintHaze(c, h)
	shapes := slices.Concat(p.scene.Static, p.scene.Moving)
	for i := range shapes {
		if !p.onGround(&shapes[i], ground) {
			v.paintDecal(c, &shapes[i], v.forward)
		}
	}
	list := v.bodies(shapes)
	sun := v.sun()
	if floor != nil {
		v.paintShadows(c, sun, list, ground)
	}
	s := &shading{view: v, to: sun, line: max(1, v.w/560)}
	for _, b := range order(v, list) {
		s.paint(c, b)
	}
}

// floor returns the checker, nil if there is none.
func (p *Painter) floor() *drawing.Shape {
	for i := range p.scene.Static {
		if p.scene.Static[i].Kind == drawing.Checker {
			return &p.scene.Static[i]
		}
	}
	return nil
}

// onGround reports whether all points of a shape lie on the ground.
func (p *Painter) onGround(s *drawing.Shape, ground float64) bool {
	above := func(q vec) bool { return !(q.Z < ground+p.scene.Camera.W/100) }
	return !slices.ContainsFunc(vecs(s.Pts), above)
}

// paintGround draws the shapes on the ground, and trails.
func (p *Painter) paintGround(c *canvas, v *view, frame, ground float64) {
	decals := func(shapes []drawing.Shape) {
		for i := range shapes {
			if p.onGround(&shapes[i], ground) {
				v.paintDecal(c, &shapes[i], vec{Z: 1})
			}
		}
	}
	decals(p.scene.Static)
	for i, w := range p.ways {
		if s := &p.scene.Moving[i]; w != nil {
			v.paintTrail(c, colour(s.Paint), groundPath(w, frame, vecs(s.Pts), ground), p.scene.Camera.W/110)
		}
	}
	decals(p.scene.Moving)
}

// sun returns the direction of the light: from above, left of the eye and behind it.
func (v *view) sun() vec {
	level := unit(vec{X: v.forward.X, Y: v.forward.Y})
	return unit(along(along(vec{Z: 1}, v.right, -0.42), level, -0.38))
}

// paintShadows draws soft shadows: layers that grow with the height of the body.
func (v *view) paintShadows(c *canvas, sun vec, list []*body, ground float64) {
	ink := plain(fade(blend(colour(drawing.Ink), colour(drawing.Ground), 0.15), 0.12))
	for _, soft := range []float64{1, 0.4, -0.2, -0.8} {
		var outlines [][]point
		for _, b := range list {
			if b.shape.Kind != drawing.Text {
				outlines = append(outlines, v.outline(b.shadow(sun, ground, soft)))
			}
		}
		c.fill(ink, outlines...)
	}
}

// shadow returns the outline of the shadow of b on the ground. soft is between -1,
// for its core, and 1, for its rim.
func (b *body) shadow(sun vec, ground, soft float64) []vec {
	var corners []vec
	for _, p := range b.pts {
		down := along(p, sun, (ground-p.Z)/sun.Z)
		if b.r == 0 {
			corners = append(corners, down)
			continue
		}
		r := b.r + soft*0.07*max(0, p.Z-ground)
		corners = append(corners, disc(down, max(0.3*b.r, r), 10)...)
	}
	return hull(corners)
}

// hull returns the convex hull of level points; all hulls turn the same way.
func hull(pts []vec) []vec {
	slices.SortFunc(pts, func(a, b vec) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	out := half(pts)
	slices.Reverse(pts)
	return append(out, half(pts)...)
}

// half returns one side of the hull of points that are in order, without its last.
func half(pts []vec) []vec {
	var out []vec
	for _, p := range pts {
		for n := len(out); n > 1 && r3.Cross(r3.Sub(out[n-1], out[n-2]), r3.Sub(p, out[n-1])).Z <= 0; n = len(out) {
			out = out[:n-1]
		}
		out = append(out, p)
	}
	return out[:len(out)-1]
}
