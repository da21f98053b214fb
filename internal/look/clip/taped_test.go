package clip_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/clip/tapetest"
)

const h264, vp9 = tapetest.H264, tapetest.VP9

// busy is a picture that compresses badly.
func busy(w, h int, seed uint32) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		seed = seed*1664525 + 1013904223
		img.Set(i%w, i/w, color.RGBA{uint8(seed >> 24), uint8(seed >> 16), uint8(seed >> 8), 255})
	}
	return img
}

func encodeTape(t testing.TB, e *tapetest.Env) []byte {
	t.Helper()
	b := must.Get(clip.Encode(e, tapetest.Clip(3)))(t)
	return b
}

func TestTapeRoundTrip(t *testing.T) {
	env := tapetest.Small()
	b := encodeTape(t, env)
	c, err := clip.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	want := clip.Header{
		Version: 4, Env: "tape", Steps: 3, Sub: 2, Frames: 7, FrameSec: 0.1, Playback: 1, Phi: []float64{1.25}, Note: "The recording ends here.",
		Unit: 1, W: 80, H: 30, Points: 1, Static: []clip.Shape{}, Moving: []clip.Shape{}, Show: []int{0, 0, 0, 1, 2, 2, 2},
		Film: [2]int{80, 30}, Cameras: env.Film.Cameras, Videos: []clip.VideoFile{{Type: vp9, Bytes: 94}, {Type: h264, Bytes: 82}},
	}
	if diff := cmp.Diff(want, c.Header, cmpopts.IgnoreFields(clip.Header{}, "Look", "Pictures")); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if !bytes.Equal(c.Videos[0], tapetest.WebM(90)) || !bytes.Equal(c.Videos[1], tapetest.MP4(70)) || len(c.Frames) != 7 {
		t.Errorf("videos %q, %d frames", c.Videos, len(c.Frames))
	}
	for frame, grey := range []uint32{10, 10, 10, 120, 250, 250, 250} {
		p := must.Get(c.Picture(frame))(t)
		if r, _, _, _ := p.At(5, 5).RGBA(); r>>8 != grey {
			t.Errorf("frame %d has grey %d, want %d", frame, r>>8, grey)
		}
	}
	if looks, err := c.Looks(); err != nil || len(looks) != 6 || looks[5][0] != 250 {
		t.Errorf("%d looks, %v", len(looks), err)
	}
	bare, err := clip.Decode(clip.WithoutLooks(b))
	if err != nil || bare.Header.Look != nil || len(bare.Videos) != 2 {
		t.Errorf("without looks: %+v, %v", bare, err)
	}
	if !bytes.Equal(b, encodeTape(t, tapetest.Small())) {
		t.Error("the same clip encodes to other bytes")
	}
}

// A browser gets the first video that it plays and one still, or all stills; other bytes are left alone.
func TestForBrowser(t *testing.T) {
	b := encodeTape(t, tapetest.Small())
	for _, test := range []struct {
		plays  []string
		used   string
		stills int
		video  []byte
	}{
		{[]string{"avc1", "vp09"}, "vp09", 1, tapetest.WebM(90)},
		{[]string{"avc1"}, "avc1", 1, tapetest.MP4(70)},
		{[]string{"av01"}, "", 3, nil},
		{nil, "", 3, nil},
	} {
		out, used := clip.ForBrowser(b, test.plays)
		c := must.Get(clip.Decode(out))(t)
		if used != test.used || len(c.Pictures) != test.stills || len(c.Header.Cameras) != 2 || c.Header.Note == "" {
			t.Errorf("%v: codec %q, %d stills, header %+v", test.plays, used, len(c.Pictures), c.Header)
		}
		if test.video == nil && len(c.Videos) != 0 || test.video != nil && !cmp.Equal(c.Videos, [][]byte{test.video}) {
			t.Errorf("%v: videos %q", test.plays, c.Videos)
		}
	}
	footage := must.Get(clip.EncodeFootage(clip.Footage{Env: "cam", FrameSec: 1, Playback: 1, Pictures: []image.Image{tapetest.Plain(40, 30, 9)}}))(t)
	for _, other := range [][]byte{nil, []byte("media"), []byte("TBF1"), b[:len(b)-1], footage} {
		if out, used := clip.ForBrowser(other, []string{"avc1"}); !bytes.Equal(out, other) || used != "" {
			t.Errorf("%.10q becomes %.10q", other, out)
		}
	}
}

// Stills shrink until they fit.
func TestStillsFit(t *testing.T) {
	e := tapetest.Small()
	e.Film.W, e.Film.H = 1920, 480
	e.Film.Cameras = []clip.Camera{{W: 960, H: 480}, {X: 960, W: 960, H: 480}}
	e.Film.Stills, e.Film.At = nil, []int{0, 1, 2, 3, 4, 5, 6}
	for i := range e.Film.At {
		e.Film.Stills = append(e.Film.Stills, busy(1920, 480, uint32(i)))
	}
	b := encodeTape(t, e)
	c := must.Get(clip.Decode(b))(t)
	if c.Header.W != 640 || c.Header.H != 160 || len(b) > 300_000 {
		t.Errorf("stills of %vx%v, %d bytes", c.Header.W, c.Header.H, len(b))
	}
}

