package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// TestInstructionsFile makes a session with a Markdown file that shows a picture beside it,
// and changes the file while nothing runs.
func TestInstructionsFile(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	var picture bytes.Buffer
	must.Do(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 3))))
	write := func(name string, b []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, b, 0o600))
		return path
	}
	write("figures/a.png", picture.Bytes())
	file := write("rules.md", []byte("Prefer **calm** drives:\r\n\r\n![a grey box](figures/a.png) ![the car](legend:car)\r\n"))
	status, out, stderr := cli(t, "session", "--data", data, "--env", "driver", "--instructions-file", file)
	if status != 0 {
		t.Fatalf("session: %s", stderr)
	}
	id := idrl.SessionID(strings.Fields(out)[1])
	read := func() (idrl.Instructions, []record.Picture) {
		t.Helper()
		db := must.Get(store.Open(t.Context(), data))(t)
		defer func() { _ = db.Close() }()
		spec := must.Get(db.Spec(t.Context(), id))(t)
		pictures := must.Get(db.Pictures(t.Context(), id))(t)
		return spec.CurrentInstructions(), pictures
	}
	told, pictures := read()
	if len(pictures) != 1 || pictures[0].Type != "image/png" {
		t.Fatalf("pictures: %+v, want one", pictures)
	}
	want := idrl.Instructions{
		Version: 1, Format: idrl.Markdown,
		Text: "Prefer **calm** drives:\n\n![a grey box](picture:" + string(pictures[0].ID) + ") ![the car](legend:car)",
	}
	if told != want {
		t.Errorf("instructions %+v, want %+v", told, want)
	}
	file = write("rules.md", []byte("Prefer fast drives. ![](figures/a.png)"))
	if status, out, stderr := cli(t, "session", "set", "--data", data, "--session", string(id), "--instructions-file", file); status != 0 || !strings.Contains(out, "version 2") {
		t.Errorf("session set: %s%s", out, stderr)
	}
	if told, pictures := read(); told.Version != 2 || !strings.HasPrefix(told.Text, "Prefer fast drives.") || len(pictures) != 1 {
		t.Errorf("instructions %+v with %d pictures", told, len(pictures))
	}
}

func TestInstructionsFileRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.png")
	must.Do(t, os.WriteFile(outside, []byte("secret"), 0o600))
	for name, test := range map[string]struct{ text, says string }{
		"too long":             {strings.Repeat("x", idrl.MaxInstructions+1), "at most 4000 characters"},
		"a megabyte":           {strings.Repeat("x", 1<<20), "more than"},
		"a picture from a net": {"![](https://example.org/x.png)", "cannot be opened"},
		"a picture not there":  {"![](x.png)", "cannot be opened"},
		"outside the folder":   {"![](../" + filepath.Base(filepath.Dir(outside)) + "/secret.png)", "cannot be opened"},
		"an absolute path":     {"![](" + outside + ")", "cannot be opened"},
		"no picture":           {"![](rules.md)", "PNG, JPEG, GIF or WebP"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "rules.md")
			must.Do(t, os.WriteFile(file, []byte(test.text), 0o600))
			status, _, stderr := cli(t, "session", "--data", t.TempDir(), "--instructions-file", file)
			if status == 0 || !strings.Contains(stderr, test.says) {
				t.Errorf("status %d: %s; want %q", status, stderr, test.says)
			}
		})
	}
	status, _, stderr := cli(t, "session", "--data", t.TempDir(), "--instructions", "a", "--instructions-file", "b")
	if status != 2 || !strings.Contains(stderr, "not both") {
		t.Errorf("both flags: status %d: %s", status, stderr)
	}
}
