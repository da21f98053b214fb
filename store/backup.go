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
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

const (
	backupFolder = "backups"   // in the data folder
	keptBackups  = 3           // of backups that the program makes by itself
	partialMark  = ".partial-" // in the names of backups that are being written
)

// ownBackup is the name of a backup that the program made in backupFolder: version and time.
var ownBackup = regexp.MustCompile(`^v[0-9]+-([0-9]{8}T[0-9]{6}\.[0-9]+Z)\.db$`)

// Backup writes a consistent copy of the database to the new file path, while others read and
// write. The file gets that name when it is complete, checked and on the disk. It makes the folder
// of path. It returns an error of kind Conflict if path exists.
func (db *upkeep) Backup(ctx context.Context, path string) error {
	// The read pool cannot be used: query_only forbids the copy as well.
	p, err := sql.Open("sqlite", dsn(filepath.Join(db.dir, FileName), url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}))
	if err != nil {
		return err
	}
	return errors.Join(backup(ctx, p, path), p.Close())
}

func backup(ctx context.Context, p *sql.DB, path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if exists(path) {
		return idrl.Errorf(idrl.Conflict, "the file %s exists; name a new one", path)
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+partialMark+"*") // for the owner alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(f.Name()))
		}
	}()
	defer f.Close()
	if _, err := p.ExecContext(ctx, `VACUUM INTO ?`, f.Name()); err != nil {
		return convert(err)
	}
	c, err := openBackup(f.Name())
	if err != nil {
		return err
	}
	if err := errors.Join(check(ctx, c, `PRAGMA integrity_check(1)`), c.Close()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); errors.Is(err, fs.ErrNotExist) {
		return idrl.Errorf(idrl.Conflict, "data of a person were withdrawn meanwhile, so the backup was removed before it was whole; make it again")
	} else if err != nil {
		return err
	}
	syncFolder(dir)
	return nil
}

// openBackup opens a file that no process writes.
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

// backUp calls write to make a backup of a database of version v in the data folder dir, and
// removes the oldest if there are more than keptBackups.
func backUp(dir string, v int64, write func(path string) error) error {
	stamp := time.Now().UTC().Format("20060102T150405.000000000Z")
	if err := write(filepath.Join(dir, backupFolder, fmt.Sprintf("v%d-%s.db", v, stamp))); err != nil {
		return err
	}
	made := ownBackups(dir)
	return removeAll(made[min(keptBackups, len(made)):])
}

// ownBackups returns the paths of the backups that the program made in dir, the newest first.
func ownBackups(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, backupFolder, "v*.db")) // the pattern is well formed
	found = slices.DeleteFunc(found, func(path string) bool { return !ownBackup.MatchString(filepath.Base(path)) })
	made := func(path string) string { return ownBackup.FindStringSubmatch(filepath.Base(path))[1] }
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(made(b), made(a)) })
	return found
}

// removePartial removes the incomplete backups of killed processes in dir: those with other names,
// and those of earlier versions that have a journal of SQLite or are empty.
func removePartial(dir string) error {
	left, _ := filepath.Glob(filepath.Join(dir, backupFolder, "*"+partialMark+"*")) // the pattern is well formed
	for _, path := range ownBackups(dir) {
		if info, err := os.Stat(path); exists(path+"-journal") || err == nil && info.Size() == 0 {
			left = append(left, path)
		}
	}
	return removeAll(left)
}

// forget removes people, all of whom have withdrawn, from the backups in the data folder: backups
// with their data are removed, and replaced by one of the present database. If there is no space
// for it, there is no backup.
func (db *upkeep) forget(ctx context.Context, people []person) error {
	if removePartial(db.dir) != nil {
		return errBackupStays
	}
	found, _ := filepath.Glob(filepath.Join(db.dir, backupFolder, "*.db")) // the pattern is well formed
	var holding []string
	for _, path := range found {
		is, err := holds(ctx, path, people)
		if idrl.KindOf(err) == idrl.Damaged { // its content is unknown
			is, err = ownBackup.MatchString(filepath.Base(path)), nil
		}
		if err != nil {
			return err
		}
		if is {
			holding = append(holding, path)
		}
	}
	if len(holding) == 0 {
		return nil
	}
	if err := backUp(db.dir, Format(), func(path string) error { return db.Backup(ctx, path) }); err != nil && idrl.KindOf(err) != idrl.Unavailable {
		return err
	}
	if removeAll(holding) != nil {
		return errBackupStays
	}
	return nil
}

// errBackupStays names no file, since every researcher reads it.
var errBackupStays = idrl.Errorf(idrl.Unavailable, "a backup in the data folder cannot be removed")

// holds reports whether a backup, which may be of an earlier version, contains data of one of
// people who had not withdrawn then.
func holds(ctx context.Context, path string, people []person) (bool, error) {
	p, err := openBackup(path)
	if err != nil {
		return false, err
	}
	defer p.Close()
	t, err := columns(ctx, p, "annotator")
	if err != nil || len(t.Columns) == 0 { // not of this program
		return false, err
	}
	query := `SELECT EXISTS (SELECT 1 FROM annotator WHERE session_id = ? AND id = ?`
	if slices.ContainsFunc(t.Columns, func(c record.RecordColumn) bool { return c.Name == "withdrawn_at" }) {
		query += ` AND withdrawn_at IS NULL`
	}
	for _, who := range people {
		var is bool
		if err := p.QueryRowContext(ctx, query+`)`, who.session, who.who).Scan(&is); err != nil || is {
			return is, convert(err)
		}
	}
	return false, nil
}

// removeAll removes files, with those that SQLite may have made next to them.
func removeAll(paths []string) error {
	var errs []error
	for _, path := range paths {
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
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
