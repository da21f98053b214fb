package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"tiebreak/internal/data/foreign"
)

// Limits are those of what is read.
type Limits struct {
	Refusal foreign.Refusal // begins the codes of errors: archive, path, size, open
	Files   int             // at most
	Bytes   int64           // of all files, at most
	Called  string          // what errors call the archive; default: its path
}

// maxDirectory is how many bytes the list at the end of a zip file may have.
const maxDirectory = 64 << 20

// An Archive is a zip, tar or tar.gz file.
type Archive struct {
	Limits
	name string
	file *os.File
	size int64
	zip  *zip.Reader // nil: it is a tar file
	gzip bool
}

// Open opens the archive at name. Errors about its content, here and later, are of kind Invalid, and begin with a code. The caller closes it.
func Open(name string, limits Limits) (a *Archive, err error) {
	refused := limits.Refusal.Errorf
	f, err := os.Open(name) //nolint:gosec // named by the user
	if err != nil {
		return nil, refused("open", "%v", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a = &Archive{Limits: limits, name: cmp.Or(limits.Called, name), file: f, size: info.Size()}
	head := make([]byte, 262)
	n, _ := f.ReadAt(head, 0) // a short one is no archive
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		list := &limitedAt{from: f, left: maxDirectory}
		if a.zip, err = zip.NewReader(list, a.size); err != nil {
			return nil, refused("archive", "the zip file is damaged, or the list of its files has more than %d bytes: %v", maxDirectory, err)
		}
		list.known = true
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		a.gzip = true
	case len(head) < 262 || string(head[257:262]) != "ustar":
		return nil, refused("archive", "%s is neither a folder nor a zip or tar file", a.name)
	}
	return a, nil
}

// Close closes a.
func (a *Archive) Close() error { return a.file.Close() }

// Size returns how many bytes a has as it is packed.
func (a *Archive) Size() int64 { return a.size }

// A limitedAt reads a zip file, and at most left bytes of it before the list of its files is known.
type limitedAt struct {
	from  io.ReaderAt
	left  int
	known bool // what is read is content, which has limits of its own
}

// ReadAt implements io.ReaderAt.
func (l *limitedAt) ReadAt(p []byte, at int64) (int, error) {
	if !l.known {
		if l.left -= len(p); l.left < 0 {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return l.from.ReadAt(p, at)
}

// A File is a file of an archive.
type File struct {
	Name string // a clean, local path
	Size int64  // bytes that the archive says

	refusal foreign.Refusal
	open    func() (io.ReadCloser, error)
}

// Each calls f with every file of the archive, which f may read before it returns. All paths are
// local and different. What f does not open is not unpacked, but for a tar.gz file.
func (a *Archive) Each(f func(File) error) error {
	refused := a.Refusal.Errorf
	known, total := map[string]bool{}, int64(0)
	one := func(name string, mode fs.FileMode, size int64, open func() (io.ReadCloser, error)) error {
		clean := path.Clean(name)
		switch {
		case !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00"):
			return refused("path", "the archive holds a file named %q, which would be outside its folder", name)
		case !mode.IsRegular():
			return refused("path", "%q in the archive is not a plain file: links and devices are not taken", name)
		case size < 0 || size > a.Bytes-total:
			return refused("size", "the archive unpacks to more than %d bytes", a.Bytes)
		case len(known) >= a.Files:
			return refused("size", "the archive holds more than %d files", a.Files)
		case known[clean]:
			return refused("path", "the archive holds %q twice", name)
		}
		known[clean], total = true, total+size
		return f(File{clean, size, a.Refusal, open})
	}
	if a.zip != nil {
		return a.eachZip(one)
	}
	return a.eachTar(one)
}

type visit func(name string, mode fs.FileMode, size int64, open func() (io.ReadCloser, error)) error

func (a *Archive) eachZip(f visit) error {
	for _, e := range a.zip.File {
		if strings.HasSuffix(e.Name, "/") {
			continue
		}
		if err := f(e.Name, e.Mode(), int64(min(e.UncompressedSize64, 1<<62)), e.Open); err != nil { //nolint:gosec // it fits
			return err
		}
	}
	return nil
}

func (a *Archive) eachTar(f visit) error {
	refused := a.Refusal.Errorf
	var from io.Reader = bufio.NewReaderSize(io.NewSectionReader(a.file, 0, a.size), 1<<16)
	if a.gzip {
		z, err := gzip.NewReader(from)
		if err != nil {
			return refused("archive", "%s cannot be unpacked: %v", a.name, err)
		}
		from = io.LimitReader(z, 2*a.Bytes) // what is around the files counts, too
	}
	t := tar.NewReader(from)
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return refused("archive", "the tar file is damaged: %v", err)
		case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
			continue
		}
		err = f(h.Name, h.FileInfo().Mode(), h.Size, func() (io.ReadCloser, error) { return io.NopCloser(t), nil })
		if err != nil {
			return err
		}
	}
}

// Read calls f with a reader of the content of the file.
func (e File) Read(f func(io.Reader) error) error {
	refused := e.refusal.Errorf
	r, err := e.open()
	if err != nil {
		return refused("archive", "%q in the archive: %v", e.Name, err)
	}
	noted := &noting{from: r}
	err = errors.Join(f(noted), r.Close())
	if noted.err != nil {
		return refused("archive", "%q in the archive: %v", e.Name, noted.err)
	}
	return err
}

// A noting reader keeps the error of its source.
type noting struct {
	from io.Reader
	err  error // not io.EOF
}

// Read implements io.Reader.
func (n *noting) Read(p []byte) (int, error) {
	k, err := n.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return k, err
}
