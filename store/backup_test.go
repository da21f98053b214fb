package store_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/store"
	"tiebreak/store/archive"
)

// backedUp returns a data folder with rollouts and keys of workers, of which db is open, and a backup of it.
func backedUp(t *testing.T) (db *store.DB, path string) {
	t.Helper()
	dir := t.TempDir()
	db = seeded(t, dir)
	for name, content := range map[string]string{"rollouts/mine/index.json": "{}", "workers.json": "[]", "nats/jetstream/x": "stream", "acme/acme_account+key": "key", ".import-7/x": "scratch", "rollouts/.new-4/x": "half"} {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	}
	path = filepath.Join(t.TempDir(), "deep", "backup.tar")
	must.Get(db.Backup(t.Context(), path, false))(t)
	return db, path
}

// A backup has the database as it is and the files that a server needs, and is restored into new and empty folders only.
func TestBackup(t *testing.T) {
	db, path := backedUp(t)
	_, err := db.Backup(t.Context(), path, false)
	wantKind(t, err, idrl.Conflict)
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("beside the backup: %v", left)
	}
	m, err := store.VerifyBackup(t.Context(), path)
	must.Do(t, err)
	var names []string
	for _, f := range m.Files {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{store.FileName, "rollouts/mine/index.json", "workers.json"}) || m.Database != store.Format() || m.Program == "" {
		t.Errorf("it holds %q: %+v", names, m)
	}
	for name, dir := range map[string]string{"new": filepath.Join(t.TempDir(), "a", "b"), "empty": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			_, _, err := store.Restore(t.Context(), path, dir, nil)
			must.Do(t, err)
			for _, again := range []string{"stopped", "running"} {
				_, _, err := store.Restore(t.Context(), path, dir, nil)
				wantKind(t, err, idrl.Conflict)
				if says := map[string]string{"stopped": "is not empty", "running": "server is running"}[again]; !strings.Contains(fmt.Sprint(err), says) {
					t.Errorf("%s: %v", again, err)
				}
				if again == "stopped" {
					must.Get(open(t, dir).Load(t.Context(), "s"))(t)
				}
			}
			if b, err := os.ReadFile(filepath.Join(dir, "rollouts", "mine", "index.json")); err != nil || string(b) != "{}" {
				t.Errorf("rollouts: %q, %v", b, err)
			}
		})
	}
}

// The copy of a database that an earlier version made can be restored, too.
func TestRestoreADatabase(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	must.Do(t, seeded(t, dir).Close())
	_, _, err := store.Restore(t.Context(), filepath.Join(dir, store.FileName), to, nil)
	must.Do(t, err)
	_, err = open(t, to).Load(t.Context(), "s")
	must.Do(t, err)
}

// One wrong byte of any file of a backup is named by the file, and such a backup restores nothing. A part of one is none.
func TestDamagedBackup(t *testing.T) {
	_, path := backedUp(t)
	whole := must.Get(os.ReadFile(path))(t)
	names := map[int]string{} // by a byte of the file's content
	for r, at := tar.NewReader(bytes.NewReader(whole)), 0; ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		content, err := io.ReadAll(r)
		must.Do(t, err)
		at += bytes.Index(whole[at:], content)
		for _, k := range []int{0, len(content) / 2, len(content) - 1} {
			names[at+k] = h.Name
		}
	}
	if len(names) < 5*2 {
		t.Fatalf("files: %v", names)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.tar")
	refused := func(b []byte, says string) {
		t.Helper()
		must.Do(t, os.WriteFile(damaged, b, 0o600))
		_, err := store.VerifyBackup(t.Context(), damaged)
		if k := idrl.KindOf(err); k != idrl.Damaged && k != idrl.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q named: %v", says, err)
		}
		dir := filepath.Join(t.TempDir(), "new")
		if _, _, err := store.Restore(t.Context(), damaged, dir, nil); err == nil {
			t.Error("it was restored")
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("the folder was made")
		}
	}
	for at, name := range names {
		b := slices.Clone(whole)
		b[at] ^= 1
		refused(b, name)
	}
	for size := 0; size < len(whole)-1024; size += 20_011 {
		refused(whole[:size], "backup")
	}
	for at := 0; at < len(whole); at += 512 { // the first byte of each header, and of others
		b := slices.Clone(whole)
		b[at] ^= 0x40
		must.Do(t, os.WriteFile(damaged, b, 0o600))
		if _, err := store.VerifyBackup(t.Context(), damaged); err == nil && at < len(whole)-4096 {
			t.Errorf("byte %d is wrong, and the backup is called sound", at)
		}
	}
}

