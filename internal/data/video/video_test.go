package video

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// film writes a video of 96x64 pixels by filters of ffmpeg, in whose pictures 6 bars are the bits of the number of the frame.
func film(t *testing.T, frames int, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "video.mp4")
	bars := `color=black:s=96x64:r=30,format=yuv420p,geq=lum='if(mod(floor(N/pow(2,floor(X/16))),2),235,20)':cb=128:cr=128`
	args = append(append([]string{"-v", "error", "-f", "lavfi", "-i", bars, "-frames:v", fmt.Sprint(frames)}, args...), path)
	if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func number(p image.Image, at image.Rectangle) (n int) {
	for k := range 6 {
		if r, _, _, _ := p.At(at.Min.X+(2*k+1)*at.Dx()/12, at.Dy()/2).RGBA(); r > 0x7fff {
			n |= 1 << k
		}
	}
	return n
}

// open opens a file for the time of a test.
func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestCut: frames are exact with key frames far apart and frames that are stored in another order than shown.
func TestCut(t *testing.T) {
	a := film(t, 60, "-c:v", "libx264", "-g", "50", "-bf", "3")
	b := film(t, 60, "-c:v", "libx264", "-g", "7", "-bf", "2")
	size := image.Pt(96, 64)
	c := Cut{From: []Source{{open(t, a), 23, size}, {open(t, b), 31, size}}, Frames: 12, FPS: 30, Stills: []int{0, 5, 11}}
	dir := t.TempDir()
	if err := c.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	_, at := c.Layout()
	for _, name := range []string{MP4Name, WebMName} {
		k := 0
		err := Decode(t.Context(), filepath.Join(dir, name), func(p image.Image) error {
			if one, two := number(p, at[0]), number(p, at[1]); one != 23+k || two != 31+k {
				t.Errorf("%s: frame %d shows the frames %d and %d", name, k, one, two)
			}
			k++
			return nil
		})
		if err != nil || k != 12 {
			t.Errorf("%s has %d frames and the error %v", name, k, err)
		}
	}
	c.From[0].First = 50
	if err := c.Write(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "ends within") {
		t.Errorf("the error of a video that is too short is %v", err)
	}
}

// TestLayout: cameras are beside each other, in even numbers of pixels and within bounds.
func TestLayout(t *testing.T) {
	for _, test := range []struct {
		from []image.Point
		size image.Point
		last image.Rectangle
	}{
		{[]image.Point{{640, 480}, {480, 640}}, image.Pt(840, 480), image.Rect(480, 0, 840, 480)},
		{[]image.Point{{97, 63}}, image.Pt(98, 64), image.Rect(0, 0, 98, 64)},
		{slices.Repeat([]image.Point{{1920, 1080}}, 6), image.Pt(1920, 180), image.Rect(1600, 0, 1920, 180)},
		{[]image.Point{{4096, 8}}, image.Pt(480, 2), image.Rect(0, 0, 480, 2)},
	} {
		var c Cut
		for _, p := range test.from {
			c.From = append(c.From, Source{Size: p})
		}
		size, at := c.Layout()
		if size != test.size || at[len(at)-1] != test.last {
			t.Errorf("%v: %v with %v", test.from, size, at)
		}
	}
	if got := Spread(301, 4); !slices.Equal(got, []int{0, 100, 200, 300}) {
		t.Errorf("Spread gives %v", got)
	}
	if got := Spread(3, 10); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("Spread gives %v", got)
	}
}

func table(path string) (*Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ReadTable(bytes.NewReader(b), int64(len(b)))
}

