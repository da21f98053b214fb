package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/clip/tapetest"
	"tiebreak/static"
)

const filmFrames, filmRate = 300, 30.0

// filmedPair returns two clips of video of 10 s.
func filmedPair(t *testing.T, codecs ...string) (pair [2][]byte) {
	t.Helper()
	needFFmpeg(t)
	for i, grey := range []uint8{40, 160} {
		tape := must.Get(tapetest.Film(t.Context(), t.TempDir(), filmFrames+1, filmRate, grey, codecs...))(t)
		pair[i] = must.Get(clip.Encode(&tapetest.Env{Film: tape, PerStep: 3, Rate: filmRate}, tapetest.Clip(filmFrames/3)))(t)
	}
	return pair
}

// readFilms is a script for a page with the player: what its canvases show, and what steps and plays it.
const readFilms = `
import { DuoPlayer } from "%[1]s/js/duo-player.js";
import { fetchPlayed } from "%[1]s/js/clip.js";
import { fitting } from "%[1]s/js/cameras.js";
customElements.define("duo-player", DuoPlayer);
const player = window.player = document.querySelector("duo-player");
let tape;
window.clips = async (play) => {
	const clips = await Promise.all(["/clips/0", "/clips/1"].map(fetchPlayed));
	tape = clips[0].footage.tape;
	await player.load(clips, { play });
	return tape.video?.type ?? "";
};
// The frame that each camera of each side shows, -1 where its grey is not that of the side.
window.shown = () => [...player.querySelectorAll("canvas")].map((c, side) => {
	const ctx = c.getContext("2d");
	const plan = fitting(tape.cameras, sessionStorage.getItem("tiebreak.cameras") ?? "", c.width / c.height);
	const scale = Math.min(c.width / plan.w, c.height / plan.h);
	const [left, top] = [(c.width - plan.w * scale) / 2, (c.height - plan.h * scale) / 2];
	const frames = plan.cells.map(({ camera, x, y, w, h }) => {
		const pixel = (i, j) => ctx.getImageData(Math.floor(left + (x + i * w) * scale), Math.floor(top + (y + j * h) * scale), 1, 1).data[0];
		const grey = [40, 160][side] + (camera.name === "wrist" ? 20 : 0);
		if (Math.abs(pixel(0.5, 0.75) - grey) > 12) return -1;
		let n = 0;
		for (let b = 0; b < %[2]d; b++) if (pixel((b + 0.5) / %[2]d, 0.25) > 127) n |= 1 << b;
		return n;
	});
	return new Set(frames).size === 1 ? frames[0] : -2;
});
const frame = () => new Promise(requestAnimationFrame);
// Waits until both sides show a frame, and looks again whether they stay there.
window.settled = async (want) => {
	const there = () => window.shown().every((n) => n === want);
	for (const end = performance.now() + %[3]d; !there() && performance.now() < end;) await frame();
	for (let i = 0; i < 4; i++) await frame();
	return there() ? "" : "want " + want + ", shown " + window.shown();
};
// Waits until both sides show the frame at which the player was paused; the bar says when to a hundredth of a second.
window.paused = async () => {
	const at = Number(player.querySelector(".track").getAttribute("aria-valuenow")) * %[4]v;
	const there = () => window.shown().every((n, _, all) => n === all[0] && n > at - 1.4 && n < at + 0.4);
	for (const end = performance.now() + %[3]d; !there() && performance.now() < end;) await frame();
	for (let i = 0; i < 4; i++) await frame();
	return there() ? "" : "at frame " + at + ", shown " + window.shown();
};
window.steps = async (moves) => {
	const wrong = [];
	for (const [to, by] of moves) {
		if (by !== 0) player.step(by);
		else player.seek(to / %[4]v);
		const said = await window.settled(to);
		if (said) return [...wrong, said + " by " + by];
	}
	return wrong;
};
// Plays for some seconds, and returns what both sides show at moments between two of the browser's frames.
window.watch = async (seconds) => {
	const out = [];
	for (const end = performance.now() + 1000 * seconds; performance.now() < end;) {
		await frame();
		out.push(window.shown());
	}
	return out;
};
// From now on one of the sides shows each picture of its video some milliseconds late.
window.delay = (ms) => {
	const draw = CanvasRenderingContext2D.prototype.drawImage;
	let late; // the canvas of that side's video
	const past = [];
	CanvasRenderingContext2D.prototype.drawImage = function (from, ...to) {
		const moving = from instanceof HTMLVideoElement || window.VideoFrame !== undefined && from instanceof VideoFrame;
		if (!moving || this.canvas !== (late ??= this.canvas)) return draw.call(this, from, ...to);
		const copy = Object.assign(document.createElement("canvas"), { width: late.width, height: late.height });
		draw.call(copy.getContext("2d"), from, ...to);
		past.push({ copy, at: performance.now() });
		while (past.length > 1 && past[1].at <= performance.now() - ms) past.shift();
		draw.call(this, past[0].copy, 0, 0);
	};
};
document.body.dataset.ready = "";
`

