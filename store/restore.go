package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/store/archive"
)

// restoring begins the names of folders within a data folder in which it is being made from a backup.
const restoring = ".restore-"

// VerifyBackup reads the backup at path and compares every file with its checksum. It writes
// nothing. It returns an error of kind Damaged, which names the file, if one is not what was written,
// and of kind Invalid if path is no backup or was made by a newer version.
func VerifyBackup(ctx context.Context, path string) (archive.Manifest, error) {
	m, err := archive.Head(ctx, path)
	if err == nil {
		err = checkBackupFormat(path, m)
	}
	if err != nil {
		return m, err
	}
	return archive.Read(ctx, path, nil)
}

func checkBackupFormat(path string, m archive.Manifest) error {
	if m.Database > Format() {
		return idrl.Errorf(idrl.Invalid, "the backup %s was made by a newer version of tiebreak (%s; database format %d, this one knows up to %d): use a newer tiebreak",
			path, m.Program, m.Database, Format())
	}
	return nil
}

// Restore makes the data folder dir of the backup at path: an archive, or the copy of a database that
// an earlier version made. dir must be new or empty. Those are removed from it who
// have withdrawn their data since, by the lists beside the backup and at the paths lists (files, or
// folders that hold one); forgot is how many. The database gets its name last, when all is
// complete, checked and on the disk. The errors are those of VerifyBackup, and of kind Conflict if dir
// is not empty.
func Restore(ctx context.Context, path, dir string, lists []string) (m archive.Manifest, forgot int, err error) {
	people, err := allForgotten(append([]string{filepath.Dir(path)}, lists...))
	if err != nil {
		return m, 0, err
	}
	err = makeWhole(ctx, dir, func(scratch string) (err error) {
		if m, err = extract(ctx, path, scratch); err != nil {
			return err
		}
		if len(people) == 0 {
			return nil
		}
		if forgot, err = forgetIn(ctx, scratch, people); err != nil {
			return fmt.Errorf("remove people who have withdrawn since: %w", err)
		}
		return listForgotten(scratch, people)
	})
	return m, forgot, err
}

// allForgotten returns the people of lists. A list that is named must be there; that beside the backup, the first, need not.
func allForgotten(lists []string) (people []archive.Person, err error) {
	for i, path := range lists {
		if i > 0 && !exists(path) {
			return nil, idrl.Errorf(idrl.NotFound, "there is no list of people who have withdrawn at %s: check --forgotten", path)
		}
		more, err := readForgotten(path)
		if err != nil {
			return nil, err
		}
		people = unite(people, more)
	}
	return people, nil
}

// makeWhole makes the data folder dir, which must be new or empty. fill writes its files to a folder
// within it, from which they are moved when they are on the disk, the database last.
func makeWhole(ctx context.Context, dir string, fill func(scratch string) error) (err error) {
	if err := checkEmpty(ctx, dir); err != nil {
		return err
	}
	fresh := !exists(dir)
	if err := makeFolder(dir); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(dir, restoring+"*") // for the owner alone
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(noRoom(dir, err), os.RemoveAll(scratch))
		if err != nil && fresh {
			_ = os.Remove(dir) // fails where it is not empty
		}
	}()
	if err := fill(scratch); err != nil {
		return err
	}
	for _, name := range []string{lockName, lockName + "-journal", FileName + "-wal", FileName + "-shm"} { // of whoever opened it
		_ = os.Remove(filepath.Join(scratch, name))
	}
	made, err := os.ReadDir(scratch)
	if err != nil {
		return err
	}
	made = append(slices.DeleteFunc(made, func(e os.DirEntry) bool { return e.Name() == FileName }), nil)
	for _, e := range made {
		name := FileName
		if e != nil {
			name = e.Name()
		}
		if err := os.Rename(filepath.Join(scratch, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	syncFolder(dir)
	return nil
}

// checkEmpty returns an error of kind Conflict unless dir is new or empty. What an interrupted call
// of makeWhole left in it is removed.
func checkEmpty(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "the folder %s cannot be read (%v)", dir, err)
	}
	if exists(filepath.Join(dir, lockName)) {
		lock, err := lockFolder(ctx, dir)
		if idrl.KindOf(err) == idrl.Conflict {
			return idrl.Errorf(idrl.Conflict, "a tiebreak server is running on the folder %s: name a new folder; this command replaces no data", dir)
		}
		if err == nil {
			_ = lock.Close()
		}
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), restoring) {
			return idrl.Errorf(idrl.Conflict, "the folder %s is not empty (it holds %s): name a new or an empty one; this command replaces no data", dir, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// extract writes the files of the backup at path into the new folder dir, checks them, and syncs
// them.
func extract(ctx context.Context, path, dir string) (m archive.Manifest, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return m, err
	}
	if isDatabase(path) {
		if err = copyFile(path, filepath.Join(dir, FileName)); err != nil {
			return m, err
		}
	} else {
		if m, err = archive.Head(ctx, path); err == nil {
			err = checkBackupFormat(path, m)
		}
		if err != nil {
			return m, err
		}
		m, err = archive.Read(ctx, path, func(f archive.File, content io.Reader) error {
			return writeFile(filepath.Join(dir, filepath.FromSlash(f.Name)), content, f.Modified)
		})
		if err != nil {
			return m, err
		}
	}
	d, err := describe(ctx, filepath.Join(dir, FileName))
	if err != nil {
		return m, fmt.Errorf("the database in backup %s: %w", path, err)
	}
	if m.Format == 0 {
		m.Database = d.Database
		m.Files = []archive.File{{Name: FileName}}
	}
	return m, checkBackupFormat(path, d)
}

// isDatabase reports whether the file at path begins as a database of SQLite does.
func isDatabase(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, 16)
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == "SQLite format 3\x00"
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return writeFile(to, in, info.ModTime())
}

// writeFile writes the new file path, for the owner alone, and syncs it. modified is its time, since videos are known by theirs; zero: now.
func writeFile(path string, content io.Reader, modified time.Time) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil && !modified.IsZero() {
		err = os.Chtimes(path, modified, modified)
	}
	syncFolder(filepath.Dir(path))
	return err
}
