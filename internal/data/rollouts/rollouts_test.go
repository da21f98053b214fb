package rollouts_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/rollouts"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

var spec = idrl.SessionSpec{Env: idrl.RolloutsEnv, Features: []string{"Speed", "Distance"}}

// alone is the turn of an upload beside which there is no other.
func alone(context.Context) (func(), error) { return func() {}, nil }

// picture is a PNG of w×h pixels of a colour, in base64.
func picture(t testing.TB, w, h int, shade uint8) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.Set(0, 0, color.Gray{})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func scene(x float64) (s foreign.Scene) {
	s.Camera.W, s.Camera.H = 4, 2
	s.Moving = []foreign.Shape{{Kind: "circle", Paint: "agent", Size: 0.1, Points: []float64{x, 0}}}
	return s
}

// filmed is a trajectory of two steps with pictures.
func filmed(t testing.TB) rollouts.Trajectory {
	return rollouts.Trajectory{
		Observations: [][]float64{{0, 1}, {2, 3}, {4, 5}}, Actions: [][]float64{{1}, {-1}}, Features: [][]float64{{1, 2}, {0.5, -1}}, StepSeconds: 0.1,
		Pictures: []string{picture(t, 16, 8, 10), picture(t, 16, 8, 20), picture(t, 16, 8, 20)},
	}
}

// drawn is one with scenes.
func drawn() rollouts.Trajectory {
	return rollouts.Trajectory{
		Observations: [][]float64{{0}, {1}}, Actions: [][]float64{{1}}, Features: [][]float64{{1, 2}}, StepSeconds: 0.25, Terminated: true,
		Scenes: []foreign.Scene{scene(0), scene(1)},
	}
}

// What is read is what was sent: the clip shows every frame, and the raw steps hold every number.
func TestRead(t *testing.T) {
	again := filmed(t)
	again.Name = "another name"
	g, clips, err := rollouts.Read(t.Context(), spec, []rollouts.Trajectory{filmed(t), drawn(), again}, alone)
	if err != nil {
		t.Fatal(err)
	}
	if len(clips) != 3 || clips[0] != clips[2] || clips[0] == clips[1] || len(g.Candidates) != 2 || len(g.Clips) != 2 || len(g.Queries) != 0 {
		t.Fatalf("clips %v, candidates %v", clips, g.Candidates)
	}
	for i, want := range []struct {
		phi      []float64
		frames   int
		pictures int
		end      idrl.StepKind
		frameSec float64
	}{{[]float64{1.5, 1}, 3, 2, idrl.Truncated, 0.1}, {[]float64{1, 2}, 2, 0, idrl.Terminated, 0.25}} {
		c, k := g.Clips[clips[i]], g.Candidates[i]
		shown, err := clip.Decode(c.Media)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Phi, want.phi) || !slices.Equal(k.Mu, want.phi) || k.Clip != c.ID || len(shown.Frames) != want.frames ||
			len(shown.Pictures) != want.pictures || shown.Header.FrameSec != want.frameSec || !slices.Equal(shown.Header.Phi, want.phi) {
			t.Errorf("clip %d: %+v, candidate %+v, header %+v", i, c.Phi, k, shown.Header)
		}
		s, err := steps.Decode(c.Raw, g.Steps[c.Raw])
		if err != nil || s.Len() != want.frames-1 || s.End != want.end || !slices.Equal(k.Rollouts, []idrl.StepsID{c.Raw}) {
			t.Errorf("raw steps %d: %+v, %v", i, s, err)
		}
	}
	first, _ := steps.Decode(g.Clips[clips[0]].Raw, g.Steps[g.Clips[clips[0]].Raw])
	if !slices.Equal(first.Obs[2], []float32{4, 5}) || first.Actions[1][0] != -1 || !slices.Equal(first.Phi[1], []float64{0.5, -1}) {
		t.Errorf("raw steps = %+v", first)
	}
	other := filmed(t)
	other.Observations[0][0] = 9
	if _, more, err := rollouts.Read(t.Context(), spec, []rollouts.Trajectory{other}, alone); err != nil || more[0] == clips[0] {
		t.Errorf("another observation is the same clip (%v)", err)
	}
}

// A clip of pictures and one of scenes say what happens, as the upload does.
func TestHappening(t *testing.T) {
	for name, made := range map[string]rollouts.Trajectory{"pictures": filmed(t), "scenes": drawn()} {
		made.Happening = foreign.Happening{Happens: "falls over", Useless: true}
		g, clips, err := rollouts.Read(t.Context(), spec, []rollouts.Trajectory{made}, alone)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := clip.Decode(g.Clips[clips[0]].Media)
		if err != nil {
			t.Fatal(err)
		}
		if h := shown.Header; h.Happens != "falls over" || !h.Useless {
			t.Errorf("a clip of %s says %q, %v", name, h.Happens, h.Useless)
		}
	}
}

