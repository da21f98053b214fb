//go:build mujoco

package mujoco

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco/engine"
)

// A recording is a file of testdata/versions, made by the Python package of one
// version of MuJoCo (testdata/record.py says how).
type recording struct {
	Version string
	Models  map[string][]struct {
		Step        int
		QPos, QVel  []float64
		Contacts    int
		Sensitivity float64 // what a disturbance of 1e-10 does
	}
}

// recordings returns all, oldest version first.
func recordings(t *testing.T) []recording {
	t.Helper()
	paths, err := filepath.Glob("testdata/versions/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	out := make([]recording, len(paths))
	for i, path := range paths {
		b := must.Get(os.ReadFile(path))(t)
		must.Do(t, json.Unmarshal(b, &out[i]))
	}
	slices.SortFunc(out, func(a, b recording) int { return slices.Compare(parts(a.Version), parts(b.Version)) })
	return out
}

// parts returns the numbers of a version, so that 3.10 comes after 3.9.
func parts(version string) []int {
	var out []int
	for text := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(text)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}

// TestVersions plays every model as testdata/record.py does and compares with what
// the Python package of the same version made of it. A version that has no
// recording must do what the one before it does: where it does not, it is to be
// recorded, and docs/mujoco.md is to say how it differs.
func TestVersions(t *testing.T) {
	all := recordings(t)
	own := parts(engine.Version())
	k := len(all) - 1
	for k > 0 && slices.Compare(parts(all[k].Version), own) > 0 {
		k--
	}
	rec := all[k]
	t.Logf("MuJoCo %s (%s) beside the recording of %s", engine.Version(), engine.Origin(), rec.Version)
	if len(rec.Models) != 10 {
		t.Fatalf("%d models are recorded", len(rec.Models))
	}
	for _, file := range slices.Sorted(maps.Keys(rec.Models)) {
		t.Run(file, func(t *testing.T) {
			m := must.Get(model(file))(t)
			d := newData(t, m)
			for i := range d.QVel {
				d.QVel[i] = 0.05 * math.Cos(1+float64(i))
			}
			must.Do(t, d.Forward())
			step := 0
			for _, want := range rec.Models[file] {
				for ; step < want.Step; step++ {
					control(d.Ctrl, step)
					must.Do(t, d.Step(1))
				}
				// Rounding of 1e-13, by another compiler say, grows as a disturbance does.
				tol := 1e-13 * max(1, want.Sensitivity/1e-10)
				closeTo(t, "positions", d.QPos, want.QPos, tol)
				closeTo(t, "velocities", d.QVel, want.QVel, tol)
				if d.Contacts() != want.Contacts {
					t.Errorf("step %d: %d contacts, want %d", step, d.Contacts(), want.Contacts)
				}
			}
		})
	}
}
