package recordings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
)

// TestMemoryOfEpisodes: what an import holds in memory grows by less than 300 bytes for each episode. Its measure does not depend on when
// garbage is collected: of each piece of progress the live heap, and behind the last one also all that is allocated until the end.
func TestMemoryOfEpisodes(t *testing.T) {
	const few, many, most = 400, 2000, 300
	a, b := importHeap(t, few), importHeap(t, many)
	each := float64(b-a) / (many - few)
	t.Logf("%d bytes with %d episodes, %d with %d: %.0f for each", a, few, b, many, each)
	if each > most {
		t.Errorf("an episode takes %.0f bytes; at most %d are wanted", each, most)
	}
}

// importHeap imports a data set of n episodes of two cameras, 400 of them in a file, and returns how many bytes of the heap that takes.
func importHeap(t *testing.T, n int) int64 {
	t.Helper()
	const perFile = 400
	folder, like, into := t.TempDir(), t.TempDir(), t.TempDir()
	d := lerobottest.Dataset{Like: like, PerFile: perFile}
	for range n {
		d.Lengths = append(d.Lengths, 2)
	}
	made := filepath.Join(like, "video.mp4")
	source := "testsrc2=rate=10:size=" + strconv.Itoa(lerobottest.Width) + "x" + strconv.Itoa(lerobottest.Height)
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-frames:v", strconv.Itoa(2*perFile), "-pix_fmt", "yuv420p", made).CombinedOutput(); err != nil { //nolint:gosec // of this test
		t.Fatalf("%v: %s", err, out)
	}
	for _, camera := range []string{"front", "side"} {
		in := filepath.Join(like, "videos", "observation.images."+camera, "chunk-000")
		if err := os.MkdirAll(in, 0o700); err != nil {
			t.Fatal(err)
		}
		for k := range n / perFile {
			if err := os.Link(made, filepath.Join(in, "file-"+strconv.Itoa(1000 + k)[1:]+".mp4")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Write(folder); err != nil {
		t.Fatal(err)
	}
	d = lerobottest.Dataset{}
	var peak, last int64
	var before, now runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep what they have for one more
	runtime.ReadMemStats(&before)
	err := recordings.ImportLeRobot(t.Context(), recordings.LeRobotConfig{
		From: lerobot.Folder{Path: folder}, Into: into, Name: "pen", Options: lerobot.Options{Policy: "policy", Start: "seed", Success: "next.success"},
		Progress: func(p recordings.Progress) {
			if p.Done != p.Total-1 {
				return
			}
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak, last = max(peak, int64(now.HeapAlloc)-int64(before.HeapAlloc)), int64(now.TotalAlloc) //nolint:gosec // far below the limits
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&now)
	return peak + int64(now.TotalAlloc) - last //nolint:gosec // far below the limits
}