// Each thing that can be wrong is refused, with the number of the trajectory.
func TestReadRefuses(t *testing.T) {
	for name, change := range map[string]func(*rollouts.Trajectory){
		"no steps":            func(r *rollouts.Trajectory) { r.Actions = nil },
		"too many steps":      func(r *rollouts.Trajectory) { r.Actions = slices.Repeat(r.Actions, 501) },
		"no features":         func(r *rollouts.Trajectory) { r.Features = nil },
		"an observation less": func(r *rollouts.Trajectory) { r.Observations = r.Observations[1:] },
		"a feature less":      func(r *rollouts.Trajectory) { r.Features[1] = []float64{1} },
		"rows of two lengths": func(r *rollouts.Trajectory) { r.Observations[1] = []float64{1} },
		"an empty row":        func(r *rollouts.Trajectory) { r.Actions = [][]float64{{}, {}} },
		"a wide observation":  func(r *rollouts.Trajectory) { r.Observations = slices.Repeat([][]float64{make([]float64, 4097)}, 3) },
		"a wide action":       func(r *rollouts.Trajectory) { r.Actions = slices.Repeat([][]float64{make([]float64, 65)}, 2) },
		"not a number":        func(r *rollouts.Trajectory) { r.Features[0][0] = math.NaN() },
		"too large a number":  func(r *rollouts.Trajectory) { r.Actions[0][0] = 1e39 },
		"a still clip":        func(r *rollouts.Trajectory) { r.StepSeconds = 0 },
		"a slow clip":         func(r *rollouts.Trajectory) { r.StepSeconds = 11 },
		"a name of two lines": func(r *rollouts.Trajectory) { r.Name = "a\nb" },
		"a long name":         func(r *rollouts.Trajectory) { r.Name = strings.Repeat("x", 65) },
		"a long happening":    func(r *rollouts.Trajectory) { r.Happens = strings.Repeat("x", 61) },
		"two lines happen":    func(r *rollouts.Trajectory) { r.Happens = "a\nb" },
		"useless nothing":     func(r *rollouts.Trajectory) { r.Useless = true },
		"nothing to see":      func(r *rollouts.Trajectory) { r.Pictures = nil },
		"a picture less":      func(r *rollouts.Trajectory) { r.Pictures = r.Pictures[1:] },
		"pictures and scenes": func(r *rollouts.Trajectory) { r.Scenes = drawn().Scenes },
		"no base64":           func(r *rollouts.Trajectory) { r.Pictures[1] = "%" },
		"no picture":          func(r *rollouts.Trajectory) { r.Pictures[1] = base64.StdEncoding.EncodeToString([]byte("GIF89a")) },
		"two sizes":           func(r *rollouts.Trajectory) { r.Pictures[1] = picture(t, 8, 16, 3) },
		"too small a picture": func(r *rollouts.Trajectory) { r.Pictures[0] = picture(t, 4, 4, 3) },
		"too many pixels": func(r *rollouts.Trajectory) {
			r.Pictures = []string{picture(t, 4096, 4096, 1), picture(t, 4096, 4096, 2), picture(t, 8, 16, 3)}
		},
		"a scene of two forms": func(r *rollouts.Trajectory) {
			*r = drawn()
			r.Scenes[1].Moving = append(r.Scenes[1].Moving, r.Scenes[1].Moving...)
		},
		"an unknown paint": func(r *rollouts.Trajectory) { *r = drawn(); r.Scenes[0].Moving[0].Paint = "url(x)" },
		"no camera":        func(r *rollouts.Trajectory) { *r = drawn(); r.Scenes[0].Camera.W = 0 },
		"far away":         func(r *rollouts.Trajectory) { *r = drawn(); r.Scenes[1].Moving[0].Points[0] = 1e39 },
	} {
		bad := filmed(t)
		change(&bad)
		g, clips, err := rollouts.Read(t.Context(), spec, []rollouts.Trajectory{filmed(t), bad}, alone)
		if idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), "trajectory 1: ") || clips != nil || g.Clips != nil {
			t.Errorf("%s: %v, want an error of kind Invalid about trajectory 1", name, err)
		}
	}
	for _, n := range []int{0, rollouts.MaxClips + 1} {
		if _, _, err := rollouts.Read(t.Context(), spec, make([]rollouts.Trajectory, n), alone); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%d trajectories: %v", n, err)
		}
	}
}

// The environment of such a session is what its settings say.
func TestEnvironment(t *testing.T) {
	s := spec
	s.PriorScale = []float64{2, 3}
	e := rollouts.Environment(s).Spec()
	if e.FeatureDim() != 2 || !slices.Equal(e.PriorScale, s.PriorScale) || e.Discount != 1 {
		t.Errorf("environment %+v", e)
	}
}

