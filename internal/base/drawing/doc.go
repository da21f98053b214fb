// Package drawing holds what an environment draws: scenes of shapes in world units, the camera that sees them, a legend, and the
// interfaces by which an environment offers these or pictures. It holds no pixels: the page's player and internal/look/draw make them.
package drawing
