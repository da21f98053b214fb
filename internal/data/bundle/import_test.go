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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// folder writes the files of a bundle into a new folder.
func folder(t testing.TB, f files) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, b.Bytes(), 0o600))
	}
	return dir
}

// take imports a bundle into db, as id, or as what it was if that is empty.
func take(t testing.TB, db *store.DB, name string, id idrl.SessionID) error {
	t.Helper()
	dir, remove, err := db.Scratch(t.Context())
	must(t, err)
	defer func() { must(t, remove()) }()
	b, err := bundle.Open(name, dir, 1<<40)
	if err != nil {
		return err
	}
	defer b.Close()
	if id == "" {
		id = b.Session()
	}
	_, err = db.ImportSession(t.Context(), b, id, store.Judge{}, dir, "test")
	return err
}

func empty(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), t.TempDir())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// archived returns the files of a bundle as an archive.
func archived(t testing.TB, f files, kind string) string {
	t.Helper()
	var out bytes.Buffer
	names := slices.Sorted(maps.Keys(f))
	switch kind {
	case "zip":
		z := bundle.NewZip(&out, "a-bundle")
		for _, name := range names {
			w, err := z.Create(name, false)
			must(t, err)
			_, err = w.Write(f[name].Bytes())
			must(t, err)
		}
		must(t, z.Close())
	default:
		var to io.Writer = &out
		var g *gzip.Writer
		if kind == "tar.gz" {
			g = gzip.NewWriter(&out)
			to = g
		}
		z := tar.NewWriter(to)
		for _, name := range names {
			must(t, z.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o600, Size: int64(f[name].Len())}))
			_, err := z.Write(f[name].Bytes())
			must(t, err)
		}
		must(t, z.Close())
		if g != nil {
			must(t, g.Close())
		}
	}
	return fileOf(t, out.Bytes())
}

func fileOf(t testing.TB, b []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "archive")
	must(t, os.WriteFile(name, b, 0o600))
	return name
}

func same(t *testing.T, got, want files) {
	t.Helper()
	if g, w := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(g, w) {
		t.Fatalf("files %q, want %q", g, w)
	}
	for name := range want {
		if !bytes.Equal(got[name].Bytes(), want[name].Bytes()) {
			t.Errorf("%s is another", name)
		}
	}
}

// What is exported, imported and exported again is the same, to the byte: of folders and of
// archives, also of a session that people withdrew from, were left out of or turned in, and that was renamed.
func TestImportIsTheInverse(t *testing.T) {
	db := studied(t, 60)
	must(t, db.Rename(t.Context(), study, "Another name", "Ada", t0.Add(time.Hour)))
	_, err := db.SetInstructions(t.Context(), study, idrl.Markdown, "**New** text", "Ada", t0.Add(time.Hour))
	must(t, err)
	must(t, db.DecideAnswers(t.Context(), study, "a2", idrl.LeftOut, "Ada", t0.Add(time.Hour)))
	must(t, db.DecideAnswers(t.Context(), study, "a1", idrl.Turned, "Ada", t0.Add(time.Hour)))
	for _, withdrawn := range []bool{false, true} {
		if withdrawn {
			_, err := db.Withdraw(t.Context(), study, "a2", "", t0.Add(time.Hour))
			must(t, err)
		}
		cfg := configured(db)
		cfg.Clips = "gif"
		want := write(t, cfg)
		for _, kind := range map[bool][]string{false: {"folder", "tar.gz"}, true: {"zip", "tar"}}[withdrawn] {
			name := ""
			if kind == "folder" {
				name = folder(t, want)
			} else {
				name = archived(t, want, kind)
			}
			other := empty(t)
			if err := take(t, other, name, ""); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			cfg := configured(other)
			cfg.Clips = "gif"
			same(t, write(t, cfg), want)
			if err := take(t, other, name, ""); idrl.KindOf(err) != idrl.Conflict || !strings.Contains(err.Error(), "import-taken") {
				t.Errorf("again: %v", err)
			}
			if err := take(t, other, name, "copy"); err != nil {
				t.Errorf("under another id: %v", err)
			}
			if spec, err := other.Spec(t.Context(), "copy"); err != nil || spec.ID != "copy" || spec.Title != "Another name" {
				t.Errorf("the copy: %+v %v", spec, err)
			}
			if set, err := other.Settings(t.Context(), "copy"); err != nil || set.Turned["a1"] != 61 {
				t.Errorf("in the copy those are turned: %v, %v", set.Turned, err)
			}
			if id, err := other.CreateAnnotator(t.Context(), "copy", "New"); err != nil || id != "a3" && !withdrawn {
				t.Errorf("who joins the copy is %s, %v", id, err)
			}
		}
	}
}