// Backups of newer versions are refused, with a message.
func TestNewerBackupIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	must.Do(t, os.WriteFile(file, []byte("x"), 0o600))
	path := filepath.Join(t.TempDir(), "newer.tar")
	must.Do(t, archive.Write(t.Context(), path, &archive.Manifest{Program: "v99", Database: store.Format() + 1}, []archive.File{archive.From(store.FileName, file)}))
	_, err := store.VerifyBackup(t.Context(), path)
	dir := t.TempDir()
	_, _, again := store.Restore(t.Context(), path, dir, nil)
	for _, err := range []error{err, again} {
		wantKind(t, err, idrl.Invalid)
		if !strings.Contains(fmt.Sprint(err), "newer version of tiebreak (v99;") {
			t.Errorf("error = %v", err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Those who withdrew after a backup was made elsewhere are removed when it is restored, by the list of the data folder; a
// person who has the same pseudonym since then is not.
func TestRestoreForgets(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "copy.tar")
	db := haunted(t, dir, 40)
	_, err := db.Backup(t.Context(), elsewhere, false)
	must.Do(t, err)
	must.Do(t, withdrawAda(t.Context(), db))
	must.Do(t, db.Erase(t.Context()))
	must.Do(t, db.Close())
	for _, test := range []struct {
		name   string
		list   []string
		forgot int
	}{{"without the list", nil, 0}, {"with the folder's list", []string{dir}, 2}, {"with the list", []string{filepath.Join(dir, store.ForgottenName)}, 2}} {
		t.Run(test.name, func(t *testing.T) {
			to := t.TempDir()
			_, forgot, err := store.Restore(t.Context(), elsewhere, to, test.list)
			if must.Do(t, err); forgot != test.forgot {
				t.Errorf("%d people were removed, want %d", forgot, test.forgot)
			}
			if found := traces(t, to); len(found) > 0 != (test.forgot == 0) {
				t.Errorf("traces: %q", found)
			}
			db := open(t, to)
			if d, err := db.Check(t.Context(), store.Judge{}); err != nil || !d.None() {
				t.Errorf("damage %+v, %v", d, err)
			}
		})
	}
	_, _, err = store.Restore(t.Context(), elsewhere, t.TempDir(), []string{"nowhere"})
	wantKind(t, err, idrl.NotFound)
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(elsewhere), store.ForgottenName), []byte("{"), 0o600))
	_, _, err = store.Restore(t.Context(), elsewhere, t.TempDir(), nil)
	wantKind(t, err, idrl.Damaged)
}

// backupEnv names the data folder, the file, and the largest size of a file in bytes to the copy of this program that backs
// up and restores as on a full disk.
const backupEnv = "TIEBREAK_TEST_BACKUP"

func backUpOnFullDisk(ctx context.Context, dir, path string) error {
	db, err := store.OpenReadOnly(ctx, dir)
	if err != nil {
		return err
	}
	_, err = db.Backup(ctx, path, false)
	return errors.Join(err, db.Close())
}

