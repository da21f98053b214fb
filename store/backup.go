package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/store/archive"
)

const (
	backupFolder = "backups"   // in the data folder
	keptBackups  = 3           // of backups that are made before migrations
	partialMark  = ".partial-" // in the names of folders in which backups are being written
	stampLayout  = "20060102T150405.000000000Z"
)

// UploadsFolder is the folder, in a data folder, of data sets that were uploaded. It is in backups if that is asked for.
const UploadsFolder = "uploaded"

// CertificateFolder is the folder, in a data folder, of the keys and certificates that a server gets by ACME. It is not in backups.
const CertificateFolder = "acme"

// ownBackup is the name of a backup that the program made by itself: why (by schedule, or before an
// upgrade of a version of the database), and when. Earlier versions copied the database alone (.db).
var ownBackup = regexp.MustCompile(`^(auto|v[0-9]+)-([0-9]{8}T[0-9]{6}\.[0-9]+Z)\.(tar|db)$`)

// Backup writes a consistent copy of the data folder to the new file path, while others read and
// write: an archive (package archive) of the database and of the other files that a server needs. The file gets that name when it is complete, checked
// and on the disk. It makes the folder of path. uploads says whether data sets that were uploaded are in it (UploadsFolder). It returns an error of kind Conflict if path exists.
func (db *upkeep) Backup(ctx context.Context, path string, uploads bool) (archive.Manifest, error) {
	// The read pool cannot be used: query_only forbids the copy as well.
	p, err := sql.Open("sqlite", dsn(filepath.Join(db.dir, FileName), url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}))
	if err != nil {
		return archive.Manifest{}, err
	}
	m, err := backup(ctx, p, db.dir, path, uploads)
	return m, errors.Join(err, p.Close())
}

// backup writes an archive of the data folder dir, whose database is p.
func backup(ctx context.Context, p *sql.DB, dir, path string, uploads bool) (m archive.Manifest, err error) {
	into := filepath.Dir(path)
	if err := os.MkdirAll(into, 0o700); err != nil {
		return m, err
	}
	if exists(path) {
		return m, idrl.Errorf(idrl.Conflict, "the file %s exists; name a new one", path)
	}
	scratch, err := os.MkdirTemp(into, filepath.Base(path)+partialMark+"*") // for the owner alone
	if err != nil {
		return m, err
	}
	defer func() {
		if errors.Is(err, fs.ErrNotExist) {
			err = idrl.Errorf(idrl.Conflict, "data of a person were withdrawn meanwhile, so the backup was removed before it was whole; make it again")
		}
		err = errors.Join(noRoom(into, err), os.RemoveAll(scratch))
	}()
	copied := filepath.Join(scratch, FileName)
	if _, err := p.ExecContext(ctx, `VACUUM INTO ?`, copied); err != nil {
		return m, convert(err)
	}
	others, err := otherFiles(dir, "", 0)
	if err != nil {
		return m, err
	}
	if m, err = describe(ctx, copied); err != nil {
		return m, err
	}
	if all := len(others); !uploads {
		if others = slices.DeleteFunc(others, uploaded); len(others) < all {
			m.LeftOut = []string{UploadsFolder}
		}
	}
	whole := filepath.Join(scratch, "whole")
	if err := archive.Write(ctx, whole, &m, append([]archive.File{archive.From(FileName, copied)}, others...)); err != nil {
		return m, err
	}
	if err := os.Rename(whole, path); err != nil {
		return m, err
	}
	syncFolder(into)
	return m, nil
}

// noRoom returns err, and says so if a disk is full or cannot be written.
func noRoom(dir string, err error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, full) {
			return idrl.Errorf(idrl.Unavailable, "the folder %s has no room for it (%v): free space or name another folder; nothing is left of it there", dir, err)
		}
	}
	if idrl.KindOf(err) == idrl.Unavailable {
		return fmt.Errorf("in the folder %s, where nothing is left of it: %w", dir, err)
	}
	return err
}

// describe checks the database at path and returns the manifest of an archive of it.
func describe(ctx context.Context, path string) (m archive.Manifest, err error) {
	c, err := openBackup(path)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := check(ctx, c, `PRAGMA integrity_check(1)`); err != nil {
		return m, err
	}
	m = archive.Manifest{Program: command.BuildVersion(), MadeAt: time.Now().UTC(), Note: backupNote}
	if m.Database, err = version(ctx, c); err != nil {
		return m, err
	}
	m.Without, err = withdrawn(ctx, c)
	return m, err
}

// backupNote is in every backup.
const backupNote = "This is a backup of a data folder of tiebreak: 'tiebreak restore FILE --data DIR' makes a data folder of it, --verify checks it. " +
	"It holds names and answers of people. When a person withdraws their data, the server removes them from the backups in its own folders; this file, if it lies elsewhere, is for you " +
	"to delete, or to keep until its turn: 'tiebreak restore' removes those who have withdrawn since, by the file " + ForgottenName + " of the server's folder."

