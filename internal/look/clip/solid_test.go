package clip

import (
	"encoding/base64"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// A crawler is a walking body that is drawn in 5 frames a step. It moves
// smoothly but for its feet's impacts, at which its trunk changes speed at once and
// then shakes. Its snapshot is a number of steps.
type crawler struct {
	body func(t float64) []drawing.Shape // at a number of steps
	t    float64
	lost int // frames that DrawStep does not draw
}

const crawlerSub = 5

func (c *crawler) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "crawler", Actions: idrl.ActionSpec{Num: 1}, ObsDim: 1, FeatureNames: []string{"F"},
		StepSeconds: 0.05, Horizon: 1000, Discount: 1, ClipSteps: 40, Playback: 1, StillLabel: "this",
	}
}
func (c *crawler) Reset(*rand.Rand) idrl.TimeStep   { return idrl.TimeStep{} }
func (c *crawler) Step(idrl.Action) idrl.TimeStep   { return idrl.TimeStep{} }
func (c *crawler) Snapshot(dst []float64) []float64 { return append(dst[:0], c.t) }
func (c *crawler) Restore(s []float64)              { c.t = s[0] }
func (c *crawler) Substeps() int                    { return crawlerSub }
func (c *crawler) Draw(dst *drawing.Scene)          { c.drawAt(dst, c.t) }
func (c *crawler) DrawStep(before, after []float64, frame func(*drawing.Scene)) {
	var s drawing.Scene
	for k := 1; k <= crawlerSub-c.lost; k++ {
		c.drawAt(&s, before[0]+float64(k)/crawlerSub)
		frame(&s)
	}
	c.Restore(after)
}

func (c *crawler) drawAt(dst *drawing.Scene, t float64) {
	moving := c.body(t)
	*dst = drawing.Scene{
		Camera: drawing.Camera{X: moving[0].Pts[0], Z: 0.5, W: 4, H: 3, Distance: 6, Azimuth: 1.7, Elevation: 0.4},
		Static: []drawing.Shape{
			{Kind: drawing.Checker, Paint: drawing.Surface, Size: 1, Pts: []float64{0, 0, 0}},
			{Kind: drawing.Text, Paint: drawing.Ink, Size: 0.3, Pts: []float64{1, 2, 0.15}, Text: "1"},
		},
		Moving: moving,
	}
}

// trunk returns where a trunk is after t steps: it bounces off the ground three
// times in 10 steps, and shakes for about a step after each impact.
func trunk(t float64) (x, y, z float64) {
	phase := math.Mod(0.3*t, 1)
	shake := 0.01 * math.Exp(-phase/0.3) * math.Sin(20*phase)
	return 0.06*t + 0.3*shake, 0.05 * math.Sin(0.2*t), 0.5 + 0.15*phase*(1-phase) + shake
}

// limb returns a capsule from a in the direction of yaw and pitch, and its end.
func limb(a [3]float64, length, yaw, pitch float64) (drawing.Shape, [3]float64) {
	b := [3]float64{
		a[0] + length*math.Cos(pitch)*math.Cos(yaw),
		a[1] + length*math.Cos(pitch)*math.Sin(yaw),
		a[2] + length*math.Sin(pitch),
	}
	return drawing.Shape{Kind: drawing.Capsule, Paint: drawing.Agent, Size: 0.08, Pts: []float64{a[0], a[1], a[2], b[0], b[1], b[2]}}, b
}

// ant is a ball with four legs of three limbs: 13 points.
func ant(t float64) []drawing.Shape {
	x, y, z := trunk(t)
	out := []drawing.Shape{{Kind: drawing.Ball, Paint: drawing.Agent, Size: 0.25, Pts: []float64{x, y, z}, Trail: true}}
	turn := 0.3 * math.Sin(0.1*t)
	for leg := range 4 {
		yaw := turn + math.Pi/4 + float64(leg)*math.Pi/2
		a := [3]float64{x, y, z}
		swing := 0.9 * t * (1 + 0.1*float64(leg))
		for k, pitch := range []float64{0.1 * math.Sin(0.4*t), 0.2 * math.Cos(swing), -0.8 + 0.4*math.Sin(swing)} {
			var s drawing.Shape
			s, a = limb(a, []float64{0.28, 0.28, 0.57}[k], yaw+0.5*min(1, float64(k))*math.Sin(swing), pitch)
			out = append(out, s)
		}
	}
	return out
}

// cheetah is seven limbs and a head in a plane, no two of which quite touch: 16
// points.
func cheetah(t float64) []drawing.Shape {
	x, _, z := trunk(t)
	var out []drawing.Shape
	for k := range 8 {
		s, _ := limb([3]float64{x + 0.2*float64(k), 0, z}, 0.3, 0, 1.2*math.Sin((0.5+0.1*float64(k))*t)-1)
		out = append(out, s)
	}
	return out
}

// crawl returns the bytes of a clip of a body.
func crawl(t testing.TB, body func(float64) []drawing.Shape, steps int) []byte {
	t.Helper()
	b := must.Get(Encode(&crawler{body: body}, crawled(steps)))(t)
	return b
}

func crawled(steps int) idrl.Clip {
	xs := make([]float64, steps+1)
	for i := range xs {
		xs[i] = float64(i)
	}
	return walk(xs...)
}

