//go:build mujoco

package mujoco_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// thrown returns an episode of a hopper without controls that is thrown up and turns at a speed in
// radians a second.
func thrown(e *mujoco.Env, spin float64) *idrl.Trajectory {
	e.Reset(rng.New(1, "env", 0))
	s := e.Snapshot(nil)
	s[2+1], s[2+6+1], s[2+6+2] = 1.5, 6, spin // height, its speed, and the pitch's: six positions, then six speeds
	e.Restore(s)
	tr := &idrl.Trajectory{ID: "t", Snapshots: [][]float64{e.Snapshot(nil)}}
	lying := idrl.NewLying(e)
	lying.Note()
	a := make(idrl.Action, 3)
	for range 400 {
		step := e.Step(a)
		tr.Actions, tr.Phi = append(tr.Actions, a), append(tr.Phi, append([]float64(nil), step.Phi...))
		tr.Snapshots = append(tr.Snapshots, e.Snapshot(nil))
		lying.Note()
	}
	tr.Fallen = lying.States(e.Spec().StepSeconds)
	return tr
}

// A hopper that turns over in the air has not fallen before it lands, and clips of that are not those of
// a robot that lies. One that tips over lies as before.
func TestASecondTurnIsSeen(t *testing.T) {
	for _, test := range []struct {
		name  string
		spin  float64
		turns float64 // at least, until it lies
		least int     // step from which on it lies
		most  int
		lies  bool // the clip from step 100 on
	}{
		{"two turns backwards", -11, 1.7, 150, 350, false},
		{"tips over", -0.6, 0, 10, 150, true},
	} {
		e := listed(t, mujoco.HopperID)
		tr := thrown(e, test.spin)
		fall := tr.Fall()
		e.Restore(tr.Snapshots[min(fall, tr.Len())])
		turns := math.Abs(e.Turned()) / (2 * math.Pi)
		if fall < test.least || fall > test.most || turns < test.turns {
			t.Errorf("%s: it lies from step %d on, after %.2f turns; want %d to %d, and %v or more", test.name, fall, turns, test.least, test.most, test.turns)
		}
		b := must.Get(clip.Encode(e, idrl.Segment(tr, 100, e.Spec().ClipSteps)))(t)
		c := must.Get(clip.Decode(b))(t)
		if lies := c.Header.Fallen >= 0.75; lies != test.lies {
			t.Errorf("%s: the clip from step 100 on lies for a share of %v", test.name, c.Header.Fallen)
		}
	}
}
