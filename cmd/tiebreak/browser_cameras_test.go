package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/data/lerobot/lerobottest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// importPens imports a data set of LeRobot whose episodes are as long as a clip, so that frame n of a clip is frame n of an episode.
func importPens(t *testing.T, data, name, cameras string) {
	t.Helper()
	needFFmpeg(t)
	folder := t.TempDir()
	differ := func(c *lerobottest.Change) { // the second feature, between episodes
		for _, f := range c.Frames {
			f["observation.state"].([]float32)[1] *= float32(f["episode_index"].(int64) + 1)
		}
	}
	must.Do(t, (lerobottest.Dataset{Lengths: slices.Repeat([]int{penSteps + 1}, 8), Change: differ}).Write(folder))
	mustCLI(t, "import", "--lerobot", folder, "--name", name, "--data", data, "--policy-column", "policy", "--cameras", cameras,
		"--clip-seconds", fmt.Sprint(penSteps/10.0))
}

const penSteps = 20

// A pen is read from the picture of a clip of importPens on a canvas.
type pen struct {
	large   string // front or side; all where both are of a size
	episode int
	frame   int // -1 where the cameras show others
}

// pens reads the canvases of the question on screen.
func (b *tab) pens() (out []pen) {
	b.t.Helper()
	for _, url := range evaluate[[]string](b, "[...document.querySelectorAll('duo-player canvas')].map((c) => c.toDataURL())") {
		_, text, _ := strings.Cut(url, ",")
		file, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			b.t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, readPen(img))
	}
	return out
}

func readPen(img image.Image) pen {
	front, side := findCamera(img, 60), findCamera(img, 140)
	p := pen{large: "all", frame: -1}
	switch {
	case side.Empty() || front.Dx() > 2*side.Dx():
		p.large = "front"
	case front.Empty() || side.Dx() > 2*front.Dx():
		p.large = "side"
	}
	for _, at := range []image.Rectangle{front, side} {
		if at.Empty() {
			continue
		}
		episode, frame := lerobottest.Read(img, at)
		if p.frame >= 0 && (episode != p.episode || frame != p.frame) {
			return pen{large: p.large, frame: -1}
		}
		p.episode, p.frame = episode, frame
	}
	return p
}

// findCamera returns where the picture of the camera is that has so much red, and green, below its bars; it is empty if there is none.
func findCamera(img image.Image, red int) (at image.Rectangle) {
	size := img.Bounds()
	is := func(x, y int) bool {
		r, g, _, _ := img.At(x, y).RGBA()
		return max(int(r>>8)+int(g>>8)-2*red, 2*red-int(r>>8)-int(g>>8)) < 40
	}
	at.Min.Y, at.Max.Y = longest(size.Dy(), func(y int) (n int) {
		for x := range size.Dx() {
			if is(x, y) {
				n++
			}
		}
		return n
	})
	at.Min.X, at.Max.X = longest(size.Dx(), func(x int) (n int) {
		for y := at.Min.Y; y < at.Max.Y; y++ {
			if is(x, y) {
				n++
			}
		}
		return n
	})
	if at.Dy() < 10 { // a line between two colours
		return image.Rectangle{}
	}
	at.Min.Y = at.Max.Y - at.Dy()*lerobottest.Height/(lerobottest.Height-lerobottest.Deep)
	return at
}

// longest returns the longest run of lines, out of n, whose counts are more than half of the highest.
func longest(n int, count func(i int) int) (from, to int) {
	counts := make([]int, n)
	for i := range counts {
		counts[i] = count(i)
	}
	half := slices.Max(counts) / 2
	for i := 0; i < n; i++ {
		start := i
		for i < n && counts[i] > half {
			i++
		}
		if i-start > to-from {
			from, to = start, i
		}
	}
	return from, to
}

// shows waits until both sides show a camera large, or all, and frame n; any for -1.
func (b *tab) shows(large string, n int) {
	b.t.Helper()
	var got []pen
	there := false
	defer func() {
		if !there {
			b.t.Logf("the canvases show %+v", got)
		}
	}()
	b.until(fmt.Sprintf("both sides show %s, frame %d", large, n), func(context.Context) bool {
		got = b.pens()
		there = len(got) == 2 && !slices.ContainsFunc(got, func(p pen) bool { return p.large != large || p.frame < 0 || n >= 0 && p.frame != n })
		return there
	})
}

// stepsFilms goes to frames of the question on screen that no still shows alone: only the videos have all of them.
func (b *tab) stepsFilms(large string) {
	b.t.Helper()
	evaluate[any](b, "document.querySelector('duo-player').step(-1000)")
	b.shows(large, 0)
	for n := 1; n <= 6; n++ {
		b.press(".")
		b.shows(large, n)
	}
	b.press(" ")
	b.wait("document.querySelector('duo-player').hasAttribute('data-playing')")
}