// TestSolid checks that every frame of every substep comes back as it was drawn,
// up to half a unit, and that limbs which share a joint share a point.
func TestSolid(t *testing.T) {
	for _, test := range []struct {
		name   string
		body   func(float64) []drawing.Shape
		points int // the camera's among them
	}{
		{"ant", ant, 1 + 13},
		{"cheetah", cheetah, 1 + 16},
	} {
		t.Run(test.name, func(t *testing.T) {
			const steps = 4
			got := must.Get(Decode(crawl(t, test.body, steps)))(t)
			h := got.Header
			if h.Points != test.points || h.Sub != crawlerSub || h.FrameSec != 0.01 || len(got.Frames) != steps*crawlerSub+1 {
				t.Fatalf("%d points, %d frames a step of %v s, %d frames", h.Points, h.Sub, h.FrameSec, len(got.Frames))
			}
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= h.Unit/2+1e-9 })
			c := &crawler{body: test.body}
			var have, want drawing.Scene
			for f := range got.Frames {
				got.Scene(&have, float64(f))
				c.drawAt(&want, float64(f)/crawlerSub)
				if diff := cmp.Diff(want, have, near); diff != "" {
					t.Fatalf("frame %d (-want +got):\n%s", f, diff)
				}
			}
		})
	}
}

// TestSize holds clips of 2 seconds at 100 frames a second to 5 KB.
func TestSize(t *testing.T) {
	for name, body := range map[string]func(float64) []drawing.Shape{"ant": ant, "cheetah": cheetah} {
		b := crawl(t, body, 40)
		t.Logf("%s: %d bytes", name, len(b))
		if len(b) > 5<<10 {
			t.Errorf("%s: %d bytes, want at most %d", name, len(b), 5<<10)
		}
	}
}

// TestScene checks what lies between frames and beyond them, and that a scene can
// be used again.
func TestScene(t *testing.T) {
	b := must.Get(Encode(&world{}, walk(0, 1, 3)))(t)
	c := must.Get(Decode(b))(t)
	var s drawing.Scene
	for _, test := range []struct{ frame, x float64 }{{0, 0}, {0.25, 0.25}, {1, 1}, {1.5, 2}, {2, 3}, {-4, 0}, {9, 3}} {
		c.Scene(&s, test.frame)
		want := drawing.Scene{
			Camera: drawing.Camera{X: test.x, Y: -2, W: 4, H: 3},
			Static: []drawing.Shape{{Kind: drawing.Polygon, Paint: drawing.Surface, Pts: []float64{0, 0, 1, 0, 1, 1}}},
			Moving: []drawing.Shape{
				{Kind: drawing.Circle, Paint: drawing.Agent, Size: 0.5, Pts: []float64{test.x, -test.x}, Trail: true},
				{Kind: drawing.Text, Paint: drawing.Ink, Size: 0.2, Pts: []float64{test.x, 1}, Text: "Ä"},
			},
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("frame %v (-want +got):\n%s", test.frame, diff)
		}
		clear(s.Static[0].Pts) // belongs to the caller
	}
}

// version1 returns a clip as version 1 wrote it: walk(0, 1.5, -1.7, 0.3).
func version1(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/v1.base64")
	if err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(string(text)) // which skips the ends of lines
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestVersion1 checks that a clip of version 1 is read like one that is written now.
func TestVersion1(t *testing.T) {
	now := must.Get(Encode(&world{}, walk(0, 1.5, -1.7, 0.3)))(t)
	want := must.Get(Decode(now))(t)
	got := must.Get(Decode(version1(t)))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("now and version 1 (-now +version 1):\n%s", diff)
	}
}

func TestEncodeCountsFrames(t *testing.T) {
	_, err := Encode(&crawler{body: ant, lost: 1}, crawled(3))
	if err == nil || idrl.KindOf(err) != idrl.Internal || !strings.Contains(err.Error(), "13 frames") {
		t.Errorf("a step of 4 frames instead of 5: error %v", err)
	}
}

// A ruled crawler has marks on the ground.
type ruled struct{ *crawler }

func (r ruled) Marks(states [][]float64) []drawing.Shape {
	return []drawing.Shape{
		{Kind: drawing.Checker, Paint: drawing.Surface, Size: 1, Pts: []float64{states[0][0], 0, 0}},
		{Kind: drawing.Text, Paint: drawing.Ink, Size: 0.1, Pts: []float64{states[0][0], -1, 0}, Text: "0 m"},
	}
}

// Marks of a clip follow the other shapes, and their floor takes the place of the scene's. A still
// has none.
func TestMarks(t *testing.T) {
	for steps, want := range []int{0, 1} {
		c := idrl.Clip{ID: "c", Steps: steps, Phi: []float64{0}, Snapshots: [][]float64{{3}, {4}}[:steps+1]}
		b := must.Get(Encode(ruled{&crawler{body: ant}}, c))(t)
		got := must.Get(Decode(b))(t)
		h := got.Header
		if h.Marks != want || len(h.Static) != 2+want || h.Static[0].Kind != drawing.Checker || h.Static[0].Pts[0] != 3*float64(want) {
			t.Errorf("clip of %d steps: %d marks, shapes %+v", steps, h.Marks, h.Static)
		}
	}
	h := Header{Version: 2, Frames: 1, Sub: 1, FrameSec: 1, Playback: 1, Unit: 1, W: 1, H: 1, Points: 1, Marks: 1}
	if err := h.validate(); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a header of one mark and no shapes: %v", err)
	}
}
