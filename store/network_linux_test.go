package store

import (
	"path/filepath"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"
)

// TestNetworkDisk: the disk of a folder that will be made is that of the nearest one that is there.
func TestNetworkDisk(t *testing.T) {
	var st syscall.Statfs_t
	dir := t.TempDir()
	must.Do(t, syscall.Statfs(dir, &st))
	kind := uint32(st.Type)
	before, known := networkDisks[kind]
	t.Cleanup(func() {
		if delete(networkDisks, kind); known {
			networkDisks[kind] = before
		}
	})
	below := filepath.Join(dir, "not", "made")
	if got := NetworkDisk(below); got != before {
		t.Errorf("%q, want %q", got, before)
	}
	networkDisks[kind] = "a disk of this test"
	for _, path := range []string{dir, below} {
		if got := NetworkDisk(path); got != "a disk of this test" {
			t.Errorf("%s: %q", path, got)
		}
	}
}
