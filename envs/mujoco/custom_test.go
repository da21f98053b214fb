//go:build mujoco

package mujoco_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats/scalar"

	"tiebreak/envs/envtest"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// loadCart loads the example.
func loadCart(t testing.TB) *mujoco.Custom {
	t.Helper()
	c := must.Get(mujoco.LoadCustom("../../docs/models/cart/cart.json"))(t)
	return c
}

func newCustom(t testing.TB, c *mujoco.Custom) *mujoco.Env {
	t.Helper()
	e := must.Get(c.New())(t)
	return e
}

func TestCart(t *testing.T) {
	c := loadCart(t)
	if c.ID != "own-cart" || c.Title != "Cart with a lever" || c.Description == "" {
		t.Errorf("entry is %q, %q, %q", c.ID, c.Title, c.Description)
	}
	envtest.Run(t, func() idrl.Environment {
		e := newCustom(t, c)
		e.Shorten(60)
		return e
	})
}

// TestCartFeatures derives features of an episode from its states: x, z and pitch
// are the first three positions, 2 to 4 of a snapshot.
func TestCartFeatures(t *testing.T) {
	e := newCustom(t, loadCart(t))
	spec := e.Spec()
	if spec.ObsDim != 3+6 || spec.StepSeconds != 0.04 || spec.Actions.Dim() != 3 || spec.Search.Directions != 16 {
		t.Errorf("spec is %+v", spec)
	}
	stream := rng.New(1, "act", 0)
	first := e.Reset(rng.New(1, "env", 0))
	was := e.Snapshot(nil)
	if got := first.Obs[0]; got != was[3] { // x is hidden, so z comes first
		t.Errorf("the first observed number is %v, want z, %v", got, was[3])
	}
	for range 50 {
		a := idrl.Action{2*stream.Float64() - 1, 2*stream.Float64() - 1, 2*stream.Float64() - 1}
		phi := e.Step(a).Phi
		now := e.Snapshot(nil)
		pitch := now[4]
		for i, want := range []float64{
			0.04 * (now[2] - was[2]) / 0.04,             // speed along x
			0.1 * (0.28 + now[3] - 0.4*math.Sin(pitch)), // height of the nose, 0.4 m ahead of the cart
			0.1 * (0.28 + now[3]),                       // height of the cart
			0.04 * math.Cos(pitch),                      // upright
			0.04 * now[7],                               // angle of the lever, the sixth position
			phi[5],                                      // the gyroscope has a test of its own
			0.04 * (a[0]*a[0] + a[1]*a[1] + a[2]*a[2]),  // effort
		} {
			if !scalar.EqualWithinAbs(phi[i], want, 1e-12) {
				t.Errorf("feature %q is %v, want %v", spec.FeatureNames[i], phi[i], want)
			}
		}
		was = now
	}
}

// TestCartGyroscope: the sensor has the angular velocity as of the last engine
// step but one, so its sum over an episode is the turn, up to that lag.
func TestCartGyroscope(t *testing.T) {
	e := newCustom(t, loadCart(t))
	e.Reset(rng.New(1, "env", 0))
	start := e.Snapshot(nil)[4]
	sum, fastest := 0.0, 0.0
	for k := range 100 {
		v := e.Step(idrl.Action{0, 0, math.Sin(0.3 * float64(k))}).Phi[5] // −0.04 s times the velocity
		sum, fastest = sum+v, max(fastest, math.Abs(v))
	}
	if turn := start - e.Snapshot(nil)[4]; !scalar.EqualWithinAbs(sum, turn, 2*fastest) || fastest == 0 {
		t.Errorf("the gyroscope adds up to %v, but the cart turned by %v", sum, turn)
	}
}

const tumbler = `<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="ball" pos="0 0 1">
      <joint name="root" type="free"/>
      <geom type="sphere" size="0.1"/>
      <body name="arm"><joint name="elbow" type="hinge" axis="0 1 0"/><geom name="fist" type="cylinder" size="0.1 0.02" pos="0.3 0 0"/>
        <site name="tip" pos="0.4 0 0"/></body>
      <body name="eye"><joint name="socket" type="ball"/><geom type="sphere" size="0.01"/></body>
    </body>
  </worldbody>
  <actuator><motor name="pull" joint="elbow" ctrllimited="true" ctrlrange="-1 1"/></actuator>
  <sensor><gyro name="spin" site="tip"/></sensor>
</mujoco>`

const tumblerFile = `{"name": "tumbler", "title": "Tumbler", "description": "A ball with an arm.", "model": "model.xml",
"frame_skip": 2, "horizon": 20, "reset_noise": {"position": 0.1, "velocity": 0.5, "kind": "normal"},
"features": [{"name": "f", "sensor": "spin", "index": 2}, {"name": "g", "joint": "elbow", "quantity": "velocity"}, {"name": "h", "quantity": "constant", "scale": 3}],
"clip_steps": 10, "playback": 1, "camera": {"body": "ball", "width": 3}}`

// writeModel writes a model and its file and loads them.
func writeModel(t *testing.T, file, xml string) (*mujoco.Custom, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"own.json": file, "model.xml": xml} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return mujoco.LoadCustom(filepath.Join(dir, "own.json"))
}

