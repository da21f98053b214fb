package bundle

import (
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

	"tiebreak/internal/data/archive"
	"tiebreak/internal/idrl"
)

// Limits of what is read as a bundle.
const (
	maxMeta    = 64 << 20 // bytes of meta.json: about 400,000 files
	maxEntries = 400_000  // files
	maxTotal   = 64 << 30 // bytes of all files
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

// find returns the folder of the archive in which the bundle is, which is the archive itself or a folder in
// it, and its meta.json.
func find(a *archive.Archive, name string) (folder string, m meta, err error) {
	found := 0
	err = a.Each(func(e archive.File) error {
		if path.Base(e.Name) != "meta.json" || strings.Count(e.Name, "/") > 1 {
			return nil
		}
		if found++; found > 1 {
			return nil
		}
		folder = path.Dir(e.Name)
		return e.Read(func(r io.Reader) (err error) {
			m, err = readMeta(r, name)
			return err
		})
	})
	if err == nil && found != 1 {
		err = refused("meta", "the archive holds %d files meta.json, in itself or in one folder, and a bundle has one", found)
	}
	return folder, m, err
}

// unpack reads those files of a folder of the archive that are listed, and returns their sizes and hashes. It writes
// records under into.
func unpack(a *archive.Archive, folder string, listed map[string]fileEntry, into *os.Root) (map[string]seen, error) {
	found := map[string]seen{}
	return found, a.Each(func(e archive.File) error {
		name := e.Name
		if folder != "." {
			name = strings.TrimPrefix(name, folder+"/")
		}
		want, ok := listed[name]
		if !ok || path.Join(folder, name) != e.Name {
			return nil
		}
		if e.Size != want.Bytes {
			found[name] = seen{bytes: e.Size}
			return nil // compare says that it is another
		}
		return e.Read(func(r io.Reader) (err error) {
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
