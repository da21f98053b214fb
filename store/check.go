package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"tiebreak/internal/idrl"
)

// Damage lists the findings of a check of the database.
type Damage struct {
	Pages []string // one of each table that is damaged: `table answer: Tree 12 page 345 cell 3: …`
	Clips []string // clips whose media is not what was recorded: "clip 1a2b… of session s"
	Steps []string // raw steps that are not what was recorded: "raw steps 1a2b… of session s"
}

// A Judge checks the contents of the database. Its functions may be nil.
type Judge struct {
	Clip  func(idrl.Clip) error            // an error unless the media can be played and fits the other fields
	Steps func(idrl.StepsID, []byte) error // an error unless the content has the name
}

// None reports whether nothing was found.
func (d Damage) None() bool { return len(d.Pages)+len(d.Clips)+len(d.Steps) == 0 }

// Check reads the whole database, on a connection of its own, and returns the damage in it. is.Clip
// checks clips that were recorded without checksums, and a database that is open for writing then
// stores their checksums; is.Steps checks all raw steps.
func (db *upkeep) Check(ctx context.Context, is Judge) (d Damage, err error) {
	p, err := openPool(ctx, filepath.Join(db.dir, FileName), true)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.SetMaxOpenConns(1)
	if d.Pages, err = checkTables(ctx, p); err != nil {
		return d, err
	}
	err = eachClips(ctx, p, func(batch []clipRow) error {
		damaged, unsealed := judge(batch, is.Clip)
		d.Clips = append(d.Clips, damaged...)
		if db.write == nil || len(unsealed) == 0 {
			return nil
		}
		return db.seal(ctx, unsealed)
	})
	if idrl.KindOf(err) == idrl.Damaged { // of pages; checkTables has named them
		d.Pages, err = appendNew(d.Pages, "table clip: "+err.Error()), nil
	}
	if err != nil || is.Steps == nil {
		return d, err
	}
	err = eachSteps(ctx, p, func(session idrl.SessionID, name idrl.StepsID, content []byte) {
		if is.Steps(name, content) != nil {
			d.Steps = append(d.Steps, fmt.Sprintf("raw steps %s of session %s", name, session))
		}
	})
	if idrl.KindOf(err) == idrl.Damaged {
		d.Pages, err = appendNew(d.Pages, "table steps: "+err.Error()), nil
	}
	return d, err
}

// judge returns the names of the clips whose media is not what was recorded, and the clips without
// a checksum, with their new one.
func judge(batch []clipRow, isClip func(idrl.Clip) error) (damaged []string, unsealed []clipRow) {
	for _, r := range batch {
		sound := r.sum == nil || matches(r.clip.Media, r.sum)
		if r.sum == nil && isClip != nil {
			r.sum = notAClip
			if sound = isClip(r.clip) == nil; sound {
				r.sum = mediaSum(r.clip.Media)
			}
			unsealed = append(unsealed, r)
		}
		if !sound {
			damaged = append(damaged, fmt.Sprintf("clip %s of session %s", r.clip.ID, r.session))
		}
	}
	return damaged, unsealed
}

// appendNew adds what to list unless the list has something already.
func appendNew(list []string, what string) []string {
	if len(list) > 0 {
		return list
	}
	return append(list, what)
}

// checkTables checks the pages of every table with its indexes, each in a read of its own: during a
// long read the write-ahead log cannot be merged into the database.
func checkTables(ctx context.Context, p *sql.DB) (found []string, err error) {
	var tables []string
	err = each(ctx, p, func(row scanner) error {
		var name string
		err := row.Scan(&name)
		tables = append(tables, name)
		return err
	}, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if idrl.KindOf(err) == idrl.Damaged {
		return []string{"the list of tables: " + err.Error()}, nil
	}
	for _, table := range tables {
		var verdict string
		err = convert(p.QueryRowContext(ctx, `SELECT integrity_check FROM pragma_integrity_check(?)`, table).Scan(&verdict))
		switch {
		case idrl.KindOf(err) == idrl.Damaged:
			found = append(found, fmt.Sprintf("table %s: %v", table, err))
		case err != nil:
			return found, fmt.Errorf("check table %s: %w", table, err)
		case verdict != "ok":
			found = append(found, fmt.Sprintf("table %s: %s", table, oneLine(verdict)))
		}
	}
	return found, nil
}

// A quick check of this many bytes takes less than a tenth of a second.
const quickSize = 16 << 20

// quickCheck checks the pages of a small database before it is used; Watch checks a
// large one soon after.
func (db *upkeep) quickCheck(ctx context.Context) error {
	info, err := os.Stat(filepath.Join(db.dir, FileName))
	if err != nil || info.Size() > quickSize {
		return err
	}
	err = check(ctx, db.read, `PRAGMA quick_check(1)`)
	if idrl.KindOf(err) != idrl.Damaged {
		return err
	}
	db.health.found(Damage{Pages: []string{err.Error()}})
	return nil // the readable part is served
}

// checkEvery is the time between two checks of Watch.
const checkEvery = 24 * time.Hour

// Watch checks the database at once and then every day until ctx is done, and logs damage; Problems
// reports it too. is is that of Check.
func (db *upkeep) Watch(ctx context.Context, is Judge, log *slog.Logger) {
	again := time.NewTicker(checkEvery)
	defer again.Stop()
	for {
		began := time.Now()
		d, err := db.Check(ctx, is)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Error("the database could not be checked", "err", err)
		default:
			db.health.found(d)
			log.Debug("checked the database", "damaged_tables", len(d.Pages), "damaged_clips", len(d.Clips), "took", time.Since(began))
		}
		for _, what := range append(d.Pages, d.Clips...) {
			log.Error("the database is damaged; stop the server and run 'tiebreak doctor --data DIR', which says what to do", "what", what)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}
