package mujoco

import (
	"fmt"
	"math"
	"strconv"

	"tiebreak/internal/base/drawing"
)

var _ drawing.Marker = (*Env)(nil)

// Sizes of the marks on the floor, widths of the view.
const (
	markHeight = 0.047 // of the letters
	markAside  = 0.22  // from the robot at first to the letters, on the side of the camera
	markLow    = 0.12  // the same where the camera looks from so low that little floor is in front
	markLanes  = 0.8   // between two rows of marks, where a robot goes aside
	markBehind = 0.2   // of the marks beyond the way of the robot
	markAhead  = 0.4   // the same ahead of it
	startReach = 0.3   // of the line at the start, away from the camera; towards it, it ends before the letters
)

// lowElevation is the elevation of the camera, radians, below which marks are nearer to the robot.
const lowElevation = 0.15

// Marks returns the floor with an edge of its squares at the first position of the robot, a line
// there, and the distance from it along x at every metre, or at another round step if the view is much
// larger or smaller. There are none if the camera does not move, and in a corridor, whose cells have
// numbers.
func (e *Env) Marks(states [][]float64) []drawing.Shape {
	e.prepare()
	a := &e.appearance
	if a.body == 0 || a.maze != nil || e.scene.tile == 0 {
		return nil
	}
	way := make([][2]float64, len(states))
	for i, s := range states {
		way[i] = e.centre(s)
	}
	return e.ruler(way).shapes()
}

// ruler returns the ruler of a robot that goes this way.
func (e *Env) ruler(way [][2]float64) ruler {
	a := &e.appearance
	r := ruler{tile: e.scene.tile, width: a.width, aside: markAside * a.width}
	if a.elevation < lowElevation {
		r.aside = markLow * a.width
	}
	first := way[0]
	if !a.sideways {
		first[1] = 0
	}
	r.start = [3]float64{r.round(first[0]), r.round(first[1]), e.scene.floor}
	for _, at := range way {
		r.from, r.to = min(r.from, at[0]-first[0]), max(r.to, at[0]-first[0])
		if a.sideways {
			r.right, r.left = min(r.right, at[1]-first[1]), max(r.left, at[1]-first[1])
		}
	}
	return r
}

// A ruler has the marks of one clip. Lengths are metres.
type ruler struct {
	start       [3]float64
	tile        float64 // edge of the squares
	width       float64 // of the view
	aside       float64 // from the start to the letters
	from, to    float64 // what the robot goes along x, from the start
	right, left float64 // along y
}

func (r ruler) shapes() []drawing.Shape {
	x, y, z := r.start[0], r.start[1], r.start[2]
	reach, lanes := startReach*r.width, markLanes*r.width
	out := []drawing.Shape{
		checker(r.tile, x, y, z),
		{Kind: drawing.Polyline, Paint: drawing.Ink, Size: r.round(r.width / 120), Pts: []float64{x, r.round(y - 0.6*r.aside), z, x, r.round(y + r.left + reach), z}},
	}
	step := markStep(r.width)
	for lane := math.Ceil((r.right - lanes/2) / lanes); lane <= (r.left+lanes/2)/lanes; lane++ {
		for k := math.Ceil((r.from - markBehind*r.width) / step); k <= (r.to+markAhead*r.width)/step; k++ {
			out = append(out, drawing.Shape{
				Kind: drawing.Text, Paint: drawing.Ink, Size: r.round(markHeight * r.width), Text: distance(k * step),
				Pts: []float64{r.round(x + k*step), r.round(y + lane*lanes - r.aside), z},
			})
		}
	}
	return out
}

// markStep returns the distance between two marks in a view of a width: 1, 2 or 5 times a power of
// ten, and a fifth of the width or more.
func markStep(width float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(width/5)))
	for _, k := range []float64{1, 2, 5} {
		if k*power >= width/5*(1-1e-9) {
			return k * power
		}
	}
	return 10 * power
}

// distance returns the text of a mark.
func distance(m float64) string {
	s := strconv.FormatFloat(math.Round(math.Abs(m)*1e6)/1e6, 'f', -1, 64) + " m"
	if m < 0 {
		return "−" + s
	}
	return s
}

// round returns v with a precision of a hundredth of the width or less, 1 cm of most robots: numbers with
// few digits take few bytes.
func (r ruler) round(v float64) float64 {
	steps := math.Pow(10, -math.Floor(math.Log10(r.width/100)))
	return math.Round(v*steps) / steps
}

// Narrate says of a clip in a corridor how far the goal is when it begins, and whether the
// robot goes less than half its length; of a clip of another robot that travels, how far it goes,
// and how fast that is on average.
func (e *Env) Narrate(first, last []float64) string {
	switch {
	case e.appearance.maze != nil:
		return e.narrateCorridor(first, last)
	case last == nil || !e.travels:
		return ""
	}
	from, to := e.centre(first), e.centre(last)
	return wayOf(to[0]-from[0], to[1]-from[1], last[1]-first[1])
}

// wayOf says how far a robot goes forward and sideways, in metres, and how fast.
func wayOf(forward, aside, sec float64) string {
	said := fmt.Sprintf("%.1f m forward", math.Abs(forward))
	if forward <= -seen {
		said = fmt.Sprintf("%.1f m backwards", -forward)
	}
	if aside = math.Abs(aside); aside >= seen {
		said += fmt.Sprintf(", %.1f m sideways", aside)
	}
	way := math.Hypot(forward, aside)
	if speed := way / sec; way >= seen && speed >= 0.1 {
		return said + fmt.Sprintf(", %.1f m/s", speed)
	} else if way >= seen && sec > 0 {
		return said + fmt.Sprintf(", %.2f m/s", speed)
	}
	return said
}

// seen is the shortest way, m, that is not rounded to 0.
const seen = 0.05
