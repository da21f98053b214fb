package draw

import (
	"fmt"
	"image/color"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// typeface is the font of all letters. The page takes the system's.
var typeface = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(gobold.TTF)
	if err != nil {
		panic(fmt.Sprintf("draw: the font that is built in cannot be read: %v", err))
	}
	return f
})

// text draws letters of a size in pixels, centred about x, capitals centred about
// y.
func (c *canvas) text(how color.Color, s string, at point, size float64) {
	f := typeface()
	em := fixed.I(int(f.UnitsPerEm()))
	var buf sfnt.Buffer
	scale := size / float64(em)
	width := 0.0
	var glyphs []sfnt.GlyphIndex
	var places []float64
	for _, r := range s {
		g, err := f.GlyphIndex(&buf, r)
		if err != nil {
			continue // no letter of this font
		}
		advance, err := f.GlyphAdvance(&buf, g, em, font.HintingNone)
		if err != nil {
			continue
		}
		glyphs, places = append(glyphs, g), append(places, width)
		width += float64(advance) * scale
	}
	base := at.y + 0.36*size // capitals are about 0.72 em high
	for i, g := range glyphs {
		c.glyph(f, &buf, g, em, point{at.x - width/2 + places[i], base}, scale)
	}
	c.gg.SetColor(how)
	c.gg.Fill()
}

// glyph adds the outline of a letter to the path.
func (c *canvas) glyph(f *sfnt.Font, buf *sfnt.Buffer, g sfnt.GlyphIndex, em fixed.Int26_6, at point, scale float64) {
	segments, err := f.LoadGlyph(buf, g, em, nil)
	if err != nil {
		return // nothing to be seen
	}
	x := func(p fixed.Point26_6) float64 { return at.x + float64(p.X)*scale }
	y := func(p fixed.Point26_6) float64 { return at.y + float64(p.Y)*scale }
	for _, s := range segments {
		p := s.Args
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			c.gg.MoveTo(x(p[0]), y(p[0]))
		case sfnt.SegmentOpLineTo:
			c.gg.LineTo(x(p[0]), y(p[0]))
		case sfnt.SegmentOpQuadTo:
			c.gg.QuadraticTo(x(p[0]), y(p[0]), x(p[1]), y(p[1]))
		case sfnt.SegmentOpCubeTo:
			c.gg.CubicTo(x(p[0]), y(p[0]), x(p[1]), y(p[1]), x(p[2]), y(p[2]))
		}
	}
}
