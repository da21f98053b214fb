package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
)

// TestPagesThatAskForMemory: a Parquet page whose header says that it has two gigabytes ends the import with a clear error, within the
// limit of its memory, and nothing is left.
func TestPagesThatAskForMemory(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := (lerobottest.Dataset{Lengths: []int{8, 9}}).Write(folder); err != nil {
		t.Fatal(err)
	}
	const (
		data     = "data/chunk-000/file-000.parquet"
		episodes = "meta/episodes/chunk-000/file-000.parquet"
	)
	for _, test := range []struct {
		name, file, column string
		change             func(*format.PageHeader)
	}{
		{"uncompressed bytes", data, "observation.state", func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 }},
		{"compressed bytes", data, "action", func(h *format.PageHeader) { h.CompressedPageSize = math.MaxInt32 }},
		{"both", data, "timestamp", func(h *format.PageHeader) {
			h.UncompressedPageSize, h.CompressedPageSize = math.MaxInt32, math.MaxInt32
		}},
		{"values", data, "observation.state", values(math.MaxInt32)},
		{"values of one each", data, "policy", values(math.MaxInt32)},
		{"of episodes", episodes, "tasks", values(math.MaxInt32)},
		{"bytes of episodes", episodes, "length", func(h *format.PageHeader) {
			h.UncompressedPageSize, h.CompressedPageSize = math.MaxInt32, math.MaxInt32
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad, into := t.TempDir(), t.TempDir()
			if err := os.CopyFS(bad, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			if err := lerobottest.ChangePages(filepath.Join(bad, test.file), test.column, test.change); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program(t), "import", "--lerobot", bad, "--name", "pen", "--data", into, "--policy-column", "policy", "--clip-seconds", "0.5")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "lerobot-limit: reading "+test.file+" takes more than 1024 MiB of memory: it is damaged") || strings.Contains(string(out), "goroutine") {
				t.Errorf("%v: %.2000s", err, out)
			}
			used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok || used.Maxrss > importMemory>>10 {
				t.Errorf("it took %d KiB", used.Maxrss)
			}
			if left, err := os.ReadDir(filepath.Join(into, recordings.FolderName)); err != nil || len(left) != 0 {
				t.Errorf("%v is left, %v", left, err)
			}
			if list, err := recordings.List(filepath.Join(into, recordings.FolderName)); err != nil || len(list) != 0 {
				t.Errorf("%v is seen, %v", list, err)
			}
		})
	}
}

// values sets the number of values of a page.
func values(n int32) func(*format.PageHeader) {
	return func(h *format.PageHeader) {
		h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, h.DictionaryPageHeader.V.NumValues = n, n, n
	}
}
