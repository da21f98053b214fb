package store

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store/archive"
)

// ForgottenName is the name of the file, in a data folder and in the folders of its backups, that
// lists the people who have withdrawn their data, one a line (archive.Person). Restore removes them
// from a backup that was made before.
const ForgottenName = "forgotten.jsonl"

// backupsKey is the key in meta of the folders, one a line, in which this server has made backups
// besides that in the data folder.
const backupsKey = "backup folder"

// withdrawn returns the people whose data were withdrawn, in the order of sessions; none in a
// database from before there were withdrawals.
func withdrawn(ctx context.Context, from querier) (people []archive.Person, err error) {
	t, err := columns(ctx, from, "annotator")
	if err != nil || !slices.ContainsFunc(t.Columns, func(c record.RecordColumn) bool { return c.Name == "withdrawn_at" }) {
		return nil, err
	}
	err = each(ctx, from, func(row scanner) error {
		var p archive.Person
		err := row.Scan(&p.Session, &p.Annotator, timeColumn{&p.At})
		people = append(people, p)
		return err
	}, `SELECT session_id, id, withdrawn_at FROM annotator WHERE withdrawn_at IS NOT NULL ORDER BY session_id, id`)
	return people, err
}

// ownFolders returns the folders in which this server makes backups.
func (db *upkeep) ownFolders(ctx context.Context) ([]string, error) {
	others, err := db.Meta(ctx, backupsKey)
	folders := []string{filepath.Join(db.dir, backupFolder)}
	for dir := range strings.Lines(others) {
		folders = append(folders, strings.TrimSuffix(dir, "\n"))
	}
	return folders, err
}

// forget removes people, all of whom have withdrawn, from the backups in the folders of this server,
// and writes the list of them for backups elsewhere. Each backup that has been made since an earlier
// withdrawal is opened, brought to the present version, emptied of them, and written anew; one for
// which that fails is removed.
func (db *upkeep) forget(ctx context.Context, people []archive.Person) error {
	folders, err := db.ownFolders(ctx)
	if err != nil {
		return err
	}
	for _, dir := range folders {
		if err := forgetBackups(ctx, dir, people); err != nil {
			return err
		}
	}
	for _, dir := range append(folders, db.dir) {
		if err := listForgotten(dir, people); err != nil {
			return err
		}
	}
	return nil
}

// errBackupStays names no file, since every researcher reads it.
var errBackupStays = idrl.Errorf(idrl.Unavailable, "a backup of the server cannot be removed or written anew")

