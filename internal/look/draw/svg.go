package draw

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"tiebreak/internal/base/drawing"
)

// svgWidth is the width of a drawing in its own units; coordinates are whole numbers.
const svgWidth = 320

// SVG returns a scene as an SVG element without a size of its own. Its colours are the
// custom properties --paint-* of the page around it, so that it follows the theme. It is
// simpler than Painter's images: bodies have one colour and a darker edge, and there are
// no shadows, trails or haze. Screen readers pass over it.
func SVG(s *drawing.Scene) string {
	w, h := float64(svgWidth), svgWidth*s.Camera.H/s.Camera.W
	var d svgFile
	fmt.Fprintf(&d, `<svg viewBox="0 0 %s %s" aria-hidden="true" focusable="false">`, num(w), num(h))
	d.polygons(paintVar(drawing.Ground), false, []point{{0, 0}, {w, 0}, {w, h}, {0, h}})
	if s.Camera.Solid() {
		d.solid(s, look(s.Camera, w, h))
	} else {
		d.flat(s, w, h)
	}
	d.WriteString("</svg>")
	return d.String()
}

// An svgFile is the text of an SVG element.
type svgFile struct{ strings.Builder }

func paintVar(p drawing.Paint) string { return "var(--paint-" + html.EscapeString(string(p)) + ")" }

// darker is the colour of edges.
func darker(p drawing.Paint) string { return "color-mix(in srgb," + paintVar(p) + " 70%,#000)" }

// num returns a coordinate.
func num(v float64) string {
	if math.IsNaN(v) || math.Abs(v) > 1e4 {
		v = math.Copysign(1e4, v) // far outside the picture
	}
	return strconv.Itoa(int(math.Round(v)))
}

// outside reports whether an outline lies beyond one side of the picture.
func outside(pts []point) bool {
	const high = svgWidth / drawing.LegendRatio
	beyond := func(out func(p point) bool) bool {
		return !slices.ContainsFunc(pts, func(p point) bool { return !out(p) })
	}
	return beyond(func(p point) bool { return p.x < 0 }) || beyond(func(p point) bool { return p.x > svgWidth }) ||
		beyond(func(p point) bool { return p.y < 0 }) || beyond(func(p point) bool { return p.y > high })
}

// path returns the data of lines through points.
func path(closed bool, outlines ...[]point) string {
	var b strings.Builder
	for _, pts := range outlines {
		if closed && outside(pts) {
			continue
		}
		for i, p := range pts {
			to := "L"
			if i == 0 {
				to = "M"
			}
			b.WriteString(to + num(p.x) + " " + num(p.y))
		}
		if closed && len(pts) > 0 {
			b.WriteByte('Z')
		}
	}
	return b.String()
}

func (d *svgFile) polygons(fill string, evenOdd bool, outlines ...[]point) {
	rule := ""
	if evenOdd {
		rule = ` fill-rule="evenodd"`
	}
	if data := path(true, outlines...); data != "" {
		fmt.Fprintf(d, `<path fill="%s"%s d="%s"/>`, fill, rule, data)
	}
}

func (d *svgFile) line(stroke string, width float64, pts []point) {
	fmt.Fprintf(d, `<path fill="none" stroke="%s" stroke-width="%s" stroke-linecap="round" stroke-linejoin="round" d="%s"/>`,
		stroke, num(width), path(false, pts))
}

func (d *svgFile) disc(fill string, at point, r float64) {
	fmt.Fprintf(d, `<circle fill="%s" cx="%s" cy="%s" r="%s"/>`, fill, num(at.x), num(at.y), num(r))
}

// letters are centred about a point, capitals of them.
func (d *svgFile) letters(p drawing.Paint, text string, at point, size float64) {
	if outside([]point{{at.x - size, at.y - size}, {at.x + size, at.y + size}}) {
		return
	}
	fmt.Fprintf(d, `<text fill="%s" x="%s" y="%s" font-size="%s" font-weight="600" text-anchor="middle">%s</text>`,
		paintVar(p), num(at.x), num(at.y+0.36*size), num(size), html.EscapeString(text))
}

