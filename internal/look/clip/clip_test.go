package clip

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// world is a small environment that draws a camera, one static shape and two
// moving ones. Its snapshot is a position.
type world struct {
	x       float64
	scale   float64 // of what it draws; 1 if 0
	uneven  bool    // draws a point more in every state but the first
	badDraw float64 // added to a coordinate
}

func (w *world) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "world", Actions: idrl.ActionSpec{Num: 1}, ObsDim: 1, FeatureNames: []string{"F"},
		StepSeconds: 0.5, Horizon: 9, Discount: 1, ClipSteps: 3, Playback: 2, StillLabel: "this",
	}
}
func (w *world) Reset(*rand.Rand) idrl.TimeStep   { return idrl.TimeStep{} }
func (w *world) Step(idrl.Action) idrl.TimeStep   { return idrl.TimeStep{} }
func (w *world) Snapshot(dst []float64) []float64 { return append(dst[:0], w.x) }
func (w *world) Restore(s []float64)              { w.x = s[0] }
func (w *world) Draw(dst *drawing.Scene) {
	k := max(1, w.scale)
	*dst = drawing.Scene{
		Camera: drawing.Camera{X: w.x, Y: -2, W: 4, H: 3},
		Static: []drawing.Shape{{Kind: drawing.Polygon, Paint: drawing.Surface, Pts: []float64{0, 0, 1, 0, 1, 1}}},
		Moving: []drawing.Shape{
			{Kind: drawing.Circle, Paint: drawing.Agent, Size: 0.5, Pts: []float64{k * w.x, -w.x + w.badDraw}, Trail: true},
			{Kind: drawing.Text, Paint: drawing.Ink, Size: 0.2, Pts: []float64{w.x, 1}, Text: "Ä"},
		},
	}
	if w.uneven && w.x != 0 {
		dst.Moving[0].Pts = append(dst.Moving[0].Pts, 1, 1)
	}
}

// walk is a clip of the world in the positions xs.
func walk(xs ...float64) idrl.Clip {
	c := idrl.Clip{ID: "walk", Steps: len(xs) - 1, Phi: []float64{1.25}}
	for _, x := range xs {
		c.Snapshots = append(c.Snapshots, []float64{x})
	}
	return c
}

// tumbler is a world that lies at positions below 0.
type tumbler struct{ world }

func (w *tumbler) Fallen() bool { return w.x < 0 }

