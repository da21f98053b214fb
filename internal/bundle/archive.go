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
	"fmt"
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
	maxMeta    = 256 << 20 // bytes of meta.json
	maxFile    = 64 << 30  // bytes of any file
	maxEntries = 2_000_000 // files
)

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

// isRecord reports whether a file, by its path, is one that a session is made from again.
func isRecord(name string) bool {
	return path.Base(name) == "meta.json" || path.Base(path.Dir(name)) == "tiebreak" && path.Ext(name) == ".parquet"
}

// extract reads the archive at name, a zip, tar or tar.gz file, once, and returns what it found
// of every file in it. Those that a session is made from again are written under into.
func extract(name string, into *os.Root) (map[string]seen, error) {
	f, err := os.Open(name) //nolint:gosec // named by the user
	if err != nil {
		return nil, refused("open", "%v", err)
	}
	defer f.Close()
	start := bufio.NewReaderSize(f, 1<<16)
	head, _ := start.Peek(512)
	x := &extraction{into: into, found: map[string]seen{}}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return x.found, x.zip(f, info.Size())
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(start)
		if err != nil {
			return nil, refused("archive", "%s cannot be unpacked: %v", name, err)
		}
		return x.found, x.tar(z)
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return x.found, x.tar(start)
	}
	return nil, refused("archive", "%s is neither a folder nor a zip or tar file", name)
}

// An extraction is the state of extract.
type extraction struct {
	into  *os.Root
	found map[string]seen
}

func (x *extraction) zip(f io.ReaderAt, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return refused("archive", "the zip file is damaged: %v", err)
	}
	for _, e := range z.File {
		if strings.HasSuffix(e.Name, "/") {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return refused("archive", "%q in the zip file: %v", e.Name, err)
		}
		err = x.take(e.Name, e.Mode(), e.UncompressedSize64, r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (x *extraction) tar(r io.Reader) error {
	t := tar.NewReader(r)
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
		if err := x.take(h.Name, h.FileInfo().Mode(), uint64(max(h.Size, 0)), t); err != nil { //nolint:gosec // not negative
			return err
		}
	}
}

// take reads one file of an archive.
func (x *extraction) take(name string, mode fs.FileMode, size uint64, r io.Reader) error {
	clean := path.Clean(name)
	switch {
	case !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00"):
		return refused("path", "the archive holds a file named %q, which would lie outside of its folder", name)
	case !mode.IsRegular():
		return refused("path", "%q in the archive is not a plain file: links and devices are not taken", name)
	case size > maxFile:
		return refused("size", "%q in the archive has %d bytes; at most %d are read", name, size, int64(maxFile))
	case len(x.found) >= maxEntries:
		return refused("size", "the archive holds more than %d files", maxEntries)
	}
	if _, again := x.found[clean]; again {
		return refused("path", "the archive holds %q twice", name)
	}
	to := io.Discard
	if isRecord(clean) {
		if err := x.into.MkdirAll(path.Dir(clean), 0o700); err != nil {
			return err
		}
		f, err := x.into.Create(clean)
		if err != nil {
			return err
		}
		defer f.Close()
		to = f
	}
	s, err := sum(to, r)
	if err != nil {
		return refused("archive", "%q in the archive: %v", name, err)
	}
	x.found[clean] = s
	return nil
}

// sum copies r to w and returns what it was.
func sum(w io.Writer, r io.Reader) (seen, error) {
	s := &summed{w: w, h: sha256.New()}
	_, err := io.Copy(s, io.LimitReader(r, maxFile+1))
	if err == nil && s.n > maxFile {
		err = fmt.Errorf("it has more than %d bytes", int64(maxFile))
	}
	return seen{s.n, hexSum(s.h)}, err
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// survey returns what it finds of the files that meta.json in a folder lists.
func survey(root *os.Root, names []string) (map[string]seen, error) {
	found := map[string]seen{}
	for _, name := range names {
		if !filepath.IsLocal(name) {
			return nil, refused("path", "meta.json lists a file named %q, which would lie outside of the folder", name)
		}
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, refused("path", "%s: %v", name, err)
		case !info.Mode().IsRegular():
			return nil, refused("path", "%s is not a plain file: links and devices are not taken", name)
		}
		f, err := root.Open(name)
		if err != nil {
			return nil, refused("open", "%s: %v", name, err)
		}
		s, err := sum(io.Discard, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, refused("open", "%s: %v", name, err)
		}
		found[name] = s
	}
	return found, nil
}
