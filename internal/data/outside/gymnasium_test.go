package outside

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/envs/envtest"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// gymnasium returns the Python that .ci/gymnasium made.
func gymnasium(t *testing.T) string {
	t.Helper()
	python, err := filepath.Abs("../../check/tools/gymnasium/venv/bin/python")
	if err == nil {
		_, err = os.Stat(python)
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("sh .ci/gymnasium has not been run: %v", err)
		}
		t.Skip("sh .ci/gymnasium has not been run")
	}
	return python
}

// The examples of docs/examples/outside, under the real Gymnasium and the installed package,
// keep the contract of environments and can be shown.
func TestGymnasium(t *testing.T) {
	python := gymnasium(t)
	for _, test := range []struct {
		file     string
		pictures bool
		actions  int
	}{{"cartpole", true, 2}, {"inverted_pendulum", false, 1}, {"taxi", true, 6}, {"minigrid_empty", true, 7}} {
		t.Run(test.file, func(t *testing.T) {
			script, err := filepath.Abs("../../../docs/examples/outside/" + test.file + ".py")
			if err != nil {
				t.Fatal(err)
			}
			b, err := exec.Command(python, "-m", "tiebreak", "describe", script).Output()
			if err != nil {
				t.Fatal(err)
			}
			said := map[string]any{}
			if err := json.Unmarshal(b, &said); err != nil {
				t.Fatal(err)
			}
			said["folder"] = filepath.ToSlash(rel(t, filepath.Dir(script)))
			path := filepath.Join(t.TempDir(), strings.ReplaceAll(test.file, "_", "-")+".json")
			if b, err = json.Marshal(said); err == nil {
				err = os.WriteFile(path, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			checkProgram(t, path, test.pictures, test.actions)
		})
	}
}

// rel returns the way from the folder of a description to dir.
func rel(t *testing.T, dir string) string {
	t.Helper()
	up, err := filepath.Rel(t.TempDir(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func checkProgram(t *testing.T, path string, pictures bool, actions int) {
	d, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	d.Launcher = os.Args[0] // in the cage, as a server has it
	p, err := Load(d)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Hello.spec("x").Actions.Dim(); got != actions || (p.Hello.Draws == drawsPicture) != pictures {
		t.Errorf("%d numbers in an action, draws %s", got, p.Hello.Draws)
	}
	envtest.Run(t, func() idrl.Environment { return start(t, p) })
	env := start(t, p)
	env.Reset(rng.New(1, "env", 0))
	keeper := env.(idrl.Snapshotter)
	c := idrl.Clip{ID: "c", Steps: 4, Phi: make([]float64, env.Spec().FeatureDim()), Snapshots: [][]float64{keeper.Snapshot(nil)}}
	for range c.Steps {
		env.Step(make(idrl.Action, env.Spec().Actions.Dim()))
		c.Snapshots = append(c.Snapshots, keeper.Snapshot(nil))
	}
	b, err := clip.Encode(env, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clip.Decode(b); err != nil || len(b) > 100_000 {
		t.Errorf("a clip of %d bytes, error %v", len(b), err)
	}
}
