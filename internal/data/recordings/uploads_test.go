package recordings_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	raw "tiebreak/internal/base/steps"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/data/rollouts"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// uploaded returns trajectories as a session has them after an upload: of two policies in two tasks, each seen in scenes or in pictures.
func uploaded(t *testing.T, change func(i int, one *rollouts.Trajectory)) recordings.Upload {
	t.Helper()
	spec := idrl.SessionSpec{Env: idrl.RolloutsEnv, Features: []string{"Speed"}}
	var list []rollouts.Trajectory
	for i := range 4 {
		one := rollouts.Trajectory{
			Observations: [][]float64{{0}, {0.5}, {float64(i)}}, Actions: [][]float64{{1}, {-1}}, Features: [][]float64{{1}, {0.25}}, StepSeconds: 0.1, Terminated: i == 1,
			Acted: idrl.Acted{Policy: []string{"old", "new"}[i%2], Task: []string{"push", "pull"}[i/2], Start: "7"},
		}
		for k := range 3 {
			var s foreign.Scene
			s.Camera.W, s.Camera.H = 4, 2
			s.Static = []foreign.Shape{{Kind: "line", Paint: "mark", Size: 0.05, Points: []float64{-2, 0, 2, 0}}}
			s.Moving = []foreign.Shape{{Kind: "circle", Paint: "agent", Size: 0.1, Points: []float64{float64(k*i) / 3, 0.1}, Trail: true}, {Kind: "text", Paint: "ink", Size: 0.1, Points: []float64{0, 0.5}, Text: "ä"}}
			one.Scenes = append(one.Scenes, s)
		}
		if change != nil {
			change(i, &one)
		}
		list = append(list, one)
	}
	g, _, err := rollouts.Read(t.Context(), spec, list, func(context.Context) (func(), error) { return func() {}, nil })
	if err != nil {
		t.Fatal(err)
	}
	u := recordings.Upload{Into: filepath.Join(t.TempDir(), "rollouts"), Features: spec.Features}
	for _, c := range g.Candidates {
		u.Acted, u.Clips = append(u.Acted, c.Acted), append(u.Clips, c.Clip)
	}
	u.Read = func(i int) (recordings.Uploaded, error) {
		c := g.Candidates[i]
		s, err := raw.Decode(c.Rollouts[0], g.Steps[c.Rollouts[0]])
		return recordings.Uploaded{Steps: s, Media: g.Clips[c.Clip].Media}, err
	}
	return u
}

// A clip of a trajectory that was kept shows what the uploaded clip shows, and its numbers are those of the upload.
func TestKeepUpload(t *testing.T) {
	for name, change := range map[string]func(int, *rollouts.Trajectory){
		"scenes": nil,
		"pictures": func(_ int, one *rollouts.Trajectory) {
			one.Scenes, one.Pictures = nil, []string{picture(t, 20), picture(t, 40), picture(t, 80)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := uploaded(t, change)
			set, err := recordings.KeepUpload(t.Context(), u)
			if err != nil {
				t.Fatal(err)
			}
			if named, started := set.Tasks(); named != 2 || started != 2 || !slices.Equal(set.Names(), []string{"old", "new"}) || !recordings.OfUpload(set.ID()+"@"+set.Version) {
				t.Errorf("%s has %d tasks, %d with starts in common, of %v", set.ID(), named, started, set.Names())
			}
			env := set.New()
			for i := range u.Clips {
				sent, err := u.Read(i)
				if err != nil {
					t.Fatal(err)
				}
				now, _, err := set.Trajectory(i)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := fmt.Sprint(now.Obs, now.Phi, now.End, now.Len()), fmt.Sprint(sent.Steps.Obs, sent.Steps.Phi, sent.Steps.End, 2); got != want {
					t.Errorf("trajectory %d is %s, want %s", i, got, want)
				}
				media, err := clip.Encode(env, idrl.Segment(now, 0, 2))
				if err != nil {
					t.Fatal(err)
				}
				sameSight(t, media, sent.Media)
			}
			u.Read = nil // equal content is there already
			if again, err := recordings.KeepUpload(t.Context(), u); err != nil || again.ID() != set.ID() {
				t.Errorf("again: %v, %v", again, err)
			}
			u.Acted[0].Start = "8"
			u.Read = func(int) (recordings.Uploaded, error) { return recordings.Uploaded{}, os.ErrClosed }
			if _, err := recordings.KeepUpload(t.Context(), u); err == nil {
				t.Error("another start is another content")
			}
			if left, err := os.ReadDir(u.Into); err != nil || len(left) != 1 {
				t.Errorf("the folder has %v, %v", left, err)
			}
		})
	}
}

// sameSight compares what two clips show.
func sameSight(t *testing.T, a, b []byte) {
	t.Helper()
	x, err := clip.Decode(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := clip.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	sight := func(c *clip.Clip) string {
		h := c.Header
		return fmt.Sprintf("%v %v %v %v %v %x %v %+v %+v", h.FrameSec, h.W, h.H, h.Show, h.Look, c.Pictures, c.Frames, h.Static, h.Moving)
	}
	if sight(x) != sight(y) {
		t.Errorf("a clip shows\n%s\nand the uploaded one\n%s", sight(x), sight(y))
	}
}

// What would show whose a clip is, is refused.
func TestKeepUploadRefuses(t *testing.T) {
	for _, test := range []struct {
		want   string
		change func(int, *rollouts.Trajectory)
	}{
		{"step_seconds are equal", func(i int, one *rollouts.Trajectory) { one.StepSeconds += float64(i / 3) }},
		{"in pictures and clip", func(i int, one *rollouts.Trajectory) {
			if i == 2 {
				one.Scenes, one.Pictures = nil, slices.Repeat([]string{picture(t, 3)}, 3)
			}
		}},
		{"of one policy", func(_ int, one *rollouts.Trajectory) { one.Policy = "old" }},
	} {
		u := uploaded(t, test.change)
		if _, err := recordings.KeepUpload(t.Context(), u); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
		if left, err := os.ReadDir(u.Into); err == nil && len(left) > 0 {
			t.Errorf("the folder has %v", left)
		}
	}
	if _, err := recordings.Import(t.Context(), recordings.Config{From: t.TempDir(), Into: t.TempDir(), Name: "upload-" + strings.Repeat("0", 32)}); err == nil || !strings.Contains(err.Error(), "choose another") {
		t.Errorf("an import under the name of an upload: %v", err)
	}
}

// picture returns a PNG of a shade of grey in base64.
func picture(t *testing.T, shade uint8) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 16, 8))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
