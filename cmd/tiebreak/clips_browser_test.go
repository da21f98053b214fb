package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/drawing"

	stddraw "image/draw"

	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/draw"
	"tiebreak/internal/look/draw/drawtest"
	"tiebreak/static"
)

// A likeness says how far two pictures of the same size are apart.
type likeness struct {
	mean  float64 // absolute difference of a channel, 0 to 255
	share float64 // of pixels that have a channel which differs by more than 24
}

func compare(a, b *image.RGBA) (l likeness) {
	pixels := float64(len(a.Pix) / 4)
	for i := 0; i < len(a.Pix); i += 4 {
		most := 0.0
		for k := range 3 {
			d := math.Abs(float64(a.Pix[i+k]) - float64(b.Pix[i+k]))
			l.mean += d / 3 / pixels
			most = max(most, d)
		}
		if most > 24 {
			l.share += 1 / pixels
		}
	}
	return l
}

// A stage is a page that draws clips with the modules of the player.
type stage struct {
	*tab
	dir string // for pictures that are to be looked at; may be empty
}

func newStage(t *testing.T) *stage {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="%s/css/app.css"><body>`, static.Base())
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s := &stage{newPerson(t, startBrowser(t)), os.Getenv("TIEBREAK_SCREENSHOTS")}
	s.open(server.URL)
	return s
}

// draw returns what the page's modules draw of a clip, with its letters or without.
func (s *stage) draw(media []byte, frame float64, size image.Point, letters bool) *image.RGBA {
	s.t.Helper()
	url := evaluate[string](s.tab, fmt.Sprintf(`(async () => {
		const { decodeClip } = await import("%[1]s/js/clip.js");
		const { painter, palette } = await import("%[1]s/js/draw.js");
		const clip = await decodeClip(Uint8Array.from(atob("%[2]s"), (c) => c.charCodeAt(0)).buffer);
		if (!%[5]v) for (const k of ["still", "moving"]) clip[k] = clip[k].filter((s) => s.k !== "text");
		const canvas = Object.assign(document.createElement("canvas"), { width: %[3]d, height: %[4]d });
		const p = painter(clip);
		await p.ready;
		p.draw(canvas.getContext("2d", { alpha: false }), %[6]v, palette(document.body));
		return canvas.toDataURL("image/png");
	})()`, static.Base(), base64.StdEncoding.EncodeToString(media), size.X, size.Y, letters, frame))
	_, data, _ := strings.Cut(url, ",")
	img, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		s.t.Fatal(err)
	}
	out := image.NewRGBA(img.Bounds())
	stddraw.Draw(out, out.Bounds(), img, image.Point{}, stddraw.Src)
	return out
}

// keep saves a picture to be looked at.
func (s *stage) keep(name string, img image.Image) {
	if s.dir == "" {
		return
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, name+".png"), out.Bytes(), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// picturesOf returns a clip as package draw draws it, with its letters or
// without, at the largest size within 480x360.
func picturesOf(t *testing.T, media []byte, letters bool) (p *draw.Painter, size image.Point) {
	t.Helper()
	c := must.Get(clip.Decode(media))(t)
	if !letters {
		isText := func(s clip.Shape) bool { return s.Kind == drawing.Text }
		c.Header.Static = slices.DeleteFunc(c.Header.Static, isText)
		c.Header.Moving = slices.DeleteFunc(c.Header.Moving, isText)
	}
	p = draw.New(c)
	w, h := p.Size(480, 360)
	return p, image.Pt(w, h)
}

// within reports whether l is at most limit.
func (l likeness) within(limit likeness) bool { return l.mean <= limit.mean && l.share <= limit.share }

// footage is a clip of forty pictures of 480x360 pixels in which a bar moves over shades in
// steps of a number of pixels.
func footage(t *testing.T, across, down int) []byte {
	t.Helper()
	f := clip.Footage{Env: "footage", Steps: 39, FrameSec: 0.1, Playback: 1}
	for i := range 40 {
		img := image.NewRGBA(image.Rect(0, 0, 480, 360))
		for k := range 480 * 360 {
			x, y := k%480, k/480
			shade := color.RGBA{uint8(x / across), uint8(y / down / across), 90, 255}
			if x/12 == i {
				shade = color.RGBA{A: 255}
			}
			img.SetRGBA(x, y, shade)
		}
		f.Pictures = append(f.Pictures, img)
	}
	b := must.Get(clip.EncodeFootage(f))(t)
	return b
}

// TestBrowserPictures: package draw draws what the page draws. What is left are
// edges, which browsers smooth in steps of a quarter of a pixel. Letters are
// compared with a tolerance of their own, since the page takes the font of the
// system. A picture of three frames later does not pass. Of clips of pictures the page
// shows the very pixels; decoders of JPEG differ beside edges, where they smooth the colours.
func TestBrowserPictures(t *testing.T) {
	t.Parallel()
	floor := gridworld.New(gridworld.Config{MinReachable: 50}, rng.New(1, "layout", 0))
	s := newStage(t)
	for _, test := range []struct {
		name    string
		media   []byte
		frames  []float64
		limit   likeness // of all but letters
		letters likeness // with letters
	}{
		{"driver", drawtest.Record(driver.New(), 1, 50), []float64{0, 7.5, 31, 47}, likeness{0.1, 0.001}, likeness{0.1, 0.001}},
		{"gridworld", drawtest.Record(floor, 1, 10), []float64{0, 2.25, 7}, likeness{0.8, 0.006}, likeness{1.6, 0.02}},
		{"pictures", footage(t, 40, 2), []float64{0, 3.9, 11, 29}, likeness{0, 0}, likeness{0, 0}},
		{"photographs", footage(t, 1, 1), []float64{0, 3.9, 11, 29}, likeness{1, 0.015}, likeness{1, 0.015}},
		{"walker", drawtest.Walker(40), []float64{0, 33, 101.5, 197}, likeness{0.6, 0.0025}, likeness{0.9, 0.006}},
	} {
		for _, frame := range test.frames {
			plain, size := picturesOf(t, test.media, false)
			lettered, _ := picturesOf(t, test.media, true)
			want := s.draw(test.media, frame, size, false)
			got := pictureAt(plain, frame, size)
			if l := compare(got, want); !l.within(test.limit) {
				t.Errorf("%s, frame %v: %+v, want at most %+v", test.name, frame, l, test.limit)
			}
			if l := compare(pictureAt(plain, frame+3, size), want); l.within(test.limit) {
				t.Errorf("%s, frame %v: three frames later differs by %+v alone", test.name, frame, l)
			}
			want, got = s.draw(test.media, frame, size, true), pictureAt(lettered, frame, size)
			if l := compare(got, want); !l.within(test.letters) {
				t.Errorf("%s, frame %v, with letters: %+v, want at most %+v", test.name, frame, l, test.letters)
			}
			s.keep(fmt.Sprintf("%s-%v-page", test.name, frame), want)
			s.keep(fmt.Sprintf("%s-%v-go", test.name, frame), got)
		}
	}
}

func pictureAt(p *draw.Painter, frame float64, size image.Point) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	p.Draw(img, frame)
	return img
}
