package archive_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/data/archive"
)

// TestLargeZip: the limit of the list at the end of a zip file is none of its content.
func TestLargeZip(t *testing.T) {
	const files, size = 5, 16 << 20 // more than the list may have
	name := filepath.Join(t.TempDir(), "large.zip")
	f := must.Get(os.Create(name))(t)
	w := zip.NewWriter(f)
	for i := range files {
		part := must.Get(w.CreateHeader(&zip.FileHeader{Name: string(rune('a' + i)), Method: zip.Store}))(t)
		must.Get(part.Write(make([]byte, size)))(t)
	}
	must.Do(t, w.Close())
	must.Do(t, f.Close())
	a := must.Get(archive.Open(name, archive.Limits{Files: files, Bytes: files * size}))(t)
	defer func() { must.Do(t, a.Close()) }()
	var read int64
	must.Do(t, a.Each(func(f archive.File) error {
		return f.Read(func(r io.Reader) error {
			n, err := io.Copy(io.Discard, r)
			read += n
			return err
		})
	}))
	if read != files*size {
		t.Errorf("%d bytes were read, want %d", read, files*size)
	}
}
