package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// crashEnv names the data folder to the copy of this program that is killed.
const crashEnv = "TIEBREAK_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		if err := appendForEver(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
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
			if err := db.Issue(ctx, "s", []idrl.Assignment{as}); err != nil {
				return err
			}
		}
		if err := db.Append(ctx, "s", idrl.Row{Answer: answer(seq, as), After: snapshot(seq)}); err != nil {
			return err
		}
		fmt.Println(seq)
	}
}

// What was acknowledged is there after SIGKILL, once, and the next process
// goes on.
func TestAcknowledgedRowsSurviveKill(t *testing.T) {
	dir := t.TempDir()
	must(t, seeded(t, dir).Close())
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		var last int64
		for n := 0; lines.Scan(); n++ {
			if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
				t.Fatal(err)
			}
			if n == 7+5*round {
				must(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait()
		ro, err := store.OpenReadOnly(t.Context(), dir)
		must(t, err)
		rec, err := ro.Load(t.Context(), "s")
		must(t, err)
		if int64(len(rec.Log)) < last || len(rec.Snapshots) != len(rec.Log) {
			t.Fatalf("round %d: %d rows and %d snapshots, but row %d was acknowledged", round, len(rec.Log), len(rec.Snapshots), last)
		}
		must(t, ro.Check(t.Context()))
		must(t, ro.Close())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "backups", "*")); len(left) > 0 {
		t.Errorf("restarts made backups: %v", left)
	}
}