// The header says for how many of its states a robot lies, where the environment can tell.
func TestFallen(t *testing.T) {
	for _, test := range []struct {
		env  idrl.Environment
		want float64
	}{{&tumbler{}, 0.5}, {&world{}, 0}} {
		b := must.Get(Encode(test.env, walk(0, 1.5, -1.7, -0.3)))(t)
		c := must.Get(Decode(b))(t)
		if c.Header.Fallen != test.want {
			t.Errorf("%T: fallen for %v of the clip, want %v", test.env, c.Header.Fallen, test.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	xs := []float64{0, 1.5, -1.7, 0.3}
	b, err := Encode(&world{}, walk(xs...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	want := Header{
		Version: 2, Env: "world", Steps: 3, Sub: 1, Frames: 4, FrameSec: 0.5, Playback: 2, Phi: []float64{1.25},
		Unit: 4.0 / stepsAcross, W: 4, H: 3, Points: 3,
		Static: []Shape{{Kind: drawing.Polygon, Paint: drawing.Surface, Pts: []float64{0, 0, 1, 0, 1, 1}}},
		Moving: []Shape{
			{Kind: drawing.Circle, Paint: drawing.Agent, Size: 0.5, At: []int{1}, Trail: true},
			{Kind: drawing.Text, Paint: drawing.Ink, Size: 0.2, At: []int{2}, Text: "Ä"},
		},
	}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	for i, x := range xs {
		for j, v := range []float64{x, -2, x, -x, x, 1} {
			if d := math.Abs(got.Frames[i][j] - v); d > want.Unit/2 {
				t.Errorf("frame %d number %d = %v, want %v within %v", i, j, got.Frames[i][j], v, want.Unit/2)
			}
		}
	}
	again, err := Encode(&world{}, walk(xs...))
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("the same clip encodes to other bytes, error %v", err)
	}
}

// TestFarAway moves across many views, forth and back.
func TestFarAway(t *testing.T) {
	w := &world{scale: 1000}
	b := must.Get(Encode(w, walk(0, 3, -3)))(t)
	got := must.Get(Decode(b))(t)
	for i, want := range []float64{0, 3000, -3000} {
		if d := math.Abs(got.Frames[i][2] - want); d > got.Header.Unit {
			t.Errorf("frame %d: x = %v, want %v", i, got.Frames[i][2], want)
		}
	}
}

func TestStillHasOneFrame(t *testing.T) {
	b, err := Encode(&world{}, walk(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil || got.Header.Steps != 0 || len(got.Frames) != 1 {
		t.Errorf("a still decodes to %d steps and %d frames, error %v", got.Header.Steps, len(got.Frames), err)
	}
}

// blind hides that world can draw.
type blind struct{ idrl.Environment }

func TestEncodeRefuses(t *testing.T) {
	short := walk(0, 1)
	short.Steps = 2
	for _, test := range []struct {
		name string
		env  idrl.Environment
		clip idrl.Clip
		kind idrl.Kind
		want string
	}{
		{"an environment that cannot draw", blind{&world{}}, walk(0, 1), idrl.Invalid, `"world" cannot draw`},
		{"a clip read back from a store", &world{}, idrl.Clip{ID: "c", Steps: 2}, idrl.Invalid, "0 snapshots for 2 steps"},
		{"too few snapshots", &world{}, short, idrl.Invalid, "2 snapshots for 2 steps"},
		{"scenes of two shapes", &world{uneven: true}, walk(0, 1), idrl.Internal, "frame 1"},
		{"a coordinate that is not a number", &world{badDraw: math.NaN()}, walk(0, 1), idrl.Internal, "walk"},
		{"an infinite coordinate", &world{badDraw: math.Inf(1)}, walk(0, 1), idrl.Internal, "walk"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Encode(test.env, test.clip)
			if err == nil || idrl.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v (kind %d), want kind %d with %q", err, idrl.KindOf(err), test.kind, test.want)
			}
		})
	}
}

// packed deflates raw behind the magic.
func packed(t testing.TB, raw []byte) []byte {
	t.Helper()
	out := bytes.NewBufferString(magic)
	w := must.Get(flate.NewWriter(out, flate.BestSpeed))(t)
	must.Get(w.Write(raw))(t)
	must.Do(t, w.Close())
	return out.Bytes()
}

// withHeader packs a header and n numbers that are zero.
func withHeader(t *testing.T, h Header, n int) []byte {
	t.Helper()
	return withNumbers(t, h, make([]byte, n))
}

// withNumbers packs a header and the bytes of numbers.
func withNumbers(t *testing.T, h Header, numbers []byte) []byte {
	t.Helper()
	head := must.Get(json.Marshal(h))(t)
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	return packed(t, append(append(raw, head...), numbers...))
}

func TestDecodeRefuses(t *testing.T) {
	good := func(change func(*Header)) Header {
		h := Header{
			Version: 2, Steps: 1, Sub: 1, Frames: 2, FrameSec: 1, Playback: 1, Unit: 1, W: 1, H: 1, Points: 4,
			Static: []Shape{{Kind: drawing.Circle, Paint: drawing.Mark, Size: 1, Pts: []float64{0, 0}}},
			Moving: []Shape{{Kind: drawing.Polygon, Paint: drawing.Agent, At: []int{1, 2, 3}}},
		}
		change(&h)
		return h
	}
	solid := func(h *Header) {
		h.Distance = 1
		h.Static[0].Pts = []float64{0, 0, 0}
	}
	const numbers = 2 * 2 * 4
	for name, data := range map[string][]byte{
		"flat":      withHeader(t, good(func(*Header) {}), numbers),
		"solid":     withHeader(t, good(solid), numbers*3/2),
		"version 1": withHeader(t, good(func(h *Header) { h.Version, h.Moving[0] = 1, Shape{Kind: drawing.Polygon, Paint: drawing.Agent, N: 3} }), 2*numbers),
	} {
		if _, err := Decode(data); err != nil {
			t.Fatalf("the %s header that the rows below change: %v", name, err)
		}
	}
	header := func(change func(*Header)) []byte { return withHeader(t, good(change), numbers) }
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "begin with"},
		{"another file", []byte("PNG0abc"), "begin with"},
		{"no deflate stream", []byte(magic + "\xff\xff\xff"), "inflated"},
		{"an end within the length", packed(t, []byte{1, 2}), "before its header"},
		{"an end within the header", packed(t, []byte{200, 0, 0, 0, '{'}), "within its header"},
		{"a length of 2^32-1", packed(t, []byte{255, 255, 255, 255, '{'}), "within its header"},
		{"a header that is not JSON", packed(t, []byte{1, 0, 0, 0, '{'}), "cannot be read"},
		{"a bomb", packed(t, make([]byte, 2*maxBytes)), "more than"},
		{"numbers missing", withHeader(t, good(func(*Header) {}), numbers-1), "15 bytes of numbers"},
		{"numbers left over", withHeader(t, good(func(*Header) {}), numbers+1), "behind its numbers"},
		{"a number cut short", withNumbers(t, good(func(*Header) {}), append(make([]byte, numbers-1), 0x80)), "cut short"},
		{"a number of 33 bits", withNumbers(t, good(func(*Header) {}), append(make([]byte, numbers-1), 0xff, 0xff, 0xff, 0xff, 0x7f)), "too large"},
		{"numbers of version 1 missing", header(func(h *Header) { h.Version, h.Moving[0].At, h.Moving[0].N = 1, nil, 3 }), "want 32"},
		{"a later version", header(func(h *Header) { h.Version = 3 }), "version 3"},
		{"frames that do not fit the steps", header(func(h *Header) { h.Frames = 3 }), "3 frames for 1 steps"},
		{"frames that do not fit the substeps", header(func(h *Header) { h.Sub = 2 }), "2 frames for 1 steps of 2"},
		{"no frame in a step", header(func(h *Header) { h.Sub, h.Frames = 0, 1 }), "frames"},
		{"a negative number of steps", header(func(h *Header) { h.Steps, h.Frames = -1, 0 }), "frames"},
		{"too many frames", header(func(h *Header) { h.Steps, h.Frames = 1<<40, 1<<40+1 }), "frames"},
		{"too many substeps", header(func(h *Header) { h.Steps, h.Sub, h.Frames = 1<<32, 1<<32, 1 }), "frames"},
		{"many steps of many substeps", header(func(h *Header) { h.Steps, h.Sub, h.Frames = 101, 101, 101*101+1 }), "frames"},
		{"no duration", header(func(h *Header) { h.FrameSec = 0 }), "not positive"},
		{"a negative unit", header(func(h *Header) { h.Unit = -1 }), "not positive"},
		{"a huge camera", header(func(h *Header) { h.W = 1e300 }), "not positive"},
		{"an eye behind what it sees", header(func(h *Header) { h.Distance = -1 }), "cannot look"},
		{"an eye that looks straight down", header(func(h *Header) { h.Distance, h.Elevation = 1, math.Pi/2 }), "cannot look"},
		{"no camera", header(func(h *Header) { h.Points = 0 }), "moving points"},
		{"too many points", header(func(h *Header) { h.Points = 1 << 40 }), "moving points"},
		{"a point that is none", header(func(h *Header) { h.Moving[0].At[1] = 4 }), "point 4 of 4"},
		{"a negative point", header(func(h *Header) { h.Moving[0].At[1] = -1 }), "point -1"},
		{"too many points together", header(func(h *Header) {
			h.Moving = slices.Repeat([]Shape{{Kind: drawing.Polygon, Paint: drawing.Agent, At: make([]int, maxPoints)}}, 2)
		}), "more than"},
		{"too many points of version 1", header(func(h *Header) {
			h.Version, h.Moving = 1, slices.Repeat([]Shape{{Kind: drawing.Polygon, Paint: drawing.Agent, N: maxPoints}}, 2)
		}), "too many"},
		{"a negative number of points", header(func(h *Header) { h.Version, h.Moving[0].At, h.Moving[0].N = 1, nil, -3 }), "points"},
		{"a triangle of two points", header(func(h *Header) { h.Moving[0].At = []int{1, 2} }), "2 points"},
		{"a capsule in a flat scene", header(func(h *Header) {
			h.Moving[0] = Shape{Kind: drawing.Capsule, Paint: drawing.Agent, Size: 1, At: []int{1, 2}}
		}), "flat"},
		{"a ball of two points", header(func(h *Header) {
			h.Distance, h.Moving[0] = 1, Shape{Kind: drawing.Ball, Paint: drawing.Agent, Size: 1, At: []int{1, 2}}
		}), "2 points"},
		{"a box of three points", header(func(h *Header) { h.Distance, h.Moving[0].Kind = 1, drawing.Box }), "3 points"},
		{"a floor that moves", header(func(h *Header) {
			h.Distance, h.Moving[0] = 1, Shape{Kind: drawing.Checker, Paint: drawing.Surface, Size: 1, At: []int{1}}
		}), "cannot move"},
		{"a flat point in a solid scene", header(func(h *Header) { h.Distance = 1 }), "half a point"},
		{"an unknown shape", header(func(h *Header) { h.Moving[0].Kind = "blob" }), "blob"},
		{"half a point", header(func(h *Header) { h.Static[0].Pts = []float64{1} }), "half a point"},
		{"a circle without a radius", header(func(h *Header) { h.Static[0].Size = 0 }), "without a size"},
		{"a shape without a paint", header(func(h *Header) { h.Static[0].Paint = "" }), "paint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decode(test.data)
			if err == nil || idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want kind Invalid with %q", err, test.want)
			}
		})
	}
}