func TestTapesThatCannotBeShown(t *testing.T) {
	failed := idrl.Errorf(idrl.Unavailable, "the disk is gone")
	for name, test := range map[string]struct {
		change func(e *tapetest.Env)
		want   string
	}{
		"no tape":            {func(e *tapetest.Env) { e.Film = nil }, "no video"},
		"no video":           {func(e *tapetest.Env) { e.Film.Videos = nil }, "no video"},
		"no frames":          {func(e *tapetest.Env) { e.PerStep = 0 }, "no video"},
		"too wide":           {func(e *tapetest.Env) { e.Film.W = 1922 }, "1922x30"},
		"no still":           {func(e *tapetest.Env) { e.Film.Stills = nil }, "0 stills"},
		"a still too many":   {func(e *tapetest.Env) { e.Film.At = e.Film.At[:2] }, "3 stills of 2"},
		"a still of 2x2":     {func(e *tapetest.Env) { e.Film.Stills[1] = tapetest.Plain(2, 2, 0) }, "still 1 has 2x2"},
		"not from the start": {func(e *tapetest.Env) { e.Film.At[0] = 1 }, "first must be 0"},
		"out of order":       {func(e *tapetest.Env) { e.Film.At[2] = 3 }, "in order"},
		"behind the end":     {func(e *tapetest.Env) { e.Film.At[2] = 7 }, "before frame 7"},
		"no camera":          {func(e *tapetest.Env) { e.Film.Cameras = nil }, "0 cameras"},
		"a camera outside":   {func(e *tapetest.Env) { e.Film.Cameras[1].X = 41 }, "camera at 41, 0"},
		"a negative camera":  {func(e *tapetest.Env) { e.Film.Cameras[1].Y = -1 }, "camera at 40, -1"},
		"a long name":        {func(e *tapetest.Env) { e.Film.Cameras[1].Name = strings.Repeat("ä", 31) }, "name of 62 bytes"},
		"another type":       {func(e *tapetest.Env) { e.Film.Videos[0].Type = "text/html" }, "text/html"},
		"another container":  {func(e *tapetest.Env) { e.Film.Videos[0].Type = h264 }, "is not video/mp4"},
		"too many encodings": {func(e *tapetest.Env) { e.Film.Videos = slices.Repeat(e.Film.Videos, 3) }, "6 videos"},
		"too many bytes":     {func(e *tapetest.Env) { e.Film.Videos[1].File = tapetest.MP4(8 << 20) }, "8388"},
		"too many altogether": {func(e *tapetest.Env) {
			e.Film.Videos[0].File, e.Film.Videos[1].File = tapetest.WebM(5<<20), tapetest.MP4(5<<20)
		}, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			e := tapetest.Small()
			test.change(e)
			if _, err := clip.Encode(e, tapetest.Clip(3)); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want kind Invalid with %q", err, test.want)
			}
		})
	}
	e := tapetest.Small()
	e.Err = failed
	if _, err := clip.Encode(e, tapetest.Clip(3)); !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the tape", err)
	}
}

// changed returns b with another header.
func changed(t *testing.T, b []byte, change func(h *clip.Header)) []byte {
	t.Helper()
	n := binary.LittleEndian.Uint32(b[4:])
	var h clip.Header
	must.Do(t, json.Unmarshal(b[8:8+n], &h))
	change(&h)
	head := must.Get(json.Marshal(h))(t)
	return append(append(binary.LittleEndian.AppendUint32([]byte("TBF1"), uint32(len(head))), head...), b[8+n:]...)
}

func TestDamagedTapes(t *testing.T) {
	good := encodeTape(t, tapetest.Small())
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"cut short":             {good[:len(good)-1], "within video 1"},
		"cut shorter":           {good[:len(good)-100], "within video 0"},
		"with more behind":      {append(slices.Clone(good), 0), "1 bytes behind"},
		"with videos as images": {changed(t, good, func(h *clip.Header) { h.Version = 3 }), "version 3 has videos"},
		"of version 5":          {changed(t, good, func(h *clip.Header) { h.Version = 5 }), "version 5"},
		"with a huge video":     {changed(t, good, func(h *clip.Header) { h.Videos[0].Bytes = 1 << 40 }), "a video of 1099511627776 bytes"},
		"with a negative video": {changed(t, good, func(h *clip.Header) { h.Videos[0].Bytes = -1 }), "a video of -1 bytes"},
		"with a wrong type":     {changed(t, good, func(h *clip.Header) { h.Videos[1].Type = vp9 }), "is not video/webm"},
		"without a size":        {changed(t, good, func(h *clip.Header) { h.Film = [2]int{} }), "videos of 0x0"},
		"with a camera outside": {changed(t, good, func(h *clip.Header) { h.Cameras[0].W = 1 << 62 }), "camera at 0, 0"},
		"too large":             {append(slices.Clone(good), make([]byte, 8<<20)...), "limit is 8388608"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clip.Decode(test.data)
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want kind Invalid with %q", err, test.want)
			}
			clip.ForBrowser(test.data, []string{"avc1"})
		})
	}
}

// FuzzTapes checks that Decode and ForBrowser never panic, and that what they accept is whole.
func FuzzTapes(f *testing.F) {
	b := encodeTape(f, tapetest.Small())
	for _, seed := range [][]byte{b, b[:len(b)/2], b[:len(b)-5]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		out, _ := clip.ForBrowser(b, []string{"avc1"})
		c, err := clip.Decode(b)
		if err != nil {
			if idrl.KindOf(err) != idrl.Invalid {
				t.Fatalf("error %v is not of kind Invalid", err)
			}
			return
		}
		if len(c.Videos) != len(c.Header.Videos) || len(c.Pictures) != len(c.Header.Pictures) {
			t.Fatalf("%d videos and %d pictures", len(c.Videos), len(c.Pictures))
		}
		if _, err := clip.Decode(out); err != nil {
			t.Fatalf("what a browser gets is no clip: %v", err)
		}
	})
}
