package recordings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// shelves returns folders that requests may read: one with the data sets a and deep/er/b, and one outside of them with c.
func shelves(t *testing.T) (f recordings.Folders, inside, outside string) {
	t.Helper()
	d := lerobottest.Dataset{Lengths: []int{8, 12}}
	first := write(t, d)
	inside, outside = filepath.Join(t.TempDir(), "sets"), t.TempDir()
	for _, to := range []string{filepath.Join(inside, "a"), filepath.Join(inside, "deep", "er", "b"), filepath.Join(outside, "c")} {
		if err := os.CopyFS(to, os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := recordings.NewFolders([]string{inside})
	if err != nil {
		t.Fatal(err)
	}
	return f, inside, outside
}

// importNamed imports a data set as a request does.
func importNamed(t *testing.T, f recordings.Folders, into, name string) (*recordings.Set, error) {
	t.Helper()
	from, err := f.At(name)
	if err != nil {
		return nil, err
	}
	return filmed(t.Context(), recordings.LeRobotConfig{From: from, Into: into, Name: "pen", ClipSeconds: 2})
}

// TestFolders: data sets are found, by bounded search, and imported by their names.
func TestFolders(t *testing.T) {
	f, inside, outside := shelves(t)
	for _, link := range []string{"loop", "away"} {
		if err := os.Symlink(map[string]string{"loop": ".", "away": outside}[link], filepath.Join(inside, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, info := range map[string]string{"new": `{"codebase_version":"v9.9"}`, ".hidden": `{}`, "x/1/2/3/4": `{}`, "turned\u202e": `{}`} {
		if err := os.MkdirAll(filepath.Join(inside, path, "meta"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(inside, path, "meta", "info.json"), []byte(info), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, more, err := f.Find(t.Context())
	var names []string
	for _, one := range list {
		names = append(names, one.Name)
		if wrong := strings.Contains(one.Wrong, "lerobot-version"); wrong != (one.Name == "sets/new") || !wrong && (one.Episodes != 2 || len(one.Cameras) != 2) {
			t.Errorf("it finds %+v", one)
		}
	}
	if want := []string{"sets/a", "sets/deep/er/b", "sets/new"}; err != nil || more || !slices.Equal(names, want) {
		t.Errorf("it finds %v, %v, %v", names, more, err)
	}
	s, err := importNamed(t, f, t.TempDir(), "sets/deep/er/b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cut(s, 0, 0, 4); err != nil {
		t.Error(err)
	}
	for i := range 210 {
		path := filepath.Join(inside, "many", fmt.Sprint(i), "meta")
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "info.json"), []byte(`{}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list, more, err := f.Find(t.Context()); err != nil || !more || len(list) != 200 {
		t.Errorf("of many it finds %d, more: %v, %v", len(list), more, err)
	}
}

// TestHostileNames: no name of a data set leads out of the folders, whatever is in it.
func TestHostileNames(t *testing.T) {
	f, inside, outside := shelves(t)
	if err := os.Symlink(filepath.Join(outside, "c"), filepath.Join(inside, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "folder")); err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(inside, filepath.Join(outside, "c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"", ".", "..", "/", filepath.Join(outside, "c"), inside, "sets/" + up, "sets/../" + filepath.Base(outside), "sets//a", "sets/./a", "sets/a/", "sets/a/..", "/sets/a",
		"SETS/a", "Sets/a", "sets\x00/a", "sets/a\x00", "sets/a\u202e", "sets/\u2066a", `sets\a`, `sets/..\..\c`, "sets/a\n", "other/a", "C:/sets", "file:///etc", "sets/" + strings.Repeat("a/", 600) + "a",
		"sets/link", "sets/folder/c", "sets/none", "sets",
	} {
		into := t.TempDir()
		_, err := importNamed(t, f, into, name)
		if idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%.80q: the error is %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), outside) && name != filepath.Join(outside, "c") || strings.Contains(err.Error(), inside) && name != inside {
			t.Errorf("%.80q: the error tells a path of the server: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(into, "*")); len(left) != 0 {
			t.Errorf("%.80q: %v is left", name, left)
		}
	}
	if _, err := (recordings.Folders{}).At("sets/a"); err == nil {
		t.Error("without a folder a data set has a place")
	}
}

// TestLinksSwappedIn: what is exchanged for a link after it was checked is not read: the folder of a data set before it is opened, a
// video before it is checked, and either before a clip is cut.
func TestLinksSwappedIn(t *testing.T) {
	const video = "videos/observation.images.front/chunk-000/file-000.mp4"
	swap := func(t *testing.T, path, to string) {
		t.Helper()
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("folder", func(t *testing.T) {
		f, inside, outside := shelves(t)
		from, err := f.At("sets/a")
		if err != nil {
			t.Fatal(err)
		}
		swap(t, filepath.Join(inside, "a"), filepath.Join(outside, "c"))
		if _, err := lerobot.Open(t.Context(), from, lerobot.Options{}); err == nil || !strings.Contains(err.Error(), "lerobot-link") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("video", func(t *testing.T) {
		f, inside, outside := shelves(t)
		from, err := f.At("sets/a")
		if err != nil {
			t.Fatal(err)
		}
		into := t.TempDir()
		err = recordings.ImportLeRobot(t.Context(), recordings.LeRobotConfig{From: from, Into: into, Name: "pen", Plan: func(recordings.Plan) {
			swap(t, filepath.Join(inside, "a", video), filepath.Join(outside, "c", video))
		}})
		if err == nil || !strings.Contains(err.Error(), "lerobot-link") {
			t.Errorf("the error is %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(into, "*")); len(left) != 0 {
			t.Errorf("%v is left", left)
		}
	})
	for _, what := range []string{"a", "a/" + video} {
		t.Run("clip of "+what, func(t *testing.T) {
			f, inside, outside := shelves(t)
			s, err := importNamed(t, f, t.TempDir(), "sets/a")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(inside, filepath.FromSlash(what))
			info, err := os.Stat(filepath.Join(inside, "a", video))
			if err != nil {
				t.Fatal(err)
			}
			same := filepath.Join(outside, "c", video)
			if err := os.Chtimes(same, info.ModTime(), info.ModTime()); err != nil { // it looks like the one of the import
				t.Fatal(err)
			}
			swap(t, path, filepath.Join(outside, "c", strings.TrimPrefix(strings.TrimPrefix(what, "a"), "/")))
			if _, err := cut(s, 0, 0, 4); idrl.KindOf(err) != idrl.Damaged || !strings.Contains(err.Error(), "lerobot-link") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
