package prepared

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A Folder is made once in a test program, by the first test that needs it. It may be used from any goroutine.
type Folder struct {
	Make func(dir string) error // fills dir, and has closed all files when it returns

	once sync.Once
	made map[string][]byte // content by name
	err  error
}

// Copy writes the files of the folder to dir, which only the user may read. Folders within it are left out.
func (f *Folder) Copy(t testing.TB, dir string) {
	t.Helper()
	f.once.Do(f.prepare)
	if f.err != nil {
		t.Fatal(f.err)
	}
	for name, content := range f.made {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// prepare sets made and err.
func (f *Folder) prepare() {
	dir, err := os.MkdirTemp("", "tiebreak")
	if err != nil {
		f.err = err
		return
	}
	defer os.RemoveAll(dir)
	if f.err = f.Make(dir); f.err != nil {
		f.err = fmt.Errorf("prepare a folder: %w", f.err)
		return
	}
	entries, err := os.ReadDir(dir)
	f.made, f.err = map[string][]byte{}, err
	for _, e := range entries {
		if e.Type().IsRegular() && f.err == nil {
			f.made[e.Name()], f.err = os.ReadFile(filepath.Join(dir, e.Name()))
		}
	}
}
