package driver

import (
	"math"

	"tiebreak/internal/base/drawing"
)

// Limits of names.
const (
	offRoad   = 1.5*laneWidth + 0.04 // from the middle of the road: the middle of the car is in the grass
	offShare  = 0.33                 // of the drive in the grass, from which nothing else counts
	crash     = 3                    // states in contact, from which it is more than a touch of corners
	circle    = 2.0                  // turn of a drive, radians, that is a circle and no bend
	southward = -0.3                 // sine of the heading of a car that has turned round
	backShare = 0.5                  // of the drive in reverse; a drive that backs up for less goes on ahead
	backWay   = 0.1                  // in reverse, about half a car, that is seen
	standing  = 0.6                  // way of a whole drive, less than a third of the van's
	inLane    = 0.3                  // lanes from the middle of a lane, within which a car is in it
)

// Name returns what happens in a drive. Of several things it is the worst to a person: in the grass
// for a third of the drive or at its end; a crash; the wrong way; in reverse. Without these it is the
// position of the car at the end relative to the van.
func (e *Env) Name(states [][]float64) drawing.Happening {
	var d drive
	for _, s := range states {
		e.Restore(s)
		d.see(e.agent, e.other[e.t])
	}
	if len(states) == 1 {
		return d.place()
	}
	if name := d.bad(); name != "" {
		return drawing.Happening{Name: name, Useless: true}
	}
	return drawing.Happening{Name: d.good()}
}

// A drive counts what happens in the states of a clip.
type drive struct {
	n, off, hits, reverse, south int     // states: all, in the grass, in contact, in reverse, facing south
	way, back                    float64 // driven: all, in reverse
	least, most                  float64 // heading
	lanes                        int     // entered, one after another
	lane                         int     // the car was in last, −1 to 1
	agent, other                 car     // last
}

// see adds a state.
func (d *drive) see(agent, other car) {
	if d.n == 0 {
		d.least, d.most, d.lane = agent.angleRad, agent.angleRad, laneOf(agent.x)
	} else {
		way := math.Hypot(agent.x-d.agent.x, agent.y-d.agent.y)
		d.way += way
		if d.agent.speed < 0 {
			d.back += way
		}
	}
	d.n++
	if math.Abs(agent.x) > offRoad {
		d.off++
	}
	if touch(agent, other) {
		d.hits++
	}
	if agent.speed < 0 {
		d.reverse++
	}
	if math.Sin(agent.angleRad) < southward {
		d.south++
	}
	d.least, d.most = min(d.least, agent.angleRad), max(d.most, agent.angleRad)
	if lane := laneOf(agent.x); lane != d.lane && math.Abs(agent.x/laneWidth-float64(lane)) < inLane {
		d.lane = lane
		d.lanes++
	}
	d.agent, d.other = agent, other
}

// laneOf returns the lane that is nearest to x: −1, 0 or 1.
func laneOf(x float64) int { return int(max(-1, min(1, math.Round(x/laneWidth)))) }

func (d *drive) share(states int) float64 { return float64(states) / float64(d.n) }

// bad names what is wrong with a drive, empty if nothing is.
func (d *drive) bad() string {
	grass := d.share(d.off) >= offShare || math.Abs(d.agent.x) > offRoad
	switch {
	case grass && d.most-d.least >= circle && d.back >= backWay:
		return "backs up and circles in the grass"
	case grass && d.most-d.least >= circle:
		return "circles in the grass"
	case grass && d.share(d.reverse) >= backShare:
		return "backs off the road"
	case grass:
		return "drives in the grass"
	case d.hits >= crash:
		return "hits the van"
	case d.south > 0:
		return "turns round"
	case d.share(d.reverse) >= backShare:
		return "goes backwards"
	case d.way < standing:
		return "hardly moves"
	}
	return ""
}

// good names a drive in which nothing is wrong.
func (d *drive) good() string {
	switch {
	case d.agent.y > d.other.y:
		return "overtakes the van"
	case d.back >= backWay:
		return "backs up, then goes ahead"
	case d.lanes > 0:
		return "changes lane behind the van"
	}
	return "stays behind the van in its lane"
}

// place names a still.
func (d *drive) place() drawing.Happening {
	switch {
	case d.off > 0:
		return drawing.Happening{Name: "is off the road", Useless: true}
	case d.hits > 0:
		return drawing.Happening{Name: "is in the van", Useless: true}
	case d.south > 0:
		return drawing.Happening{Name: "faces the wrong way", Useless: true}
	case d.agent.y > d.other.y:
		return drawing.Happening{Name: "is ahead of the van"}
	}
	return drawing.Happening{Name: "is behind the van"}
}
