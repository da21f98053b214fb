package bundle

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"tiebreak/internal/idrl"
)

// Limits of what is read as a bundle.
const (
	maxMeta      = 64 << 20 // bytes of meta.json: about 400,000 files
	maxDirectory = 64 << 20 // bytes of the list at the end of a zip file
	maxEntries   = 400_000  // files
	maxTotal     = 64 << 30 // bytes of all files
)

// Records may have this many times the bytes of their archive, and a session this many times the bytes of its
// records. They have 0.8 to 1.1 times the bytes in archives of sessions with 60 answers (driver, gridworld), since
// most of them is compressed before it is recorded, and 2.7 times in that of a session with 100,000 (gridworld).
const (
	maxRatio   = 100
	minRecords = 16 << 20 // bytes that any archive may unpack to
)

// mostRecords returns how many bytes of records come from that many bytes.
func mostRecords(packed int64) int64 {
	return min(maxTotal, minRecords+maxRatio*min(packed, maxTotal))
}

// refused returns an error of kind Invalid about what is read as a bundle. The code is for
// programs, and stays.
func refused(code, format string, args ...any) error {
	return idrl.Errorf(idrl.Invalid, "import-"+code+": "+format, args...)
}

// A seen is a file as it was found.
type seen struct {
	bytes int64
	sum   string // SHA-256, in hexadecimal digits
}

// isRecord reports whether a file of a bundle is one that a session is made from again.
func isRecord(name string) bool {
	return path.Dir(name) == "tiebreak" && path.Ext(name) == ".jsonl"
}

// An archive is a zip, tar or tar.gz file.
type archive struct {
	name string
	file *os.File
	size int64
	zip  *zip.Reader // nil: it is a tar file
	gzip bool
}

// openArchive opens the archive at name. The caller closes its file.
func openArchive(name string) (a *archive, err error) {
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
	a = &archive{name: name, file: f, size: info.Size()}
	head := make([]byte, 262)
	n, _ := f.ReadAt(head, 0) // a short one is no archive
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		if a.zip, err = zip.NewReader(&limitedAt{f, maxDirectory}, a.size); err != nil {
			return nil, refused("archive", "the zip file is damaged, or the list of its files has more than %d bytes: %v", maxDirectory, err)
		}
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		a.gzip = true
	case len(head) < 262 || string(head[257:262]) != "ustar":
		return nil, refused("archive", "%s is neither a folder nor a zip or tar file", name)
	}
	return a, nil
}

// A limitedAt reads at most left bytes.
type limitedAt struct {
	from io.ReaderAt
	left int
}

// ReadAt implements io.ReaderAt.
func (l *limitedAt) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return l.from.ReadAt(p, at)
}

// A packedFile is a file of an archive.
type packedFile struct {
	name string // clean
	size int64  // that the archive says
	open func() (io.ReadCloser, error)
}

// each calls f with every file of the archive, which f may open before it returns. All paths are
// local and different. What f does not open is not unpacked, but for a tar.gz file.
func (a *archive) each(f func(packedFile) error) error {
	known, total := map[string]bool{}, int64(0)
	one := func(name string, mode fs.FileMode, size int64, open func() (io.ReadCloser, error)) error {
		clean := path.Clean(name)
		switch {
		case !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00"):
			return refused("path", "the archive holds a file named %q, which would be outside its folder", name)
		case !mode.IsRegular():
			return refused("path", "%q in the archive is not a plain file: links and devices are not taken", name)
		case size < 0 || size > maxTotal-total:
			return refused("size", "the archive unpacks to more than %d bytes", int64(maxTotal))
		case len(known) >= maxEntries:
			return refused("size", "the archive holds more than %d files", maxEntries)
		case known[clean]:
			return refused("path", "the archive holds %q twice", name)
		}
		known[clean], total = true, total+size
		return f(packedFile{clean, size, open})
	}
	if a.zip != nil {
		return a.eachZip(one)
	}
	return a.eachTar(one)
}

type visit func(name string, mode fs.FileMode, size int64, open func() (io.ReadCloser, error)) error