// FuzzDecode checks that Decode never panics and that what it accepts is whole.
func FuzzDecode(f *testing.F) {
	for _, xs := range [][]float64{{0}, {0, 1, 2}, {-5, 5}} {
		b := must.Get(Encode(&world{}, walk(xs...)))(f)
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte(magic))
	for _, b := range [][]byte{version1(f), crawl(f, ant, 3), packed(f, []byte{255, 255, 255, 255, 123})} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Decode(b)
		if err != nil {
			if idrl.KindOf(err) != idrl.Invalid {
				t.Fatalf("error %v is not of kind Invalid", err)
			}
			return
		}
		if len(c.Frames) != c.Header.Steps*c.Header.Sub+1 {
			t.Fatalf("%d frames for %d steps of %d", len(c.Frames), c.Header.Steps, c.Header.Sub)
		}
		if looks, err := c.Looks(); err == nil && len(looks) > mostLooks {
			t.Fatalf("%d looks", len(looks))
		}
		var scene drawing.Scene
		c.Scene(&scene, 0.5)
		if len(scene.Moving) != len(c.Header.Moving) {
			t.Fatalf("%d shapes, want %d", len(scene.Moving), len(c.Header.Moving))
		}
		for _, frame := range c.Frames {
			if len(frame) != c.Header.columns() {
				t.Fatalf("frame of %d numbers, want %d", len(frame), c.Header.columns())
			}
			for _, v := range frame {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("coordinate %v", v)
				}
			}
		}
	})
}
