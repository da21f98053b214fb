package idrl

import "math"

// A Turner is a Faller that can tell how far the robot has turned over.
type Turner interface {
	Faller

	// Turned returns the angle, in radians, by which the robot has turned over about a level axis,
	// counted on through whole turns. Its difference between two states of an episode counts.
	Turned() float64
}

// A robot turns over, and does not lie, while it turns by turnOver or more within turnSec, seconds of
// the environment: three quarters of a turn. One that falls, or that struggles on the ground, turns by less.
const (
	turnOver = 1.5 * math.Pi
	turnSec  = 1
)

// Lying records which states of an episode are those of a fallen robot, except while it turns over:
// the second turn of a backflip is worth being seen.
type Lying struct {
	faller Faller    // nil: it is not known
	fallen []bool    // of each state
	turned []float64 // the same of a Turner, else empty
}

// NewLying returns a record of episodes or parts of them in env, where it is a Faller.
func NewLying(env any) *Lying {
	l := &Lying{}
	l.faller, _ = env.(Faller)
	return l
}

// Note adds the present state.
func (l *Lying) Note() {
	if l.faller == nil {
		return
	}
	l.fallen = append(l.fallen, l.faller.Fallen())
	if t, ok := l.faller.(Turner); ok {
		l.turned = append(l.turned, t.Turned())
	}
}

// States returns for each state whether the robot lies, nil if that is not known. The states are
// stepSec seconds apart.
func (l *Lying) States(stepSec float64) []bool {
	window := int(math.Round(turnSec / stepSec))
	for from := range l.turned {
		for to := from + 1; to <= min(from+window, len(l.turned)-1); to++ {
			if math.Abs(l.turned[to]-l.turned[from]) >= turnOver {
				for i := from; i <= to; i++ {
					l.fallen[i] = false
				}
				break
			}
		}
	}
	return l.fallen
}
