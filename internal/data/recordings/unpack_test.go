package recordings_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// A member is a file of an archive that a test makes.
type member struct {
	name, text string
	mode       os.FileMode // default: a plain file
	link       string
	zeros      int // bytes that follow text
}

func (m member) content() io.Reader {
	return io.MultiReader(strings.NewReader(m.text), bytes.NewReader(make([]byte, m.zeros)))
}

// packed returns an archive of a kind: zip, tar or tar.gz.
func packed(t testing.TB, kind string, list ...member) []byte {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if kind == "zip" {
		z := zip.NewWriter(&out)
		for _, m := range list {
			h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
			h.SetMode(m.mode | 0o600)
			w, err := z.CreateHeader(h)
			must(err)
			_, err = io.Copy(w, m.content())
			must(err)
		}
		must(z.Close())
		return out.Bytes()
	}
	var to io.WriteCloser = gzip.NewWriter(&out)
	if kind == "tar" {
		to = plain{&out}
	}
	z := tar.NewWriter(to)
	for _, m := range list {
		h := &tar.Header{Name: m.name, Mode: 0o600, Size: int64(len(m.text) + m.zeros)}
		switch {
		case m.mode&os.ModeSymlink != 0:
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, m.link, 0
		case m.mode&os.ModeDevice != 0:
			h.Typeflag, h.Size = tar.TypeChar, 0
		case m.link != "":
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, m.link, 0
		}
		must(z.WriteHeader(h))
		if h.Size > 0 {
			_, err := io.Copy(z, m.content())
			must(err)
		}
	}
	must(z.Close())
	must(to.Close())
	return out.Bytes()
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// unpacked unpacks an archive below a folder of its own, and returns the files of that folder, by their paths, without the archive.
func unpacked(t testing.TB, content []byte, room uint64) (files map[string]string, err error) {
	t.Helper()
	dir := t.TempDir()
	from := filepath.Join(dir, "archive")
	if err := os.WriteFile(from, content, 0o600); err != nil {
		t.Fatal(err)
	}
	err = recordings.Unpacking{Archive: from, To: filepath.Join(dir, "in", "files"), Room: room}.Unpack(t.Context(), func(recordings.Progress) {})
	files = map[string]string{}
	walked := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == from {
			return err
		}
		if !e.Type().IsRegular() {
			t.Errorf("%s is no plain file", path)
		}
		b, err := os.ReadFile(path) //nolint:gosec // of this test
		files[strings.TrimPrefix(path, dir+"/")] = string(b)
		return err
	})
	if walked != nil {
		t.Fatal(walked)
	}
	return files, err
}

const info = "meta/info.json"

// TestUnpack: the data set of an archive is unpacked, where it is in a folder, too; what other programs add is not.
func TestUnpack(t *testing.T) {
	for _, kind := range []string{"zip", "tar", "tar.gz"} {
		for _, folder := range []string{"", "pens/"} {
			b := packed(t, kind, member{name: folder + info, text: "{}"}, member{name: folder + "data/a.parquet", text: "numbers"},
				member{name: folder + ".cache/x", text: "x"}, member{name: folder + ".DS_Store", text: "x"}, member{name: "__MACOSX/._a", text: "x"})
			files, err := unpacked(t, b, 1<<20)
			if err != nil || len(files) != 2 || files["in/files/"+info] != "{}" || files["in/files/data/a.parquet"] != "numbers" {
				t.Errorf("%s, in %q: %v, %v", kind, folder, files, err)
			}
		}
	}
}

