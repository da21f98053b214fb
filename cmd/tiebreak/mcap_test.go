package main

import (
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/data/recordings"
)

const takes = "../../docs/examples/mcap"

// TestMCAP: takes that the real packages of MCAP have written become rollouts: of each topic the last message at each tick of the clock, and
// what people see and what was measured are of one moment.
func TestMCAP(t *testing.T) {
	t.Parallel()
	python, dir := pythonOf(t), t.TempDir()
	run := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
		return string(out), err
	}
	from, to := filepath.Join(dir, "takes"), filepath.Join(dir, "out")
	if said, err := run(filepath.Join(takes, "make.py"), from); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	convert := []string{filepath.Join(takes, "convert.py"), from, to, "--image", "/front/compressed", "--image", "/side/compressed", "--state", "/joint_states", "--action", "/command"}
	if said, err := run(append(convert, "--episodes-csv", filepath.Join(from, "episodes.csv"))...); err != nil || strings.Count(said, "10 frames") != 6 {
		t.Fatalf("%v\n%s", err, said)
	}
	set := must.Get(recordings.Import(t.Context(), recordings.Config{From: to, Into: filepath.Join(dir, "kept"), Name: "takes"}))(t)
	if n, policies := set.Size(); n != 6 || policies != 2 || !strings.HasSuffix(set.RewardOf(), " observations, standardised") {
		t.Errorf("%d rollouts of %d policies with %s, want 6 of 2 with observations", n, policies, set.RewardOf())
	}
	for i, e := range set.Episodes() {
		speed, angle := []float64{1, 2.5}[i%2], 0.2*float64(i)
		tr, _, err := set.Trajectory(i)
		if err != nil {
			t.Fatal(err)
		}
		if tr.Len() != 9 || e.Policy != i%2 || e.Task != "turn" {
			t.Errorf("take %d has %d steps, policy %d and task %q", i, tr.Len(), e.Policy, e.Task)
		}
		for k, row := range tr.Obs {
			at := angle + speed*float64(k)/10
			if math.Abs(row[0]-at) > 1e-9 || row[1] != speed || k < tr.Len() && tr.Actions[k][0] != speed {
				t.Errorf("take %d, frame %d: observed %v, want %v and %v", i, k, row, at, speed)
			}
			if x, want := pointer(t, filepath.Join(to, fmt.Sprintf("take_%d/frames/%d.png", i, k))), int((0.5+0.4*math.Sin(at))*56); x != want {
				t.Errorf("take %d, frame %d: the pointer is seen at %d, want %d", i, k, x, want)
			}
		}
	}
	for name, args := range map[string][]string{
		"there is no message of /none": append(convert[:2:2], filepath.Join(dir, "none"), "--image", "/none"),
		"fewer than two .mcap files":   {convert[0], dir, filepath.Join(dir, "two"), "--image", "/front/compressed"},
	} {
		if said, err := run(args...); err == nil || !strings.Contains(said, name) || strings.Contains(said, "Traceback") {
			t.Errorf("%s: %v %s", name, err, said)
		}
	}
}

// pointer returns where in a picture of both cameras the pointer of the first begins, in pixels from the left.
func pointer(t *testing.T, path string) int {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	img := must.Get(png.Decode(f))(t)
	if size := img.Bounds().Size(); size != image.Pt(64+48, 48) {
		t.Fatalf("%s has %v pixels", path, size)
	}
	for x := range 64 {
		if r, g, _, _ := img.At(x, 20).RGBA(); r > 2*g {
			return x
		}
	}
	return -1
}