const viewsButton = "duo-player button.views"

// TestBrowserCameras: key V and its button show another camera large on both sides, also of the questions that follow, and
// clips of one camera have no such button. Without the server the videos of the questions that are kept play, also after a reload.
func TestBrowserCameras(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	importPens(t, data, "pens", "front, side")
	importPens(t, data, "pen", "side")
	browser := startBrowser(t)
	_, link := newLink(t, data, addr, "--env", "rollouts-pens", "--ahead", "4")
	_, alone := newLink(t, data, addr, "--env", "rollouts-pen")
	server := startServer(t, "serve", "--data", data, "--addr", addr)

	one := newPerson(t, browser)
	one.join(alone, "Ada")
	one.press("v")
	one.shows("side", -1)
	if evaluate[bool](one, "document.querySelector('"+viewsButton+"')?.checkVisibility() ?? false") {
		t.Error("clips of one camera have a button for others")
	}
	one.open("about:blank")

	b := newPerson(t, browser)
	b.join(link, "Bob")
	named := func(want string) {
		t.Helper()
		b.wait(fmt.Sprintf("document.querySelector('%s').textContent === 'VCameras: %s'", viewsButton, want))
	}
	b.shows("all", -1)
	named("All of one size (front, side)")
	b.captions()
	b.press("v")
	b.shows("front", -1)
	named("front large")
	b.do(chromedp.Click(chromedp.CSS(viewsButton)))
	b.shows("side", -1)
	named("side large")
	b.fits(1280, 800)
	b.shot("cameras-1280x800")
	b.accessible("a question about clips of two cameras")
	b.answer(kb.ArrowLeft) // the button has not taken the focus
	b.shows("side", -1)
	b.stepsFilms("side")

	b.until("the page is kept", func(context.Context) bool { return evaluate[bool](b, shellKept) })
	b.ahead(4)
	b.until("the clips are kept", func(context.Context) bool { return b.keptAll() })
	b.expectAway(true)
	server.kill()
	b.wait("document.body.dataset.state === 'offline'")
	evaluate[bool](b, "window.beforeReload = true")
	b.do(chromedp.Reload())
	b.wait("window.beforeReload === undefined && document.body.dataset.painted === 'true'")
	for range 3 {
		b.shows("side", -1)
		b.stepsFilms("side")
		b.commit(kb.ArrowRight)
	}
	b.wait("document.body.dataset.painted === 'true'")
	b.press("v")
	b.shows("all", -1)
	if state := b.data(); state["state"] != "offline" || state["unsent"] != "3" {
		t.Errorf("without the server the page is %v", state)
	}
	startServer(t, "serve", "--data", data, "--addr", addr)
	b.wait("document.body.dataset.unsent === '0' && document.body.dataset.answered === '4'")
	b.expectAway(false)
}

// captions checks that the task is above the films where there is room, and else at the upper edge of each; both happen.
func (b *tab) captions() {
	b.t.Helper()
	found := map[string]int{}
	for _, size := range [][2]int64{{1280, 800}, {1100, 1100}, {844, 390}, {390, 844}} {
		b.resize(size[0], size[1])
		where := evaluate[string](b, `[...document.querySelectorAll("duo-player figure")].map((f) => {
			const [text, film] = ["figcaption", "canvas"].map((s) => f.querySelector(s).getBoundingClientRect());
			const within = text.height > 10 && text.left >= film.left - 1 && text.right <= film.right + 1;
			if (within && text.bottom <= film.top + 1 && text.top >= f.parentElement.getBoundingClientRect().top) return "above";
			return within && Math.abs(text.top - film.top) <= 1 ? "over" : "lost";
		}).join()`)
		found[where]++
		b.shot(fmt.Sprintf("cameras-task-%dx%d", size[0], size[1]))
	}
	if found["above,above"] == 0 || found["over,over"] == 0 || len(found) != 2 {
		b.t.Errorf("the tasks are %v", found)
	}
	b.resize(1280, 800)
}

// keptAll reports whether the service worker holds the clips of all open questions, as they are asked for.
func (b *tab) keptAll() bool {
	b.t.Helper()
	queries, open := b.asked()
	kept := evaluate[[]string](b, `(async () => (await (await caches.open("tiebreak.clips." + location.pathname)).keys()).map((r) => new URL(r.url).pathname))()`)
	return !slices.ContainsFunc(open, func(a string) bool {
		return slices.ContainsFunc(queries[a].Clips, func(url string) bool { return !slices.Contains(kept, url) })
	})
}