// TestHostileArchives: what would leave the folder, is no plain file, is there twice, or unpacks to much is refused, with a code.
func TestHostileArchives(t *testing.T) {
	good := member{name: info, text: "{}"}
	for _, test := range []struct {
		name, code string
		list       []member
	}{
		{"a path that leaves the folder", "rollouts-path", []member{good, {name: "../escaped", text: "x"}}},
		{"one below the folder of the data set", "rollouts-path", []member{{name: "pens/" + info, text: "{}"}, {name: "pens/../../escaped", text: "x"}}},
		{"an absolute path", "rollouts-path", []member{good, {name: "/tmp/escaped", text: "x"}}},
		{"a path of another system", "rollouts-path", []member{good, {name: `..\escaped`, text: "x"}}},
		{"a symbolic link", "rollouts-path", []member{good, {name: "data", text: "..", link: "..", mode: os.ModeSymlink}}},
		{"a device", "rollouts-path", []member{good, {name: "data", mode: os.ModeDevice | os.ModeCharDevice}}},
		{"a file twice", "rollouts-path", []member{good, {name: "a", text: "x"}, {name: "a", text: "y"}}},
		{"a file twice, in another spelling", "rollouts-path", []member{good, {name: "a", text: "x"}, {name: "./a", text: "y"}}},
		{"a file that is a folder, too", "rollouts-path", []member{good, {name: "a", text: "x"}, {name: "a/b", text: "y"}}},
		{"a folder that is a file, too", "rollouts-path", []member{good, {name: "a/b", text: "y"}, {name: "a", text: "x"}}},
		{"a path that turns the direction of text", "rollouts-path", []member{good, {name: "a\u202eb", text: "x"}}},
		{"a long path", "rollouts-path", []member{good, {name: strings.Repeat("long/", 5) + strings.Repeat("a", 400), text: "x"}}},
		{"a deep path", "rollouts-path", []member{good, {name: strings.Repeat("d/", 20) + "a", text: "x"}}},
		{"no data set", "rollouts-archive", []member{{name: "a", text: "x"}}},
		{"one that is too deep", "rollouts-archive", []member{{name: "a/b/" + info, text: "{}"}}},
		{"two data sets", "rollouts-archive", []member{{name: "a/" + info, text: "{}"}, {name: "b/" + info, text: "{}"}}},
		{"a bomb", "rollouts-size", []member{good, {name: "a", zeros: 80 << 20}}},
		{"more than there is room for", "rollouts-space", []member{good, {name: "a", zeros: 33 << 20}}},
	} {
		for _, kind := range []string{"zip", "tar", "tar.gz"} {
			if kind == "zip" && strings.Contains(test.name, "device") || kind == "tar" && test.name == "a bomb" {
				continue // a zip file has none; a tar file is as long as what is in it
			}
			t.Run(test.name+", "+kind, func(t *testing.T) {
				room := uint64(32 << 20)
				if test.code == "rollouts-size" {
					room = 1 << 40
				}
				files, err := unpacked(t, packed(t, kind, test.list...), room)
				if idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), test.code+": ") {
					t.Errorf("the error is %v", err)
				}
				for name := range files {
					if !strings.HasPrefix(name, "in/files/") {
						t.Errorf("%s is written", name)
					}
				}
				if test.code != "rollouts-path" && len(files) > 0 {
					t.Errorf("%d files are written before it is refused", len(files))
				}
			})
		}
	}
}

// TestArchivesThatLie: a zip file whose files are longer or shorter than it says is refused, and nothing beyond what it says is written.
func TestArchivesThatLie(t *testing.T) {
	const said, much = 1000, 0x01123456
	b := packed(t, "zip", member{name: info, text: "{}"}, member{name: "a", zeros: much})
	size := []byte{0x56, 0x34, 0x12, 0x01} // little-endian, in the descriptor and in the list
	if n := bytes.Count(b, size); n != 2 {
		t.Fatalf("the size is there %d times", n)
	}
	files, err := unpacked(t, bytes.ReplaceAll(b, size, []byte{said & 0xff, said >> 8, 0, 0}), 1<<40)
	if idrl.KindOf(err) != idrl.Invalid || len(files["in/files/a"]) > said+1 {
		t.Errorf("%d bytes are written, with the error %v", len(files["in/files/a"]), err)
	}
	for n := range len(b) {
		if n%97 != 0 {
			continue
		}
		if _, err := unpacked(t, b[:n], 1<<40); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("cut off after %d of %d bytes: %v", n, len(b), err)
		}
	}
}

// TestArchiveOfManyFiles: their number is limited.
func TestArchiveOfManyFiles(t *testing.T) {
	list := []member{{name: info, text: "{}"}}
	for i := range 100_001 {
		list = append(list, member{name: fmt.Sprintf("d/%d", i)})
	}
	if files, err := unpacked(t, packed(t, "zip", list...), 1<<40); idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), "rollouts-size: ") || len(files) != 0 {
		t.Errorf("%d files are written, with the error %v", len(files), err)
	}
}

// TestUnpackStops: it ends with its context.
func TestUnpackStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	from := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(from, packed(t, "zip", member{name: info, text: "{}"}, member{name: "a", text: "x"}), 0o600); err != nil {
		t.Fatal(err)
	}
	err := recordings.Unpacking{Archive: from, To: filepath.Join(t.TempDir(), "files"), Room: 1 << 20}.Unpack(ctx, func(recordings.Progress) { cancel() })
	if err == nil || ctx.Err() == nil {
		t.Errorf("the error is %v", err)
	}
}

// FuzzUnpack: any bytes are refused as an archive, or unpacked within the folder and the room.
func FuzzUnpack(f *testing.F) {
	for _, kind := range []string{"zip", "tar", "tar.gz"} {
		f.Add(packed(f, kind, member{name: info, text: "{}"}, member{name: "data/a", text: "numbers"}))
		f.Add(packed(f, kind, member{name: info, text: "{}"}, member{name: "../a", text: "x"}, member{name: "l", link: "/etc", mode: os.ModeSymlink}))
	}
	const room = 1 << 16
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := unpacked(t, b, room)
		if err != nil && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("the error is %v", err)
		}
		total := 0
		for name, text := range files {
			if total += len(text); !strings.HasPrefix(name, "in/files/") {
				t.Errorf("%s is written", name)
			}
		}
		if total > room+1 {
			t.Errorf("%d bytes are written", total)
		}
	})
}
