package elsewhere

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// A carried file is one of a job, with the blobs that it is made of, in order.
type carried struct {
	Path  string `json:"path"`
	Hash  Hash   `json:"hash"`
	Size  int64  `json:"size"`
	Parts []Hash `json:"parts"`
}

// Limits of the files of a job.
const (
	partSize     = 32 << 20 // bytes of a blob that is a part of a file
	maxFiles     = 50_000
	maxFilesSize = 8 << 30 // bytes of all
)

// filePath matches the paths of files. No word begins with a dot.
var filePath = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}){0,3}$`)

// Hand puts files where the worker can fetch them, and tells it their list, unless it has just these. It is called by the
// goroutine that writes.
func (l *link) Hand(files []jobs.File) error {
	these := sha256.New()
	for _, f := range files {
		fmt.Fprintf(these, "%s %x\n", f.Path, f.Hash)
	}
	if Hash(these.Sum(nil)) == l.handed {
		return nil
	}
	l.handed = Hash(these.Sum(nil))
	ctx, stop := l.context()
	defer stop()
	list, sum := make([]carried, 0, len(files)), int64(0)
	for _, f := range files {
		if sum += f.Size; len(files) > maxFiles || sum > maxFilesSize {
			return idrl.Errorf(idrl.Invalid, "%d files are too many or too large for a worker elsewhere: at most %d with %d GiB", len(files), maxFiles, maxFilesSize>>30)
		}
		b, err := f.Read()
		if err != nil {
			return err
		}
		c := carried{Path: f.Path, Hash: f.Hash, Size: int64(len(b))}
		for from := 0; from < len(b); from += partSize {
			part, err := l.carrier.Put(ctx, b[from:min(from+partSize, len(b))])
			if err != nil {
				return err
			}
			c.Parts = append(c.Parts, part)
		}
		list = append(list, c)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	name, err := l.carrier.Put(ctx, text)
	if err != nil {
		return err
	}
	return l.send(ctx, parcelFiles, name[:])
}

// A cache keeps files by their hashes, and shows the files of a job in a folder.
type cache struct {
	dir  string // of the agent
	seat string // name of the folder within dir in which a seat's jobs find their files
}

// folder returns the folder in which a job finds its files.
func (c cache) folder() string { return filepath.Join(c.dir, c.seat) }

// take makes the folder hold just the files of the list that the body of a parcel names.
func (c cache) take(l *link, body []byte) error {
	if c.dir == "" {
		return errors.New("this worker has no folder for files: give it one by --files")
	}
	text, err := l.fetch(body)
	if err != nil {
		return err
	}
	var list []carried
	if err := json.Unmarshal(text, &list); err != nil || len(list) > maxFiles {
		return errors.New("the list of files is damaged")
	}
	if err := os.RemoveAll(c.folder()); err != nil {
		return err
	}
	sum := int64(0)
	for _, f := range list {
		if sum += f.Size; !filePath.MatchString(f.Path) || f.Size < 0 || sum > maxFilesSize {
			return fmt.Errorf("file %.200q cannot be taken", f.Path)
		}
		kept, err := c.keep(l, f)
		if err != nil {
			return fmt.Errorf("file %s: %w", f.Path, err)
		}
		if err := show(kept, filepath.Join(c.folder(), filepath.FromSlash(f.Path))); err != nil {
			return err
		}
	}
	return nil
}

// keep returns where a file is kept by its hash, after it has fetched it if need be.
func (c cache) keep(l *link, f carried) (string, error) {
	name := hex.EncodeToString(f.Hash[:])
	path := filepath.Join(c.dir, "kept", name[:2], name)
	if info, err := os.Stat(path); err == nil && info.Size() == f.Size { // it was checked when it was written
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	out, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(out.Name()) }() // it has its name by then, or is not wanted
	sum := sha256.New()
	err = l.copyParts(io.MultiWriter(out, sum), f)
	if err = errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	if Hash(sum.Sum(nil)) != f.Hash {
		return "", idrl.Errorf(idrl.Damaged, "its content is not what its hash says")
	}
	return path, os.Rename(out.Name(), path)
}

// copyParts writes the parts of a file.
func (l *link) copyParts(to io.Writer, f carried) error {
	left := f.Size
	ctx, stop := l.context()
	defer stop()
	for _, part := range f.Parts {
		b, err := l.carrier.Get(ctx, part)
		if err != nil {
			return err
		}
		l.traffic.bytes.Add(int64(len(b)))
		if left -= int64(len(b)); left < 0 {
			return errors.New("it is longer than was said")
		}
		if _, err := to.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// show lets a file that is kept be found at a path as well.
func show(kept, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if os.Link(kept, path) == nil {
		return nil
	}
	b, err := os.ReadFile(kept) //nolint:gosec // named by its hash
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
