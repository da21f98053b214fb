package store

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/idrl"
)

// A Schedule says when a server makes backups by itself.
type Schedule struct {
	Every time.Duration // 0: never
	Keep  int           // how many stay
	Dir   string        // folder; empty: backups in the data folder
}

const (
	retryBackup = 10 * time.Minute // after a failure, or Schedule.Every if that is shorter
	ownerKey    = "backup owner"   // key in meta of the name in ownerName
	ownerName   = "owner"          // file in a folder for backups: a random name of the study
)

// In returns s with the whole path of its folder, for a data folder.
func (s Schedule) In(data string) (Schedule, error) {
	if s.Dir == "" {
		s.Dir = filepath.Join(data, backupFolder)
	}
	var err error
	s.Dir, err = filepath.Abs(s.Dir)
	return s, err
}

// KeepBackups makes backups by a schedule, and removes the oldest ones, until ctx is done. What was due while no server ran is
// made at once. Failures are logged, and Problems reports them until a backup is made. ClaimBackups has prepared s.
func (db *upkeep) KeepBackups(ctx context.Context, s Schedule, log *slog.Logger) {
	if s.Every == 0 {
		return
	}
	for wait := s.due(); ; {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		path, err := db.makeScheduled(ctx, s)
		if ctx.Err() != nil {
			return
		}
		db.health.backedUp(err)
		if wait = s.due(); err != nil {
			log.Error("the scheduled backup failed; it will be tried again", "err", err)
			wait = min(s.Every, retryBackup)
		} else {
			log.Info("made a backup", "file", path)
		}
	}
}

// due returns how long to wait for the next backup.
func (s Schedule) due() time.Duration {
	at := s.Last()
	if at.IsZero() {
		return 0
	}
	return min(time.Until(at.Add(s.Every)), s.Every) // the clock may have been ahead
}

// Last returns when the last backup of s was made; zero for never.
func (s Schedule) Last() (at time.Time) {
	_, at = s.LastFile()
	return at
}

// LastFile returns the last backup of s, and when it was made; empty and zero for none.
func (s Schedule) LastFile() (path string, at time.Time) {
	if made := ownBackups(s.Dir, true); len(made) > 0 {
		path = made[0]
		at, _ = time.Parse(stampLayout, madeAt(path)) // ownBackup has matched it
	}
	return path, at
}

// makeScheduled makes a backup and removes the oldest ones. Meanwhile no data are erased: a backup that is being
// made may have them, and is searched when it is complete.
func (db *upkeep) makeScheduled(ctx context.Context, s Schedule) (path string, err error) {
	db.erasing.Lock()
	defer db.erasing.Unlock()
	if err := removePartial(s.Dir); err != nil {
		return "", err
	}
	path = ownName(s.Dir, "auto")
	if _, err := db.Backup(ctx, path, false); err != nil {
		return "", err
	}
	return path, prune(s.Dir, true, s.Keep)
}

// ClaimBackups makes the folder of s, completes its path, and records it, so that people who withdraw are removed from the
// backups in it, also when another folder is used later. It returns an error of kind Conflict if the folder
// has backups of another study.
func (db *upkeep) ClaimBackups(ctx context.Context, s *Schedule) (err error) {
	if s.Every == 0 {
		return nil
	}
	if *s, err = s.In(db.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return idrl.Errorf(idrl.Invalid, "the folder for backups cannot be made (%v): name another with --backup-dir", err)
	}
	if mine, err := filepath.Abs(filepath.Join(db.dir, backupFolder)); err != nil || mine == s.Dir {
		return err
	}
	if err := db.own(ctx, s.Dir); err != nil {
		return err
	}
	folders, err := db.ownFolders(ctx)
	if err != nil || slices.Contains(folders, s.Dir) {
		return err
	}
	return db.SetMeta(ctx, backupsKey, strings.Join(append(folders[1:], s.Dir), "\n"))
}

// own writes the name of this study into a folder for backups, unless it is there.
func (db *upkeep) own(ctx context.Context, dir string) error {
	me, err := db.Meta(ctx, ownerKey)
	if err == nil && me == "" {
		me = rand.Text()
		err = db.SetMeta(ctx, ownerKey, me)
	}
	if err != nil {
		return err
	}
	path := filepath.Join(dir, ownerName)
	owner, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return writeFile(path, strings.NewReader(me+"\n"), time.Time{})
	case err == nil && strings.TrimSpace(string(owner)) != me:
		return idrl.Errorf(idrl.Conflict, "the folder %s has backups of another study, of which the oldest would be removed: name another with --backup-dir", dir)
	}
	return err
}
