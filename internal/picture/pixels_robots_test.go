//go:build mujoco

package picture_test

import (
	"image"
	"testing"

	"tiebreak/internal/clip"
	"tiebreak/internal/clip/picture"
	"tiebreak/internal/idrl"
	measures "tiebreak/internal/picture"
	"tiebreak/internal/rng"
	"tiebreak/internal/solver"
)

// painted returns the views of a clip as a scene, and as pictures of it. Only the pictures that are
// looked at are painted.
func painted(t testing.TB, env idrl.Environment, shown idrl.Clip) (scene, pixels *measures.View) {
	t.Helper()
	media, err := clip.Encode(env, shown)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clip.Decode(media)
	if err != nil {
		t.Fatal(err)
	}
	h, painter := &c.Header, picture.New(c)
	f := clip.Footage{Env: h.Env, Steps: h.Steps, Sub: h.Sub, FrameSec: h.FrameSec, Playback: h.Playback, Phi: h.Phi, Pictures: make([]image.Image, len(c.Frames))}
	w, height := painter.Size(240, 180)
	next := 0
	for _, frame := range clip.LookFrames(len(c.Frames)) {
		img := image.NewRGBA(image.Rect(0, 0, w, height))
		painter.Draw(img, float64(frame))
		for ; next <= frame; next++ {
			f.Pictures[next] = img
		}
	}
	if media, err = clip.EncodeFootage(f); err != nil {
		t.Fatal(err)
	}
	of, err := measures.Of([]idrl.Clip{{Media: media}})
	if err != nil {
		t.Fatal(err)
	}
	if scene, err = measures.New(c); err != nil {
		t.Fatal(err)
	}
	return scene, of[0]
}

// Of clips of robots under random policies that are shown as pictures none is left out that people can
// answer as scenes, and a third or more of those that are still are found: the rule is cautious.
func TestPixelsOfRobots(t *testing.T) {
	pairs, lost, still, found := 0, 0, 0, 0
	for _, id := range []string{"half-cheetah", "hopper", "swimmer", "swimmer-corridor"} {
		env := environment(t, id)
		drafts, places := rng.New(7, "pool", 0), rng.New(7, "places", 0)
		var scenes, pixels []*measures.View
		for range 6 {
			p, err := solver.Draft{}.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: make([]float64, env.Spec().FeatureDim())}, drafts)
			if err != nil {
				t.Fatal(err)
			}
			tr := record(env, p, 0)
			n := min(env.Spec().ClipSteps, tr.Len())
			for range 2 {
				scene, view := painted(t, env, idrl.Segment(tr, places.IntN(tr.Len()-n+1), n))
				scenes, pixels = append(scenes, scene), append(pixels, view)
				if scene.Still() {
					still++
					if view.Still() {
						found++
					}
				} else if view.Still() {
					t.Errorf("%s: a clip with the motion %v is still as pictures", id, scene.Motion())
				}
			}
		}
		for i := range scenes {
			for j := range i {
				scene, err := measures.Answerable(scenes[j], scenes[i])
				if err != nil {
					t.Fatal(err)
				}
				seen, err := measures.Answerable(pixels[j], pixels[i])
				if err != nil {
					t.Fatal(err)
				}
				if pairs++; scene && !seen {
					lost++
				}
			}
		}
	}
	t.Logf("%d pairs, of which %d are answerable as scenes and not as pictures; %d of %d still clips are found", pairs, lost, found, still)
	if lost > 0 || 3*found < still {
		t.Errorf("of %d pairs %d are answerable as scenes and not as pictures; %d of %d still clips are found", pairs, lost, found, still)
	}
}
