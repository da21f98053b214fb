//go:build mujoco

package seeing

import (
	"math"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// Robots that can stand are upright when an episode begins, as they are drawn; and every taste
// about robots can judge what is drawn.
func TestRobotsBeginUpright(t *testing.T) {
	for _, id := range Robots() {
		t.Run(id, func(t *testing.T) {
			env := environment(t, id)
			b := bodies[id]
			env.Reset(rng.New(1, "episode", 0))
			start := env.(idrl.Snapshotter).Snapshot(nil)
			c := drawn(t, env, idrl.Clip{Steps: 1, Phi: make([]float64, env.Spec().FeatureDim()), Snapshots: [][]float64{start, start}})
			first := frame(c.Frames[0])
			if tilt := b.tilt(first); math.Abs(tilt) > upTo || first.z(b.points...) < b.height {
				t.Errorf("tilted by %v, at %v m", tilt, first.z(b.points...))
			}
			for _, taste := range Tastes() {
				if taste.Env != id {
					continue
				}
				if w, err := taste.Worth(c); err != nil || math.IsNaN(w) || math.IsInf(w, 0) {
					t.Errorf("%s: worth %v, %v", taste.Name, w, err)
				}
			}
			checkHead(t, c)
		})
	}
}

// checkHead: the head of the half-cheetah is at the front end of the trunk.
func checkHead(t *testing.T, c *clip.Clip) {
	if c.Header.Env != "half-cheetah" {
		return
	}
	head := mover(c, func(s clip.Shape) bool { return s.Kind == drawing.Ball })
	f, axis := frame(c.Frames[0]), bodies["half-cheetah"].level
	if math.Abs(f.x(head[0])-f.x(axis[1])) > math.Abs(f.x(head[0])-f.x(axis[0])) {
		t.Error("the head is at the back")
	}
}
