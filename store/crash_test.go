package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/store"
)

// crashEnv and firstEnv name the data folder to the copy of this program that is
// killed while it appends rows, or while it makes the database.
const (
	crashEnv = "TIEBREAK_TEST_CRASH_DIR"
	firstEnv = "TIEBREAK_TEST_FIRST_DIR"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		if err := appendForEver(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	if dir := os.Getenv(readEnv); dir != "" {
		if err := readUntilEnd(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(withdrawEnv); dir != "" {
		if err := withdrawOnce(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if args := os.Getenv(backupEnv); args != "" {
		if asOnFullDisk(args) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(firstEnv); dir != "" {
		db, err := store.Open(context.Background(), dir)
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Whenever a first start is killed, the next one makes the database.
func TestFirstStartSurvivesKill(t *testing.T) {
	for round := range 8 {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), firstEnv+"="+dir)
		cmd.Stderr = os.Stderr
		must.Do(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		ended := false
		for n := 0; !ended && n < 1+3*round; { // the later the round, the more has been written
			select {
			case err := <-done:
				must.Do(t, err)
				ended = true
			default:
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					n++
				}
			}
		}
		if !ended {
			_ = cmd.Process.Kill()
			waittest.For(t, done, "the process that was killed")
		}
		db, err := store.Open(t.Context(), dir)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		must.Do(t, db.CreateSession(t.Context(), spec("s")))
		must.Do(t, db.Close())
	}
}

// appendForEver appends rows to session s and prints the position of each when
// it is recorded.
func appendForEver(ctx context.Context, dir string) error {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return err
	}
	rec, err := db.Load(ctx, "s")
	if err != nil {
		return err
	}
	for seq := int64(len(rec.Log)) + 1; ; seq++ {
		as := assignment(seq, generation(0).Queries[0], "a1")
		if len(rec.Assignments) < int(seq) {
			if err := db.Issue(ctx, "s", []record.Assignment{as}); err != nil {
				return err
			}
		}
		if err := db.Append(ctx, "s", record.Row{Answer: answer(seq, as), After: snapshot(seq)}); err != nil {
			return err
		}
		fmt.Println(seq)
	}
}

// What was acknowledged is there after SIGKILL, once, and the next process
// goes on.
func TestAcknowledgedRowsSurviveKill(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, seeded(t, dir).Close())
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+dir)
		cmd.Stderr = os.Stderr
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		lines := bufio.NewScanner(out)
		var last int64
		for n := 0; lines.Scan(); n++ {
			must.Get(fmt.Sscan(lines.Text(), &last))(t)
			if n == 7+5*round {
				must.Do(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait()
		ro := must.Get(store.OpenReadOnly(t.Context(), dir))(t)
		rec := must.Get(ro.Load(t.Context(), "s"))(t)
		if int64(len(rec.Log)) < last || len(rec.Snapshots) != len(rec.Log) {
			t.Fatalf("round %d: %d rows and %d snapshots, but row %d was acknowledged", round, len(rec.Log), len(rec.Snapshots), last)
		}
		if d, err := ro.Check(t.Context(), store.Judge{}); err != nil || !d.None() {
			t.Errorf("round %d: damage %+v, %v", round, d, err)
		}
		must.Do(t, ro.Close())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "backups", "*")); len(left) > 0 {
		t.Errorf("restarts made backups: %v", left)
	}
}
