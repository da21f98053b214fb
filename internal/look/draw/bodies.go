package draw

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"tiebreak/internal/base/drawing"
)

// A body is a ball, capsule, box or text of which a part is in front of the eye.
type body struct {
	shape *drawing.Shape
	pts   []vec   // both ends of the axis; of a box its corners, corner i on the side of face k's middle where bit k of i is set
	r     float64 // radius around the axis; 0 of a box
	cut   bool    // the capsule ends flat at its first end
	at    []spot  // of pts
	least point   // of the covered part of the image
	most  point
	z     float64 // depth of the middle
	i     int     // place in the scene
}

// axis returns the two ends of the axis. A box has none.
func (b *body) axis() (p, q spot) { return b.at[0], b.at[1] }

// bodies returns the visible bodies among shapes.
func (v *view) bodies(shapes []drawing.Shape) []*body {
	var out []*body
	for i := range shapes {
		b := newBody(shapes, i)
		if b == nil {
			continue
		}
		if b.pts = v.before(b.pts, v.near+b.r); len(b.pts) > 0 {
			v.place(b)
			out = append(out, b)
		}
	}
	return out
}

// newBody returns shape i of a scene as a body, nil if it is none.
func newBody(shapes []drawing.Shape, i int) *body {
	s := &shapes[i]
	b := &body{shape: s, i: i, pts: vecs(s.Pts), r: s.Size}
	switch s.Kind {
	case drawing.Ball:
		b.pts = append(b.pts, b.pts[0])
	case drawing.Capsule:
		b.pts, b.cut = emerging(b.pts, b.r, shapes)
	case drawing.Box:
		b.pts, b.r = corners(b.pts), 0
	case drawing.Text:
		b.pts, b.r = append(b.pts, b.pts[0]), b.r/2
	default:
		return nil
	}
	return b
}

// before returns the part of an axis beyond a depth; a box as a whole if some of it is.
func (v *view) before(pts []vec, least float64) []vec {
	behind := func(p vec) bool { return v.depth(p) < least }
	seen := func(p vec) bool { return !behind(p) }
	if !slices.ContainsFunc(pts, seen) {
		return nil
	}
	if len(pts) != 2 || !slices.ContainsFunc(pts, behind) {
		return pts
	}
	a, b := v.depth(pts[0])-least, v.depth(pts[1])-least
	m := between(pts[0], pts[1], a/(a-b))
	if a < 0 {
		return []vec{m, pts[1]}
	}
	return []vec{pts[0], m}
}

// place fills in where b is on the image.
func (v *view) place(b *body) {
	b.least, b.most = point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, p := range b.pts {
		s := v.project(p)
		b.at = append(b.at, s)
		b.z += s.z / float64(len(b.pts))
		m := b.r*v.focal/s.z + 1
		if s.z < v.near { // a corner of a box behind the eye
			m = math.Inf(1)
		}
		b.least = point{min(b.least.x, s.x-m), min(b.least.y, s.y-m)}
		b.most = point{max(b.most.x, s.x+m), max(b.most.y, s.y+m)}
	}
}

// corners returns those of a box, of which pts are the centre and the middles of
// three faces.
func corners(pts []vec) []vec {
	out := make([]vec, 8)
	for i := range out {
		p := pts[0]
		for k, m := range pts[1:] {
			side := float64(i>>k&1)*2 - 1
			p = along(p, r3.Sub(m, pts[0]), side)
		}
		out[i] = p
	}
	return out
}

// emerging returns the part of a capsule outside a thicker ball, as legs come out of a trunk. The
// end that is cut off becomes the first. It returns no points if all of the capsule is within a
// ball.
func emerging(pts []vec, r float64, shapes []drawing.Shape) (left []vec, cut bool) {
	for _, s := range shapes {
		if s.Kind != drawing.Ball {
			continue
		}
		c := vecs(s.Pts)[0]
		gap := func(p vec) float64 { return r3.Norm(r3.Sub(p, c)) }
		a, b := pts[0], pts[1]
		if gap(b) < gap(a) {
			a, b = b, a
		}
		if gap(b) < s.Size-r {
			return nil, false
		}
		rim := s.Size*s.Size - r*r // squared distance of its axis from c where its side meets the ball
		if gap(a)*gap(a) < rim && gap(b)*gap(b) >= rim {
			return []vec{leaves(a, b, c, rim), b}, true
		}
	}
	return pts, false
}

// leaves returns where the line from a to b leaves the ball about c whose squared radius is rim.
func leaves(a, b, c vec, rim float64) vec {
	d, q := r3.Sub(b, a), r3.Sub(a, c)
	dd, dq, qq := r3.Norm2(d), r3.Dot(d, q), r3.Norm2(q)-rim
	return along(a, d, (math.Sqrt(dq*dq-dd*qq)-dq)/dd)
}

