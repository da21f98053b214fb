package store

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"

	"tiebreak/internal/idrl"
)

// scratchPrefix begins the names of folders within a data folder in which sessions are made before
// they are copied to the database.
const scratchPrefix = ".import-"

// Scratch returns a new folder within the data folder, and a function that removes it. Until then
// it is locked: Open removes folders without a lock, which killed processes left. It returns an
// error of kind Conflict while another import has one.
func (db *upkeep) Scratch(ctx context.Context) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp(db.dir, scratchPrefix+"*"); err != nil {
		return "", nil, err
	}
	lock, err := lockFolder(ctx, dir)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	remove = func() error { return errors.Join(lock.Close(), os.RemoveAll(dir)) }
	if removeScratch(ctx, db.dir) > 1 {
		return "", nil, errors.Join(idrl.Errorf(idrl.Conflict, "another import is running in this data folder: wait until it has ended"), remove())
	}
	return dir, remove, nil
}

// Room returns how many bytes of records may be imported: a third of the free space on the disk of
// the data folder, because for a moment a session exists three times: unpacked, in a database of
// its own, and in that of the folder.
func (db *upkeep) Room() uint64 {
	if free, known := freeSpace(db.dir); known {
		return free / 3
	}
	return math.MaxUint64
}

// removeScratch removes the folders of Scratch that killed processes left in dir, and returns how
// many are in use. Folders that cannot be removed are tried again at the next start.
func removeScratch(ctx context.Context, dir string) (used int) {
	entries, _ := os.ReadDir(dir) // what cannot be read is not removed
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		lock, err := lockFolder(ctx, path)
		if idrl.KindOf(err) == idrl.Conflict { // in use
			used++
			continue
		}
		if err == nil {
			_ = lock.Close()
		}
		if os.RemoveAll(path) != nil {
			used++
		}
	}
	return used
}