// On a full disk a backup and a restore say so, and leave nothing.
func TestBackupOnAFullDisk(t *testing.T) {
	db, whole := backedUp(t)
	dir := t.TempDir()
	_, _, err := store.Restore(t.Context(), whole, filepath.Join(dir, "data"), nil)
	must.Do(t, errors.Join(err, db.Close()))
	info, err := os.Stat(filepath.Join(dir, "data", store.FileName))
	must.Do(t, err)
	for name, limit := range map[string]int64{"at the copy": info.Size() / 2, "at the archive": info.Size() + 1000} {
		t.Run(name, func(t *testing.T) {
			into := t.TempDir()
			for what, target := range map[string]string{"backup": filepath.Join(into, "full.tar"), "restore": filepath.Join(into, "new")} {
				if what == "restore" && limit > info.Size() {
					continue // it needs no more
				}
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%s\n%s\n%d", backupEnv, what, filepath.Join(dir, "data"), whole, target, limit))
				out, err := cmd.CombinedOutput()
				if err == nil || !strings.Contains(string(out), into) || !strings.Contains(string(out), "nothing is left") {
					t.Errorf("%s: %v: %s", what, err, out)
				}
			}
			if left, _ := os.ReadDir(into); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A backup that is interrupted leaves no file with its name; the folder in which it was written goes at the next start.
func TestBackupSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, seeded(t, dir).Close())
	must.Do(t, os.WriteFile(filepath.Join(dir, "large"), nil, 0o600))
	must.Do(t, os.Truncate(filepath.Join(dir, "large"), 1<<29)) // takes no room, and a while to read
	into := filepath.Join(dir, "backups")
	killed := 0
	for round := range 6 {
		cmd := exec.Command(os.Args[0])
		path := filepath.Join(into, fmt.Sprintf("mine-%d.tar", round))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=backup\n%s\n\n%s\n0", backupEnv, dir, path))
		must.Do(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for seen := 0; seen < 1+200*round; { // the later the round, the more has been written
			if left, _ := filepath.Glob(path + ".partial-*"); len(left) > 0 || len(ended) > 0 {
				seen++
			}
		}
		_ = cmd.Process.Kill()
		if <-ended != nil {
			killed++
		}
		if _, err := os.Stat(path); err == nil {
			_, err = store.VerifyBackup(t.Context(), path)
			must.Do(t, err)
		}
	}
	if killed == 0 {
		t.Error("none was killed before its end: the test says nothing")
	}
	must.Do(t, open(t, dir).Close())
	if left, _ := filepath.Glob(filepath.Join(into, "*.partial-*")); len(left) > 0 {
		t.Errorf("left after a start: %v", left)
	}
}

// TestBackupsOfUploads: data sets that were uploaded are in a backup if that is asked for, with the times of their files, by which videos are known, and with
// the file that says whose they are; those that are not complete are not. Else the backup names the folder. So do backups that forget people, and recover.
func TestBackupsOfUploads(t *testing.T) {
	dir, at := t.TempDir(), time.Date(2025, 3, 4, 5, 6, 7, 890_123_456, time.UTC)
	db := haunted(t, dir, 40)
	for _, name := range []string{"pens/.upload", "pens/videos/a.mp4", "pens/data/.hidden", ".new-half/archive"} {
		path := filepath.Join(dir, store.UploadsFolder, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(name), 0o600))
		must.Do(t, os.Chtimes(path, at, at))
	}
	backups := filepath.Join(dir, "backups")
	for _, name := range []string{"with", "without"} {
		must.Get(db.Backup(t.Context(), filepath.Join(backups, name+".tar"), name == "with"))(t)
	}
	is := func(dir string, want int) {
		t.Helper()
		found := 0
		for _, name := range []string{"pens/.upload", "pens/videos/a.mp4"} {
			path := filepath.Join(dir, store.UploadsFolder, filepath.FromSlash(name))
			info, err := os.Stat(path)
			if err != nil {
				continue
			}
			if b := must.Get(os.ReadFile(path))(t); string(b) != name || !info.ModTime().Equal(at) {
				t.Errorf("%s in %s has %q of %v", name, dir, b, info.ModTime())
			}
			found++
		}
		if found != want {
			t.Errorf("%s has %d of the files, want %d", dir, found, want)
		}
	}
	both := func() {
		t.Helper()
		for name, want := range map[string]int{"with": 2, "without": 0} {
			path, to := filepath.Join(backups, name+".tar"), t.TempDir()
			m, _, err := store.Restore(t.Context(), path, to, nil)
			must.Do(t, err)
			if leftOut := slices.Equal(m.LeftOut, []string{store.UploadsFolder}); leftOut != (want == 0) {
				t.Errorf("%s: left out are %q of %+v", name, m.LeftOut, m.Files)
			}
			is(to, want)
		}
	}
	both()
	must.Do(t, withdrawAda(t.Context(), db))
	must.Do(t, db.Erase(t.Context()))
	if m := must.Get(archive.Head(t.Context(), filepath.Join(backups, "with.tar")))(t); len(m.Without) == 0 {
		t.Fatalf("the backup was not written anew: %+v", m)
	}
	both()
	must.Do(t, db.Close())
	saved := filepath.Join(t.TempDir(), "saved")
	must.Get(store.Recover(t.Context(), dir, saved))(t)
	is(saved, 2)
}
