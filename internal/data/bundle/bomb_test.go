package bundle_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// A part is a file of an archive that is made of zeros.
type part struct {
	name  string
	zeros int64
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// bomb writes an archive of files of zeros, with a meta.json of that text at its end.
func bomb(t testing.TB, kind, meta string, parts ...part) string {
	t.Helper()
	var out bytes.Buffer
	list := append(parts, part{name: "meta.json"})
	content := func(p part) io.Reader {
		if p.name == "meta.json" {
			return strings.NewReader(meta)
		}
		return io.LimitReader(zeros{}, p.zeros)
	}
	if kind == "zip" {
		z := zip.NewWriter(&out)
		for _, p := range list {
			w, err := z.Create(p.name)
			must(t, err)
			_, err = io.Copy(w, content(p))
			must(t, err)
		}
		must(t, z.Close())
		return fileOf(t, out.Bytes())
	}
	g := gzip.NewWriter(&out)
	z := tar.NewWriter(g)
	for _, p := range list {
		size := p.zeros
		if p.name == "meta.json" {
			size = int64(len(meta))
		}
		must(t, z.WriteHeader(&tar.Header{Name: p.name, Mode: 0o600, Size: size}))
		_, err := io.Copy(z, content(p))
		must(t, err)
	}
	must(t, z.Close())
	must(t, g.Close())
	return fileOf(t, out.Bytes())
}

// listing returns a meta.json that lists files of zeros.
func listing(t testing.TB, parts ...part) string {
	t.Helper()
	type entry struct {
		Name   string `json:"name"`
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	files := []entry{}
	for _, p := range parts {
		h := sha256.New()
		_, err := io.CopyN(h, zeros{}, p.zeros)
		must(t, err)
		files = append(files, entry{p.name, p.zeros, hex.EncodeToString(h.Sum(nil))})
	}
	b, err := json.Marshal(map[string]any{
		"format": "tiebreak.bundle", "schema_version": bundle.SchemaVersion, "session_id": "s", "complete": true, "records_version": 1, "files": files,
	})
	must(t, err)
	return string(b)
}

// written returns the bytes of all files in a folder.
func written(t testing.TB, dir string) (n int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	}))
	return n
}

// Of an archive nothing is written that its meta.json does not list, or that is longer than listed; and one whose
// records unpack to much more than it has bytes is refused before they are written.
func TestArchivesThatUnpackToMuch(t *testing.T) {
	const much = 32 << 20
	records, other := part{"tiebreak/answer.jsonl", much}, part{"clips/a.gif", 1 << 20}
	small := part{"tiebreak/answer.jsonl", 1000}
	for _, test := range []struct{ name, kind, meta, code string }{
		{"listed records", "zip", listing(t, records), "import-size"},
		{"listed records in a tar file", "tar.gz", listing(t, records), "import-size"},
		{"records that are longer than listed", "zip", listing(t, small), "import-sum"},
		{"records that are longer than listed in a tar file", "tar.gz", listing(t, small), "import-sum"},
		{"no bundle", "zip", `{"format": "something"}`, "import-meta"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, dir := bomb(t, test.kind, test.meta, records, other), t.TempDir()
			took := allocated(func() { openRefused(t, path, dir, test.code) })
			if took > 16<<20 {
				t.Errorf("it took %d MB", took>>20)
			}
		})
	}
	dir := t.TempDir()
	b, err := bundle.Open(bomb(t, "zip", listing(t), records, other), dir, 1<<40)
	must(t, err)
	if n := written(t, dir); n != 0 {
		t.Errorf("%d bytes of files that are not listed are written", n)
	}
	must(t, b.Close())
}

