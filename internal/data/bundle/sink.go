package bundle

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Sink takes the files of a bundle, one after another.
type Sink interface {
	// Create begins the next file. name has slashes. packed says that its content is
	// compressed already. The caller closes it before it begins another.
	Create(name string, packed bool) (io.WriteCloser, error)
}

// zipTime is that of all files in an archive: the earliest that the format has.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// A Zip is a Sink that streams a zip archive, in which the files stand in a folder. Close
// ends the archive, and not what it is written to.
type Zip struct {
	folder string
	zip    *zip.Writer
}

// NewZip returns a Zip that writes to w.
func NewZip(w io.Writer, folder string) *Zip { return &Zip{folder, zip.NewWriter(w)} }

// Create implements Sink.
func (z *Zip) Create(name string, packed bool) (io.WriteCloser, error) {
	method := zip.Deflate
	if packed {
		method = zip.Store
	}
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: z.folder + "/" + name, Method: method, Modified: zipTime})
	return unclosed{w}, err
}

// Close writes the end of the archive.
func (z *Zip) Close() error { return z.zip.Close() }

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// A Folder is a Sink that writes into a folder that exists.
type Folder string

// Create implements Sink.
func (f Folder) Create(name string, _ bool) (io.WriteCloser, error) {
	path := filepath.Join(string(f), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // for everybody to read, as other exports
		return nil, err
	}
	file, err := os.Create(path) //nolint:gosec // within a folder of the user's choice
	if err != nil {
		return nil, err
	}
	return &buffered{bufio.NewWriterSize(file, 1<<16), file}, nil
}

// buffered is a file that is durable once closed.
type buffered struct {
	*bufio.Writer
	file *os.File
}

func (b *buffered) Close() error {
	return errors.Join(b.Flush(), b.file.Sync(), b.file.Close())
}

// A fileEntry is what meta.json says of a file.
type fileEntry struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// summed counts and hashes what is written through it.
type summed struct {
	w io.Writer
	h hash.Hash
	n int64
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.h.Write(b[:n])
	s.n += int64(n)
	return n, err
}

// file writes a file by fill and notes its checksum.
func (b *builder) file(name string, fill func(io.Writer) error) error {
	packed := strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".npz") || strings.HasPrefix(name, "clips/") && !strings.HasSuffix(name, ".jsonl")
	w, err := b.sink.Create(name, packed)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	s := &summed{w: w, h: sha256.New()}
	if err := errors.Join(fill(s), w.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	b.meta.Files = append(b.meta.Files, fileEntry{name, s.n, hex.EncodeToString(s.h.Sum(nil))})
	return nil
}

// content writes a file of known content.
func (b *builder) content(name string, content []byte) error {
	return b.file(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
