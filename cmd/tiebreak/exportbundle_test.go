package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A bundle is a folder or a zip archive with the same files; nothing is overwritten, and
// what is asked for in vain leaves nothing behind.
func TestExportBundle(t *testing.T) {
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
		if status, stderr := run("--out", out); status == 0 || !strings.Contains(stderr, "nothing is overwritten") {
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
		if _, err := got.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs in the folder, %v", name, err)
		}
		have[name] = true
	}
	for _, name := range []string{"README.md", "meta.json", "session.json", "labels.parquet", "trajectories.parquet", "posterior.parquet", "learnt/index.json", "clips/metadata.jsonl", "tiebreak/answer.parquet"} {
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
