package export

import (
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tiebreak/internal/idrl"
)

// NetworksFormat is the name of the export of what a session has learnt: its reward and
// its policies, as files.
const NetworksFormat = "networks"

// A File is one of several that are exported together.
type File struct {
	Name    string // without a folder
	Content []byte
}

// zipTime is that of all files in an archive: the earliest that the format has.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteZip writes files to w as a zip archive, in a folder of that name. The result is a
// function of the arguments, to the byte.
func WriteZip(w io.Writer, folder string, files []File) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		part, err := z.CreateHeader(&zip.FileHeader{Name: folder + "/" + f.Name, Method: zip.Deflate, Modified: zipTime})
		if err != nil {
			return err
		}
		if _, err := part.Write(f.Content); err != nil {
			return err
		}
	}
	return z.Close()
}

// WriteFolder writes files to a new folder, as NewFolder does.
func WriteFolder(dir string, files []File) error {
	return NewFolder(dir, func(dir string) error {
		for _, f := range files {
			if err := writeFile(filepath.Join(dir, f.Name), f.Content); err != nil {
				return unwritable(dir, err)
			}
		}
		return nil
	})
}

// NewFolder calls fill with a new, empty folder, which then becomes dir: that appears whole
// or, where fill returns an error, not at all. It returns an error of kind Conflict if there
// is something of that name already, other than an empty folder.
func NewFolder(dir string, fill func(dir string) error) (err error) {
	dir = filepath.Clean(dir)
	if err := CheckFolder(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return unwritable(dir, err)
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".partial-")
	if err != nil {
		return unwritable(dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial)) }()
	if err := fill(partial); err != nil {
		return err
	}
	if err := os.Chmod(partial, 0o755); err != nil { //nolint:gosec // for everybody to read, as other exports
		return unwritable(dir, err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty folder
		return cmp.Or(CheckFolder(dir), unwritable(dir, err)) // the latter if it is empty, as a mount point may be
	}
	if err := os.Rename(partial, dir); err != nil {
		return unwritable(dir, err)
	}
	return nil
}

// NewFile calls fill with a new file, which then becomes path: that appears whole or not at
// all. It returns an error of kind Conflict if there is something of that name already.
func NewFile(path string, fill func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return idrl.Errorf(idrl.Conflict, "%s exists, and existing files are not overwritten: name a new file", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return unwritable(path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-")
	if err != nil {
		return unwritable(path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // not there any more if all went well
	out := bufio.NewWriterSize(f, 1<<16)
	err = fill(out)
	if err = errors.Join(err, out.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil { //nolint:gosec // for everybody to read, as other exports
		return unwritable(path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// CheckFolder returns an error of kind Conflict if WriteFolder would not write to dir.
func CheckFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	return idrl.Errorf(idrl.Conflict, "%s exists and is not an empty folder, and existing files are not overwritten: name a new folder", dir)
}

func unwritable(dir string, err error) error {
	return idrl.Errorf(idrl.Invalid, "%s cannot be written (%v): name another", dir, err)
}

// writeFile writes a file that is durable on return.
func writeFile(path string, content []byte) error {
	f, err := os.Create(path) //nolint:gosec // a file of the user's choice
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
