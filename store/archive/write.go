package archive

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tiebreak/internal/idrl"
)

// Format is the version of archives that this package writes, and the newest that it reads.
const Format = 1

// The first two files of an archive. The second has the SHA-256 of the first, as sha256sum prints it.
const (
	manifestName = "tiebreak-backup.json"
	sumName      = "tiebreak-backup.sha256"
)

// A Manifest says what an archive holds.
type Manifest struct {
	Format   int       `json:"tiebreak_backup"`
	Program  string    `json:"program"`         // version of tiebreak
	Database int64     `json:"database_format"` // of the database in it
	MadeAt   time.Time `json:"made_at"`
	Note     string    `json:"note"` // for people who find the file
	Without  []Person  `json:"without"`
	LeftOut  []string  `json:"left_out,omitempty"` // folders of the data folder that are not in it
	Files    []File    `json:"files"`
}

// A Person is an annotator whose data an archive does not hold, because they withdrew them.
type Person struct {
	Session   idrl.SessionID   `json:"session"`
	Annotator idrl.AnnotatorID `json:"annotator"`
	At        time.Time        `json:"withdrawn_at"`
}

// Same reports whether q is the same annotator.
func (p Person) Same(q Person) bool { return p.Session == q.Session && p.Annotator == q.Annotator }

// A File is a file of an archive.
type File struct {
	Name   string `json:"name"` // with slashes, relative to the data folder
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`

	Modified time.Time `json:"modified,omitzero"` // zero in archives of earlier versions

	path string // where it is read from
}

// From returns the file at path, to be stored under name.
func From(name, path string) File { return File{Name: name, path: path} }

// Write writes an archive of files to the new file path, and syncs it. It fills in the sizes, the
// sums, the times and the format of m. On an error it leaves nothing. It returns an error of kind Invalid if there are more files than Read takes.
func Write(ctx context.Context, path string, m *Manifest, files []File) (err error) {
	m.Format, m.Files = Format, make([]File, len(files))
	for i, f := range files {
		if m.Files[i], err = measured(ctx, f); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if err := fill(ctx, tar.NewWriter(out), m); err != nil {
		return err
	}
	return out.Sync()
}

// measured returns f with its size, sum and time.
func measured(ctx context.Context, f File) (File, error) {
	in, err := open(f)
	if err != nil {
		return f, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return f, err
	}
	f.Modified = info.ModTime().UTC()
	sum := sha256.New()
	f.Size, err = io.Copy(sum, reader{ctx, in})
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return f, err
}

func open(f File) (*os.File, error) {
	in, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = changed(f)
	}
	return in, err
}

func changed(f File) error {
	return idrl.Errorf(idrl.Unavailable, "the file %s changed while it was copied: try again", filepath.FromSlash(f.Name))
}

func fill(ctx context.Context, w *tar.Writer, m *Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if text = append(text, '\n'); len(text) > maxManifest {
		return idrl.Errorf(idrl.Invalid, "the data folder has too many files for one backup (%d): leave the uploaded data sets out, and copy them apart", len(m.Files))
	}
	sum := sha256.Sum256(text)
	for _, f := range []struct {
		name    string
		content []byte
	}{{manifestName, text}, {sumName, fmt.Appendf(nil, "%x  %s\n", sum, manifestName)}} {
		if err := w.WriteHeader(header(m, File{Name: f.name, Size: int64(len(f.content))})); err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
	}
	for _, f := range m.Files {
		if err := add(ctx, w, m, f); err != nil {
			return fmt.Errorf("copy %s: %w", f.Name, err)
		}
	}
	return w.Close()
}

func header(m *Manifest, f File) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: f.Size, Mode: 0o600, ModTime: m.MadeAt.Truncate(time.Second)}
}

// add copies a file whose content must still be what was measured.
func add(ctx context.Context, w *tar.Writer, m *Manifest, f File) error {
	in, err := open(f)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := w.WriteHeader(header(m, f)); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(reader{ctx, in}, f.Size))
	if err == nil && (n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256) {
		err = changed(f)
	}
	return err
}

// A reader ends with ctx.
type reader struct {
	ctx context.Context //nolint:containedctx // lives as long as one copy
	io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}