// TestTumbler has what the example has not: a root that moves freely, a ball
// joint, normal noise, a disc, and defaults.
func TestTumbler(t *testing.T) {
	c := must.Get(writeModel(t, tumblerFile, tumbler))(t)
	envtest.Run(t, func() idrl.Environment { return newCustom(t, c) })
	e := newCustom(t, c)
	obs := e.Reset(rng.New(1, "env", 0)).Obs
	if state := e.Snapshot(nil); len(obs) != 12-2+10 || obs[0] != state[4] { // x and y of the root are hidden
		t.Errorf("%d numbers are observed, the first %v; want 20 and z, %v", len(obs), obs[0], state[4])
	}
	phi := e.Step(idrl.Action{1}).Phi
	if v := e.Snapshot(nil)[2+12+6]; phi[1] != v || phi[2] != 3 { // the elbow's velocity follows the six of the root
		t.Errorf("features are %v, want %v and 3 at the end", phi, v)
	}
	var s drawing.Scene
	e.Draw(&s)
	if s.Camera.Distance != 7.5 || s.Camera.Z != 1 || s.Moving[1].Kind != drawing.Box {
		t.Errorf("camera is %+v, the fist a %s; want 7.5 m away, at 1 m, and a box", s.Camera, s.Moving[1].Kind)
	}
}

// TestBadModels changes one place of a model or of its file.
func TestBadModels(t *testing.T) {
	both := tumblerFile + tumbler
	for _, test := range []struct {
		name, old, new string
		want           []string
	}{
		{"no MJCF", "<mujoco>", "<mujico>", []string{"model.xml: MuJoCo refuses the model"}},
		{"unknown element", `<option timestep="0.01"/>`, `<options/>`, []string{"model.xml: MuJoCo refuses the model", "options"}},
		{"no mass", `<geom type="sphere" size="0.01"/>`, ``, []string{"model.xml: MuJoCo refuses the model", "mass"}},
		{"no actuator", `<actuator><motor name="pull" joint="elbow" ctrllimited="true" ctrlrange="-1 1"/></actuator>`, ``, []string{"model.xml: actuator must be there"}},
		{"no range", `ctrllimited="true"`, `ctrllimited="false"`, []string{"model.xml: actuator 0 has no finite range", "ctrllimited"}},
		{"negative timestep", `timestep="0.01"`, `timestep="-0.01"`, []string{"model.xml", "timestep"}},
		{"long timestep", `timestep="0.01"`, `timestep="0.2"`, []string{"model.xml: option timestep must be from 0.00001 to 0.1 seconds, but is 0.2"}},
		{"unknown sensor", `"sensor": "spin"`, `"sensor": "spun"`, []string{`own.json: features[0].sensor: the model has no sensor named "spun"`}},
		{"index beyond the sensor", `"index": 2`, `"index": 3`, []string{"own.json: features[0].index must be from 0 to 2", "3 numbers"}},
		{"unknown joint", `"joint": "elbow", "q`, `"joint": "knee", "q`, []string{`own.json: features[1].joint: the model has no joint named "knee"`}},
		{"joint without a position", `"joint": "elbow", "q`, `"joint": "socket", "q`, []string{"own.json: features[1].joint must be a slide or a hinge", "socket"}},
		{"unknown site", `"quantity": "constant"`, `"site": "toe", "quantity": "x"`, []string{`own.json: features[2].site: the model has no site named "toe"`}},
		{"unknown body", `"quantity": "constant"`, `"body": "toe", "quantity": "x"`, []string{`own.json: features[2].body: the model has no body named "toe"`}},
		{"upright of an unknown body", `"quantity": "constant"`, `"body": "toe", "quantity": "upright"`, []string{`own.json: features[2].body: the model has no body named "toe"`}},
		{"unknown body of the camera", `"camera": {"body": "ball"`, `"camera": {"body": "bell"`, []string{`own.json: camera.body: the model has no body named "bell"`}},
		{"unknown painted body", `"playback": 1`, `"playback": 1, "paints": [{"body": "toe", "paint": "wall"}]`, []string{`own.json: paints[0].body: the model has no body named "toe"`}},
		{"unknown body that falls", `"playback": 1`, `"playback": 1, "fallen": {"body": "toe", "height_below": 1}`, []string{`own.json: fallen.body: the model has no body named "toe"`}},
		{"unknown hidden joint", `"playback": 1`, `"playback": 1, "hide": ["rootx"]`, []string{`own.json: hide[0]: the model has no joint named "rootx"`}},
		{"hidden root", `"playback": 1`, `"playback": 1, "hide": ["root"]`, []string{"own.json: hide[0] must be a slide or a hinge", "hidden anyway"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := strings.Replace(both, test.old, test.new, 1)
			if bad == both {
				t.Fatalf("there is no %s", test.old)
			}
			cut := strings.Index(bad, "<mu")
			_, err := writeModel(t, bad[:cut], bad[cut:])
			if err == nil || idrl.KindOf(err) != idrl.Invalid {
				t.Fatalf("error is %v, want one of kind Invalid", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error is %q, want %q in it", err, part)
				}
			}
		})
	}
}
