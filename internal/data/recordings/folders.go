package recordings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/idrl"
)

// Limits of a search for data sets.
const (
	MaxFolders = 32     // that an operator allows
	foundDeep  = 4      // folders below one that is allowed
	foundMost  = 200    // data sets
	foundLook  = 20_000 // names of files and folders
	maxSet     = 1000   // characters of the name of a data set
)

// Folders are those in which requests may read data sets. The zero Folders are none.
type Folders struct{ all []allowed }

type allowed struct{ label, path string }

// NewFolders returns the folders at paths that the operator of a server names. It returns an error of kind Invalid if one of them
// is no folder.
func NewFolders(paths []string) (f Folders, err error) {
	if len(paths) > MaxFolders {
		return f, idrl.Errorf(idrl.Invalid, "there are %d folders of recordings; at most %d can be given", len(paths), MaxFolders)
	}
	for _, p := range paths {
		full, err := filepath.Abs(p)
		if err == nil {
			full, err = filepath.EvalSymlinks(full)
		}
		info, statErr := os.Stat(full)
		if err = errors.Join(err, statErr); err != nil || !info.IsDir() {
			return f, idrl.Errorf(idrl.Invalid, "the folder of recordings %q cannot be read, or is no folder (%v)", p, err)
		}
		label := filepath.Base(full)
		if !foreign.IsLine(label, maxSet) || !fs.ValidPath(label) || strings.Contains(label, `\`) || label == "." {
			label = "recordings"
		}
		for n := 2; slices.ContainsFunc(f.all, func(a allowed) bool { return a.label == label }); n++ {
			label = fmt.Sprintf("%s-%d", strings.TrimSuffix(label, fmt.Sprintf("-%d", n-1)), n)
		}
		f.all = append(f.all, allowed{label, full})
	}
	return f, nil
}

// With returns f and a folder of the server's own, which has that label; one of the operator has another.
func (f Folders) With(label, path string) (Folders, error) {
	full, err := filepath.Abs(path)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	all := []allowed{{label, full}}
	for _, a := range f.all {
		if a.label == label {
			a.label += "-by-operator"
		}
		all = append(all, a)
	}
	return Folders{all}, err
}

// Any reports whether there is a folder.
func (f Folders) Any() bool { return len(f.all) > 0 }

// At returns the folder of a data set by its name, as Find gives it: the label of an allowed folder, and a path below it. No other
// text leads anywhere: it returns an error of kind Invalid for a name that is not in that form. Links are followed when the folder is opened, by
// lerobot.Folder, and only within the allowed one.
func (f Folders) At(name string) (lerobot.Folder, error) {
	if below, a, ok := f.within(name); ok {
		return lerobot.Folder{Path: filepath.Join(a.path, below), Within: a.path}, nil
	}
	return lerobot.Folder{}, refused("folder", "%.200q is no data set below a folder that this server may read; the list of recordings names them", name)
}

// File returns where a file is whose name has the same form: the folder that no link may leave, and the path within it.
func (f Folders) File(name string) (within, path string, err error) {
	if below, a, ok := f.within(name); ok && below != "." {
		return a.path, below, nil
	}
	return "", "", refused("folder", "%.200q is no file below a folder that this server may read: name it as data sets are named, by the folder and a path below it, as FOLDER/FILE.csv", name)
}

// within returns the folder of a name, and the path below it.
func (f Folders) within(name string) (path string, in allowed, ok bool) {
	label, below, deep := strings.Cut(name, "/")
	if !deep {
		below = "."
	}
	if foreign.IsLine(name, maxSet) && fs.ValidPath(name) && !strings.Contains(name, `\`) && filepath.IsLocal(filepath.FromSlash(below)) {
		for _, a := range f.all {
			if a.label == label {
				return filepath.FromSlash(below), a, true
			}
		}
	}
	return "", allowed{}, false
}

// A Found is a data set in such a folder.
type Found struct {
	Name string // for At
	lerobot.Summary
	Wrong string // why it cannot be imported, as far as meta/info.json tells; empty if it can
}

// Find lists the data sets below the folders, by name. Links to folders and folders whose names begin with a dot are left out. more reports whether there are
// more than it lists.
func (f Folders) Find(ctx context.Context) (list []Found, more bool, err error) {
	s := search{ctx: ctx}
	for _, a := range f.all {
		root, err := os.OpenRoot(a.path)
		if err != nil {
			continue // it is away, as of a disk that is not there
		}
		s.root = root
		s.look(a.label, ".", 0)
		if err := root.Close(); err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(s.found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return s.found, s.more, ctx.Err()
}

// A search is one for data sets.
type search struct {
	ctx   context.Context //nolint:containedctx // lasts as long as the search
	root  *os.Root
	found []Found
	seen  int
	more  bool
}

// look looks at the folder at a path within the root.
func (s *search) look(label, at string, depth int) {
	idrl.Pause(s.ctx)
	if s.more = s.more || len(s.found) >= foundMost || s.seen >= foundLook; s.more || s.ctx.Err() != nil {
		return
	}
	if info, err := s.root.Lstat(filepath.FromSlash(path.Join(at, lerobot.InfoName))); err == nil && info.Mode().IsRegular() {
		s.add(path.Join(label, at), at)
		return
	}
	if depth == foundDeep {
		return
	}
	for _, name := range s.folders(at) {
		s.look(label, path.Join(at, name), depth+1)
	}
}

func (s *search) add(name, at string) {
	one := Found{Name: name}
	root, err := s.root.OpenRoot(filepath.FromSlash(at))
	if err == nil {
		one.Summary, err = lerobot.Describe(root)
		err = errors.Join(err, root.Close())
	}
	if err != nil {
		one.Wrong = err.Error()
	}
	s.found = append(s.found, one)
}

// folders returns the names of the folders in one, in order.
func (s *search) folders(at string) (names []string) {
	dir, err := s.root.Open(filepath.FromSlash(at))
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, err := dir.ReadDir(foundLook - s.seen)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	s.seen += len(entries)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && foreign.IsLine(e.Name(), maxSet) && !strings.Contains(e.Name(), `\`) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}
