package figure

import (
	"tiebreak/internal/base/drawing"
)

// Entry returns an entry of a legend whose picture shows shapes around the origin, width
// units across.
func Entry(name, text string, width float64, shapes ...drawing.Shape) drawing.LegendEntry {
	return drawing.LegendEntry{Name: name, Text: text, Scene: drawing.Scene{
		Camera: drawing.Camera{W: width, H: width / drawing.LegendRatio}, Static: shapes,
	}}
}

// Floor returns a level ground that fills the picture of an entry of a width.
func Floor(width float64) drawing.Shape {
	return drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Surface, Pts: Corners(0, 0, width/2)}
}

// Way returns the line that an agent leaves behind it, as a picture of a legend shows it.
func Way(width float64, pts ...float64) drawing.Shape {
	return drawing.Shape{Kind: drawing.Polyline, Paint: drawing.Agent, Size: width, Pts: pts}
}
