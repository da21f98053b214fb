package bundle_test

import (
	"context"
	"database/sql" //nolint:depguard // a database of a million answers, faster than through the store
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/bundle"
	"tiebreak/store"
)

// BenchmarkBundle writes bundles of sessions with many answers, each in a process that does
// nothing else, and reports the memory that it takes: heap-MB is the most that the heap of Go
// held, and held-MB the most that the process had from the system (VmHWM), which counts the
// program and what the database takes, too.
//
//	go test ./internal/bundle -run '^$' -bench Bundle/answers=1000000 -benchtime 1x
func BenchmarkBundle(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("answers=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			must(b, studiedIn(b, dir, 40).Close())
			multiply(b, dir, n)
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), writesBundleOf+"="+dir)
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				must(b, err)
				var heap, held float64
				_, err = fmt.Sscan(string(out), &heap, &held)
				must(b, err)
				b.ReportMetric(heap, "heap-MB")
				b.ReportMetric(held, "held-MB")
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
	}
}

// writesBundleOf is the environment variable that makes this program write the bundle of the
// database in a folder, say on one line what memory that took, and exit.
const writesBundleOf = "TIEBREAK_TEST_WRITE_BUNDLE_OF"

func TestMain(m *testing.M) {
	dir := os.Getenv(writesBundleOf)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := measureBundle(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measureBundle writes the bundle of the database in dir to nowhere and prints the memory taken.
func measureBundle(dir string) error {
	db, err := store.Open(context.Background(), dir)
	if err != nil {
		return err
	}
	var most atomic.Uint64
	stop := watch(&most)
	err = bundle.WriteZip(context.Background(), io.Discard, "bundle", configured(db))
	stop()
	fmt.Println(float64(most.Load())/1e6, held())
	return errors.Join(err, db.Close())
}

// watch looks at the heap until it is stopped.
func watch(most *atomic.Uint64) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			most.Store(max(most.Load(), sample[0].Value.Uint64()))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-gone }
}

// held returns the most memory that this process has had, in MB; 0 where that is not known.
func held() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kb float64
	_, _ = fmt.Sscan(rest, &kb)
	return kb / 1000
}

// multiply adds answers, each to a question of its own about two of n/10 clips, until there are n.
func multiply(b *testing.B, dir string, n int) {
	b.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	must(b, err)
	defer db.Close()
	const (
		numbers = `WITH RECURSIVE k(i) AS (SELECT 41 UNION ALL SELECT i + 1 FROM k WHERE i < ?1) `
		name    = `printf('%016x%016x', (i * 40503 + 7) % (?1 / 10) * 1103515245, 1)`
	)
	for _, statement := range []string{
		`DELETE FROM posterior WHERE seq > 40`, `DROP TRIGGER answer_delete`, `DELETE FROM answer WHERE seq > 40`,
		`INSERT OR IGNORE INTO clip (session_id, id, trajectory_id, start, steps, phi, steps_id)
			SELECT session_id, ` + name + `, trajectory_id, start, steps, phi, steps_id FROM k JOIN (
				SELECT row_number() OVER (ORDER BY id) AS r, count(*) OVER () AS c, * FROM clip) ON r = 1 + i % c`,
		`INSERT INTO query (session_id, id, clip_a, clip_b, kind)
			SELECT 'study', printf('%032x', i), ` + name + `, ` + strings.ReplaceAll(name, "(i ", "((i * 31 + 5) ") + `, 'clip_comparison' FROM k`,
		`INSERT INTO assignment (session_id, id, n, query_id, clip_a, annotator_id, left_side, issued_at, lease_until, answer_id,
				why_first, why_second, why_pair_std, why_info, why_based_on, why_after)
			SELECT 'study', 'q' || i, i, printf('%032x', i), ` + name + `, 'a' || (1 + i % 2), 'a', issued_at, lease_until, 'answer-' || i,
				'g0.p0', 'g0.p1', 0.5, 0.25, 0, i FROM k JOIN (SELECT issued_at, lease_until FROM assignment WHERE session_id = 'study' AND n = 1)`,
		`INSERT INTO answer (session_id, seq, id, assignment_id, query_id, annotator_id, choice, rating, reason, left_side, shown_at, answered_at,
				received_at, response_ms, hidden_ms, loops, input, instructions, late)
			SELECT 'study', i, 'answer-' || i, 'q' || i, printf('%032x', i), 'a' || (1 + i % 2), iif(i % 3, 'a', 'b'), 0, '', 'a', shown_at, answered_at,
				received_at, 500 + i % 1000, 0, 1, 'keyboard', 1, 0 FROM k JOIN (SELECT shown_at, answered_at, received_at FROM answer WHERE session_id = 'study' AND seq = 1)`,
		`INSERT INTO posterior (session_id, seq, belief, definition) SELECT 'study', i, randomblob(200), 0 FROM k`,
	} {
		if strings.Contains(statement, "FROM k") {
			before, rest, _ := strings.Cut(statement, "SELECT")
			statement = before + numbers + "SELECT" + rest
			_, err = db.ExecContext(b.Context(), statement, n)
		} else {
			_, err = db.ExecContext(b.Context(), statement)
		}
		must(b, err)
	}
}
