package measure

import (
	"math"

	"tiebreak/internal/idrl"
)

// A Pair is the visible difference of two clips of one environment. Distances are body sizes of the
// larger of the two.
type Pair struct {
	A, B *View

	// Pose is the mean distance of the points after the bodies' horizontal places are
	// laid on one another in every frame, height kept: the least over shifts in time of
	// up to a quarter of the clip, since a gait out of step is the same gait.
	Pose float64

	// Path is the mean distance, over frames, of the ways of the bodies since the
	// clips began.
	Path float64

	// Place is the distance between the beginnings of the clips, as far as the picture shows it:
	// along axes on which the camera stands still, or in a corridor with numbered cells.
	Place float64

	// End is the mean distance of the points in the last frames, with the places at
	// which the clips begin laid on one another.
	End float64

	spot float64 // of clips of pictures: the largest difference of a cell
}

// Compare returns the visible difference of a and b. It returns an error of kind Invalid if they
// show different things.
func Compare(a, b *View) (Pair, error) {
	if err := checkPair(a, b); err != nil {
		return Pair{}, err
	}
	if a.looks != nil {
		return comparePixels(a, b), nil
	}
	size := max(a.size, b.size)
	return Pair{
		A: a, B: b,
		Pose: poseApart(a.poses, b.poses) / size, Path: pathApart(a.centres, b.centres) / size,
		Place: placeApart(a, b) / size, End: distance(a.end, b.end) / size,
	}, nil
}

func checkPair(a, b *View) error {
	if a.env != b.env || a.solid != b.solid || len(a.end) != len(b.end) || (a.looks == nil) != (b.looks == nil) {
		return idrl.Errorf(idrl.Invalid, "clips of %q and %q, of %d and %d points, cannot be compared", a.env, b.env, len(a.end)/3, len(b.end)/3)
	}
	if a.looks != nil && len(a.looks[0]) != len(b.looks[0]) {
		return idrl.Errorf(idrl.Invalid, "clips of %q have pictures of other shapes, which cannot be compared", a.env)
	}
	return nil
}

// whirling reports whether both clips are too fast to follow.
func (p Pair) whirling() bool { return p.A.Whirling() && p.B.Whirling() }

// Alike reports whether the clips look the same.
func (p Pair) Alike() bool {
	if p.whirling() {
		return p.End < AlikePose && p.Place < AlikePlace
	}
	if p.spot >= plainSpot {
		return false
	}
	return p.Pose < AlikePose && p.Path < AlikePath && p.Place < AlikePlace && !(onMap(p.A) && p.End >= AlikePlace)
}

// onMap reports whether the clip is of a flat scene. There people see where it ends: two walks that
// separate in their last steps differ little in their paths, which are means.
func onMap(v *View) bool { return !v.solid && !v.moment }

// Easy reports whether the clips differ at a glance.
func (p Pair) Easy() bool {
	if p.whirling() {
		return p.End >= EasyPose || p.Place >= EasyPlace
	}
	return p.Pose >= EasyPose || p.Path >= EasyPath || p.Place >= EasyPlace
}

// Answerable reports whether a person can compare the two: they do not look alike, at least one of
// them moves, at least one is not of a fallen robot, and the robot moves from its place
// (View.Stays) in one of them, unless these places are far apart. Stills need not move, nor clips
// at different places of a map.
func (p Pair) Answerable() bool { return !p.Alike() && something(p.A, p.B, p.Place) }

// something reports whether a and b, whose places are at this distance, can be compared: Answerable
// apart from how alike they look.
func something(a, b *View, place float64) bool {
	far := a.stays && b.stays && place >= StaysApart
	posed := a.moment && b.moment || !a.solid && place >= EasyPlace || far
	still := a.Still() && b.Still() && !posed || stayTogether(a, b, place)
	return !still && !(a.Fallen() && b.Fallen())
}

// StayTogether reports whether the robot does not move from its place in both clips (View.Stays),
// and these places are less than StaysApart from one another.
func (p Pair) StayTogether() bool { return stayTogether(p.A, p.B, p.Place) }

// stayTogether is Pair.StayTogether of clips that begin at this distance.
func stayTogether(a, b *View, place float64) bool { return a.stays && b.stays && place < StaysApart }

// Together reports whether the clips begin in the same state, so that they show the actions of each
// policy in it.
func (p Pair) Together() bool {
	size := max(p.A.size, p.B.size)
	if p.A.looks != nil {
		return !p.A.moment && !p.B.moment && p.Place < sameStart
	}
	return !p.A.moment && !p.B.moment && p.Place < sameStart && distance(p.A.poses[0], p.B.poses[0])/size < sameStart
}

// sameStart is the largest distance, in body sizes, of first states that count as the same:
// rounding errors.
const sameStart = 0.02

// poseApart returns the least mean distance of two sequences of poses over the shifts
// in time: first on a grid, then around the best of it. World units.
func poseApart(a, b [][]float64) float64 {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	most := int(maxShift * float64(n))
	step := max(1, most/shifts)
	best, at := shifted(a, b, 0, math.Inf(1)), 0
	try := func(lag int) {
		if lag < -most || lag > most {
			return
		}
		if d := shifted(a, b, lag, best); d < best {
			best, at = d, lag
		}
	}
	for lag := step; lag <= most; lag += step {
		try(lag)
		try(-lag)
	}
	for step > 1 {
		step /= 2
		centre := at
		try(centre - step)
		try(centre + step)
	}
	return best
}

// shifted returns the mean distance of a at t and b at t+lag over the times that both
// have. It may stop where that is at least limit.
func shifted(a, b [][]float64, lag int, limit float64) float64 {
	from, to := max(0, -lag), len(a)-max(0, lag)
	n := float64(to - from)
	sum := 0.0
	for t := from; t < to && sum < limit*n; t++ {
		sum += distance(a[t], b[t+lag])
	}
	return sum / n
}

// distance returns the mean distance of the points of p and q.
func distance(p, q []float64) float64 {
	q = q[:len(p)]
	sum := 0.0
	for i := 2; i < len(p); i += 3 {
		x, y, z := p[i-2]-q[i-2], p[i-1]-q[i-1], p[i]-q[i]
		sum += math.Sqrt(x*x + y*y + z*z)
	}
	return sum / float64(len(p)/3)
}

// pathApart returns the mean distance of two paths, each from its beginning. World units.
func pathApart(a, b [][2]float64) float64 {
	n := min(len(a), len(b))
	sum := 0.0
	for t := range n {
		x, y := a[t][0]-a[0][0]-b[t][0]+b[0][0], a[t][1]-a[0][1]-b[t][1]+b[0][1]
		sum += math.Sqrt(x*x + y*y)
	}
	return sum / float64(n)
}

// placeApart returns the distance of the beginnings of two clips, as Pair.Place. World units. In a
// flat scene whose camera follows the body, the place of the body in the view counts.
func placeApart(a, b *View) float64 {
	sum := 0.0
	for k := range 2 {
		d := a.centres[0][k] - b.centres[0][k]
		if moved := a.camera[k] - b.camera[k]; moved != 0 && !a.marked {
			if a.solid {
				continue
			}
			d -= moved
		}
		sum += d * d
	}
	return math.Sqrt(sum)
}
