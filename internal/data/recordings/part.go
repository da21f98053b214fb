package recordings

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tiebreak/internal/idrl"
)

// How often and after what pause an import asks for a folder that another one has.
const (
	lockTries = 50
	lockPause = 200 * time.Millisecond
)

// inPart is inFolder in a folder of the name part, for one process at a time. What is in it stays if ctx ended fill, or the
// process was killed, and the next one goes on from it.
func inPart(ctx context.Context, into, name, part string, fill func(dir string) error) error {
	if err := errors.Join(Free(into, name), removeKilled(into)); err != nil {
		return err
	}
	dir := filepath.Join(into, part)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unlock, err := lockFolder(dir)
	for range lockTries { // what was killed may be ending
		if err == nil || ctx.Err() != nil {
			break
		}
		time.Sleep(lockPause)
		unlock, err = lockFolder(dir)
	}
	if err != nil {
		return idrl.Errorf(idrl.Conflict, "another import of this data set under the name %s is under way: wait for its end, or stop it (%v)", name, err)
	}
	defer unlock()
	if err := fill(dir); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return errors.Join(err, os.RemoveAll(dir))
	}
	syncFolder(dir)
	to := filepath.Join(into, name)
	if err := os.Rename(dir, to); err != nil {
		return err
	}
	syncFolder(into)
	return os.RemoveAll(filepath.Join(to, lockName))
}

// noteName is the file of LeRobotConfig.Note.
const noteName = ".note"

// Interrupted returns the notes of imports into a folder that were interrupted or killed and can go on.
func Interrupted(into string) (notes [][]byte, err error) {
	entries, err := os.ReadDir(into)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partName) {
			continue
		}
		if b, err := os.ReadFile(filepath.Join(into, e.Name(), noteName)); err == nil { //nolint:gosec // within the data folder
			notes = append(notes, b)
		}
	}
	return notes, err
}

// Forget removes what is left of interrupted imports into a folder under a name. One that is under way stays.
func Forget(into, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	parts, err := filepath.Glob(filepath.Join(into, partName+name+"-????????????????????????"))
	for _, dir := range parts {
		unlock, lockErr := lockFolder(dir)
		if lockErr != nil {
			continue
		}
		err = errors.Join(err, os.RemoveAll(dir))
		unlock()
	}
	return err
}