// serveFilms serves a page with a player, and the clips as sessions do, under the policy of all pages.
func serveFilms(t *testing.T, pair [2][]byte) string {
	t.Helper()
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src blob:; connect-src 'self'"
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="%s/css/app.css"><link rel="stylesheet" href="/page.css">
			<script type="module" src="/page.js"></script><body class="label"><duo-player sides="2" keys></duo-player>`, static.Base())
	})
	mux.HandleFunc("/page.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, `duo-player { height: 96vh }`)
	})
	mux.HandleFunc("/page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, readFilms, static.Base(), tapetest.Bits, patience.Milliseconds(), filmRate)
	})
	for i, media := range pair {
		mux.HandleFunc(fmt.Sprintf("/clips/%d", i), func(w http.ResponseWriter, r *http.Request) {
			out, _ := clip.ForBrowser(media, strings.Split(r.FormValue("plays"), ","))
			_, _ = w.Write(out)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// asking is a browser that evaluates JavaScript.
type asking interface {
	open(url string)
	ask(expression string) (json.RawMessage, error)
}

func askFor[T any](t *testing.T, b asking, expression string) (v T) {
	t.Helper()
	got, err := b.ask(expression)
	if err == nil {
		err = json.Unmarshal(got, &v)
	}
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// stepsThroughFilms goes through clips of video as somebody does who looks for a frame, and lets them play.
func stepsThroughFilms(t *testing.T, b asking, codec string) {
	t.Helper()
	b.open(serveFilms(t, filmedPair(t, codec)))
	const ready = `(async () => { while (document.body.dataset.ready === undefined) await new Promise(requestAnimationFrame); return clips(false); })()`
	if played := askFor[string](t, b, ready); played != strings.ToLower(tapetest.Encoders[codec][0]) { // as types of blobs are
		t.Fatalf("the video is %q", played)
	}
	moves := [][2]int{{0, 0}}
	go30 := func(from, by int) {
		for i := 1; i <= 30; i++ {
			moves = append(moves, [2]int{from + i*by, by})
		}
	}
	go30(0, 1)
	go30(30, -1)
	r := rand.New(rand.NewPCG(7, 3))
	for range 12 {
		moves = append(moves, [2]int{r.IntN(filmFrames + 1), 0})
	}
	moves = append(moves, [2]int{filmFrames, 0}, [2]int{filmFrames - 1, -1}, [2]int{filmFrames - 11, -10}, [2]int{0, 0})
	list := must.Get(json.Marshal(moves))(t)
	for _, wrong := range askFor[[]string](t, b, fmt.Sprintf("steps(%s)", list)) {
		t.Error(wrong)
	}
	for _, speed := range []string{"1x", "0.5x"} {
		if speed == "0.5x" {
			askFor[any](t, b, "player.changeSpeed(-1)")
		}
		askFor[any](t, b, "player.seek(9.5), player.toggle()") // the end and the next loop are among what is seen
		views := askFor[[][2]int](t, b, "watch(3)")
		different := map[int]bool{}
		for _, v := range views {
			different[v[0]] = true
		}
		apart := looksApart(views)
		t.Logf("%s: %d looks, %d frames, %d looks with more than a frame between the sides", speed, len(views), len(different), apart)
		// On a busy machine Firefox now and then draws a newer picture than the one that it names: 1 of 46 looks in one run, and 8 of 64 in another, at a
		// load of 20 on two cores. Players that are not on one clock drift apart and stay so.
		if 4*apart > len(views) || len(different) < 5 {
			t.Errorf("%s: %d of %d looks have more than a frame between the sides, %d frames were shown: %v", speed, apart, len(views), len(different), views)
		}
		askFor[any](t, b, "player.toggle()")
		if said := askFor[string](t, b, "paused()"); said != "" {
			t.Errorf("paused after %s: %s", speed, said)
		}
	}
	askFor[any](t, b, "delay(200), player.seek(0), player.toggle()")
	if views := askFor[[][2]int](t, b, "watch(3)"); 4*looksApart(views) <= len(views) {
		t.Errorf("one side shows its pictures 200 ms late, and only %d of %d looks have more than a frame between the sides: %v", looksApart(views), len(views), views)
	}
}

// looksApart returns how many looks see more than a frame between the sides, or a picture that is none of them.
func looksApart(views [][2]int) (n int) {
	for _, v := range views {
		if v[0] < 0 || v[1] < 0 || max(v[0]-v[1], v[1]-v[0]) > 1 {
			n++
		}
	}
	return n
}

// TestBrowserVideo: clips of video show the very frame that is gone to, on both sides, and play on one clock: in at least three of four looks they are at most a frame apart.
func TestBrowserVideo(t *testing.T) {
	t.Parallel()
	for _, codec := range []string{"avc1", "vp09"} {
		t.Run("chromium "+codec, func(t *testing.T) { stepsThroughFilms(t, chromium{newPerson(t, startBrowser(t))}, codec) })
		t.Run("firefox "+codec, func(t *testing.T) { stepsThroughFilms(t, newFirefox(t, startFirefox(t)), codec) })
	}
}