// TestTable: the table of a file is that of its pictures, also where an edit list leaves some out.
func TestTable(t *testing.T) {
	for _, test := range []struct {
		name   string
		args   []string
		frames int
		codec  string
	}{
		{"H.264 with frames in another order", []string{"-c:v", "libx264", "-bf", "3"}, 40, "avc1.640"},
		{"AV1", []string{"-c:v", "libsvtav1", "-g", "2"}, 40, "av01"},
		{"moov first", []string{"-c:v", "libx264", "-movflags", "+faststart"}, 40, "avc1.640"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := table(film(t, test.frames, test.args...))
			if err != nil || got.Frames != test.frames || !strings.HasPrefix(got.Codec, test.codec) {
				t.Fatalf("%+v, %v", got, err)
			}
			if err := errors.Join(got.Constant(30)); err != nil {
				t.Error(err)
			}
			if got.Constant(29) == nil {
				t.Error("another rate passes")
			}
		})
	}
	whole := film(t, 40, "-c:v", "libx264", "-g", "10", "-bf", "0")
	cut := filepath.Join(t.TempDir(), "cut.mp4")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-ss", "0.5", "-i", whole, "-c", "copy", cut).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shown := 0
	if err := Decode(t.Context(), cut, func(image.Image) error { shown++; return nil }); err != nil {
		t.Fatal(err)
	}
	if got, err := table(cut); err != nil || got.Frames != shown {
		t.Errorf("%d pictures are shown; the table is %+v, %v", shown, got, err)
	}
	if got, err := table(film(t, 40, "-c:v", "libx264", "-movflags", "frag_keyframe+empty_moov")); err == nil {
		t.Errorf("a file in fragments has the table %+v", got)
	}
}

// FuzzReadTable: no file has more pictures than the limit, or makes the reader panic.
func FuzzReadTable(f *testing.F) {
	box := func(kind string, parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		return append([]byte{0, 0, byte((len(body) + 8) >> 8), byte(len(body) + 8), kind[0], kind[1], kind[2], kind[3]}, body...)
	}
	mdhd := make([]byte, 24)
	mdhd[15] = 30
	hdlr := append(make([]byte, 8), "vide"...)
	stts := []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1}
	moov := func(stbl []byte, edts []byte) []byte {
		return box("moov", box("trak", edts, box("mdia", box("mdhd", mdhd), box("hdlr", hdlr), box("minf", box("stbl", stbl)))))
	}
	f.Add(moov(box("stts", stts), nil))
	f.Add(moov(box("stts", stts), box("edts", box("elst", []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 2, 0, 1, 0, 0}))))
	f.Add(moov(append(box("stts", stts), box("ctts", stts)...), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ReadTable(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if got.Frames < 1 || got.Frames > maxFrames || !slices.IsSorted(got.times) {
			t.Errorf("%d pictures", got.Frames)
		}
		_ = got.Constant(30)
	})
}

// TestProbe: pictures are bounded before anything is decoded, and other files are not opened.
func TestProbe(t *testing.T) {
	path := film(t, 3, "-c:v", "libx264")
	if info, err := Probe(t.Context(), open(t, path)); err != nil || info != (Info{"h264", image.Pt(96, 64)}) {
		t.Errorf("%+v, %v", info, err)
	}
	large := filepath.Join(t.TempDir(), "large.mp4")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=s=4800x16", "-frames:v", "2", large).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := Probe(t.Context(), open(t, large)); err == nil || !strings.Contains(err.Error(), "4800x16") {
		t.Errorf("the error is %v", err)
	}
	list := filepath.Join(t.TempDir(), "list.mp4")
	if err := os.WriteFile(list, fmt.Appendf(nil, "ffconcat version 1.0\nfile '%s'\n", path), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := Probe(t.Context(), open(t, list)); err == nil {
		t.Errorf("a list of files is read: %+v", info)
	}
}

// TestVariables: a child has no secrets of the program.
func TestVariables(t *testing.T) {
	t.Setenv("A_SECRET_OF_THE_SERVER", "x")
	c := run(t.Context(), "ffmpeg", nil)
	defer c.cancel()
	if slices.Contains(c.Env, "A_SECRET_OF_THE_SERVER=x") || !slices.ContainsFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }) {
		t.Errorf("it has %v", c.Env)
	}
}