// transient reports whether a file or folder of a data folder belongs to a running process or to
// one machine: the database (of which the backup has a copy), locks, backups, the streams of a NATS
// server, whose jobs are in the database, keys and certificates that a server gets again, and what begins with a dot.
func transient(name string) bool {
	return strings.HasPrefix(name, FileName) || strings.HasPrefix(name, lockName) || name == backupFolder || name == "nats" || name == CertificateFolder || name == ForgottenName
}

// uploaded reports whether a file of an archive is of a data set that was uploaded.
func uploaded(f archive.File) bool { return strings.HasPrefix(f.Name, UploadsFolder+"/") }

// otherFiles returns the files of a data folder besides the database, below the folder sub:
// imported rollouts, keys of workers, uploaded data sets, with the file that says whose each is. It follows symbolic links.
func otherFiles(dir, sub string, depth int) (out []archive.File, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, sub))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(sub, e.Name())
		path := filepath.Join(dir, name)
		if strings.HasPrefix(e.Name(), ".") && filepath.Dir(sub) != UploadsFolder || strings.Contains(e.Name(), partialMark) || sub == "" && transient(e.Name()) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile, or a link to nothing
		case err != nil:
			return nil, err
		case info.IsDir() && depth > 30:
			return nil, idrl.Errorf(idrl.Invalid, "the folder %s is in too many others; a link may lead back to it", path)
		case info.IsDir():
			below, err := otherFiles(dir, name, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		case info.Mode().IsRegular() && !archive.Is(path):
			out = append(out, archive.From(filepath.ToSlash(name), path))
		}
	}
	return out, nil
}

// openBackup opens a database file that no process writes.
func openBackup(path string) (*sql.DB, error) {
	return sql.Open("sqlite", dsn(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}))
}

// syncFolder makes the names in dir durable, on systems where folders can be synced.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// ownName returns the path of a backup that the program makes now in the folder dir, for a reason:
// "auto" or "v" and a version.
func ownName(dir, why string) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%s.tar", why, time.Now().UTC().Format(stampLayout)))
}

// backUp makes a backup of a database of version v in the data folder dir before it is migrated,
// and removes the oldest of these if there are more than keptBackups.
func backUp(ctx context.Context, p *sql.DB, dir string, v int64) error {
	if _, err := backup(ctx, p, dir, ownName(filepath.Join(dir, backupFolder), fmt.Sprint("v", v)), false); err != nil {
		return err
	}
	return prune(filepath.Join(dir, backupFolder), false, keptBackups)
}

// prune removes the oldest of the backups in dir that were made by schedule, or before migrations,
// if there are more than keep.
func prune(dir string, scheduled bool, keep int) error {
	var errs []error
	made := ownBackups(dir, scheduled)
	for _, path := range made[min(keep, len(made)):] {
		errs = append(errs, removeDatabase(path))
	}
	return errors.Join(errs...)
}

// ownBackups returns the paths of the backups that the program made in the folder dir, by schedule
// or before migrations, the newest first.
func ownBackups(dir string, scheduled bool) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is well formed
	found = slices.DeleteFunc(found, func(path string) bool {
		name := filepath.Base(path)
		return !ownBackup.MatchString(name) || strings.HasPrefix(name, "auto-") != scheduled
	})
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(madeAt(b), madeAt(a)) })
	return found
}

// madeAt returns the time in the name of an own backup, as text that sorts as time does.
func madeAt(path string) string { return ownBackup.FindStringSubmatch(filepath.Base(path))[2] }

// removePartial removes the incomplete backups of killed processes in the folder dir: those with
// other names, and those of earlier versions that have a journal of SQLite or are empty.
func removePartial(dir string) error {
	var errs []error
	left, _ := filepath.Glob(filepath.Join(dir, "*"+partialMark+"*")) // the pattern is well formed
	for _, path := range left {
		errs = append(errs, os.RemoveAll(path))
	}
	for _, path := range ownBackups(dir, false) {
		if info, err := os.Stat(path); exists(path+"-journal") || err == nil && info.Size() == 0 {
			errs = append(errs, removeDatabase(path))
		}
	}
	return errors.Join(errs...)
}

// removeDatabase removes a file, with those that SQLite may have made next to it.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// check runs a pragma that checks p and returns an error of kind Damaged that names
// the first damage.
func check(ctx context.Context, p *sql.DB, pragma string) error {
	var verdict string
	if err := p.QueryRowContext(ctx, pragma).Scan(&verdict); err != nil {
		return convert(err)
	}
	if verdict != "ok" {
		return idrl.Errorf(idrl.Damaged, "SQLite reports: %s", oneLine(verdict))
	}
	return nil
}

// oneLine returns the result of a check of SQLite as one line.
func oneLine(verdict string) string {
	return strings.ReplaceAll(strings.TrimPrefix(verdict, "*** in database main ***\n"), "\n", "; ")
}