// The names of clips, which are hashes of what is stored of a trajectory, stay: an upload that is sent
// again, also to a newer version of the program, adds nothing.
func TestNamesStay(t *testing.T) {
	inScenes, inPictures := drawn(), drawn()
	inPictures.Terminated, inPictures.Scenes = true, nil
	inPictures.Pictures = []string{picture(t, 20, 10, 7), picture(t, 20, 10, 90)}
	_, clips, err := rollouts.Read(t.Context(), spec, []rollouts.Trajectory{inScenes, inPictures}, alone)
	if want := []idrl.ClipID{"fc399817bfa42d3e06d61c26f1b4d0c7", "352d268c5d3c1e88455592d580742ab1"}; err != nil || !slices.Equal(clips, want) {
		t.Errorf("%q, want %q; %v", clips, want, err)
	}
}

// still is a trajectory in which one large picture stands for n steps.
func still(t testing.TB, n int) rollouts.Trajectory {
	row, p := [][]float64{{1}}, picture(t, 2048, 2048, 10)
	return rollouts.Trajectory{
		Observations: slices.Repeat(row, n+1), Actions: slices.Repeat(row, n), Features: slices.Repeat([][]float64{{1, 2}}, n), StepSeconds: 0.1,
		Pictures: slices.Repeat([]string{p}, n+1),
	}
}

// A picture that is repeated is decoded, copied and hashed once, not for each frame.
func TestReadRepeatedPictures(t *testing.T) {
	const frames, copied = 101, 4 * 2048 * 2048 // bytes of a picture as it is copied
	list := []rollouts.Trajectory{still(t, frames-1)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, clips, err := rollouts.Read(t.Context(), spec, list, alone)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 5*copied {
		t.Errorf("%d frames of one picture took %d MB; a copy of it is of %d", frames, took>>20, copied>>20)
	}
	if c, err := clip.Decode(g.Clips[clips[0]].Media); err != nil || len(c.Pictures) != 1 || len(c.Frames) != frames {
		t.Errorf("the clip has %d pictures and %d frames, %v", len(c.Pictures), len(c.Frames), err)
	}
}

// A waning context ends when it has been looked at left times.
type waning struct {
	context.Context
	left int
}

func (w *waning) Err() error {
	if w.left--; w.left < 0 {
		return context.Canceled
	}
	return nil
}

// A request that has gone is not read to its end: the context is looked at for each trajectory and
// each picture that is decoded.
func TestReadEndsWithItsContext(t *testing.T) {
	const looks = 2*(1+2) + 1 // filmed has two pictures
	for left := range looks + 1 {
		_, _, err := rollouts.Read(&waning{t.Context(), left}, spec, []rollouts.Trajectory{filmed(t), filmed(t), drawn()}, alone)
		if want := left < looks; (err != nil) != want || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks: %v", left, err)
		}
	}
}

// Sizes are looked at in headers: an upload of too many pixels is refused before a picture is decoded or waits for its
// turn, and at the cost of its bytes.
func TestReadOfVeryManyPixels(t *testing.T) {
	row, big := [][]float64{{1}}, []string{picture(t, 4096, 4096, 1), picture(t, 4096, 4096, 2)}
	one := rollouts.Trajectory{Observations: slices.Repeat(row, 2), Actions: row, Features: [][]float64{{1, 2}}, StepSeconds: 0.1, Pictures: big}
	turn := func(context.Context) (func(), error) { return nil, errors.New("it waits for its turn") }
	list := slices.Repeat([]rollouts.Trajectory{one}, 3)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := rollouts.Read(t.Context(), spec, list, turn)
	runtime.ReadMemStats(&after)
	if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "send fewer trajectories") {
		t.Errorf("%v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("it took %d KB", took>>10)
	}
	if _, _, err := rollouts.Read(t.Context(), spec, list[:2], turn); err == nil || !strings.Contains(err.Error(), "its turn") {
		t.Errorf("as many as may be: %v", err)
	}
}

// As many pixels as may be are read with the memory of one picture as it is decoded, and not of copies of all.
func TestReadOfLargePictures(t *testing.T) {
	const pixels = 4096 * 4096
	row, big := [][]float64{{1}}, []string{picture(t, 4096, 4096, 1), picture(t, 4096, 4096, 2)}
	one := rollouts.Trajectory{Observations: slices.Repeat(row, 2), Actions: row, Features: [][]float64{{1, 2}}, StepSeconds: 0.1, Pictures: big}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := rollouts.Read(t.Context(), spec, []rollouts.Trajectory{one}, alone)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*pixels { // each picture once, of a byte for a pixel, and what it becomes
		t.Errorf("it took %d MB", took>>20)
	}
}

// Each trajectory has a turn of its own.
func TestReadTakesTurns(t *testing.T) {
	turns, open := 0, 0
	turn := func(context.Context) (func(), error) {
		turns++
		open++
		return func() { open-- }, nil
	}
	if _, _, err := rollouts.Read(t.Context(), spec, []rollouts.Trajectory{filmed(t), drawn()}, turn); err != nil || turns != 2 || open != 0 {
		t.Errorf("%d turns, %d of them open, %v", turns, open, err)
	}
}
