package export_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
)

func TestWriteZip(t *testing.T) {
	files := []export.File{{Name: "a", Content: []byte("1")}, {Name: "b"}}
	var first, second bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &second} {
		must.Do(t, export.WriteZip(to, "all", files))
	}
	z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil || len(z.File) != 2 || z.File[1].Name != "all/b" || z.File[0].Modified.UTC().Year() != 1980 || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("archive %+v, error %v", z, err)
	}
}

// A folder appears whole or not at all, and nothing that was there is changed.
func TestWriteFolder(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "new", "folder")
	good := []export.File{{Name: "a", Content: []byte("1")}, {Name: "b"}}
	must.Do(t, export.WriteFolder(dir+"/", good))
	if b, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(b) != "1" {
		t.Errorf("content %q, error %v", b, err)
	}
	if err := export.WriteFolder(dir, good); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("a second time: %v", err)
	}
	bad := filepath.Join(top, "bad")
	if err := export.WriteFolder(bad, append(good, export.File{Name: "no/folder"})); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a file that cannot be written: %v", err)
	}
	if left, err := os.ReadDir(top); err != nil || len(left) != 1 {
		t.Errorf("%v is left behind, error %v", left, err)
	}
}
