package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/film"
	"tiebreak/store"
)

// A bundle is a folder or a zip archive with the same files; nothing is overwritten, and
// what is asked for in vain leaves nothing behind.
func TestExportBundle(t *testing.T) {
	t.Parallel()
	s, dir := newLabelledFolder(t), t.TempDir()
	data, id := s.dir, string(s.session)
	run := func(args ...string) (int, string) {
		status, _, stderr := cli(t, append([]string{"export", "--data", data, "--session", id, "--format", "bundle"}, args...)...)
		return status, stderr
	}
	folder, archive := filepath.Join(dir, "bundle"), filepath.Join(dir, "bundle.zip")
	for _, out := range []string{folder, archive} {
		if status, stderr := run("--out", out, "--clips", "gif"); status != 0 {
			t.Fatalf("%s: %s", out, stderr)
		}
		if status, stderr := run("--out", out); status == 0 || !strings.Contains(stderr, "are not overwritten") {
			t.Errorf("%s again: %d %s", out, status, stderr)
		}
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	have := map[string]bool{}
	for _, f := range z.File {
		name := strings.TrimPrefix(f.Name, bundleName(s.session)+"/")
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		must.Get(got.ReadFrom(r))(t)
		want, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs in the folder, %v", name, err)
		}
		have[name] = true
	}
	for _, name := range []string{"README.md", "meta.json", "session.json", "labels.parquet", "trajectories.parquet", "posterior.parquet", "learnt/index.json", "clips/metadata.jsonl", "tiebreak/answer.jsonl"} {
		if !have[name] {
			t.Errorf("the archive lacks %s", name)
		}
	}
	show, settings, _ := cli(t, "session", "show", "--data", data, "--session", id)
	if got, err := os.ReadFile(filepath.Join(folder, "session.json")); show != 0 || err != nil || string(got) != settings {
		t.Errorf("session.json is not what session show says: %s", got)
	}
	for _, test := range []struct{ says, args string }{
		{"name a new folder", ""},
		{"unknown --answers", "--out x --answers some"},
		{"unknown --clips", "--out x --clips webm"},
		{"nothing after row 500", "--out x --after 500"},
		{"neither the number nor the id", "--out x --after nonsense"},
	} {
		args := strings.Fields(strings.ReplaceAll(test.args, "--out x", "--out "+filepath.Join(dir, "none")))
		if status, stderr := run(args...); status == 0 || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: %d %s", test.args, status, stderr)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// needFFmpeg skips a test where ffmpeg is missing, and fails it in CI.
func needFFmpeg(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil && os.Getenv("CI") != "" {
		t.Fatal("CI needs the package ffmpeg")
	} else if err != nil {
		t.Skip("no ffmpeg found: install the package ffmpeg")
	}
}

// The videos of a bundle are listed, play as long as the clip does, and have the same bytes in
// each bundle.
func TestExportBundleVideos(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	s, dir := newLabelledFolder(t), t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for _, out := range []string{first, second} {
		if status, _, stderr := cli(t, "export", "--data", s.dir, "--session", string(s.session), "--format", "bundle", "--clips", "mp4", "--out", out); status != 0 {
			t.Fatalf("%s: %s", out, stderr)
		}
	}
	files, err := fs.Glob(os.DirFS(first), "clips/*.mp4")
	listed, listErr := os.ReadFile(filepath.Join(first, "clips", "metadata.jsonl"))
	if err != nil || listErr != nil || len(files) == 0 || strings.Count(string(listed), "\n") != len(files) {
		t.Fatalf("%d videos, %v, %v, listed:\n%s", len(files), err, listErr, listed)
	}
	for _, name := range files {
		if base := strings.TrimPrefix(name, "clips/"); !strings.Contains(string(listed), fmt.Sprintf("{\"file_name\":%q,\"segment_id\":%q}", base, strings.TrimSuffix(base, ".mp4"))) {
			t.Errorf("%s is not in the list", name)
		}
		a, errA := os.ReadFile(filepath.Join(first, name))
		b, errB := os.ReadFile(filepath.Join(second, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between two bundles of one state: %v, %v", name, errA, errB)
		}
		codec, seconds := probed(t, filepath.Join(first, name))
		if want := lasts(t, s, strings.TrimSuffix(filepath.Base(name), ".mp4")); codec != "h264" || math.Abs(seconds-want) > 0.02 {
			t.Errorf("%s: %s of %v s, the clip lasts %v s", name, codec, seconds, want)
		}
	}
}

// probed returns what ffprobe says of a video, after it has decoded all of it.
func probed(t *testing.T, path string) (codec string, seconds float64) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v",
		"-show_entries", "stream=codec_name,nb_read_frames,r_frame_rate", "-of", "default=nw=1:nk=1", path).CombinedOutput()
	var frames, rate, per float64
	if err == nil {
		_, err = fmt.Sscanf(string(out), "%s\n%f/%f\n%f", &codec, &rate, &per, &frames)
	}
	if err != nil {
		t.Fatalf("%s: %v, %s", path, err, out)
	}
	return codec, frames * per / rate
}

// lasts returns how long the film of a clip is, seconds.
func lasts(t *testing.T, s labelledFolder, id string) float64 {
	t.Helper()
	db := must.Get(store.Open(t.Context(), s.dir))(t)
	defer db.Close()
	media := must.Get(db.ClipMedia(t.Context(), s.session, idrl.ClipID(id)))(t)
	c := must.Get(clip.Decode(media))(t)
	f := must.Get(film.New(film.Config{Clips: []*clip.Clip{c}, Width: clipWidth, Height: clipHeight, Speed: 1}))(t)
	return f.Seconds()
}