// changed returns the files with changes; meta.json agrees with them if sums is set.
func changed(t testing.TB, f files, sums bool, change func(files, map[string]any)) files {
	t.Helper()
	out := files{}
	for name, b := range f {
		out[name] = bytes.NewBuffer(bytes.Clone(b.Bytes()))
	}
	var m map[string]any
	must(t, json.Unmarshal(f["meta.json"].Bytes(), &m))
	change(out, m)
	if sums {
		list, _ := m["files"].([]any)
		for _, e := range list {
			e := e.(map[string]any)
			if b := out[e["name"].(string)]; b != nil {
				sum := sha256.Sum256(b.Bytes())
				e["bytes"], e["sha256"] = b.Len(), hex.EncodeToString(sum[:])
			}
		}
	}
	b, err := json.Marshal(m)
	must(t, err)
	out["meta.json"] = bytes.NewBuffer(b)
	return out
}

// What is not a whole and sound bundle is refused with a code that stays, and nothing of it
// is recorded.
func TestBadBundles(t *testing.T) {
	db := studied(t, 40)
	good := write(t, configured(db))
	other := empty(t)
	answers := "tiebreak/answer.jsonl"
	for _, test := range []struct {
		name, code string
		sums       bool
		change     func(f files, m map[string]any)
	}{
		{"newer form", "import-newer", true, func(_ files, m map[string]any) { m["schema_version"] = bundle.SchemaVersion + 1 }},
		{"older form", "import-older", true, func(_ files, m map[string]any) { m["schema_version"] = bundle.SchemaVersion - 1 }},
		{"newer tables", "import-newer", true, func(_ files, m map[string]any) { m["records_version"] = store.Format() + 1 }},
		{"tables of version 1000000", "import-newer", true, func(_ files, m map[string]any) { m["records_version"] = 1_000_000 }},
		{"a part", "import-part", true, func(_ files, m map[string]any) { m["complete"] = false }},
		{"another format", "import-meta", true, func(_ files, m map[string]any) { m["format"] = "something" }},
		{"no meta.json", "import-meta", true, func(_ files, m map[string]any) { clear(m) }},
		{"id of a session that leads elsewhere", "import-meta", true, func(_ files, m map[string]any) { m["session_id"] = "../x" }},
		{"missing file", "import-missing", false, func(f files, _ map[string]any) { delete(f, "labels.parquet") }},
		{"missing records", "import-missing", false, func(f files, _ map[string]any) { delete(f, answers) }},
		{"records that are not listed", "import-missing", true, func(f files, m map[string]any) {
			delete(f, answers)
			m["files"] = slices.DeleteFunc(m["files"].([]any), func(e any) bool { return e.(map[string]any)["name"] == answers })
		}},
		{"other content", "import-sum", false, func(f files, _ map[string]any) { f["labels.parquet"].Bytes()[100] ^= 1 }},
		{"longer file", "import-sum", false, func(f files, _ map[string]any) { f["README.md"].WriteString("x") }},
		{"truncated table", "import-table", true, func(f files, _ map[string]any) { f[answers].Truncate(f[answers].Len() / 2) }},
		{"empty table", "import-table", true, func(f files, _ map[string]any) { f[answers].Reset() }},
		{"another table", "import-table", true, func(f files, _ map[string]any) { f[answers] = f["tiebreak/clip.jsonl"] }},
		{"a table twice", "import-table", true, func(f files, _ map[string]any) { f["tiebreak/posterior.jsonl"] = f["labels.parquet"] }},
		{"no session", "import-table", true, func(f files, _ map[string]any) {
			f["tiebreak/session.jsonl"] = recordsOf(t, db, "session", func([]any) [][]any { return nil })
		}},
		{"answers without their questions", "import-table", true, func(f files, _ map[string]any) {
			f["tiebreak/assignment.jsonl"] = recordsOf(t, db, "assignment", func([]any) [][]any { return nil })
		}},
		{"rows of another session", "import-table", true, func(f files, _ map[string]any) {
			f[answers] = recordsOf(t, db, "answer", func(row []any) [][]any { row[0] = "another"; return [][]any{row} })
		}},
		{"a row twice", "import-table", true, func(f files, _ map[string]any) {
			f[answers] = recordsOf(t, db, "answer", func(row []any) [][]any { return [][]any{row, row} })
		}},
		{"features that are not a number", "import-table", true, func(f files, _ map[string]any) {
			f["tiebreak/clip.jsonl"] = recordsOf(t, db, "clip", func(row []any) [][]any {
				row[5] = []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
				return [][]any{row}
			})
		}},
		{"clips with another sum", "import-clip", true, func(f files, _ map[string]any) {
			f["tiebreak/clip.jsonl"] = recordsOf(t, db, "clip", func(row []any) [][]any {
				row[6] = []byte("another picture")
				return [][]any{row}
			})
		}},
		{"a path that leads elsewhere", "import-path", false, func(_ files, m map[string]any) {
			m["files"] = append(m["files"].([]any), map[string]any{"name": "../secret", "bytes": 1, "sha256": strings.Repeat("0", 64)})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := changed(t, good, test.sums, test.change)
			err := take(t, other, folder(t, f), "")
			if idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), test.code+":") {
				t.Errorf("%v, want %s", err, test.code)
			}
			if list, err := other.Sessions(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("left behind: %v, %v", list, err)
			}
		})
	}
	must(t, take(t, other, folder(t, good), "")) // the same can be run again once it is right
}

