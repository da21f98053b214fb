package recordings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/lerobot/lerobottest"
)

// TestMemoryOfEpisodes: what an import holds in memory grows by less than so many bytes for each episode; in the layout v2.1, where each has three files of its
// own, by more. The measure does not depend on when garbage is collected: it is the live heap at each piece of progress, and with it all that is allocated
// behind the last one until the end, of which in v2.1 most is for looking at each file again. The videos were checked before, by an import that was interrupted.
func TestMemoryOfEpisodes(t *testing.T) {
	for _, test := range []struct {
		name        string
		legacy      bool
		few, many   int
		live, whole float64 // bytes for an episode, at most
	}{{"v3.0", false, 400, 2000, 300, 300}, {"v2.1", true, 200, 1000, 900, 3500}} {
		t.Run(test.name, func(t *testing.T) {
			liveFew, wholeFew := importHeap(t, test.few, test.legacy)
			liveMany, wholeMany := importHeap(t, test.many, test.legacy)
			more := float64(test.many - test.few)
			live, whole := float64(liveMany-liveFew)/more, float64(wholeMany-wholeFew)/more
			t.Logf("%d bytes with %d episodes, %d with %d: %.0f for each; with what the end allocates %.0f", liveFew, test.few, liveMany, test.many, live, whole)
			if live > test.live || whole > test.whole {
				t.Errorf("an episode takes %.0f bytes, and with what the end allocates %.0f; at most %.0f and %.0f are wanted", live, whole, test.live, test.whole)
			}
		})
	}
}

// importHeap imports a data set of n episodes of two cameras, in v3.0 400 of them in a file, and returns how many bytes of the heap that takes:
// live ones, and with all that are allocated at the end.
func importHeap(t *testing.T, n int, legacy bool) (live, whole int64) {
	t.Helper()
	folder, into := t.TempDir(), t.TempDir()
	writeUnseen(t, folder, n, legacy)
	cfg := LeRobotConfig{From: lerobot.Folder{Path: folder}, Into: into, Name: "pen", Options: lerobot.Options{Policy: "policy", Success: "next.success"}}
	checkBefore(t, cfg)
	var last int64
	var before, now runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep what they have for one more
	runtime.ReadMemStats(&before)
	cfg.Progress = func(p Progress) {
		if p.Done != p.Total-1 {
			return
		}
		runtime.GC()
		runtime.ReadMemStats(&now)
		live, last = max(live, int64(now.HeapAlloc)-int64(before.HeapAlloc)), int64(now.TotalAlloc) //nolint:gosec // far below the limits
	}
	must.Do(t, ImportLeRobot(t.Context(), cfg))
	runtime.ReadMemStats(&now)
	return live, live + int64(now.TotalAlloc) - last //nolint:gosec // far below the limits
}

// writeUnseen writes a data set of n episodes whose videos are files without pictures.
func writeUnseen(t *testing.T, folder string, n int, legacy bool) {
	t.Helper()
	d := lerobottest.Dataset{Like: t.TempDir(), PerFile: 400, Legacy: legacy}
	for i := range n {
		d.Lengths = append(d.Lengths, 2)
		for _, camera := range []string{"observation.images.front", "observation.images.side"} {
			name := fmt.Sprintf("videos/%s/chunk-000/file-%03d.mp4", camera, i/d.PerFile)
			if legacy {
				name = fmt.Sprintf("videos/chunk-000/%s/episode_%06d.mp4", camera, i)
			}
			path := filepath.Join(d.Like, name)
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Do(t, os.WriteFile(path, []byte("video"), 0o600))
		}
	}
	must.Do(t, d.Write(folder))
}

// checkBefore writes what an import leaves that was interrupted when all videos were checked.
func checkBefore(t *testing.T, cfg LeRobotConfig) {
	t.Helper()
	d := must.Get(lerobot.Open(t.Context(), cfg.From, cfg.Options, nil))(t)
	dir := filepath.Join(cfg.Into, partName+cfg.Name+"-"+d.Fingerprint())
	must.Do(t, os.MkdirAll(dir, 0o700))
	f := must.Get(os.Create(filepath.Join(dir, checkedName)))(t)
	for _, v := range d.Videos {
		must.Do(t, json.NewEncoder(f).Encode(checkedLine{v.Name, lerobot.Checked{Codec: "h264", Width: lerobottest.Width, Height: lerobottest.Height, Frames: 800}}))
	}
	must.Do(t, f.Close())
	must.Do(t, d.Close())
}