func (a *archive) eachZip(f visit) error {
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

func (a *archive) eachTar(f visit) error {
	var from io.Reader = bufio.NewReaderSize(io.NewSectionReader(a.file, 0, a.size), 1<<16)
	if a.gzip {
		z, err := gzip.NewReader(from)
		if err != nil {
			return refused("archive", "%s cannot be unpacked: %v", a.name, err)
		}
		from = io.LimitReader(z, 2*maxTotal) // what is around the files counts, too
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

// find returns the folder of the archive in which the bundle is, which is the archive itself or a folder in
// it, and its meta.json.
func (a *archive) find() (folder string, m meta, err error) {
	found := 0
	err = a.each(func(e packedFile) error {
		if path.Base(e.name) != "meta.json" || strings.Count(e.name, "/") > 1 {
			return nil
		}
		if found++; found > 1 {
			return nil
		}
		folder = path.Dir(e.name)
		return e.read(func(r io.Reader) (err error) {
			m, err = readMeta(r, a.name)
			return err
		})
	})
	if err == nil && found != 1 {
		err = refused("meta", "the archive holds %d files meta.json, in itself or in one folder, and a bundle has one", found)
	}
	return folder, m, err
}

// read calls f with a reader of the content of the file.
func (e packedFile) read(f func(io.Reader) error) error {
	r, err := e.open()
	if err != nil {
		return refused("archive", "%q in the archive: %v", e.name, err)
	}
	noted := &noting{from: r}
	err = errors.Join(f(noted), r.Close())
	if noted.err != nil {
		return refused("archive", "%q in the archive: %v", e.name, noted.err)
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

// unpack reads those files of a folder of the archive that are listed, and returns their sizes and hashes. It writes
// records under into.
func (a *archive) unpack(folder string, listed map[string]fileEntry, into *os.Root) (map[string]seen, error) {
	found := map[string]seen{}
	return found, a.each(func(e packedFile) error {
		name := e.name
		if folder != "." {
			name = strings.TrimPrefix(name, folder+"/")
		}
		want, ok := listed[name]
		if !ok || path.Join(folder, name) != e.name {
			return nil
		}
		if e.size != want.Bytes {
			found[name] = seen{bytes: e.size}
			return nil // compare says that it is another
		}
		return e.read(func(r io.Reader) (err error) {
			found[name], err = take(r, name, want.Bytes, into)
			return err
		})
	})
}

// take reads a file of that many bytes, and writes it under into if it holds records.
func take(r io.Reader, name string, size int64, into *os.Root) (s seen, err error) {
	to := io.Discard
	if isRecord(name) {
		if err := into.MkdirAll(path.Dir(name), 0o700); err != nil {
			return s, err
		}
		f, err := into.Create(name)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		to = f
	}
	return sum(to, r, size)
}

// sum copies r, at most that many bytes and one, to w, and returns its size and hash.
func sum(w io.Writer, r io.Reader, size int64) (seen, error) {
	s := &summed{w: w, h: sha256.New()}
	_, err := io.Copy(s, io.LimitReader(r, size+1))
	return seen{s.n, hexSum(s.h)}, err
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// survey returns size and hash of those listed files that are in a folder. Files of another size are not read.
func survey(root *os.Root, listed map[string]fileEntry) (map[string]seen, error) {
	found := map[string]seen{}
	for name, want := range listed {
		s, err := surveyFile(root, name, want.Bytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[name] = s
	}
	return found, nil
}

func surveyFile(root *os.Root, name string, size int64) (s seen, err error) {
	if !filepath.IsLocal(name) {
		return s, refused("path", "meta.json lists a file named %q, which would be outside the folder", name)
	}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, err
	case err != nil:
		return s, refused("path", "%s: %v", name, err)
	case !info.Mode().IsRegular():
		return s, refused("path", "%s is not a plain file: links and devices are not taken", name)
	case info.Size() != size:
		return seen{bytes: info.Size()}, nil
	}
	f, err := root.Open(name)
	if err != nil {
		return s, refused("open", "%s: %v", name, err)
	}
	s, err = sum(io.Discard, f, size)
	if err := errors.Join(err, f.Close()); err != nil {
		return s, refused("open", "%s: %v", name, err)
	}
	return s, nil
}
