package draw

import (
	"image/color"
	"math"

	"tiebreak/internal/base/drawing"
)

// light holds the colours of the paints in the light theme, --paint-* in
// static/css/app.css, as 0xrrggbb.
var light = map[drawing.Paint]uint32{
	drawing.Ground:  0xd3e0cd,
	drawing.Surface: 0xeceff4,
	drawing.Mark:    0xa9b3c3,
	drawing.Detail:  0x8fb083,
	drawing.Wall:    0x3a4557,
	drawing.Agent:   0x2657c9,
	drawing.AgentFg: 0xffffff,
	drawing.Other:   0xd97706,
	drawing.OtherFg: 0x231400,
	drawing.Focus:   0xc2185b,
	drawing.Ink:     0x182130,
	drawing.Object0: 0xf2a19c,
	drawing.Object1: 0xf5c078,
	drawing.Object2: 0xefe07c,
	drawing.Object3: 0xa4d79b,
	drawing.Object4: 0x86d3ca,
	drawing.Object5: 0x9ac8f3,
	drawing.Object6: 0xc3b0f0,
	drawing.Object7: 0xf1a9d2,
	drawing.Object8: 0xcdb494,
	drawing.Object9: 0xb9c1cd,
}

// colour returns that of a paint; grey if the theme has none.
func colour(p drawing.Paint) color.RGBA {
	v, ok := light[p]
	if !ok {
		v = 0x888888
	}
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

// blend returns part t of the way from a to b, both opaque.
func blend(a, b color.RGBA, t float64) color.RGBA {
	mix := func(v, w uint8) uint8 { return uint8(math.Round(float64(v) + (float64(w)-float64(v))*t)) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

var (
	black = color.RGBA{0, 0, 0, 255}
	white = color.RGBA{255, 255, 255, 255}
)

// shade returns c in a shade: 0 black, 1 itself, above 1 towards white.
func shade(c color.RGBA, s float64) color.RGBA {
	if s <= 1 {
		return blend(black, c, max(0, s))
	}
	return blend(c, white, min(1, (s-1)*1.6))
}

// fade returns c, which is opaque, with an opacity of alpha.
func fade(c color.RGBA, alpha float64) color.Color {
	return color.NRGBA64{uint16(c.R) * 0x101, uint16(c.G) * 0x101, uint16(c.B) * 0x101, uint16(math.Round(alpha * 0xffff))}
}