// openRefused opens a bundle that is refused with a code, and nothing of it is written.
func openRefused(t *testing.T, path, dir, code string) {
	t.Helper()
	b, err := bundle.Open(path, dir, 1<<40)
	if err == nil {
		b.Close()
	}
	if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(fmt.Sprint(err), code) {
		t.Errorf("%v, want %s", err, code)
	}
	if n := written(t, dir); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// Of an archive only what is listed is unpacked, and a file that is larger than listed is not read to its end.
func TestOnlyListedFilesAreUnpacked(t *testing.T) {
	good := write(t, configured(studied(t, 40)))
	extra := files{"tiebreak/extra.jsonl": bytes.NewBufferString("not listed")}
	for name, b := range good {
		extra[name] = b
	}
	dir := t.TempDir()
	b, err := bundle.Open(archived(t, extra, "zip"), dir, 1<<40)
	must(t, err)
	var records int64
	for name, f := range good {
		if strings.HasPrefix(name, "tiebreak/") {
			records += int64(f.Len())
		}
	}
	if n := written(t, dir); n != records {
		t.Errorf("%d bytes are unpacked, the records have %d", n, records)
	}
	must(t, b.Close())
	if n := written(t, dir); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
	if _, err := bundle.Open(archived(t, good, "zip"), dir, uint64(records)/2); err == nil || !strings.HasPrefix(err.Error(), "import-space") {
		t.Errorf("on a full disk: %v", err)
	}
}

// A zip file whose files are longer than it says is not unpacked beyond that.
func TestZipThatClaimsLess(t *testing.T) {
	const much = 16 << 20
	path := bomb(t, "zip", listing(t, part{"tiebreak/answer.jsonl", 1000}), part{"tiebreak/answer.jsonl", much})
	b, err := os.ReadFile(path)
	must(t, err)
	size := []byte{0, 0, 0, much >> 24} // little-endian
	if n := bytes.Count(b, size); n != 2 {
		t.Fatalf("the size is there %d times", n)
	}
	b = bytes.ReplaceAll(b, size, []byte{0xe8, 3, 0, 0}) // 1000
	openRefused(t, fileOf(t, b), t.TempDir(), "import-")
}

// A meta.json of very many elements costs memory in proportion to its bytes.
func TestMetaOfVeryManyElements(t *testing.T) {
	list := func(element string, n int) string { return strings.Repeat(element+",", n-1) + element }
	const many = 1_000_000
	head := fmt.Sprintf(`{"format":"tiebreak.bundle","schema_version":%d,"session_id":"s","complete":true,"records_version":1,`, bundle.SchemaVersion)
	for _, test := range []struct{ name, text string }{
		{"files", head + `"files":[` + list("{}", many) + `]}`},
		{"features", head + `"features":[` + list(`""`, many) + `]}`},
		{"rows", head + `"rows":{` + list(`"a":1`, many) + `}}`},
		{"something else", head + `"other":[` + list("{}", many) + `]}`},
		{"files twice", head + `"files":[` + list("{}", many) + `],"files":[]}`},
		{"deep", head + `"files":` + strings.Repeat("[", many)},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, files{"meta.json": bytes.NewBufferString(test.text)})
			path := bomb(t, "tar.gz", test.text)
			for _, name := range []string{dir, path} {
				took := allocated(func() { _, _ = bundle.Open(name, t.TempDir(), 1<<40) })
				if limit := uint64(8*len(test.text) + 16<<20); took > limit {
					t.Errorf("%d KB took %d MB", len(test.text)>>10, took>>20)
				}
			}
		})
	}
}

// Records whose values need more than there is room for, though their files do not, are refused while they are read.
func TestRecordsThatNeedMuch(t *testing.T) {
	db := studied(t, 40)
	var table record.RecordTable
	f := changed(t, write(t, configured(db)), true, func(f files, _ map[string]any) {
		must(t, db.Read(t.Context(), study, func(r *store.Reading) error {
			list, err := r.RecordTables(t.Context())
			table = list[slices.IndexFunc(list, func(o record.RecordTable) bool { return o.Name == "assignment" })]
			return err
		}))
		row := make([]any, len(table.Columns))
		for i, c := range table.Columns {
			row[i] = map[string]any{"INTEGER": int64(0), "REAL": 0., "TEXT": "", "BLOB": []byte{}}[c.Type]
		}
		f["tiebreak/assignment.jsonl"] = recordsOf(t, db, "assignment", func([]any) [][]any { return slices.Repeat([][]any{row}, 1000) })
	})
	var records uint64
	for name, b := range f {
		if strings.HasPrefix(name, "tiebreak/") {
			records += uint64(b.Len())
		}
	}
	b, err := bundle.Open(folder(t, f), t.TempDir(), records)
	must(t, err)
	defer b.Close()
	n := 0
	err = b.Records(table, func([]any) error { n++; return nil })
	if idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), "import-size") || n == 0 {
		t.Errorf("%d rows, then %v", n, err)
	}
}
