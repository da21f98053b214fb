package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tiebreak/internal/idrl"
)

// maxManifest bounds what is read of a manifest: some 300,000 files.
const maxManifest = 64 << 20

// Is reports whether the file at path begins as an archive does.
func Is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(manifestName)+1)
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == manifestName+"\x00"
}

// Head returns the manifest of the archive at path, without reading its files. The errors are those
// of Read.
func Head(ctx context.Context, path string) (m Manifest, err error) {
	err = reading(ctx, path, func(r *tar.Reader) error {
		m, err = head(r)
		return err
	})
	return m, err
}

// Read checks the archive at path: every file must be what the manifest says. into receives the
// content of each file in turn; nil throws it away. Names are relative, without dots. Read returns
// an error of kind Invalid if path is not an archive or of a newer format, and of kind Damaged, which
// names the file, if something is not what was written.
func Read(ctx context.Context, path string, into func(f File, content io.Reader) error) (m Manifest, err error) {
	err = reading(ctx, path, func(r *tar.Reader) error {
		m, err = whole(r, into)
		return err
	})
	return m, err
}

// whole is Read of an open archive.
func whole(r *tar.Reader, into func(f File, content io.Reader) error) (m Manifest, err error) {
	if m, err = head(r); err != nil {
		return m, err
	}
	for _, f := range m.Files {
		if err := one(r, f, into); err != nil {
			return m, err
		}
	}
	if h, err := r.Next(); !errors.Is(err, io.EOF) {
		if err == nil {
			return m, damaged("it has a file %q that the manifest does not list", h.Name)
		}
		return m, damaged("its end is not readable (%v)", err)
	}
	return m, nil
}

func reading(ctx context.Context, path string, f func(*tar.Reader) error) error {
	in, err := os.Open(path)
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "the backup cannot be read (%v)", err)
	}
	defer in.Close()
	if err := f(tar.NewReader(reader{ctx, in})); err != nil {
		return fmt.Errorf("backup %s: %w", path, err)
	}
	return nil
}

func damaged(format string, args ...any) error {
	return idrl.Errorf(idrl.Damaged, "the backup is damaged: "+format+". Use another backup", args...)
}

// head reads the manifest.
func head(r *tar.Reader) (m Manifest, err error) {
	h, err := r.Next()
	if err != nil || h.Name != manifestName {
		return m, idrl.Errorf(idrl.Invalid, "this is no backup of tiebreak, or its first bytes are damaged: a backup begins with the file %s", manifestName)
	}
	if h.Size > maxManifest {
		return m, damaged("the file %s says that it has %d bytes", manifestName, h.Size)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return m, unreadable(manifestName, err)
	}
	if h, err = r.Next(); err != nil || h.Name != sumName || h.Size > 1000 {
		return m, damaged("the file %s is not readable", sumName)
	}
	stated, err := io.ReadAll(r)
	if err != nil {
		return m, unreadable(sumName, err)
	}
	if sum := sha256.Sum256(text); !bytes.Equal(stated, fmt.Appendf(nil, "%x  %s\n", sum, manifestName)) {
		return m, damaged("the file %s does not have the SHA-256 in %s", manifestName, sumName)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, damaged("the file %s is not readable (%v)", manifestName, err)
	}
	if m.Format > Format {
		return m, idrl.Errorf(idrl.Invalid, "the backup was made by a newer version of tiebreak (%s; backup format %d, this one reads up to %d): use a newer tiebreak", m.Program, m.Format, Format)
	}
	return m, checkNames(m.Files)
}

// checkNames returns an error unless the files can all be written below one folder.
func checkNames(files []File) error {
	seen := map[string]bool{}
	for _, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) || filepath.ToSlash(filepath.Clean(f.Name)) != f.Name || seen[f.Name] || f.Size < 0 {
			return damaged("the manifest names a file %q, which cannot be restored", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// one reads the next file, which must be f.
func one(r *tar.Reader, f File, into func(File, io.Reader) error) error {
	switch h, err := r.Next(); {
	case err != nil:
		return unreadable(f.Name, err)
	case h.Name != f.Name || h.Size != f.Size || h.Typeflag != tar.TypeReg:
		return damaged("where the file %s should be there is %q with %d bytes", f.Name, h.Name, h.Size)
	}
	sum := sha256.New()
	content := io.TeeReader(r, sum)
	if into != nil {
		if err := into(f, content); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return unreadable(f.Name, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return damaged("the file %s does not have the SHA-256 of the manifest", f.Name)
	}
	return nil
}

func unreadable(name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return damaged("the file %s is not readable (%v)", name, err)
}