func (d *svgFile) flat(s *drawing.Scene, w, h float64) {
	sheet := &sheet{&canvas{w: w, h: h}, s.Camera, w / s.Camera.W}
	for _, a := range slices.Concat(s.Static, s.Moving) {
		pts := sheet.points(a.Pts)
		switch a.Kind {
		case drawing.Polygon:
			d.polygons(paintVar(a.Paint), false, pts)
		case drawing.Polyline:
			d.line(paintVar(a.Paint), a.Size*sheet.scale, pts)
		case drawing.Circle:
			d.disc(paintVar(a.Paint), pts[0], a.Size*sheet.scale)
		case drawing.Text:
			d.letters(a.Paint, a.Text, pts[0], a.Size*sheet.scale)
		default: // other shapes belong to solid scenes
		}
	}
}

// solid draws the ground, shapes on it, floating shapes, and bodies by depth.
func (d *svgFile) solid(s *drawing.Scene, v *view) {
	shapes := slices.Concat(s.Static, s.Moving)
	ground := 0.0
	for i := range s.Static {
		if s.Static[i].Kind == drawing.Checker {
			ground = s.Static[i].Pts[2]
			d.floor(v, &s.Static[i])
		}
	}
	level := func(a *drawing.Shape) bool {
		return !slices.ContainsFunc(vecs(a.Pts), func(q vec) bool { return !(q.Z < ground+s.Camera.W/100) })
	}
	for _, onGround := range []bool{true, false} {
		for i := range shapes {
			if level(&shapes[i]) == onGround {
				d.decal(v, &shapes[i], onGround)
			}
		}
	}
	for _, b := range order(v, v.bodies(shapes)) {
		d.body(v, b)
	}
}

// floorTiles is how many squares of a floor are drawn around the middle of the view, at
// most, to each side.
const floorTiles = 7

// floor draws a level floor up to its horizon, and every other square near the middle of
// the view.
func (d *svgFile) floor(v *view, f *drawing.Shape) {
	o := vecs(f.Pts)[0]
	h := v.eye.Z - o.Z
	if h <= v.near {
		return
	}
	top := max(0, v.row(h, math.Inf(1)))
	d.polygons(paintVar(f.Paint), false, []point{{0, top}, {v.w, top}, {v.w, v.h}, {0, v.h}})
	far := 100 * v.near // twice as far as the centre of the view
	least, most := v.seen(h, far)
	x, y := v.eye.X+v.forward.X*far/2, v.eye.Y+v.forward.Y*far/2
	reach := floorTiles * f.Size
	least, most = point{max(least.x, x-reach), max(least.y, y-reach)}, point{min(most.x, x+reach), min(most.y, y+reach)}
	d.polygons("color-mix(in srgb,"+paintVar(drawing.Mark)+" 44%,"+paintVar(f.Paint)+")", true, v.squares(o, f.Size, least, most)...)
}

// decal draws a polygon, polyline or circle.
func (d *svgFile) decal(v *view, a *drawing.Shape, onGround bool) {
	pts, normal := vecs(a.Pts), v.forward
	if onGround {
		normal = vec{Z: 1}
	}
	switch a.Kind {
	case drawing.Polygon:
	case drawing.Polyline:
		pts = strip(pts, a.Size, normal)
	case drawing.Circle:
		pts = disc(pts[0], a.Size, 24)
	default:
		return
	}
	d.polygons(paintVar(a.Paint), false, v.outline(pts))
}

// body draws a ball, capsule, box or text.
func (d *svgFile) body(v *view, b *body) {
	paint := b.shape.Paint
	size := func(r float64) float64 { return r * v.focal / b.z }
	switch b.shape.Kind {
	case drawing.Ball:
		d.disc(darker(paint), b.at[0].point, size(b.r)+1.6)
		d.disc(paintVar(paint), b.at[0].point, size(b.r))
	case drawing.Capsule:
		pts := []point{b.at[0].point, b.at[1].point}
		d.line(darker(paint), 2*size(b.r)+3.2, pts)
		d.line(paintVar(paint), 2*size(b.r), pts)
	case drawing.Text:
		d.letters(paint, b.shape.Text, b.at[0].point, size(b.shape.Size))
	default: // a box: the faces that are turned to the eye
		for _, f := range b.faces() {
			if r3.Dot(r3.Sub(v.eye, f.m), f.n) > 0 {
				fmt.Fprintf(d, `<path fill="%s" stroke="%s" d="%s"/>`, paintVar(paint), darker(paint), path(true, v.outline(f.pts)))
			}
		}
	}
}
