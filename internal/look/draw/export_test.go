package draw

import (
	"image/color"

	"tiebreak/internal/base/drawing"
)

// Theme returns the colour of every paint.
func Theme() map[drawing.Paint]color.RGBA {
	theme := map[drawing.Paint]color.RGBA{}
	for paint := range light {
		theme[paint] = colour(paint)
	}
	return theme
}
