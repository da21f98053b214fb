package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/gif"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/draw/drawtest"
	"tiebreak/internal/study/settings"
	"tiebreak/store"
)

// answered makes a data folder with the session "s", in which three answers speak
// of three clips, and the session "empty". The clip c2 has no drawing.
func answered(t *testing.T) (data string) {
	t.Helper()
	data = t.TempDir()
	db, err := store.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, id := range []idrl.SessionID{"s", "empty"} {
		must(db.CreateSession(t.Context(), settings.Complete(idrl.SessionSpec{ID: id, Title: "T", Env: "driver", Budget: 30, CreatedAt: now})))
	}
	_, err = db.CreateAnnotator(t.Context(), "s", "Ada")
	must(err)
	g := idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}}
	var clips []idrl.Clip
	for i := range 3 {
		c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("c%d", i)), Steps: i + 2, Phi: []float64{float64(i)}, Media: drawtest.Walker(i + 2)}
		if i == 2 {
			c.Media = nil
		}
		clips = append(clips, c)
		g.Clips[c.ID] = c
	}
	g.Queries = []idrl.Query{idrl.NewComparison(clips[0], clips[1]), idrl.NewComparison(clips[1], clips[2]), idrl.NewRating(clips[0])}
	must(db.Adopt(t.Context(), "s", g, 0))
	for i, q := range g.Queries {
		n := int64(i + 1)
		as := record.Assignment{ID: idrl.AssignmentID(fmt.Sprintf("s%d", n)), N: n, Query: q, Annotator: "a1", Left: idrl.SideB, IssuedAt: now, LeaseUntil: now}
		must(db.Issue(t.Context(), "s", []record.Assignment{as}))
		must(db.Append(t.Context(), "s", record.Row{Answer: idrl.Answer{
			ID: idrl.AnswerID(fmt.Sprintf("../a%d", n)), Seq: n, Assignment: as.ID, Query: q.ID, Annotator: "a1",
			Choice: idrl.ChoseA, Left: as.Left, ShownAt: now, AnsweredAt: now, ReceivedAt: now,
		}, After: record.Snapshot{Seq: n, Belief: []byte{1}}}))
	}
	must(db.Close())
	return data
}

// files returns the names in a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	list := must.Get(os.ReadDir(dir))(t)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// gifSize returns the size of a GIF file.
func gifSize(t *testing.T, path string) image.Point {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	cfg := must.Get(gif.DecodeConfig(bytes.NewReader(b)))(t)
	return image.Pt(cfg.Width, cfg.Height)
}

func TestClips(t *testing.T) {
	t.Parallel()
	data, out := answered(t), filepath.Join(t.TempDir(), "out")
	args := []string{"clips", "--data", data, "--session", "s", "--size", "80x60", "--out", out}
	status, said, errs := cli(t, args...)
	if status != 0 || !strings.Contains(said, "2 files in "+out+": 2 written, 0 already there") || !strings.Contains(errs, "1 files could not be written") {
		t.Fatalf("status %d\n%s%s", status, said, errs)
	}
	if got := files(t, out); !slices.Equal(got, []string{"c0.gif", "c1.gif"}) {
		t.Errorf("files %q", got)
	}
	if got := gifSize(t, filepath.Join(out, "c1.gif")); got != image.Pt(80, 60) {
		t.Errorf("size %v", got)
	}

	// What is complete stays as it is; what was under way is done again.
	kept := []byte("complete")
	for name, b := range map[string][]byte{"c0.gif": kept, "c1.gif.partial": []byte("cut sh")} {
		must.Do(t, os.WriteFile(filepath.Join(out, name), b, 0o600))
	}
	must.Do(t, os.Remove(filepath.Join(out, "c1.gif")))
	status, said, errs = cli(t, args...)
	if status != 0 || !strings.Contains(said, "1 written, 1 already there") {
		t.Fatalf("status %d\n%s%s", status, said, errs)
	}
	if got := files(t, out); !slices.Equal(got, []string{"c0.gif", "c1.gif"}) {
		t.Errorf("files %q", got)
	}
	if b, err := os.ReadFile(filepath.Join(out, "c0.gif")); err != nil || !bytes.Equal(b, kept) {
		t.Errorf("a file that was there holds %q, %v", b, err)
	}
}

