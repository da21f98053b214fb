package film_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/draw/drawtest"
	"tiebreak/internal/look/film"
)

// walking returns a clip of steps steps of 50 ms.
func walking(t testing.TB, steps int) *clip.Clip {
	t.Helper()
	c := must.Get(clip.Decode(drawtest.Walker(steps)))(t)
	return c
}

// make80 returns the film of clips of 80×60 pixels.
func make80(t testing.TB, speed float64, clips ...*clip.Clip) *film.Film {
	t.Helper()
	f := must.Get(film.New(film.Config{Clips: clips, Width: 80, Height: 80, Speed: speed}))(t)
	return f
}

// save writes a film and returns its path.
func save(t testing.TB, f *film.Film, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "film."+format)
	must.Do(t, f.Save(t.Context(), path, format))
	return path
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	return b
}

// at returns the film as it is after some seconds.
func at(f *film.Film, sec float64) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: f.Size()})
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	f.Draw(img, sec)
	return img
}

// difference returns the mean absolute difference of a channel, 0 to 255.
func difference(a, b *image.RGBA) float64 {
	sum := 0
	for i, v := range a.Pix {
		sum += max(int(v)-int(b.Pix[i]), int(b.Pix[i])-int(v))
	}
	return float64(sum) / float64(len(a.Pix)/4*3) // opacities are equal
}

// A shown is a frame of a file, and when it comes.
type shown struct {
	img   *image.RGBA
	atSec float64
}

// readGIF returns the frames of a GIF as they are seen, and how long it lasts.
func readGIF(t *testing.T, path string) (list []shown, seconds float64) {
	t.Helper()
	g := must.Get(gif.DecodeAll(bytes.NewReader(read(t, path))))(t)
	now := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for i, part := range g.Image {
		draw.Draw(now, part.Bounds(), part, part.Bounds().Min, draw.Over)
		img := image.NewRGBA(now.Rect)
		copy(img.Pix, now.Pix)
		list = append(list, shown{img, seconds})
		if g.Delay[i] < 4 {
			t.Errorf("frame %d is shown for %d hundredths of a second, which browsers do not do", i, g.Delay[i])
		}
		seconds += float64(g.Delay[i]) / 100
	}
	return list, seconds
}

// ffmpeg returns the path of the program.
func ffmpeg(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("no ffmpeg found: install the package ffmpeg")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// readVideo returns the frames of a video of 60 frames a second.
func readVideo(t *testing.T, path string, size image.Point) (list []shown) {
	t.Helper()
	raw := must.Get(exec.CommandContext(t.Context(), ffmpeg(t), "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba",
		"-vf", "scale=in_color_matrix=bt709:in_range=tv", "-").Output())(t)
	n := 4 * size.X * size.Y
	for ; len(raw) >= n; raw = raw[n:] {
		img := image.NewRGBA(image.Rectangle{Max: size})
		copy(img.Pix, raw)
		list = append(list, shown{img, float64(len(list)) / 60})
	}
	if len(raw) > 0 {
		t.Errorf("%d bytes behind the last frame", len(raw))
	}
	return list
}

// faithful fails unless every third frame is the film's of that time, and is not
// that of a tenth of a second later, while the clip moves.
func faithful(t *testing.T, f *film.Film, list []shown, tolerance float64) {
	t.Helper()
	for i := 0; i < len(list); i += 3 {
		s := list[i]
		if d := difference(s.img, at(f, s.atSec)); d > tolerance {
			t.Errorf("frame %d differs by %.2f, want at most %v", i, d, tolerance)
		}
		if s.atSec+0.4 > f.Seconds() {
			continue
		}
		if d := difference(s.img, at(f, s.atSec+0.1)); d <= tolerance {
			t.Errorf("frame %d differs by %.2f alone from that of 0.1 s later", i, d)
		}
	}
}

func TestGIF(t *testing.T) {
	for _, test := range []struct {
		name  string
		film  *film.Film
		least int // frames; 25 a second, and the last one
	}{
		{"one clip", make80(t, 1, walking(t, 8)), 11},
		{"half as fast", make80(t, 0.5, walking(t, 4)), 11},
		{"an odd duration", make80(t, 1.7, walking(t, 7)), 6},
		{"a pair", make80(t, 1, walking(t, 8), walking(t, 4)), 11},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := save(t, test.film, "gif")
			list, seconds := readGIF(t, path)
			if math.Abs(seconds-test.film.Seconds()) > 0.005 {
				t.Errorf("lasts %v s, want %v", seconds, test.film.Seconds())
			}
			if len(list) != test.least {
				t.Errorf("%d frames, want %d", len(list), test.least)
			}
			faithful(t, test.film, list, 0.8) // 255 colours
			if again := save(t, test.film, "gif"); !bytes.Equal(read(t, path), read(t, again)) {
				t.Error("saved again, it has other bytes")
			}
		})
	}
}

