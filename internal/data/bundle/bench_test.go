package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/data/bundle"
	"tiebreak/store"
	"tiebreak/store/storetest"
)

// BenchmarkBundle writes bundles of sessions with many answers, each in a process that does
// nothing else, and reports the memory that it takes: heap-MB is the most that the heap of Go
// held, and held-MB the most that the process had from the system (VmHWM), which counts the
// program and what the database takes, too.
//
//	go test ./internal/data/bundle -run '^$' -bench Bundle/answers=1000000 -benchtime 1x
func BenchmarkBundle(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("answers=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			must(b, studiedIn(b, dir, 40).Close())
			must(b, storetest.Grow(b.Context(), dir, string(study), n))
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
