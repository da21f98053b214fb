package lerobot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A Folder is where a data set is.
type Folder struct {
	Path   string // absolute, without links if Within is empty
	Within string // links of Path that leave this folder are refused whenever Path is opened; empty: Path is from the user of a command
}

// FolderAt returns the folder at a path that the user of a command names.
func FolderAt(path string) (Folder, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return Folder{}, refused("missing", "the folder of the data set cannot be opened: %v", err)
	}
	return Folder{Path: abs}, nil
}

// Open opens the folder: nothing outside of it can be reached by what is returned. Errors are of kind Invalid.
func (f Folder) Open() (root *os.Root, err error) {
	if f.Within == "" {
		root, err = os.OpenRoot(f.Path)
	} else {
		root, err = f.inside()
	}
	switch {
	case err == nil:
		return root, nil
	case leaves(err):
		return nil, refused("link", "the folder of the data set is a link that leaves the folders of recordings")
	case f.Within != "": // a path of the server is not for everybody
		return nil, refused("missing", "the folder of the data set cannot be opened: it is not there, or may not be read by the server")
	}
	return nil, refused("missing", "the folder of the data set cannot be opened: %v", err)
}

func (f Folder) inside() (*os.Root, error) {
	name, err := filepath.Rel(f.Within, f.Path)
	if err != nil {
		return nil, err
	}
	outer, err := os.OpenRoot(f.Within)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	return outer.OpenRoot(name)
}

// OpenFile opens a plain file of a folder that Folder.Open returned. It follows links that stay within that, and returns an
// error of kind Invalid for others. The caller closes it.
func OpenFile(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer would wait
	switch {
	case err != nil && leaves(err):
		return nil, errLeaves(name)
	case err != nil:
		return nil, refused("missing", "%.200s cannot be read: %v", name, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(refused("missing", "%.200s is not a plain file", name), f.Close())
	}
	return f, nil
}

// leaves reports whether an error of an os.Root is that a link leaves it: package os has no value for that.
func leaves(err error) bool { return strings.Contains(err.Error(), "path escapes from parent") }

func errLeaves(name string) error {
	return refused("link", "%.200s is a link that leaves the folder of the data set", name)
}
