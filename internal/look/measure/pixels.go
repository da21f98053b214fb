package measure

import (
	"math"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// Clips of pictures have no points. What is seen of them is measured in the mean colours of
// coarse cells at up to six moments (clip.Looks): the share of the picture that differs between two
// moments, or between two clips. A body that is somewhere else changes the picture where it was and
// where it is, so that half the share that differs, in units of the body's share of the picture, is
// about its way in widths of the body.
const (
	// unseenColour and fullColour are the differences of a cell, as shares of the range of a
	// colour, below which nothing is seen, and above which all of the cell counts: noise of JPEG is
	// below the first one.
	unseenColour = 0.04
	fullColour   = 0.34

	// leastBody and mostBody bound the estimated share of the picture that the body has, which is
	// computed from the changes. If little changes the body is assumed to be small, so that the
	// change is less likely to count as nothing.
	leastBody = 0.01
	mostBody  = 0.1

	// plainSpot is the difference of a cell, the largest of a moment and the mean over moments,
	// above which a change is seen, however small it is: a ball of a quarter of a cell on a court
	// of another colour. Above it clips are neither still nor alike.
	plainSpot = 0.08

	// leastPlain is the least distance (Pair.Apart) of clips with a visible difference: the size of
	// what matters in a picture is not known.
	leastPlain = 0.5
)

// newPixels returns the view of a clip of pictures.
func newPixels(c *clip.Clip) (*View, error) {
	h := &c.Header
	looks, err := c.Looks()
	if err != nil {
		return nil, err
	}
	if len(looks) == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "a clip of %s has pictures that were made before pictures could be measured", h.Env)
	}
	v := &View{env: h.Env, moment: h.Frames == 1, fallen: h.Fallen, named: named(h), looks: looks, sec: float64(h.Frames-1) * h.FrameSec / h.Playback}
	if v.seen = drawing.Whole(); h.Seen != nil {
		v.seen = *h.Seen
	}
	if !(v.sec >= 0 && v.sec <= math.MaxFloat64) {
		return nil, idrl.Errorf(idrl.Invalid, "a clip of %s has times that are not finite", h.Env)
	}
	for i := range looks {
		for _, other := range looks[:i] {
			share, _ := differing(looks[i], other)
			v.size = max(v.size, share/2)
		}
	}
	v.size = max(leastBody, min(mostBody, v.size))
	for lag := 1; lag < len(looks); lag++ {
		way, spot := v.changes(lag)
		v.motion.World, v.spot = max(v.motion.World, way/v.seconds(lag)), max(v.spot, spot)
	}
	v.motion.Relative = v.motion.World
	return v, nil
}

// changes returns the mean changes over so many moments: in body sizes, and in the cell that
// changes most.
func (v *View) changes(lag int) (way, spot float64) {
	n := float64(len(v.looks) - lag)
	for i, look := range v.looks[lag:] {
		share, most := differing(v.looks[i], look)
		way, spot = way+share/(2*v.size)/n, spot+most/n
	}
	return way, spot
}

// seconds returns how long so many moments take.
func (v *View) seconds(lag int) float64 { return v.sec * float64(lag) / float64(len(v.looks)-1) }

// differing returns the share of two pictures that differs, and the difference of the cell that
// differs most, as a share of the range of a colour.
func differing(a, b []byte) (share, most float64) {
	for i := 2; i < len(a); i += 3 {
		d := 0
		for k := i - 2; k <= i; k++ {
			d = max(d, int(a[k])-int(b[k]), int(b[k])-int(a[k]))
		}
		of := float64(d) / 255
		most = max(most, of)
		share += max(0, min(1, (of-unseenColour)/(fullColour-unseenColour)))
	}
	return share / float64(len(a)/3), most
}

// lookAt returns the look at a clip after so many seconds: its last one after its end.
func (v *View) lookAt(sec float64) []byte {
	last := len(v.looks) - 1
	if sec >= v.sec || last == 0 {
		return v.looks[last]
	}
	return v.looks[int(math.Round(sec/v.sec*float64(last)))]
}

// comparePixels is Compare for clips of pictures, whose Path is not known: it is part of Pose.
func comparePixels(a, b *View) Pair {
	p, size := Pair{A: a, B: b}, 2*max(a.size, b.size)
	longer := a
	if b.sec > a.sec {
		longer = b
	}
	for i := range longer.looks {
		at := 0.0
		if i > 0 {
			at = longer.seconds(i)
		}
		share, most := differing(a.lookAt(at), b.lookAt(at))
		p.Pose += share / size / float64(len(longer.looks))
		p.spot += most / float64(len(longer.looks))
	}
	p.Place, _ = differing(a.looks[0], b.looks[0])
	p.End, _ = differing(a.looks[len(a.looks)-1], b.looks[len(b.looks)-1])
	p.Place, p.End = p.Place/size, p.End/size
	return p
}
