package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/chromedp/chromedp/kb"
)

// filmed writes a folder of rollouts: MP4 files of 61 pictures, in each of which eight bars are
// the bits of its number, above a grey that is that of the rollout.
func filmed(t *testing.T) string {
	t.Helper()
	needFFmpeg(t)
	dir := t.TempDir()
	var list []string
	for k := range 4 {
		var raw bytes.Buffer
		for i := range 61 {
			img := image.NewRGBA(image.Rect(0, 0, 128, 64))
			for y := range 64 {
				for x := range 128 {
					c := color.RGBA{uint8(50 * k), uint8(50 * k), uint8(50 * k), 255}
					if y < 32 {
						c = color.RGBA{A: 255}
						if i>>(x/16)&1 == 1 {
							c = color.RGBA{255, 255, 255, 255}
						}
					}
					img.SetRGBA(x, y, c)
				}
			}
			raw.Write(img.Pix)
		}
		cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", "128x64", "-r", "10", "-i", "-",
			"-c:v", "libx264", "-bf", "3", "-g", "30", "-pix_fmt", "yuv420p", filepath.Join(dir, fmt.Sprintf("r%d.mp4", k)))
		cmd.Stdin = &raw
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ffmpeg: %v %s", err, out)
		}
		list = append(list, fmt.Sprintf(`{"name": "r%d", "policy": "secret-%d"}`, k, k))
	}
	m := `{"format": "tiebreak.rollouts", "version": 1, "title": "Films", "step_seconds": 0.1, "clip_steps": 60, "rollouts": [` + strings.Join(list, ",") + "]}"
	must.Do(t, os.WriteFile(filepath.Join(dir, "rollouts.json"), []byte(m), 0o600))
	return dir
}

// seen reads off both views, at one moment, which picture each shows and of which rollout.
const seen = `[...document.querySelectorAll("duo-player canvas")].slice(0, 2).map((c) => {
	const pixel = (x, y) => c.getContext("2d").getImageData(Math.floor(x * c.width), Math.floor(y * c.height), 1, 1).data[0];
	let frame = 0;
	for (let b = 0; b < 8; b++) if (pixel((b + 0.5) / 8, 0.25) > 127) frame |= 1 << b;
	return { frame, rollout: Math.round(pixel(0.5, 0.75) / 50) };
})`

type seenNow struct{ Frame, Rollout int }

// TestBrowserRollouts: MP4 files that were imported are scrubbed frame by frame, to the very
// picture, and both sides are on one clock while they play.
func TestBrowserRollouts(t *testing.T) {
	t.Parallel()
	from := filmed(t)
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	if status, _, stderr := cli(t, "import", "--rollouts", from, "--name", "films", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	_, link := newLink(t, data, addr, "--env", "rollouts-films", "--title", "Films")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(link, "Eve")
	for range 2 {
		b.ready()
		b.tabTo(".track")
		b.press(kb.Home)
		now := func() [2]seenNow { return [2]seenNow(evaluate[[]seenNow](b, seen)) }
		at := func(want int) {
			t.Helper()
			if v := now(); v[0].Frame != want || v[1].Frame != want || v[0].Rollout == v[1].Rollout {
				t.Errorf("at frame %d the views show %+v", want, v)
			}
		}
		at(0)
		for want := 1; want <= 5; want++ {
			b.press(kb.ArrowRight)
			at(want)
		}
		b.press(kb.ArrowLeft)
		at(4)
		b.press(kb.PageUp)
		at(14)
		b.press(kb.End)
		at(60)
		b.press(kb.Home)
		b.do() // the keys are done
		b.press(" ")
		b.wait(playing)
		frames := evaluate[[][]seenNow](b, fmt.Sprintf(`(async () => {
			const out = [];
			for (let i = 0; i < 40; i++) { await new Promise(requestAnimationFrame); await new Promise((r) => setTimeout(r, 25)); out.push(%s); }
			return out;
		})()`, seen))
		different := map[int]bool{}
		for _, v := range frames {
			if v[0].Frame != v[1].Frame {
				t.Errorf("while they play, the views show %+v", v)
			}
			different[v[0].Frame] = true
		}
		if len(different) < 4 {
			t.Errorf("only %d pictures were shown in about a second", len(different))
		}
		if html := evaluate[string](b, "document.documentElement.outerHTML"); strings.Contains(html, "secret") || strings.Contains(html, "<video") {
			t.Error("the page names a policy, or has a video")
		}
		b.do()
		evaluate[bool](b, "(document.activeElement.blur(), true)")
		b.answer(kb.ArrowRight)
	}
	r := newPerson(t, browser) // a researcher reads which policy it is
	r.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	r.enter("[data-signin]")
	r.waitFor("[data-new]")
	r.enter("[data-session] a")
	r.waitFor("main[data-connection=open]")
	r.page("learnt")
	r.wait(`/^(Left|Above): secret-\d \((g|pool)/.test(document.querySelector("[data-names]").innerText)`)
	r.wait(`/^These begin at different places: the one clip of secret-\d \(.*\) has another start\./.test(document.querySelector("[data-start-note]").innerText)`) // each film has a grey of its own
	r.wait(`/secret-\d \(/.test(document.querySelector("[data-candidates]").innerText)`)
	r.page("asked")
	r.waitFor("[data-question='2']")
	r.wait(`/secret-\d \(/.test(document.querySelector("[data-question]").textContent)`)
	r.shot("rollouts-dashboard")
}
