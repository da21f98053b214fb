package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
)

// FuzzHead: an archive with any manifest is refused with an error that people can act on, or all its files can be written below a
// folder, each with the content that the manifest says.
func FuzzHead(f *testing.F) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("content")))
	for _, name := range []string{"tiebreak.db", "a/b", "../x", "/x", "a/../b", "a//b", ""} {
		f.Add(fmt.Sprintf(`{"tiebreak_backup":1,"files":[{"name":%q,"size":7,"sha256":%q}]}`, name, sum), name, "content")
	}
	f.Add(`{"tiebreak_backup":2}`, "x", "")
	f.Add(`{"tiebreak_backup":1,"files":[{"name":"x","size":-1}]}`, "x", "")
	f.Add(`[]`, "x", "y")
	f.Fuzz(func(t *testing.T, manifest, name, content string) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		files := []struct{ name, content string }{
			{"tiebreak-backup.json", manifest},
			{"tiebreak-backup.sha256", fmt.Sprintf("%x  tiebreak-backup.json\n", sha256.Sum256([]byte(manifest)))},
			{name, content},
		}
		for _, file := range files {
			if w.WriteHeader(&tar.Header{Name: file.name, Size: int64(len(file.content)), Mode: 0o600, Typeflag: tar.TypeReg}) != nil {
				return // not a name that an archive can have
			}
			must.Get(io.WriteString(w, file.content))(t)
		}
		if err := w.Close(); err != nil {
			return
		}
		_, err := whole(tar.NewReader(&b), func(f File, from io.Reader) error {
			if !filepath.IsLocal(f.Name) || strings.Contains(f.Name, "..") && filepath.Clean(f.Name) != f.Name {
				t.Errorf("the file %q leads out of its folder", f.Name)
			}
			_, err := io.Copy(io.Discard, from)
			return err
		})
		if kind := idrl.KindOf(err); err != nil && kind != idrl.Invalid && kind != idrl.Damaged {
			t.Errorf("%q: %v", manifest, err)
		}
	})
}

// An archive that Read would not take, because its manifest is too long, is not written.
func TestTooManyFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	var files []File
	for i := range maxManifest >> 20 {
		files = append(files, From(strings.Repeat("x", 1<<20)+strconv.Itoa(i), path))
	}
	if err := Write(t.Context(), filepath.Join(dir, "archive"), &Manifest{}, files); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "too many files") {
		t.Errorf("error %v", err)
	}
	if left := must.Get(os.ReadDir(dir))(t); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
}