// order sorts bodies so that each is painted after all that it hides: by depth, unless two bodies
// that overlap on the image require another order.
func order(v *view, list []*body) []*body {
	left := slices.Clone(list)
	slices.SortFunc(left, func(p, q *body) int { return cmp.Or(cmp.Compare(q.z, p.z), cmp.Compare(p.i, q.i)) })
	hides := make([][]*body, len(left)) // the bodies that must be painted before
	for i, p := range left {
		for _, q := range left {
			if p != q && v.nearer(p, q) > 0 {
				hides[i] = append(hides[i], q)
			}
		}
	}
	done := map[*body]bool{}
	var out []*body
	for len(out) < len(left) {
		b := next(left, hides, done)
		done[b] = true
		out = append(out, b)
	}
	return out
}

// next returns the first body that need not wait; if each hides another, the farthest.
func next(left []*body, hides [][]*body, done map[*body]bool) *body {
	var farthest *body
	for i, p := range left {
		if done[p] {
			continue
		}
		if !slices.ContainsFunc(hides[i], func(q *body) bool { return !done[q] }) {
			return p
		}
		if farthest == nil {
			farthest = p
		}
	}
	return farthest
}

// nearer returns whether p hides q: positive if so, negative if q hides p, 0 if they
// do not meet on the image.
func (v *view) nearer(p, q *body) float64 {
	if p.least.x > q.most.x || q.least.x > p.most.x || p.least.y > q.most.y || q.least.y > p.most.y {
		return 0
	}
	if p.shape.Kind == drawing.Box || q.shape.Kind == drawing.Box {
		return v.behindFace(p, q)
	}
	s, t, gap := closest(p, q)
	zp, zq := p.depthAt(s), q.depthAt(t)
	if gap > v.focal*(p.r/zp+q.r/zq) {
		return 0
	}
	tie := min(p.r, q.r) / 2
	for _, d := range []float64{zq - zp, q.z - p.z} {
		if math.Abs(d) > tie {
			return d
		}
	}
	return float64(p.i - q.i) // in the same place, as limbs at a joint are: always the same one
}

// depthAt returns the depth a part s of the way along the axis on the image.
func (b *body) depthAt(s float64) float64 {
	p, q := b.axis()
	return 1 / ((1-s)/p.z + s/q.z)
}

// closest returns where two axes come closest on the image: the shares of the length of each, and
// the gap in pixels.
func closest(p, q *body) (s, t, gap float64) {
	a, b := p.axis()
	c, d := q.axis()
	ux, uy, vx, vy, wx, wy := b.x-a.x, b.y-a.y, d.x-c.x, d.y-c.y, c.x-a.x, c.y-a.y
	det := uy*vx - ux*vy
	s, t = (wy*vx-wx*vy)/det, (wy*ux-wx*uy)/det
	if s >= 0 && s <= 1 && t >= 0 && t <= 1 {
		return s, t, 0 // they cross
	}
	gap = math.Inf(1)
	offer := func(i, j float64) {
		if g := math.Hypot(wx+j*vx-i*ux, wy+j*vy-i*uy); g < gap {
			s, t, gap = i, j, g
		}
	}
	for _, e := range []float64{0, 1} {
		offer(portion((wx+e*vx)*ux+(wy+e*vy)*uy, ux*ux+uy*uy), e)
		offer(e, portion((e*ux-wx)*vx+(e*uy-wy)*vy, vx*vx+vy*vy))
	}
	return s, t, gap
}

// portion returns a/b between 0 and 1; 0 where an axis is a point.
func portion(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return min(max(a/b, 0), 1)
}

// faceCorners are the faces of a box, each by four corners in a row.
var faceCorners = [6][4]int{{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}

// A face of a box.
type face struct {
	m   vec // middle
	n   vec // unit normal
	pts []vec
}

// faces returns those of a box.
func (b *body) faces() []face {
	c := between(b.pts[0], b.pts[7], 0.5)
	out := make([]face, 0, len(faceCorners))
	for _, f := range faceCorners {
		m := between(b.pts[f[0]], b.pts[f[2]], 0.5)
		out = append(out, face{m, unit(r3.Sub(m, c)), []vec{b.pts[f[0]], b.pts[f[1]], b.pts[f[2]], b.pts[f[3]]}})
	}
	return out
}

// behindFace is nearer for pairs with a box: of the face that best separates the two, the eye is on
// the side of the body that hides the other.
func (v *view) behindFace(p, q *body) float64 {
	most, sign := math.Inf(-1), 0.0
	try := func(box, other *body, s float64) {
		if box.shape.Kind != drawing.Box {
			return
		}
		for _, f := range box.faces() {
			apart := math.Inf(1)
			for _, x := range other.pts {
				apart = min(apart, r3.Dot(r3.Sub(x, f.m), f.n)-other.r)
			}
			if apart > most {
				most, sign = apart, -s
				if r3.Dot(r3.Sub(v.eye, f.m), f.n) > 0 {
					sign = s
				}
			}
		}
	}
	try(p, q, -1)
	try(q, p, 1)
	return sign
}
