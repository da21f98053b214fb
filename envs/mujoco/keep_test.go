//go:build mujoco

package mujoco_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
)

// playedClips returns clips of the first steps of an episode and of later ones.
func playedClips(t *testing.T, e *mujoco.Env, p idrl.Policy, seed uint64) (out []*clip.Clip) {
	t.Helper()
	tr, long := &idrl.Trajectory{}, e.Spec().ClipSteps
	for a, s := range idrl.EpisodeOf(e, p, rng.New(seed, "kept", 0)) {
		if s.Broken {
			break
		}
		if s.Kind != idrl.First {
			tr.Actions, tr.Phi = append(tr.Actions, append(idrl.Action(nil), a...)), append(tr.Phi, append([]float64(nil), s.Phi...))
		}
		if tr.Snapshots = append(tr.Snapshots, e.Snapshot(nil)); tr.Len() >= 3*long {
			break
		}
	}
	for from := 0; from+long <= tr.Len(); from += long {
		b := must.Get(clip.Encode(e, idrl.Segment(tr, from, long)))(t)
		c := must.Get(clip.Decode(b))(t)
		out = append(out, c)
	}
	return out
}

// policies returns every third behaviour of the library of e, and some random ones.
func policies(t *testing.T, e *mujoco.Env) (out []idrl.Policy) {
	t.Helper()
	kept := must.Get(mujoco.Library(e.Spec().ID))(t)
	for i := 0; i < len(kept); i += 3 {
		p := must.Get(behaviour.New(e.Spec(), kept[i].Params))(t)
		out = append(out, p)
	}
	stream := rng.New(5, "drafts", 0)
	for range 6 {
		p := must.Get(solver.Draft{}.Solve(t.Context(), idrl.SolveTask{Env: e, Theta: make([]float64, e.Spec().FeatureDim())}, stream))(t)
		out = append(out, p)
	}
	return out
}

// spill returns how far the bodies of a scene reach beyond the edges of the picture, as a share of its
// width; it is negative if there is room. Bodies are sampled on their surface.
func spill(s *drawing.Scene) float64 {
	c := s.Camera
	sa, ca := math.Sincos(c.Azimuth)
	se, ce := math.Sincos(c.Elevation)
	out := math.Inf(-1)
	point := func(x, y, z float64) {
		x, y, z = x-c.X, y-c.Y, z-c.Z
		depth := c.Distance + ce*ca*x + ce*sa*y - se*z
		right, up := sa*x-ca*y, se*ca*x+se*sa*y+ce*z
		scale := c.Distance / depth
		out = max(out, math.Abs(right*scale)/c.W-0.5, (math.Abs(up*scale)-c.H/2)/c.W)
	}
	for _, m := range s.Moving {
		if m.Kind != drawing.Capsule && m.Kind != drawing.Ball {
			continue
		}
		for i := 0; i < len(m.Pts); i += 3 {
			for k := range 24 {
				sk, ck := math.Sincos(2 * math.Pi * float64(k) / 24)
				point(m.Pts[i]+m.Size*(sa*ck+se*ca*sk), m.Pts[i+1]+m.Size*(-ca*ck+se*sa*sk), m.Pts[i+2]+m.Size*ce*sk)
			}
		}
	}
	return out
}

// steady is the largest change of the camera's speed up or down, heights of the picture a second
// squared. Of these clips it is at most 20; without smoothing it was 300.
const steady = 40.

// In every frame of clips of every robot the whole body is in the picture, with a margin, at the same
// scale, and the camera does not shake: its height has a speed that changes by little from frame to frame.
func TestWholeBodyInThePicture(t *testing.T) {
	for _, l := range mujoco.Catalogue() {
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			e := listed(t, l.ID)
			clips, moved := 0, 0
			worst, jerk := math.Inf(-1), 0.0
			var s drawing.Scene
			for i, p := range policies(t, e) {
				for _, c := range playedClips(t, e, p, uint64(i)) {
					clips++
					was := moved
					for f := range c.Frames {
						c.Scene(&s, float64(f))
						worst = max(worst, spill(&s))
						if s.Camera.Z != c.Frames[0][2] {
							moved = was + 1
						}
						if f > 1 {
							viewer := c.Header.FrameSec / c.Header.Playback
							bend := math.Abs(c.Frames[f][2]-2*c.Frames[f-1][2]+c.Frames[f-2][2]) - 2*c.Header.Unit // but for rounding
							jerk = max(jerk, bend/(viewer*viewer)/s.Camera.H)
						}
					}
				}
			}
			t.Logf(l.ID+": %d clips, in %d the camera goes up or down; %.3f beyond the edge, at most %.1f heights a second squared", clips, moved, worst, jerk)
			if clips < 8 {
				t.Errorf("there are %d clips, want 8 or more", clips)
			}
			if worst > -0.02 { // the margin is 0.0225 of the width at the bottom; the rest is rounding
				t.Errorf("a body comes to %.3f widths of the picture of its edge, want 0.02 or more", -worst)
			}
			if jerk > steady {
				t.Errorf("the speed of the camera changes by %.1f heights of the picture a second squared, want at most %v", jerk, steady)
			}
		})
	}
}
