package lerobot_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/idrl"
)

// read reads all of a data set, and calls between after it was opened.
func read(ctx context.Context, folder string, o lerobot.Options, between func()) error {
	d, err := lerobot.Open(ctx, lerobot.Folder{Path: folder}, o, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := d.CheckVideos(ctx, map[string]lerobot.Checked{}, func(int) {}, func(string, lerobot.Checked) error { return nil }); err != nil {
		return err
	}
	between()
	if err := d.Read(ctx, func(int, *lerobot.Frames) error { return nil }); err != nil {
		return err
	}
	return d.Unchanged()
}

const (
	front   = "videos/observation.images.front/chunk-000/file-000.mp4"
	data    = "data/chunk-000/file-000.parquet"
	camera  = "observation.images.front"
	cameras = "videos/" + camera
)

// TestRefused: what is wrong about a data set is said with a code, the place, and the episode where there is one.
func TestRefused(t *testing.T) {
	like := t.TempDir()
	must(t, lerobottest.Dataset{Lengths: []int{8, 9, 10}}.Write(like))
	long := strings.Repeat("n", 10_000)
	outside := filepath.Join(t.TempDir(), "outside.mp4")
	if err := (lerobottest.Dataset{Lengths: []int{4}}).Write(filepath.Dir(outside)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		change  func(c *lerobottest.Change)
		after   func(t *testing.T, folder string)
		between func(t *testing.T, folder string)
		options lerobot.Options
		want    []string // in the error
	}{
		{name: "nothing"},
		{name: "newer layout", change: func(c *lerobottest.Change) { c.Info["codebase_version"] = "v3.1" }, want: []string{"lerobot-version", `"v3.1" is not known`}},
		{name: "older layout", change: func(c *lerobottest.Change) { c.Info["codebase_version"] = "v2.0" }, want: []string{"lerobot-version", "convert_dataset_v21_to_v30"}},
		{name: "no episodes", change: func(c *lerobottest.Change) { c.Info["total_episodes"] = 0 }, want: []string{"lerobot-info", "no episodes"}},
		{name: "too many episodes", change: func(c *lerobottest.Change) { c.Info["total_episodes"] = 10_001 }, want: []string{"lerobot-limit", "10000"}},
		{name: "no rate", change: func(c *lerobottest.Change) { delete(c.Info, "fps") }, want: []string{"lerobot-info", "fps"}},
		{name: "fewer episodes than info says", change: func(c *lerobottest.Change) { c.Info["total_episodes"] = 4 }, want: []string{"lerobot-length", "4 episodes", "has 3"}},
		{name: "fewer frames than info says", change: func(c *lerobottest.Change) { c.Info["total_frames"] = 99 }, want: []string{"lerobot-length", "99 frames"}},
		{name: "camera of a long name", change: func(c *lerobottest.Change) {
			c.Info["features"].(map[string]any)["observation.images."+long] = map[string]any{"dtype": "video", "shape": []int{64, 96, 3}}
		}, want: []string{"lerobot-name", "nnn"}},
		{name: "pictures in Parquet", change: func(c *lerobottest.Change) {
			for _, f := range c.Info["features"].(map[string]any) {
				if f.(map[string]any)["dtype"] == "video" {
					f.(map[string]any)["dtype"] = "image"
				}
			}
		}, want: []string{"lerobot-cameras", "convert_image_to_video"}},
		{name: "unknown camera", options: lerobot.Options{Cameras: []string{"wrist"}}, want: []string{"lerobot-cameras", "front, side"}},
		{name: "path that leaves the folder", change: func(c *lerobottest.Change) { c.Info["video_path"] = "../{video_key}.mp4" }, want: []string{"episode 0", "lerobot-info", "no path within the folder"}},
		{name: "one frame", change: func(c *lerobottest.Change) {
			c.Episodes[1]["length"], c.Episodes[1]["dataset_to_index"] = int64(1), int64(9)
			c.Episodes[1][cameras+"/to_timestamp"] = c.Episodes[1][cameras+"/from_timestamp"].(float64) + 0.1
			c.Episodes[1]["videos/observation.images.side/to_timestamp"] = c.Episodes[1]["videos/observation.images.side/from_timestamp"].(float64) + 0.1
		}, want: []string{"lerobot-length", "episode 1 has 1 frames", "delete_episodes"}},
		{name: "task of 10 KB", change: func(c *lerobottest.Change) { c.Episodes[2]["tasks"] = []string{long} }, want: []string{"episode 2", "lerobot-name", "--episodes-csv"}},
		{name: "episodes out of order", change: func(c *lerobottest.Change) { c.Episodes[1]["episode_index"] = int64(5) }, want: []string{"episode 1", "lerobot-order"}},
		{name: "video longer than the numbers", change: func(c *lerobottest.Change) { c.Episodes[1][cameras+"/to_timestamp"] = 9.0 }, want: []string{"episode 1", "lerobot-video", "front"}},
		{name: "video that begins between frames", change: func(c *lerobottest.Change) { c.Episodes[1][cameras+"/from_timestamp"] = 0.85 }, want: []string{"episode 1", "lerobot-video"}},
		{name: "video that ends too early", change: func(c *lerobottest.Change) {
			c.Episodes[2][cameras+"/from_timestamp"], c.Episodes[2][cameras+"/to_timestamp"] = 1.9, 2.9
		}, want: []string{"episode 2", "lerobot-video", "has 27 pictures", front}},
		{name: "two episodes in the same pictures", change: func(c *lerobottest.Change) {
			c.Episodes[2][cameras+"/from_timestamp"], c.Episodes[2][cameras+"/to_timestamp"] = 1.6, 2.6
		}, want: []string{"lerobot-video", "episode 1 and episode 2", front}},
		{name: "other pixels", change: func(c *lerobottest.Change) {
			c.Info["features"].(map[string]any)[camera].(map[string]any)["shape"] = []int{480, 640, 3}
		}, want: []string{"lerobot-video", "640x480"}},
		{name: "rows of another episode", change: func(c *lerobottest.Change) { c.Frames[9]["episode_index"] = int64(0) }, want: []string{"episode 1", "lerobot-order", "episode_index"}},
		{name: "rows that are missing", change: func(c *lerobottest.Change) { c.Frames = c.Frames[:26] }, want: []string{"episode 2", "lerobot-length"}},
		{name: "timestamps that vary", change: func(c *lerobottest.Change) { c.Frames[10]["timestamp"] = float32(0.27) }, want: []string{"episode 1: frame 2", "lerobot-rate"}},
		{name: "task that is not named", change: func(c *lerobottest.Change) { c.Frames[3]["task_index"] = int64(1) }, want: []string{"episode 0: frame 3", "lerobot-task"}},
		{name: "column that is not there", options: lerobot.Options{Policy: "who"}, want: []string{"episode 0", "lerobot-column", "--policy-column", "observation.state"}},
		{name: "policy that changes", change: func(c *lerobottest.Change) { c.Frames[12]["policy"] = "other" }, options: lerobot.Options{Policy: "policy"}, want: []string{"episode 1: frame 4", "lerobot-column", "same in all frames"}},
		{name: "no number", options: lerobot.Options{Features: "policy"}, want: []string{"lerobot-column", "no finite number"}},
		{name: "no video", after: func(t *testing.T, folder string) { must(t, os.Remove(filepath.Join(folder, front))) }, want: []string{"episode 0", "lerobot-missing", front}},
		{name: "link that leaves the folder", after: func(t *testing.T, folder string) {
			must(t, os.Remove(filepath.Join(folder, front)))
			must(t, os.Symlink(filepath.Join(filepath.Dir(outside), front), filepath.Join(folder, front)))
		}, want: []string{"episode 0", "lerobot-link", front}},
		{name: "numbers by a link", after: func(t *testing.T, folder string) {
			must(t, os.Remove(filepath.Join(folder, data)))
			must(t, os.Symlink(filepath.Join(filepath.Dir(outside), data), filepath.Join(folder, data)))
		}, want: []string{"lerobot-link", data}},
		{name: "video that is cut off", after: func(t *testing.T, folder string) { truncate(t, filepath.Join(folder, front), 3) }, want: []string{"lerobot-video", front}},
		{name: "playlist as a video", after: func(t *testing.T, folder string) {
			must(t, os.WriteFile(filepath.Join(folder, front), []byte("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), 0o600))
		}, want: []string{"lerobot-video", front}},
		{name: "numbers that are cut off", after: func(t *testing.T, folder string) { truncate(t, filepath.Join(folder, data), 2) }, want: []string{"lerobot-parquet", data}},
		{name: "numbers that are damaged", after: func(t *testing.T, folder string) { scramble(t, filepath.Join(folder, data)) }, want: []string{"episode 0", "lerobot-", data}},
		{name: "video of a rate that varies", after: func(t *testing.T, folder string) {
			path := filepath.Join(folder, front)
			out, err := exec.Command("ffmpeg", "-v", "error", "-y", "-i", path, "-vf", "setpts='PTS+if(gt(N,10),0.05/TB,0)'", "-fps_mode", "passthrough", path+".mp4").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			must(t, os.Rename(path+".mp4", path))
		}, want: []string{"lerobot-rate", "varies", front}},
		{name: "a file that changes", between: func(t *testing.T, folder string) {
			must(t, os.Chtimes(filepath.Join(folder, front), time.Time{}, time.Now().Add(time.Hour)))
		}, want: []string{"lerobot-changed", front}},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			must(t, lerobottest.Dataset{Lengths: []int{8, 9, 10}, Like: like, Change: test.change}.Write(folder))
			if test.after != nil {
				test.after(t, folder)
			}
			err := read(t.Context(), folder, test.options, func() {
				if test.between != nil {
					test.between(t, folder)
				}
			})
			if len(test.want) == 0 {
				must(t, err)
				return
			}
			if idrl.KindOf(err) != idrl.Invalid || len(err.Error()) > 2500 {
				t.Fatalf("the error is of kind %v: %.3000v", idrl.KindOf(err), err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in the error: %v", part, err)
				}
			}
		})
	}
}

// TestRefusedCSV: mistakes in the researcher's CSV file are refused.
func TestRefusedCSV(t *testing.T) {
	folder := t.TempDir()
	must(t, lerobottest.Dataset{Lengths: []int{8, 9}}.Write(folder))
	for _, test := range []struct{ name, text, want string }{
		{"other column", "episode_index,colour\n0,red\n1,red\n", "colour"},
		{"no index", "policy\na\nb\n", "no column episode_index"},
		{"episode twice", "episode_index,policy\n0,a\n0,b\n", "line 3"},
		{"episode that is not there", "episode_index,policy\n0,a\n2,b\n", "0 to 1"},
		{"episode that is missing", "episode_index,policy\n1,a\n", "no line for episode 0"},
		{"success that is no truth", "episode_index,success\n0,often\n1,true\n", "neither true nor false"},
		{"long policy", "episode_index,policy\n0,a\n1," + strings.Repeat("b", 65) + "\n", "longer than 64"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "episodes.csv")
			must(t, os.WriteFile(path, []byte(test.text), 0o600))
			_, err := lerobot.Open(t.Context(), lerobot.Folder{Path: folder}, lerobot.Options{CSV: path}, nil)
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestDamagedFiles: bytes that were changed anywhere in a file of numbers or of meta give an error of kind Invalid, or other
// numbers, and no panic.
func TestDamagedFiles(t *testing.T) {
	folder := t.TempDir()
	must(t, lerobottest.Dataset{Lengths: []int{8, 9}}.Write(folder))
	random := rng.New(1, "damage", 0)
	for _, name := range []string{data, "meta/episodes/chunk-000/file-000.parquet", "meta/tasks.parquet", "meta/info.json"} {
		path := filepath.Join(folder, name)
		whole, err := os.ReadFile(path)
		must(t, err)
		for range 150 {
			b := bytes.Clone(whole)
			for range 1 + random.IntN(3) {
				b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
			}
			must(t, os.WriteFile(path, b, 0o600))
			d, err := lerobot.Open(t.Context(), lerobot.Folder{Path: folder}, lerobot.Options{Policy: "policy"}, nil)
			if err == nil {
				err = errors.Join(d.Read(t.Context(), func(int, *lerobot.Frames) error { return nil }), d.Close())
			}
			if err != nil && !strings.Contains(err.Error(), "lerobot-") {
				t.Errorf("%s: the error has no code: %v", name, err)
			}
		}
		must(t, os.WriteFile(path, whole, 0o600))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// truncate leaves the first part of a file, one of so many.
func truncate(t *testing.T, path string, parts int64) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()/parts))
}

// scramble changes the first pages of a Parquet file.
func scramble(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	for i := 4; i < 400; i++ {
		b[i] ^= 0x55
	}
	must(t, os.WriteFile(path, b, 0o600))
}
