package figure

import "tiebreak/internal/idrl"

// Entry returns an entry of a legend whose picture shows shapes around the origin, width
// units across.
func Entry(name, text string, width float64, shapes ...idrl.Shape) idrl.LegendEntry {
	return idrl.LegendEntry{Name: name, Text: text, Scene: idrl.Scene{
		Camera: idrl.Camera{W: width, H: width / idrl.LegendRatio}, Static: shapes,
	}}
}

// Floor returns a level ground that fills the picture of an entry of a width.
func Floor(width float64) idrl.Shape {
	return idrl.Shape{Kind: idrl.Polygon, Paint: idrl.Surface, Pts: Corners(0, 0, width/2)}
}

// Way returns the line that an agent leaves behind it, as a picture of a legend shows it.
func Way(width float64, pts ...float64) idrl.Shape {
	return idrl.Shape{Kind: idrl.Polyline, Paint: idrl.Agent, Size: width, Pts: pts}
}
