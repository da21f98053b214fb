package clip

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// The camera's way is between the bounds wherever they leave room, and 0 where that is always
// allowed.
func TestWithin(t *testing.T) {
	stream := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + stream.IntN(80)
		least, greatest := make([]float64, n), make([]float64, n)
		for i := range least {
			least[i] = 3 * stream.NormFloat64()
			greatest[i] = least[i] + 8*stream.Float64()
		}
		for i, v := range within(least, greatest, 20) {
			if !(v >= least[i]-1e-9 && v <= greatest[i]+1e-9) {
				t.Fatalf("%v is not between %v and %v", v, least[i], greatest[i])
			}
		}
	}
	for i, v := range within([]float64{-1, -2, 0}, []float64{1, 0, 3}, 5) {
		if v != 0 {
			t.Errorf("frame %d: %v, want 0", i, v)
		}
	}
	for i, v := range within([]float64{2, 2}, []float64{-1, -1}, 1) { // too large for the picture
		if v != 0.5 {
			t.Errorf("frame %d: %v, want the middle", i, v)
		}
	}
}

// A body that leaves the picture in one frame moves the camera for a while before and after, with
// a speed that changes slowly.
func TestWithinIsSmooth(t *testing.T) {
	const n, most, high = 201, 30, 2.
	least, greatest := make([]float64, n), make([]float64, n)
	for i := range least {
		least[i], greatest[i] = -1, 10
	}
	least[100] = high
	way := within(least, greatest, most)
	if way[100] < high-1e-9 || way[100-2*most-1] != 0 || way[100+2*most+1] != 0 {
		t.Errorf("the way is %v at the frame, %v and %v away from it", way[100], way[100-2*most-1], way[100+2*most+1])
	}
	for i := 2; i < n; i++ {
		if bend := math.Abs(way[i] - 2*way[i-1] + way[i-2]); bend > 2*high/(most/2*most/2) {
			t.Errorf("frame %d: the speed changes by %v", i, bend)
		}
	}
}

// jumping is a ball that jumps, by its state, in front of a camera that stays.
type jumping struct {
	*crawler
	keeps bool
}

func (j jumping) Draw(dst *drawing.Scene) { j.drawAt(dst, j.t) }
func (j jumping) DrawStep(_, after []float64, frame func(*drawing.Scene)) {
	j.Restore(after)
	var s drawing.Scene
	for range crawlerSub {
		j.Draw(&s)
		frame(&s)
	}
}

func (j jumping) drawAt(dst *drawing.Scene, z float64) {
	j.crawler.body = func(float64) []drawing.Shape {
		return []drawing.Shape{
			{Kind: drawing.Ball, Paint: drawing.Agent, Size: 0.2, Pts: []float64{0, 0, z}},
			{Kind: drawing.Box, Paint: drawing.Agent, Pts: []float64{0, 0, z, 0.1, 0, z, 0, 0.1, z, 0, 0, z + 0.1}},
		}
	}
	j.crawler.drawAt(dst, 0)
	dst.Camera.Keeps = j.keeps
}

// The camera follows where a scene says so, with the same scale.
func TestKeep(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		c := idrl.Clip{ID: "c", Steps: 2, Phi: []float64{0}, Snapshots: [][]float64{{0.5}, {4}, {0.5}}}
		b := must.Get(Encode(jumping{&crawler{}, keeps}, c))(t)
		got := must.Get(Decode(b))(t)
		if z := got.Frames[crawlerSub][2]; (z > 2) != keeps || got.Header.W != 4 || got.Header.H != 3 {
			t.Errorf("keeps %v: the camera looks at a height of %v, %v × %v", keeps, z, got.Header.W, got.Header.H)
		}
	}
}
