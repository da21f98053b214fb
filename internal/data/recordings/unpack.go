package recordings

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"tiebreak/internal/data/archive"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/idrl"
)

// Limits of an archive that is uploaded.
const (
	MaxArchive = 64 << 30 // bytes, packed and unpacked
	MaxTable   = 64 << 20 // bytes of a table of episodes

	archiveFiles = 100_000
	archivePath  = 400      // bytes of a path
	archiveDeep  = 8        // folders of a path
	archiveRatio = 100      // bytes that a byte may unpack to,
	archiveLeast = 64 << 20 // beyond these
)

// An Unpacking says which archive of a data set is unpacked.
type Unpacking struct {
	Archive string // file: zip, tar or tar.gz
	To      string // folder, which is made
	Room    uint64 // bytes that there are for it on the disk
}

// Unpack unpacks a data set of LeRobot: the folder of the archive in which meta/info.json is, which is the archive itself or a folder in it.
// Files and folders that begin with a dot, and what macOS adds, are left out. It returns an error of kind Invalid, with a code
// (docs/lerobot.md), and leaves what it has written, if something about the archive is not as it must be.
func (u Unpacking) Unpack(ctx context.Context, progress func(Progress)) (err error) {
	a, err := archive.Open(u.Archive, archive.Limits{Refusal: refusal, Files: archiveFiles, Bytes: MaxArchive, Called: "the file"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	folder, files, err := u.survey(ctx, a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(u.To, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(u.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	done := 0
	return a.Each(func(f archive.File) error {
		name, ok := below(folder, f.Name)
		if !ok {
			return nil
		}
		progress(Progress{What: "unpacking file", Done: done, Total: files})
		done++
		return writeFile(ctx, root, name, f)
	})
}

// survey returns the folder of the data set within an archive, and how many files are to be unpacked.
func (u Unpacking) survey(ctx context.Context, a *archive.Archive) (folder string, files int, err error) {
	var infos []string
	names, total := []string{}, int64(0)
	err = a.Each(func(f archive.File) error {
		idrl.Pause(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case len(f.Name) > archivePath || strings.Count(f.Name, "/") > archiveDeep || !foreign.IsLine(f.Name, archivePath):
			return refused("path", "a path of the archive has more than %d bytes or %d folders, or cannot be shown in a line: %.100q", archivePath, archiveDeep, f.Name)
		}
		if dir, ok := strings.CutSuffix("/"+f.Name, "/"+lerobot.InfoName); ok && strings.Count(dir, "/") <= 1 && !hidden(f.Name) {
			infos = append(infos, strings.TrimPrefix(dir, "/"))
		}
		names, total = append(names, f.Name), total+f.Size
		return nil
	})
	switch {
	case err != nil:
		return "", 0, err
	case len(infos) != 1:
		return "", 0, refused("archive", "the archive must hold one data set, with %s in itself or in one folder; it has %d", lerobot.InfoName, len(infos))
	case total > archiveLeast+archiveRatio*min(a.Size(), MaxArchive):
		return "", 0, refused("size", "the archive has %d bytes, and unpacked %d: no data set is packed as densely", a.Size(), total)
	case uint64(total) > u.Room: //nolint:gosec // not negative
		return "", 0, refused("space", "the archive unpacks to %d bytes, and there is room for %d on the disk of the data folder", total, u.Room)
	}
	for _, name := range names {
		if _, ok := below(infos[0], name); ok {
			files++
		}
	}
	return infos[0], files, nil
}

// hidden reports whether a part of a path begins with a dot, or is what macOS adds to archives.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || strings.HasPrefix(name, "__MACOSX/")
}

// below returns the path of a file within the folder of the data set; ok is false for one that is not unpacked.
func below(folder, name string) (path string, ok bool) {
	if folder != "" {
		if name, ok = strings.CutPrefix(name, folder+"/"); !ok {
			return "", false
		}
	}
	return name, !hidden(name)
}

// writeFile writes a file of an archive, which then is durable.
func writeFile(ctx context.Context, root *os.Root, name string, from archive.File) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return refused("path", "%q is the path of a file of the archive, and of a folder", name)
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return refused("path", "%q cannot be written: two files of the archive have this path on this disk, or one is a folder (%v)", name, err)
	}
	err = from.Read(func(r io.Reader) error {
		n, err := io.Copy(to, &pausing{ctx, io.LimitReader(r, from.Size+1)})
		if err == nil && n != from.Size {
			err = refused("archive", "%q has another length than the archive says", name)
		}
		return err
	})
	return errors.Join(err, to.Sync(), to.Close())
}

// A pausing reader ends with its context.
type pausing struct {
	ctx  context.Context //nolint:containedctx // lasts as long as the reader
	from io.Reader
}

// Read implements io.Reader.
func (p *pausing) Read(b []byte) (int, error) {
	idrl.Pause(p.ctx)
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.from.Read(b)
}
