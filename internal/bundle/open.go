package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
)

// A Bundle is one that was written earlier, from which a session can be made again.
type Bundle struct {
	root *os.Root
	temp string // a folder to remove; empty for none
	meta meta
}

// Open opens the bundle at name, a folder, zip, tar or tar.gz file, and reads every file of it
// once: all that meta.json lists are there, with the checksums that it says. A folder is made
// in scratch for the records of an archive until Close.
//
// It returns an error of kind Invalid, whose text begins with a code, if this is not a bundle
// (import-open, import-archive, import-meta), is of a newer version (import-newer), is only a
// part of a session (import-part), lacks a file (import-missing), holds one with another
// content (import-sum), or tries to reach outside of its folder or beyond limits (import-path,
// import-size).
func Open(name, scratch string) (_ *Bundle, err error) {
	b := &Bundle{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	info, err := os.Stat(name)
	if err != nil {
		return nil, refused("open", "%v", err)
	}
	if info.IsDir() {
		return b, b.openFolder(name)
	}
	return b, b.openArchive(name, scratch)
}

func (b *Bundle) openFolder(name string) (err error) {
	if b.root, err = os.OpenRoot(name); err != nil {
		return refused("open", "%v", err)
	}
	if err := b.readMeta(name); err != nil {
		return err
	}
	found, err := survey(b.root, b.names())
	if err != nil {
		return err
	}
	return b.compare(found)
}

func (b *Bundle) openArchive(name, scratch string) (err error) {
	if b.temp, err = os.MkdirTemp(scratch, "unpacked-*"); err != nil {
		return err
	}
	into, err := os.OpenRoot(b.temp)
	if err != nil {
		return err
	}
	defer into.Close()
	all, err := extract(name, into)
	if err != nil {
		return err
	}
	folder, err := folderOf(all)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	found := map[string]seen{}
	for file, s := range all {
		found[strings.TrimPrefix(file, folder+"/")] = s // those beside the folder are not listed
	}
	if b.root, err = into.OpenRoot(folder); err != nil {
		return err
	}
	if err := b.readMeta(name); err != nil {
		return err
	}
	return b.compare(found)
}

// folderOf returns the folder of an archive in which the bundle is: that of meta.json, which is
// the archive itself or a folder in it.
func folderOf(all map[string]seen) (string, error) {
	var at []string
	for file := range all {
		if path.Base(file) == "meta.json" && strings.Count(file, "/") <= 1 {
			at = append(at, path.Dir(file))
		}
	}
	if len(at) != 1 {
		return "", refused("meta", "the archive holds %d files meta.json, in itself or in one folder, and a bundle has one", len(at))
	}
	return at[0], nil
}

// readMeta reads meta.json and checks that a session can be made from the bundle.
func (b *Bundle) readMeta(name string) error {
	f, err := b.root.Open("meta.json")
	if err != nil {
		return refused("meta", "%s is not a bundle: there is no meta.json in it", name)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMeta+1))
	if err != nil || len(text) > maxMeta {
		return refused("meta", "meta.json cannot be read, or has more than %d bytes: %v", maxMeta, err)
	}
	if err := json.Unmarshal(text, &b.meta); err != nil {
		return refused("meta", "meta.json is not as it must be: %v", err)
	}
	m := &b.meta
	switch {
	case m.Format != "tiebreak.bundle" || m.Version < 1:
		return refused("meta", "%s is not a bundle of tiebreak: meta.json says that its format is %q", name, m.Format)
	case m.Version > SchemaVersion:
		return refused("newer", "the bundle was written by a newer version, %s: its schema_version is %d, and this program reads up to %d; use a newer tiebreak", m.Program, m.Version, SchemaVersion)
	case !m.Complete:
		return refused("part", "the bundle holds only a part of its session, from which that cannot be made again: export it without --after, and with --answers all")
	case m.Session == "" || m.Records < 1:
		return refused("meta", "meta.json lacks the id of the session or the version of its records")
	}
	return nil
}

// names returns the files that meta.json lists.
func (b *Bundle) names() (out []string) {
	for _, f := range b.meta.Files {
		out = append(out, f.Name)
	}
	return out
}

// compare returns an error unless all files that meta.json lists were found, as it says.
func (b *Bundle) compare(found map[string]seen) error {
	listed := map[string]bool{}
	for _, f := range b.meta.Files {
		s, ok := found[f.Name]
		switch {
		case listed[f.Name]:
			return refused("meta", "meta.json lists %s twice", f.Name)
		case !ok:
			return refused("missing", "%s is not there, which meta.json lists: the bundle was not copied whole", f.Name)
		case s.bytes != f.Bytes || s.sum != f.SHA256:
			return refused("sum", "%s has another content than when the bundle was written: it has %d bytes and SHA-256 %s, meta.json says %d and %s", f.Name, s.bytes, s.sum, f.Bytes, f.SHA256)
		}
		listed[f.Name] = true
	}
	return nil
}

// Close frees what Open made.
func (b *Bundle) Close() error {
	var err error
	if b.root != nil {
		err = b.root.Close()
	}
	if b.temp != "" {
		err = errors.Join(err, os.RemoveAll(b.temp))
	}
	return err
}

// Session returns the id that the session had.
func (b *Bundle) Session() idrl.SessionID { return idrl.SessionID(b.meta.Session) }

// Schema returns the version of the tables that the records are rows of.
func (b *Bundle) Schema() int64 { return b.meta.Records }

// Has reports whether there are records of a table.
func (b *Bundle) Has(table string) bool { return slices.Contains(b.names(), recordFile(table)) }

func recordFile(table string) string { return "tiebreak/" + table + ".parquet" }
