package draw

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"tiebreak/internal/base/drawing"
)

// vec is a point or a direction in world units.
type vec = r3.Vec

// along returns a + k·b.
func along(a, b vec, k float64) vec { return r3.Add(a, r3.Scale(k, b)) }

// between returns part t of the way from a to b.
func between(a, b vec, t float64) vec { return along(a, r3.Sub(b, a), t) }

// unit returns a vector of length 1, or none if a has none.
func unit(a vec) vec {
	if n := r3.Norm(a); n > 0 {
		return r3.Scale(1/n, a)
	}
	return a
}

// vecs returns points of a solid scene.
func vecs(pts []float64) []vec {
	out := make([]vec, len(pts)/3)
	for i := range out {
		out[i] = vec{X: pts[3*i], Y: pts[3*i+1], Z: pts[3*i+2]}
	}
	return out
}

// A view is the place of the eye and the scale of the image.
type view struct {
	eye     vec
	forward vec // unit vectors: to where it looks,
	right   vec // level,
	up      vec // and up on the image
	focal   float64
	w, h    float64 // of the image, pixels
	near    float64 // depth before which nothing is drawn
}

// look returns the view of a camera on an image of w×h pixels.
func look(c drawing.Camera, w, h float64) *view {
	sa, ca := math.Sincos(c.Azimuth)
	se, ce := math.Sincos(c.Elevation)
	v := &view{
		forward: vec{X: ce * ca, Y: ce * sa, Z: -se}, right: vec{X: sa, Y: -ca}, up: vec{X: se * ca, Y: se * sa, Z: ce},
		focal: c.Distance * w / c.W, w: w, h: h, near: c.Distance / 50,
	}
	v.eye = along(vec{X: c.X, Y: c.Y, Z: c.Z}, v.forward, -c.Distance)
	return v
}

// depth returns how far before the eye a point lies.
func (v *view) depth(p vec) float64 { return r3.Dot(r3.Sub(p, v.eye), v.forward) }

// A spot is a point on the image and its depth.
type spot struct {
	point
	z float64
}

// project returns where a point before the eye is.
func (v *view) project(p vec) spot {
	q := r3.Sub(p, v.eye)
	z := r3.Dot(q, v.forward)
	return spot{point{v.w/2 + v.focal*r3.Dot(q, v.right)/z, v.h/2 - v.focal*r3.Dot(q, v.up)/z}, z}
}

// row returns where on the image a level plane h below the eye is at a depth; at
// an infinite one that is the horizon.
func (v *view) row(h, z float64) float64 {
	return v.h/2 + v.focal*(h/z+v.forward.Z)/v.up.Z
}

// outline returns a polygon on the image, without the part behind the eye.
func (v *view) outline(pts []vec) []point {
	var out []point
	to := func(p vec) { out = append(out, v.project(p).point) }
	for i, a := range pts {
		b := pts[(i+1)%len(pts)]
		za, zb := v.depth(a)-v.near, v.depth(b)-v.near
		if za >= 0 {
			to(a)
		}
		if za*zb < 0 {
			to(between(a, b, za/(za-zb)))
		}
	}
	return out
}