// forgetBackups is forget for one folder.
func forgetBackups(ctx context.Context, dir string, people []archive.Person) error {
	if removePartial(dir) != nil {
		return errBackupStays
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is well formed
	for _, path := range found {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		is, err := holds(ctx, path, people)
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		if err := rewriteBackup(ctx, path, people); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil && removeDatabase(path) != nil {
			return errBackupStays
		}
	}
	return nil
}

// holds reports whether a file, which may be a backup of an earlier version, may contain data of one
// of people. Of files that are no backups and have no name of one it is false.
func holds(ctx context.Context, path string, people []archive.Person) (bool, error) {
	m, err := archive.Head(ctx, path)
	if err == nil {
		return slices.ContainsFunc(people, func(p archive.Person) bool { return !slices.ContainsFunc(m.Without, p.Same) }), nil
	}
	if filepath.Ext(path) != ".db" || ctx.Err() != nil {
		return ownBackup.MatchString(filepath.Base(path)) || archive.Is(path), ctx.Err()
	}
	is, err := databaseHolds(ctx, path, people)
	if idrl.KindOf(err) == idrl.Damaged { // its content is unknown
		is, err = ownBackup.MatchString(filepath.Base(path)), nil
	}
	return is, err
}

// databaseHolds reports whether a copy of a database, which may be of an earlier version, contains data of one of
// people who had not withdrawn then.
func databaseHolds(ctx context.Context, path string, people []archive.Person) (bool, error) {
	p, err := openBackup(path)
	if err != nil {
		return false, err
	}
	defer p.Close()
	t, err := columns(ctx, p, "annotator")
	if err != nil || len(t.Columns) == 0 { // not of this program
		return false, err
	}
	gone, err := withdrawn(ctx, p)
	if err != nil {
		return false, err
	}
	for _, who := range people {
		var is bool
		if err := p.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM annotator WHERE session_id = ? AND id = ?)`, who.Session, who.Annotator).Scan(&is); err != nil {
			return false, convert(err)
		}
		if is && !slices.ContainsFunc(gone, who.Same) {
			return true, nil
		}
	}
	return false, nil
}

// rewriteBackup replaces the backup at path by one without people. An old copy of a database (.db)
// becomes an archive, with another name.
func rewriteBackup(ctx context.Context, path string, people []archive.Person) (err error) {
	dir := filepath.Dir(path)
	scratch, err := os.MkdirTemp(dir, filepath.Base(path)+partialMark+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	inside, whole := filepath.Join(scratch, "data"), filepath.Join(scratch, "whole")
	was, err := extract(ctx, path, inside)
	if err != nil {
		return err
	}
	if _, err := forgetIn(ctx, inside, people); err != nil {
		return err
	}
	m, err := describe(ctx, filepath.Join(inside, FileName))
	if err != nil {
		return err
	}
	m.Program, m.MadeAt, m.LeftOut, m.Without = was.Program, was.MadeAt, was.LeftOut, people
	others, err := otherFiles(inside, "", 0)
	if err != nil {
		return err
	}
	if err := archive.Write(ctx, whole, &m, append([]archive.File{archive.From(FileName, filepath.Join(inside, FileName))}, others...)); err != nil {
		return err
	}
	name, copied := strings.CutSuffix(path, ".db")
	if copied {
		name += ".tar"
	}
	if err := os.Rename(whole, name); err != nil {
		return err
	}
	if copied {
		err = removeDatabase(path)
	}
	syncFolder(dir)
	return err
}

// forgetIn withdraws the data of those of people whom the database of a data folder holds, and
// erases what is left of them in it. It brings the database to the present version. It returns how many it held.
func forgetIn(ctx context.Context, dir string, people []archive.Person) (n int, err error) {
	db, err := open(ctx, dir, migrations())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := os.RemoveAll(filepath.Join(dir, backupFolder)); err != nil { // made before migrations
		return 0, err
	}
	for _, p := range people {
		a, err := db.Joined(ctx, p.Session, p.Annotator)
		switch {
		case idrl.KindOf(err) == idrl.NotFound || err == nil && (!a.WithdrawnAt.IsZero() || a.JoinedAt.After(p.At)): // another person may have the pseudonym since
			continue
		case err != nil:
			return n, err
		}
		if _, err := db.Withdraw(ctx, p.Session, p.Annotator, "", p.At); err != nil {
			return n, err
		}
		n++
	}
	gone, err := withdrawn(ctx, db.read)
	if err != nil {
		return n, err
	}
	for _, step := range []func(context.Context) error{db.rewrite, db.foldLog} { // not Erase, which searches the backups of the server
		if err := step(ctx); err != nil {
			return n, err
		}
	}
	return n, db.erased(ctx, gone)
}

// maxForgotten bounds the size of a file of people who have withdrawn: some 100,000.
const maxForgotten = 16 << 20

// readForgotten reads the people in the file at path, or in the folder path; none if it is missing.
func readForgotten(path string) (people []archive.Person, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, ForgottenName)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for in := json.NewDecoder(io.LimitReader(f, maxForgotten)); ; {
		var p archive.Person
		switch err := in.Decode(&p); {
		case errors.Is(err, io.EOF):
			return people, nil
		case err != nil || p.At.IsZero():
			return people, idrl.Errorf(idrl.Damaged, "the list of people who have withdrawn, %s, cannot be read after %d of them (%v): repair it, or name another copy with --forgotten", path, len(people), err)
		}
		people = append(people, p)
	}
}

// listForgotten adds people to the list in the folder dir; a folder that is not there needs none. Of a
// damaged list what can be read stays.
func listForgotten(dir string, people []archive.Person) error {
	path := filepath.Join(dir, ForgottenName)
	listed, err := readForgotten(path)
	damaged := idrl.KindOf(err) == idrl.Damaged // the database has all who are in it, too
	if err != nil && !damaged || !exists(dir) {
		return err
	}
	all := unite(listed, people)
	if len(all) == len(listed) && !damaged {
		return nil
	}
	f, err := os.CreateTemp(dir, "."+ForgottenName+"-*") // for the owner alone
	if err != nil {
		return noRoom(dir, err)
	}
	out := json.NewEncoder(f)
	for _, p := range all {
		if err = out.Encode(p); err != nil {
			break
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return noRoom(dir, errors.Join(err, os.Remove(f.Name())))
	}
	syncFolder(dir)
	return nil
}

// unite returns the people of both lists, each once.
func unite(a, b []archive.Person) []archive.Person {
	out := slices.Clone(a)
	for _, p := range b {
		if !slices.ContainsFunc(out, p.Same) {
			out = append(out, p)
		}
	}
	return out
}
