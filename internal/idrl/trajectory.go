package idrl

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"gonum.org/v1/gonum/floats"
)

// A Trajectory is one episode. It is immutable once built.
type Trajectory struct {
	ID     TrajectoryID
	Env    string   // EnvSpec.ID
	Policy PolicyID // that acted

	Obs       [][]float64 // length T+1, each of length EnvSpec.ObsDim; row 0 is before the first action
	Actions   []Action    // length T
	Phi       [][]float64 // length T, each of length d
	Snapshots [][]float64 // length T+1; state 0 is before the first action
	Fallen    []bool      // length T+1, whether the robot lies in each state (Lying); nil if that is not known
	End       StepKind    // Terminated or Truncated

	Raw StepsID // of its raw steps, which are kept; empty if they are not
}

// Len returns the number of steps, T.
func (t *Trajectory) Len() int { return len(t.Actions) }

// Validate returns an error of kind Invalid if the lengths of t disagree.
func (t *Trajectory) Validate() error {
	switch n := t.Len(); {
	case n == 0:
		return Errorf(Invalid, "trajectory %s has no steps", t.ID)
	case len(t.Obs) != n+1:
		return Errorf(Invalid, "trajectory %s: %d observations for %d steps, want one more", t.ID, len(t.Obs), n)
	case len(t.Phi) != n:
		return Errorf(Invalid, "trajectory %s: %d feature rows for %d steps", t.ID, len(t.Phi), n)
	case len(t.Snapshots) != n+1:
		return Errorf(Invalid, "trajectory %s: %d snapshots for %d steps, want one more", t.ID, len(t.Snapshots), n)
	case t.Fallen != nil && len(t.Fallen) != n+1:
		return Errorf(Invalid, "trajectory %s: %d states are known to be fallen or not for %d steps, want one more", t.ID, len(t.Fallen), n)
	case !t.End.Last():
		return Errorf(Invalid, "trajectory %s does not end", t.ID)
	}
	return nil
}

// Fall returns the index of the first state from which on t is fallen to its end. That is T+1,
// which no state has, if it does not end fallen or that is not known. A robot that gets up again
// has not fallen.
func (t *Trajectory) Fall() int {
	if t.Fallen == nil {
		return t.Len() + 1
	}
	n := len(t.Fallen)
	for n > 0 && t.Fallen[n-1] {
		n--
	}
	return n
}

// A Clip is shown to annotators: a segment of a trajectory, or one still
// state. It is immutable and named by its content.
type Clip struct {
	ID    ClipID
	From  TrajectoryID
	Start int       // first step
	Steps int       // steps shown; 0 for a still
	Phi   []float64 // Σ φ over the segment, undiscounted, length d; φ of the state for a still
	Media []byte    // the drawn form (package clip); nil where nothing is drawn, as in experiments
	Raw   StepsID   // the raw steps of the trajectory; empty if they are not kept

	Snapshots [][]float64 // Steps+1 states; nil once read back from a store
}

// Segment returns the clip of n steps of t that begins at step start.
// It panics if the segment does not lie within t.
func Segment(t *Trajectory, start, n int) Clip {
	if start < 0 || n <= 0 || n > t.Len()-start {
		panic("idrl: segment out of range")
	}
	phi := make([]float64, len(t.Phi[start]))
	for _, row := range t.Phi[start : start+n] {
		floats.Add(phi, row)
	}
	c := Clip{From: t.ID, Start: start, Steps: n, Phi: phi, Raw: t.Raw, Snapshots: t.Snapshots[start : start+n+1]}
	c.ID = c.contentID(t.Env)
	return c
}

// Still returns the clip of the one state that t entered by its step (0-based).
// It panics if t has no such step.
func Still(t *Trajectory, step int) Clip {
	if step < 0 || step >= t.Len() {
		panic("idrl: still out of range")
	}
	c := NewStill(t.Env, t.ID, step, t.Snapshots[step+1], t.Phi[step])
	c.Raw = t.Raw
	return c
}

// NewStill returns the clip of one state with features phi.
func NewStill(env string, from TrajectoryID, start int, snapshot, phi []float64) Clip {
	c := Clip{From: from, Start: start, Phi: phi, Snapshots: [][]float64{snapshot}}
	c.ID = c.contentID(env)
	return c
}

// contentID hashes the contents of the clip: environment, states and features. Equal clips of
// different policies have equal names.
func (c *Clip) contentID(env string) ClipID {
	h := sha256.New()
	h.Write([]byte(env))
	put := func(v float64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		h.Write(b[:])
	}
	put(float64(c.Steps))
	for _, s := range c.Snapshots {
		for _, v := range s {
			put(v)
		}
	}
	for _, v := range c.Phi {
		put(v)
	}
	return ClipID(hex.EncodeToString(h.Sum(nil)[:16]))
}