func TestVideo(t *testing.T) {
	for _, test := range []struct {
		format    string
		tolerance float64 // a quarter of the colours is kept, and what compression loses
	}{{"mp4", 4.5}, {"webm", 4.5}} {
		t.Run(test.format, func(t *testing.T) {
			f := make80(t, 1, walking(t, 4), walking(t, 2))
			ffmpeg(t)
			path := save(t, f, test.format)
			list := readVideo(t, path, f.Size())
			if want := 30; len(list) != want { // 0.2 s and 0.3 s still
				t.Errorf("%d frames, want %d", len(list), want)
			}
			faithful(t, f, list, test.tolerance)
			if b := read(t, path); test.format == "mp4" && bytes.Index(b, []byte("moov")) > bytes.Index(b, []byte("mdat")) {
				t.Error("a browser must load all of it before it plays")
			}
		})
	}
}

func TestPNG(t *testing.T) {
	f := make80(t, 1, walking(t, 5))
	img := must.Get(png.Decode(bytes.NewReader(read(t, save(t, f, "png")))))(t)
	got := image.NewRGBA(img.Bounds())
	draw.Draw(got, got.Rect, img, image.Point{}, draw.Src)
	if d := difference(got, at(f, f.Seconds())); d != 0 {
		t.Errorf("differs by %v from the end of the film", d)
	}
}

// A still is one picture.
func TestStill(t *testing.T) {
	f := make80(t, 1, walking(t, 0))
	if list, _ := readGIF(t, save(t, f, "gif")); len(list) != 1 || f.Seconds() != 0.3 {
		t.Errorf("%d frames, %v s", len(list), f.Seconds())
	}
}

func TestPair(t *testing.T) {
	f := make80(t, 1, walking(t, 4), walking(t, 2)) // clips of 80×60
	if f.Size() != image.Pt(168, 60) {
		t.Fatalf("size %v", f.Size())
	}
	img := at(f, 0.1)
	white := color.RGBA{255, 255, 255, 255}
	if img.RGBAAt(79, 30) == white || img.RGBAAt(80, 30) != white || img.RGBAAt(87, 30) != white || img.RGBAAt(88, 30) == white {
		t.Error("there is no gap of 8 pixels in the middle")
	}
	part := func(x0 int, img *image.RGBA) *image.RGBA {
		out := image.NewRGBA(image.Rect(0, 0, 80, 60))
		draw.Draw(out, out.Rect, img, image.Pt(x0, 0), draw.Src)
		return out
	}
	for x0, alone := range map[int]*film.Film{0: make80(t, 1, walking(t, 4)), 88: make80(t, 1, walking(t, 2))} {
		for _, sec := range []float64{0, 0.07, 0.1, 0.15, 0.2} { // the shorter one waits on its last frame
			if d := difference(part(x0, at(f, sec)), at(alone, sec)); d != 0 {
				t.Errorf("after %v s the clip at %d differs by %v from what it is alone", sec, x0, d)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, test := range []struct {
		cfg  film.Config
		want string
	}{
		{film.Config{Width: 480, Height: 8, Speed: 1}, "480x8"},
		{film.Config{Width: 4096, Height: 360, Speed: 1}, "4096x360"},
		{film.Config{Width: 480, Height: 360}, "speed of 0"},
		{film.Config{Width: 480, Height: 360, Speed: math.NaN()}, "NaN"},
	} {
		_, err := film.New(test.cfg)
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.cfg, err)
		}
	}
	dir := t.TempDir()
	f := make80(t, 1, walking(t, 1))
	if err := f.Save(t.Context(), filepath.Join(dir, "x.avi"), "avi"); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "webm") {
		t.Errorf("format avi: %v", err)
	}
	if err := f.Save(t.Context(), filepath.Join(dir, "no", "x.gif"), "gif"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// fake puts a program instead of ffmpeg on the path, a script.
func fake(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	t.Setenv("PATH", dir)
}

func TestFFmpegFails(t *testing.T) {
	f := make80(t, 1, walking(t, 1))
	for _, test := range []struct{ name, script, want string }{
		{"at once", "echo 'Unknown encoder libx264' >&2; exit 1", "Unknown encoder libx264"},
		{"at its end", "while read -r _; do :; done; echo 'No space left' >&2; exit 3", "exit status 3: No space left"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake(t, test.script)
			err := f.Save(t.Context(), filepath.Join(t.TempDir(), "x.mp4"), "mp4")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		err := f.Save(t.Context(), filepath.Join(t.TempDir(), "x.mp4"), "mp4")
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "install the package ffmpeg") {
			t.Errorf("error %v", err)
		}
	})
}

// Stopped, it leaves nothing, and no ffmpeg.
func TestStops(t *testing.T) {
	for _, format := range []string{"gif", "mp4"} {
		t.Run(format, func(t *testing.T) {
			if format == "mp4" {
				sleep := must.Get(exec.LookPath("sleep"))(t)
				fake(t, "exec "+sleep+" 600") // reads nothing
			}
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := make80(t, 0.05, walking(t, 40)).Save(ctx, filepath.Join(dir, "x."+format), format)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

func BenchmarkSave(b *testing.B) {
	for _, format := range film.Formats() {
		b.Run(format, func(b *testing.B) {
			f := must.Get(film.New(film.Config{Clips: []*clip.Clip{walking(b, 40)}, Width: 480, Height: 360, Speed: 1}))(b)
			path := filepath.Join(b.TempDir(), "film")
			for b.Loop() {
				must.Do(b, f.Save(b.Context(), path, format))
			}
			b.ReportMetric(float64(len(read(b, path)))/1024, "KB")
		})
	}
}