// Of a bundle of an older form the message says which program wrote it, and what to do.
func TestOlderBundles(t *testing.T) {
	old := changed(t, write(t, configured(studied(t, 40))), true, func(_ files, m map[string]any) {
		m["schema_version"], m["program"] = bundle.SchemaVersion-1, "tiebreak 0.9"
	})
	err := take(t, empty(t), folder(t, old), "")
	for _, want := range []string{"import-older: ", "tiebreak 0.9", "import it with that version", "export it again"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// recordsOf returns the records of a table as a bundle has them, with each row replaced.
func recordsOf(t testing.TB, db *store.DB, table string, replace func([]any) [][]any) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	must(t, db.Read(t.Context(), study, func(r *store.Reading) error {
		list, err := r.RecordTables(t.Context())
		must(t, err)
		i := slices.IndexFunc(list, func(o record.RecordTable) bool { return o.Name == table })
		_, err = bundle.WriteRecords(&out, list[i], func(yield func([]any) error) error {
			return r.Records(t.Context(), list[i], func(row []any) error {
				for _, row := range replace(row) {
					if err := yield(row); err != nil {
						return err
					}
				}
				return nil
			})
		})
		return err
	}))
	return &out
}

// Archives cannot reach outside of their folder.
func TestArchivesThatTrick(t *testing.T) {
	good := write(t, configured(studied(t, 40)))
	other := empty(t)
	header := func(h tar.Header) string {
		var out bytes.Buffer
		z := tar.NewWriter(&out)
		must(t, z.WriteHeader(&h))
		_ = z.Close() // a file that is announced and does not come
		return fileOf(t, out.Bytes())
	}
	zipped := func(name string, mode os.FileMode) string {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		h := &zip.FileHeader{Name: name}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		must(t, err)
		_, err = w.Write([]byte("/etc/passwd"))
		must(t, err)
		must(t, z.Close())
		return fileOf(t, out.Bytes())
	}
	outside := folder(t, good)
	must(t, os.Rename(filepath.Join(outside, "README.md"), filepath.Join(outside, "other")))
	must(t, os.Symlink("/etc/passwd", filepath.Join(outside, "README.md")))
	escaped := folder(t, good)
	must(t, os.Rename(filepath.Join(escaped, "tiebreak"), filepath.Join(t.TempDir(), "tiebreak")))
	must(t, os.Symlink(t.TempDir(), filepath.Join(escaped, "tiebreak")))
	var damaged bytes.Buffer
	b, err := os.ReadFile(archived(t, good, "zip"))
	must(t, err)
	damaged.Write(b[:len(b)-100])
	twice := files{"a/meta.json": good["meta.json"], "b/meta.json": good["meta.json"]}
	for _, test := range []struct{ name, path, code string }{
		{"tar that climbs", header(tar.Header{Name: "../../meta.json", Mode: 0o600}), "import-path"},
		{"tar from the root", header(tar.Header{Name: "/tmp/meta.json", Mode: 0o600}), "import-path"},
		{"tar with a link", header(tar.Header{Name: "tiebreak/answer.jsonl", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "import-path"},
		{"tar with a hard link", header(tar.Header{Name: "meta.json", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), "import-"},
		{"tar with a device", header(tar.Header{Name: "meta.json", Typeflag: tar.TypeChar}), "import-path"},
		{"huge file in a tar", header(tar.Header{Name: "meta.json", Mode: 0o600, Size: 1 << 40}), "import-size"},
		{"tar that ends too early", header(tar.Header{Name: "meta.json", Mode: 0o600, Size: 1000}), "import-archive"},
		{"zip that climbs", zipped("../meta.json", 0o600), "import-path"},
		{"zip with backslashes", zipped(`..\meta.json`, 0o600), "import-path"},
		{"zip with a link", zipped("meta.json", os.ModeSymlink|0o777), "import-path"},
		{"damaged zip", fileOf(t, damaged.Bytes()), "import-archive"},
		{"two bundles", archived(t, twice, "tar"), "import-meta"},
		{"link in a folder", outside, "import-path"},
		{"folder that is a link", escaped, "import-"},
		{"something else", fileOf(t, []byte("label,choice\n1,a\n")), "import-archive"},
		{"empty file", fileOf(t, nil), "import-archive"},
		{"nothing", filepath.Join(t.TempDir(), "none"), "import-open"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := take(t, other, test.path, ""); idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(strings.TrimPrefix(err.Error(), test.path+": "), test.code) {
				t.Errorf("%v, want %s", err, test.code)
			}
			if list, err := other.Sessions(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("left behind: %v, %v", list, err)
			}
		})
	}
}

// Any bytes in the place of a table are refused or are one, and never more.
func FuzzReadRecords(f *testing.F) {
	db := studied(f, 10)
	out := recordsOf(f, db, "answer", func(row []any) [][]any { return [][]any{row} })
	f.Add(out.Bytes())
	f.Add(out.Bytes()[:out.Len()/2])
	var table record.RecordTable
	must(f, db.Read(f.Context(), study, func(r *store.Reading) error {
		list, err := r.RecordTables(f.Context())
		table = list[slices.IndexFunc(list, func(o record.RecordTable) bool { return o.Name == "answer" })]
		return err
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var err error
		took := allocated(func() {
			err = bundle.ReadRecords(bytes.NewReader(b), "answer", table, func(row []any) error {
				if len(row) != len(table.Columns) {
					return fmt.Errorf("%d values", len(row))
				}
				return nil
			})
		})
		if limit := 1<<20 + 50*uint64(len(b)); took > limit {
			t.Errorf("%d bytes took %d of memory", len(b), took)
		}
		if err != nil && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%v", err)
		}
	})
}
