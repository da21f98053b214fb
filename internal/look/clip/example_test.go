package clip_test

import (
	"fmt"
	"math/rand/v2"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// roller is an environment that draws a ball at its state, a position.
type roller struct{ x float64 }

func (r *roller) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "roller", Actions: idrl.ActionSpec{Num: 1}, ObsDim: 1, FeatureNames: []string{"way"},
		StepSeconds: 0.5, Horizon: 9, Discount: 1, ClipSteps: 3, Playback: 2, StillLabel: "this moment",
	}
}
func (r *roller) Reset(*rand.Rand) idrl.TimeStep   { return idrl.TimeStep{} }
func (r *roller) Step(idrl.Action) idrl.TimeStep   { return idrl.TimeStep{} }
func (r *roller) Snapshot(dst []float64) []float64 { return append(dst[:0], r.x) }
func (r *roller) Restore(s []float64)              { r.x = s[0] }
func (r *roller) Draw(dst *drawing.Scene) {
	*dst = drawing.Scene{
		Camera: drawing.Camera{W: 8, H: 6},
		Moving: []drawing.Shape{{Kind: drawing.Circle, Paint: drawing.Agent, Size: 0.5, Pts: []float64{r.x, 1}}},
	}
}

// A clip of three states becomes bytes for the page's player. Read back, it has a
// scene at every moment, also between two states.
func Example() {
	b, err := clip.Encode(&roller{}, idrl.Clip{ID: "c", Steps: 2, Phi: []float64{3}, Snapshots: [][]float64{{0}, {1}, {3}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := clip.Decode(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %d, %d frames\n", b[:4], c.Header.Version, c.Header.Frames)
	var scene drawing.Scene
	for _, frame := range []float64{0, 1, 1.5, 2} {
		c.Scene(&scene, frame)
		fmt.Printf("frame %.1f: ball at x = %.2f\n", frame, scene.Moving[0].Pts[0])
	}
	// Output:
	// TBC1 2, 3 frames
	// frame 0.0: ball at x = 0.00
	// frame 1.0: ball at x = 1.00
	// frame 1.5: ball at x = 2.00
	// frame 2.0: ball at x = 3.00
}
