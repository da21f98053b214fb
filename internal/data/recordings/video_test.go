package recordings_test

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// video writes frames as a video; rate is that of the file.
func video(t testing.TB, path string, frames []*image.RGBA, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("CI needs the package ffmpeg")
		}
		t.Skip("no ffmpeg found: install the package ffmpeg")
	}
	var raw bytes.Buffer
	for _, f := range frames {
		raw.Write(f.Pix)
	}
	cmd := exec.CommandContext(t.Context(), "ffmpeg", append(append([]string{"-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", fmt.Sprintf("%dx%d", wide, high), "-r", "20", "-i", "-"}, args...), path)...)
	cmd.Stdin = &raw
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v %s", err, out)
	}
}

// Videos give every picture once, in order: with frames that refer to later ones, and in files
// whose times jump. Without arrays a rollout is as long as its video.
func TestVideos(t *testing.T) {
	dir := t.TempDir()
	m := `{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 0.05, "frames_per_step": 2, "clip_steps": 10, "rollouts": [`
	for k, test := range []struct {
		ext  string
		args []string
	}{
		{".mp4", []string{"-c:v", "libx264", "-bf", "3", "-pix_fmt", "yuv420p"}},
		{".webm", []string{"-c:v", "libvpx-vp9", "-crf", "20", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "8"}},
		{".mkv", []string{"-c:v", "ffv1", "-vf", "setpts='if(gt(N,20),N+50,N)/(20*TB)'", "-fps_mode", "passthrough"}},
	} {
		var frames []*image.RGBA
		for i := range 2*steps + 1 {
			frames = append(frames, shown(k, i))
		}
		video(t, filepath.Join(dir, fmt.Sprintf("r%d%s", k, test.ext)), frames, test.args...)
		m += fmt.Sprintf(`{"name": "r%d", "policy": "p%d"},`, k, k)
	}
	must(t, os.WriteFile(filepath.Join(dir, "rollouts.json"), []byte(strings.TrimSuffix(m, ",")+"]}"), 0o600))
	s, err := imported(t, dir)
	must(t, err)
	if n, policies := s.Size(); n != 3 || policies != 3 || s.RewardOf() != "3 features, which policy acted" {
		t.Errorf("%d rollouts, %d policies, reward of %s", n, policies, s.RewardOf())
	}
	for k := range 3 {
		env := s.New()
		c := idrl.Clip{Start: 9, Steps: 10, Phi: make([]float64, 3)}
		for at := 9; at <= 19; at++ {
			c.Snapshots = append(c.Snapshots, []float64{float64(k), float64(at)})
		}
		media, err := clip.Encode(env, c)
		must(t, err)
		got, err := clip.Decode(media)
		must(t, err)
		if got.Header.Frames != 21 || got.Header.Sub != 2 {
			t.Fatalf("%+v", got.Header)
		}
		for i := range 21 {
			img, err := got.Picture(i)
			must(t, err)
			if rollout, frame := read(img); frame != 18+i || rollout != k {
				t.Errorf("video %d: frame %d shows frame %d of rollout %d, want %d", k, i, frame, rollout, 18+i)
			}
		}
	}
}

// A video that does not decode, a file that is none, and a missing ffmpeg are told by name.
func TestBadVideos(t *testing.T) {
	dir := t.TempDir()
	var frames []*image.RGBA
	for i := range steps + 1 {
		frames = append(frames, shown(0, i))
	}
	good := filepath.Join(dir, "good.mkv")
	video(t, good, frames, "-c:v", "ffv1")
	b, err := os.ReadFile(good)
	must(t, err)
	broken := slices.Clone(b)
	for i := len(b) / 2; i < len(b)/2+200; i++ {
		broken[i] ^= 0x55
	}
	for _, test := range []struct {
		name, says string
		content    []byte
		path       string
	}{
		{"text", "a0.mkv: rollouts-video", []byte("not a video"), ""},
		{"damaged", "a0.mkv: rollouts-video", broken, ""},
		{"cut short", "a0.mkv: rollouts-video", b[:len(b)/3], ""},
		{"playlist", "a0.mkv: rollouts-video", []byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:1/x.ts\n"), ""},
		{"no ffmpeg", "a0.mkv: rollouts-ffmpeg", b, dir},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.path != "" {
				t.Setenv("PATH", test.path)
			}
			s := sample{"rollouts.json": []byte(`{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 0.05, "rollouts": [{"name": "a0", "policy": "x"}, {"name": "b0", "policy": "y"}]}`), "a0.mkv": test.content, "b0.mkv": b}
			if _, err := imported(t, s.folder(t)); idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), test.says) {
				t.Errorf("%v, want %s", err, test.says)
			}
		})
	}
}
