package draw

import (
	"image/color"

	"tiebreak/internal/idrl"
)

// Theme returns the colour of every paint.
func Theme() map[idrl.Paint]color.RGBA {
	theme := map[idrl.Paint]color.RGBA{}
	for paint := range light {
		theme[paint] = colour(paint)
	}
	return theme
}
