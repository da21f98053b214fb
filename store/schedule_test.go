package store_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// lines is a log whose messages can be waited for.
type lines struct {
	slog.Handler
	said chan string
}

func (l lines) Enabled(context.Context, slog.Level) bool { return true }

func (l lines) Handle(_ context.Context, r slog.Record) error {
	select {
	case l.said <- r.Message:
	default: // nobody waits for so many
	}
	return nil
}

// scheduled makes n backups by schedule.
func scheduled(t *testing.T, db *store.DB, s store.Schedule, n int) (said []string) {
	t.Helper()
	log := lines{said: make(chan string, 1000)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	must.Do(t, db.ClaimBackups(ctx, &s))
	var done sync.WaitGroup
	done.Go(func() { db.KeepBackups(ctx, s, slog.New(log)) })
	for range n {
		said = append(said, waittest.For(t, log.said, "a scheduled backup"))
	}
	cancel()
	done.Wait()
	return said
}

func named(t *testing.T, dir, pattern string) (names []string) {
	t.Helper()
	found := must.Get(filepath.Glob(filepath.Join(dir, pattern)))(t)
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return names
}

// The server makes backups by a schedule, keeps the newest, and removes nothing else from the folder; not one that is not due.
func TestScheduledBackups(t *testing.T) {
	for name, other := range map[string]bool{"in the data folder": false, "in another folder": true} {
		t.Run(name, func(t *testing.T) {
			dir, into := t.TempDir(), ""
			db := seeded(t, dir)
			if other {
				into = filepath.Join(t.TempDir(), "new")
			}
			s := store.Schedule{Every: time.Nanosecond, Keep: 2, Dir: into}
			if into == "" {
				into = filepath.Join(dir, "backups")
			}
			must.Do(t, os.MkdirAll(filepath.Join(into, "auto-20260101T000000.000000000Z.tar.partial-7"), 0o700))
			for _, mine := range []string{"mine.tar", "auto-mine.tar", "v9-20260201T000000.000000000Z.db"} {
				must.Do(t, os.WriteFile(filepath.Join(into, mine), []byte("x"), 0o600))
			}
			for _, line := range scheduled(t, db, s, 4) {
				if line != "made a backup" {
					t.Errorf("the log says %q", line)
				}
			}
			made := named(t, into, "auto-2*")
			if n := len(made); n != 2 || len(named(t, into, "*mine.tar")) != 2 || len(named(t, into, "v9*")) != 1 {
				t.Errorf("files: %q", named(t, into, "*"))
			}
			for _, file := range made {
				must.Get(store.VerifyBackup(t.Context(), filepath.Join(into, file)))(t)
			}
			ctx, cancel := context.WithCancel(t.Context())
			s.Every = time.Hour
			must.Do(t, db.ClaimBackups(ctx, &s))
			cancel()
			db.KeepBackups(ctx, s, slog.New(slog.DiscardHandler)) // ends at once; what is due at once may be tried
			if now := named(t, into, "auto-2*"); !slices.Equal(now, made) {
				t.Errorf("backups %q, before the next was due %q", now, made)
			}
		})
	}
}

// What prevents scheduled backups is told to researchers until one is made, and a folder of another study is refused.
func TestScheduledBackupsThatFail(t *testing.T) {
	db, into := seeded(t, t.TempDir()), t.TempDir()
	s := store.Schedule{Every: time.Nanosecond, Keep: 2, Dir: into}
	scheduled(t, db, s, 1)
	must.Do(t, os.RemoveAll(into))
	must.Do(t, os.WriteFile(into, nil, 0o600)) // no folder
	wantKind(t, db.ClaimBackups(t.Context(), &s), idrl.Invalid)
	log := lines{said: make(chan string, 1000)}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { db.KeepBackups(ctx, s, slog.New(log)) })
	if line := waittest.For(t, log.said, "a failure"); !strings.Contains(line, "failed") {
		t.Errorf("the log says %q", line)
	}
	cancel()
	done.Wait()
	if p := db.Problems(t.Context()); len(p) != 1 || !p[0].Minor || !strings.Contains(p[0].Reason, "backup failed") {
		t.Errorf("researchers are told %+v", p)
	}
	must.Do(t, os.Remove(into))
	scheduled(t, db, s, 1)
	if p := db.Problems(t.Context()); len(p) != 0 {
		t.Errorf("afterwards researchers are told %+v", p)
	}
	wantKind(t, seeded(t, t.TempDir()).ClaimBackups(t.Context(), &s), idrl.Conflict)
}

// Whoever withdraws is in none of the server's backups when they are called erased, wherever these are and whichever folder
// is used now; the backups are as many as before.
func TestBackupsForget(t *testing.T) {
	dir, into, later := t.TempDir(), t.TempDir(), t.TempDir()
	db := haunted(t, dir, 40)
	scheduled(t, db, store.Schedule{Every: time.Nanosecond, Keep: 3, Dir: into}, 3)
	scheduled(t, db, store.Schedule{Every: time.Nanosecond, Keep: 3, Dir: later}, 3)
	before := named(t, into, "auto*")
	if len(traces(t, into)) < 3 {
		t.Fatalf("traces before: %q", traces(t, into))
	}
	must.Do(t, withdrawAda(t.Context(), db))
	must.Do(t, db.Erase(t.Context()))
	wantErased(t, dir, db, true)
	for _, into := range []string{into, later} {
		if found := traces(t, into); len(found) > 0 {
			t.Errorf("traces after: %q", found)
		}
		if after := named(t, into, "auto*"); len(after) != 3 || into != later && !slices.Equal(before, after) {
			t.Errorf("backups after: %q", named(t, into, "*"))
		}
		if len(named(t, into, store.ForgottenName)) != 1 {
			t.Error("there is no list of who has withdrawn beside the backups")
		}
	}
	m, err := store.VerifyBackup(t.Context(), filepath.Join(into, before[0]))
	if must.Do(t, err); len(m.Without) != 2 {
		t.Errorf("the backup is without %+v", m.Without)
	}
	info, err := os.Stat(filepath.Join(into, before[0]))
	must.Do(t, err)
	restored := t.TempDir()
	_, forgot, err := store.Restore(t.Context(), filepath.Join(into, before[0]), restored, nil)
	must.Do(t, err)
	people, err := open(t, restored).Annotators(t.Context(), "s")
	if err != nil || forgot != 0 || len(people) != 3 || people[1].Name != others {
		t.Errorf("%d forgotten, people %+v, %v", forgot, people, err)
	}
	_, err = db.Withdraw(t.Context(), "s", "a2", "", t0)
	must.Do(t, err)
	must.Do(t, db.Erase(t.Context())) // a backup is written anew once for each withdrawal
	again, err := os.Stat(filepath.Join(into, before[0]))
	if must.Do(t, err); os.SameFile(info, again) {
		t.Error("after the second withdrawal the backup is the same file")
	}
	must.Do(t, db.Erase(t.Context()))
	if last, err := os.Stat(filepath.Join(into, before[0])); err != nil || !os.SameFile(again, last) {
		t.Errorf("without a withdrawal the backup is another file (%v)", err)
	}
}