func TestClipsInPairs(t *testing.T) {
	t.Parallel()
	data, out := answered(t), filepath.Join(t.TempDir(), "out")
	status, said, errs := cli(t, "clips", "--data", data, "--session", "s", "--size", "80x60", "--pair", "--out", out)
	if status != 0 {
		t.Fatalf("status %d\n%s%s", status, said, errs)
	}
	// The names that annotators' programs chose do not lead out of the folder.
	if got := files(t, out); !slices.Equal(got, []string{"..%2Fa1.gif", "..%2Fa3.gif"}) {
		t.Errorf("files %q", got)
	}
	for name, want := range map[string]image.Point{"..%2Fa1.gif": {168, 60}, "..%2Fa3.gif": {80, 60}} {
		if got := gifSize(t, filepath.Join(out, name)); got != want {
			t.Errorf("%s: size %v, want %v", name, got, want)
		}
	}
	db, err := store.OpenReadOnly(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	reels, err := reelsOf(t.Context(), db, "s", true)
	if err != nil || len(reels) != 3 {
		t.Fatalf("%v, %v", reels, err)
	}
	err = db.Rows(t.Context(), "s", func(r record.Labelled) error {
		if q := r.Query; len(q.Clips) == 2 && reels[0].clips[0] != q.Clips[1] { // b was on the left
			t.Errorf("%v is shown for the clips %v", reels[0].clips, r.Query.Clips)
		}
		reels = reels[1:]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestClipsRefuses(t *testing.T) {
	t.Parallel()
	data := answered(t)
	for _, test := range []struct {
		name   string
		args   []string
		status int
		want   []string // in what is said
	}{
		{"no session", nil, 0, []string{"s ", "empty"}},
		{"empty session", []string{"--session", "empty"}, 0, []string{"no answers yet"}},
		{"unknown session", []string{"--session", "x"}, 1, []string{`"x"`, "tiebreak clips --data", "lists"}},
		{"unknown format", []string{"--session", "s", "--format", "avi"}, 2, []string{`"avi"`, "gif", "mp4"}},
		{"no size", []string{"--session", "s", "--size", "large"}, 2, []string{`"large"`, "480x360"}},
		{"too much size", []string{"--session", "s", "--size", "480x360x2"}, 2, []string{"480x360x2"}},
		{"huge", []string{"--session", "s", "--size", "9999x60"}, 2, []string{"9999x60", "2048"}},
		{"still", []string{"--session", "s", "--speed", "0"}, 2, []string{"speed of 0"}},
		{"no folder", []string{"--session", "s", "--out", filepath.Join(data, store.FileName, "x")}, 1, []string{"--out"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out, errs := cli(t, append([]string{"clips", "--data", data, "--out", filepath.Join(t.TempDir(), "o")}, test.args...)...)
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			for _, want := range test.want {
				if !strings.Contains(out+errs, want) {
					t.Errorf("%q is not in:\n%s%s", want, out, errs)
				}
			}
		})
	}
}

func TestClipsWithoutFFmpeg(t *testing.T) {
	data := answered(t)
	t.Setenv("PATH", t.TempDir())
	status, out, errs := cli(t, "clips", "--data", data, "--session", "s", "--format", "mp4", "--out", t.TempDir())
	if status != 1 || !strings.Contains(errs, "install the package ffmpeg") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
}

// An interrupter ends a context once a line of progress says so.
type interrupter struct {
	bytes.Buffer
	at   string
	stop context.CancelFunc
}

func (s *interrupter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.at) {
		s.stop()
	}
	return s.Buffer.Write(p)
}

func TestClipsStop(t *testing.T) {
	t.Parallel()
	data, out := answered(t), t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	errs := &interrupter{at: "2 of 3", stop: stop}
	status := run(ctx, stdio{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: errs}, []string{"clips", "--data", data, "--session", "s", "--size", "80x60", "--out", out})
	if status != 130 || !strings.Contains(errs.String(), "Stopped. 1 of 3 files") {
		t.Errorf("status %d: %s", status, errs)
	}
	if got := files(t, out); len(got) != 1 {
		t.Errorf("files %q, want the first one alone", got)
	}
}
