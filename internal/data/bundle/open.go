package bundle

import (
	"errors"
	"fmt"
	"os"

	"tiebreak/internal/data/archive"
	"tiebreak/internal/idrl"
)

// A Bundle is one that was written earlier, from which a session can be made again.
type Bundle struct {
	root   *os.Root
	temp   string // a folder to remove; empty for none
	meta   meta
	listed map[string]fileEntry // the files of meta, by name
	left   int64                // bytes of values that may still be read from records
}

// Open opens the bundle at name, a folder, zip, tar or tar.gz file. It reads meta.json first, and
// then every file that is listed there once: all are there, with the checksums that it says. A folder is made
// in scratch for the records of an archive until Close. These and the values that are read from them
// have at most room bytes, and not many times those of the bundle.
//
// It returns an error of kind Invalid, whose text begins with a code, if this is not a bundle
// (import-open, import-archive, import-meta), is of a newer or an older version (import-newer,
// import-older), is only a part of a session (import-part), lacks a file (import-missing), holds one with another
// content (import-sum), tries to reach outside of its folder or beyond limits (import-path,
// import-size), or needs more than room (import-space).
func Open(name, scratch string, room uint64) (_ *Bundle, err error) {
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
		return b, b.openFolder(name, room)
	}
	return b, b.openArchive(name, scratch, room)
}

func (b *Bundle) openFolder(name string, room uint64) (err error) {
	if b.root, err = os.OpenRoot(name); err != nil {
		return refused("open", "%v", err)
	}
	f, err := b.root.Open("meta.json")
	if err != nil {
		return refused("meta", "%s is not a bundle: there is no meta.json in it", name)
	}
	b.meta, err = readMeta(f, name)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := b.list(maxTotal, room); err != nil {
		return err
	}
	found, err := survey(b.root, b.listed)
	if err != nil {
		return err
	}
	return b.compare(found)
}

func (b *Bundle) openArchive(name, scratch string, room uint64) error {
	a, err := archive.Open(name, archive.Limits{Refusal: "import", Files: maxEntries, Bytes: maxTotal})
	if err != nil {
		return err
	}
	defer a.Close()
	folder, m, err := find(a, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.meta = m
	if err := b.list(a.Size(), room); err != nil {
		return err
	}
	if b.temp, err = os.MkdirTemp(scratch, "unpacked-*"); err != nil {
		return err
	}
	if b.root, err = os.OpenRoot(b.temp); err != nil {
		return err
	}
	found, err := unpack(a, folder, b.listed, b.root)
	if err != nil {
		return err
	}
	return b.compare(found)
}

// list sets listed and left. It returns an error if a file is listed twice, or the records have more bytes than
// come from an archive of that size, or more than room.
func (b *Bundle) list(archive int64, room uint64) error {
	b.listed = make(map[string]fileEntry, len(b.meta.Files))
	for _, f := range b.meta.Files {
		if _, twice := b.listed[f.Name]; twice {
			return refused("meta", "meta.json lists %s twice", f.Name)
		}
		b.listed[f.Name] = f
	}
	n := b.recordBytes()
	if n > mostRecords(archive) {
		return refused("size", "the archive has %d bytes, and its records %d: no bundle is packed as densely", archive, n)
	}
	if uint64(n) > room { //nolint:gosec // not negative
		return refused("space", "the records of the bundle have %d bytes, and there is room for %d on the disk of the data folder", n, room)
	}
	b.left = int64(min(uint64(mostRecords(min(n, archive))), room)) //nolint:gosec // both fit
	return nil
}

// recordBytes returns the size of all records as they are packed.
func (b *Bundle) recordBytes() (n int64) {
	for name, f := range b.listed {
		if isRecord(name) {
			n += f.Bytes
		}
	}
	return n
}

// compare returns an error unless all files that meta.json lists were found, as it says.
func (b *Bundle) compare(found map[string]seen) error {
	for _, f := range b.meta.Files {
		switch s, ok := found[f.Name]; {
		case !ok:
			return refused("missing", "%s is missing, although meta.json lists it: the bundle was not copied completely", f.Name)
		case s.bytes != f.Bytes:
			return refused("sum", "%s has another content than when the bundle was written: it has %d bytes, meta.json says %d", f.Name, s.bytes, f.Bytes)
		case s.sum != f.SHA256:
			return refused("sum", "%s has another content than when the bundle was written: its SHA-256 is %s, meta.json says %s", f.Name, s.sum, f.SHA256)
		}
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
func (b *Bundle) Has(table string) bool {
	_, ok := b.listed[recordFile(table)]
	return ok
}
