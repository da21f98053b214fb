package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/store/archive"
)

// checkStudy makes the database of dir if dir has none. A server that is killed meanwhile leaves no
// database: it is made under another name, with all its tables, and renamed. It returns an error of
// kind Damaged, and changes nothing, if there was a database that is now empty or missing.
func checkStudy(ctx context.Context, dir string, steps fs.FS) error {
	switch err := lost(dir); {
	case err != nil:
		return err
	case exists(filepath.Join(dir, FileName)):
		return nil
	}
	path := filepath.Join(dir, FileName+".new")
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} { // of a killed server
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := fill(ctx, path, dir, steps); err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(dir, FileName)); err != nil {
		return err
	}
	syncFolder(dir)
	return nil
}

// fill makes the database file at path and its tables. SQLite gives the files that
// it adds the mode of this one.
func fill(ctx context.Context, path, dir string, steps fs.FS) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	p, err := openPool(ctx, path, false)
	if err != nil {
		return err
	}
	p.SetMaxOpenConns(1)
	err = migrate(ctx, p, dir, steps)
	return errors.Join(err, p.Close()) // merges the write-ahead log into the file, and syncs it
}

// lost returns an error of kind Damaged if dir has had a database that is missing now.
func lost(dir string) error {
	info, err := os.Stat(filepath.Join(dir, FileName))
	switch {
	case err == nil && info.Size() > 0:
		return nil
	case err == nil:
		return idrl.Errorf(idrl.Damaged, "the database %s is an empty file, but a new study has no such file (if this folder never held a study, delete the file)",
			filepath.Join(dir, FileName))
	case !errors.Is(err, fs.ErrNotExist):
		return idrl.Errorf(idrl.Invalid, "the data folder %s cannot be read (%v)", dir, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, restoring+"*")); len(left) > 0 { // the pattern is well formed
		return idrl.Errorf(idrl.Invalid, "the data folder %s is not whole: 'tiebreak restore' or 'tiebreak recover' was interrupted; run it again", dir)
	}
	for _, left := range []string{FileName + "-wal", backupFolder} {
		if exists(filepath.Join(dir, left)) {
			return idrl.Errorf(idrl.Damaged, "the database %s is gone, but %s is there (for a new study, name another folder with --data)",
				filepath.Join(dir, FileName), left)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Advice says what to do about a damaged database, for the operator of the server.
func (db *upkeep) Advice() string { return advice(db.dir) }

// advice says what to do about a damaged database, for people.
func advice(dir string) string {
	backups := filepath.Join(dir, backupFolder)
	found, _ := filepath.Glob(filepath.Join(backups, "*.*")) // the pattern is well formed
	found = slices.DeleteFunc(found, func(path string) bool { return filepath.Ext(path) != ".db" && !archive.Is(path) })
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(changedAt(b), changedAt(a)) })
	newest, none := "BACKUP", "There is no backup in "+backups+"; take one from elsewhere. "
	if len(found) > 0 {
		newest, none = found[0], ""
	}
	return "What to do:\n" +
		"  1. Stop the server. Keep the whole folder, and do not delete " + FileName + "-wal, which may hold answers.\n" +
		"  2. " + none + "To go back to the newest backup: tiebreak restore " + newest + " --data NEW --forgotten " + dir + "\n" +
		"  3. To save what can be read of the damaged database: tiebreak recover --data " + dir + " --out NEW\n" +
		"  4. Start the server with --data NEW, a new folder."
}

// changedAt returns when the file was written last, in nanoseconds; 0 if it cannot
// be told.
func changedAt(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
