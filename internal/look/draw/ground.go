package draw

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"tiebreak/internal/base/drawing"
)

// haze is the colour of the horizon.
func haze() color.RGBA { return blend(colour(drawing.Ground), colour(drawing.Surface), 0.35) }

// vanishing returns the depth at which the ground disappears in the haze.
func (v *view) vanishing() float64 { return 200 * v.near }

// paintWorld draws sky and ground. h is the height of the eye over the ground.
func (v *view) paintWorld(c *canvas, h float64) {
	horizon := v.h
	if h > 0 {
		horizon = v.row(h, math.Inf(1))
	}
	c.rect(plain(colour(drawing.Surface)), 0, v.h)
	if horizon > 0 {
		sky := newLinear(point{0, min(0, horizon-v.h)}, point{0, horizon}, []stop{opaque(0, colour(drawing.Ground)), opaque(1, haze())})
		c.rect(sky, 0, horizon)
	}
}

// paintHaze draws the haze over the ground: none up to a quarter of the depth at which the ground
// disappears.
func (v *view) paintHaze(c *canvas, h float64) {
	if h <= v.near {
		return
	}
	far := v.vanishing()
	horizon, top, clear := v.row(h, math.Inf(1)), v.row(h, far), v.row(h, far/4)
	var stops []stop
	for k := range 5 {
		z := far * (1 - 0.1875*float64(k))
		alpha := math.Pow(1-float64(k)/4, 1.5)
		stops = append(stops, stop{min(1, (v.row(h, z)-top)/(clear-top)), fade(haze(), alpha).(color.NRGBA64)})
	}
	c.rect(plain(haze()), horizon, top)
	c.rect(newLinear(point{0, top}, point{0, clear}, stops), top, clear)
}

// paintChecker draws every other square of an endless floor. Every other strip
// along x and along y is filled, so that where two overlap they cancel.
func (v *view) paintChecker(c *canvas, floor *drawing.Shape) {
	o := vecs(floor.Pts)[0]
	size := floor.Size
	h := v.eye.Z - o.Z
	if h <= v.near {
		return
	}
	least, most := v.seen(h, v.vanishing())
	strips := v.squares(o, size, least, most)
	if strips == nil {
		return // squares too small to see
	}
	c.fillEvenOdd(plain(blend(colour(floor.Paint), colour(drawing.Mark), 0.44)), strips...)
}

// squares returns strips along x and along y of every other row of squares of a floor with a corner
// in o, between least and most; nil if there are more than 500. Points in exactly one strip are to
// be filled.
func (v *view) squares(o vec, size float64, least, most point) (strips [][]point) {
	place := func(d float64) int { return int(math.Floor(d / size)) }
	i0, j0, i1, j1 := place(least.x-o.X), place(least.y-o.Y), place(most.x-o.X), place(most.y-o.Y)
	if i1-i0+j1-j0 > 500 {
		return nil
	}
	edge := func(start float64, i int) float64 { return start + float64(i)*size }
	add := func(xa, ya, xb, yb float64) {
		strips = append(strips, v.outline([]vec{{X: xa, Y: ya, Z: o.Z}, {X: xb, Y: ya, Z: o.Z}, {X: xb, Y: yb, Z: o.Z}, {X: xa, Y: yb, Z: o.Z}}))
	}
	for i := i0 | 1; i <= i1; i += 2 {
		add(edge(o.X, i), edge(o.Y, j0), edge(o.X, i+1), edge(o.Y, j1+1))
	}
	for j := j0 | 1; j <= j1; j += 2 {
		add(edge(o.X, i0), edge(o.Y, j), edge(o.X, i1+1), edge(o.Y, j+1))
	}
	return strips
}

// seen returns the part of a level plane h below the eye that is on the image and nearer than a
// depth: least and greatest x and y.
func (v *view) seen(h, far float64) (least, most point) {
	least, most = point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, x := range []float64{-v.w / 2, v.w / 2} {
		for _, y := range []float64{-v.h / 2, v.h / 2} {
			ray := along(along(v.forward, v.right, x/v.focal), v.up, y/v.focal)
			z := far
			if ray.Z < 0 {
				z = min(far, -h/ray.Z)
			}
			p := along(v.eye, ray, z)
			least = point{min(least.x, p.X), min(least.y, p.Y)}
			most = point{max(most.x, p.X), max(most.y, p.Y)}
		}
	}
	return least, most
}

// paintDecal draws a polygon, polyline or circle; nothing for other shapes. normal
// is that of the plane in which a line widens.
func (v *view) paintDecal(c *canvas, s *drawing.Shape, normal vec) {
	pts := vecs(s.Pts)
	switch s.Kind {
	case drawing.Polygon:
	case drawing.Polyline:
		pts = strip(pts, s.Size, normal)
	case drawing.Circle:
		pts = disc(pts[0], s.Size, 32)
	default:
		return
	}
	c.fill(plain(colour(s.Paint)), v.outline(pts))
}

// disc returns the n corners of a level circle.
func disc(c vec, r float64, n int) []vec {
	out := make([]vec, n)
	for k := range out {
		s, co := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		out[k] = along(c, vec{X: co, Y: s}, r)
	}
	return out
}

// strip returns the outline of a line of a width, in a plane with a unit normal.
func strip(pts []vec, width float64, normal vec) []vec {
	line := slices.Compact(slices.Clone(pts))
	if len(line) < 2 {
		return nil
	}
	sides := make([]vec, len(line)-1)
	for i := range sides {
		sides[i] = unit(r3.Cross(r3.Sub(line[i+1], line[i]), normal))
	}
	out := make([]vec, 2*len(line)) // one side, and the other in the reverse direction
	for i, p := range line {
		a, b := sides[max(0, i-1)], sides[min(i, len(sides)-1)]
		mitre := unit(r3.Add(a, b))
		reach := width / 2 / max(0.5, r3.Dot(mitre, b)) // not too long a one at a sharp turn
		out[i] = along(p, mitre, reach)
		out[len(out)-1-i] = along(p, mitre, -reach)
	}
	return out
}

// groundPath returns the path on the ground of the centre of a shape since the clip began, up to now.
// way has its x y z of every frame.
func groundPath(way []float64, frame float64, now []vec, ground float64) []vec {
	var out []vec
	for _, p := range vecs(way)[:int(frame)+1] {
		out = append(out, vec{X: p.X, Y: p.Y, Z: ground})
	}
	var m vec
	for _, p := range now {
		m = along(m, p, 1/float64(len(now)))
	}
	return append(out, vec{X: m.X, Y: m.Y, Z: ground})
}

// paintTrail draws a path, older parts fainter.
func (v *view) paintTrail(c *canvas, how color.RGBA, way []vec, width float64) {
	far := way[:1:1] // points that are apart, so that its edges do not fold
	for _, p := range way {
		if r3.Norm(r3.Sub(p, far[len(far)-1])) > width/2 {
			far = append(far, p)
		}
	}
	for _, part := range trailParts(len(far) - 1) {
		c.fill(plain(fade(how, part.alpha)), v.outline(strip(far[part.from:part.to+1], width, vec{Z: 1})))
	}
}
