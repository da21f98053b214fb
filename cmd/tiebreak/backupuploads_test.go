package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
)

// TestRestoreWithoutVideos: a backup leaves uploaded data sets out, and says so; where it is restored, restore and doctor name the recordings whose videos are not
// there and say what to do. What they say helps. With --with-uploads nothing is missing.
func TestRestoreWithoutVideos(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	mustCLI(t, "session", "create", "--data", data, "--env", "gridworld")
	pens := filepath.Join(data, uploadsFolder, "pens")
	must.Do(t, lerobottest.Dataset{Lengths: []int{6, 7}}.Write(pens))
	must.Do(t, os.WriteFile(filepath.Join(pens, uploadNote), []byte(`{"owner":"bo"}`), 0o600))
	mustCLI(t, "import", "--lerobot", pens, "--name", "pen", "--data", data)
	restored := map[string]string{}
	for _, flag := range []string{"", "--with-uploads"} {
		file, to := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "to")
		args := []string{"backup", "--data", data, "--out", file}
		if flag != "" {
			args = append(args, flag)
		}
		if said := mustCLI(t, args...); strings.Contains(said, "Not in it: the data sets that were uploaded ("+filepath.Join(data, "uploaded")+")") != (flag == "") {
			t.Errorf("backup %s says %q", flag, said)
		}
		said := mustCLI(t, "restore", file, "--data", to)
		for _, text := range []string{"cp -a OLD/uploaded " + to + "\n", "rollouts-pen: the videos are not where they were at the import: put them back in " + filepath.Join(to, "uploaded", "pens")} {
			if strings.Contains(said, text) != (flag == "") {
				t.Errorf("restore %s says %q, and %q", flag, said, text)
			}
		}
		restored[flag] = to
	}
	sound := func(to string, want bool) {
		t.Helper()
		status, out, said := cli(t, "doctor", "--data", to)
		if (status == 0) != want || strings.Contains(out, "Videos    DAMAGED") == want || !want && !strings.Contains(said, "no others can be cut") {
			t.Errorf("doctor of %s: status %d, %s%s", to, status, out, said)
		}
	}
	sound(restored[""], false)
	sound(restored["--with-uploads"], true)
	must.Do(t, os.Rename(filepath.Join(data, uploadsFolder), filepath.Join(restored[""], uploadsFolder)))
	sound(restored[""], true)
	set := must.Get(recordings.Open(filepath.Join(restored["--with-uploads"], recordings.FolderName, "pen")))(t)
	if _, videos := set.Filmed(); videos != filepath.Join(restored["--with-uploads"], uploadsFolder, "pens") {
		t.Errorf("the videos are in %s", videos)
	}
	if d := must.Get(newUploadDesk(restored["--with-uploads"], func() uint64 { return 0 }, nil))(t); !d.sees("bo", "uploaded/pens") {
		t.Error("whose the upload is was lost")
	}
}
