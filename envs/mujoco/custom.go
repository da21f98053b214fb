package mujoco

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"
)

// Custom is a model of a user's own: an MJCF file and a JSON file beside it that
// says what to observe, to learn about and to draw (docs/models). It is immutable.
type Custom struct {
	ID          string // "own-" and the name that the file gives
	Title       string
	Description string
	Version     string // eight letters and digits that change with either file

	file   *customFile
	model  *engine.Model
	gauges []gauge
	shown  []int   // positions that are observed
	height float64 // of the camera's centre, metres
}

// LoadCustom reads the JSON file at path and compiles the model that it names. It
// returns an error of kind Invalid that says which file and field to change, with
// the engine's own words if it refuses the model, and engine.Check's error if
// there is no engine.
func LoadCustom(path string) (*Custom, error) {
	file, err := readCustom(path)
	if err != nil {
		return nil, within(path, err)
	}
	if err := engine.Check(); err != nil {
		return nil, err
	}
	model := filepath.Join(filepath.Dir(path), file.Model)
	m, err := engine.LoadFile(model)
	if err != nil {
		return nil, within(model, err)
	}
	if err := checkModel(m); err != nil {
		return nil, within(model, err)
	}
	c := &Custom{ID: "own-" + file.Name, Title: file.Title, Description: file.Description, Version: file.version, file: file, model: m}
	if err := c.resolve(); err != nil {
		return nil, within(path, err)
	}
	return c, nil
}

// within says which file an error is about.
func within(path string, err error) error {
	var known *idrl.Error
	if errors.As(err, &known) {
		return idrl.Errorf(known.Kind, "%s: %s", path, known.Error())
	}
	return fmt.Errorf("%s: %w", path, err)
}

// readCustom reads the JSON file and checks that its model can be read. It does not
// leave the folder of the file, also not by links.
func readCustom(path string) (*customFile, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "cannot be opened: %v", err)
	}
	defer root.Close()
	data, err := readSmall(root, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	file, err := parseCustom(data)
	if err != nil {
		return nil, err
	}
	model, err := readSmall(root, file.Model)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "model: %v", err)
	}
	h := sha256.New()
	h.Write(data)
	h.Write(model)
	file.version = hex.EncodeToString(h.Sum(nil)[:4])
	return file, nil
}

// readSmall reads a file of at most maxFileBytes.
func readSmall(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "cannot be opened: %v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, idrl.Errorf(idrl.Invalid, "cannot be read: %v", err)
	case len(data) > maxFileBytes:
		return nil, idrl.Errorf(idrl.Invalid, "%s has more than %d bytes; shorten it", name, maxFileBytes)
	}
	return data, nil
}

// checkModel returns an error of kind Invalid if m is no environment.
func checkModel(m *engine.Model) error {
	finite := func(low, high float64) bool { return low < high && !math.IsInf(low, 0) && !math.IsInf(high, 0) }
	for i := range m.NU {
		if !finite(m.CtrlLow[i], m.CtrlHigh[i]) {
			return idrl.Errorf(idrl.Invalid, `actuator %d has no finite range; give it ctrllimited="true" and a ctrlrange`, i)
		}
	}
	return first(
		check{m.NU > 0, "actuator", "there: without one there is nothing to control"},
		check{
			m.NU <= maxParts && len(m.Joints) <= maxParts && m.NBody <= maxParts && m.NGeom <= 4*maxParts, "the model",
			fmt.Sprintf("one of at most %d bodies, joints and actuators, and %d geoms", maxParts, 4*maxParts),
		},
		check{m.TimestepSec >= 1e-5 && m.TimestepSec <= 0.1, "option timestep", fmt.Sprintf("from 0.00001 to 0.1 seconds, but is %v", m.TimestepSec)},
		check{len(m.Sensors) <= 4*maxParts, "sensor", fmt.Sprintf("there at most %d times", 4*maxParts)},
	)
}

// resolve looks up what the file names in the model.
func (c *Custom) resolve() error {
	for i := range c.file.Features {
		f := &c.file.Features[i]
		g, err := c.gauge(f, fmt.Sprintf("features[%d]", i))
		if err != nil {
			return err
		}
		c.gauges = append(c.gauges, g)
	}
	if err := c.observed(); err != nil {
		return err
	}
	if err := c.aim(); err != nil {
		return err
	}
	if c.file.Fallen != nil {
		if _, err := c.find(engine.BodyKind, "fallen.body", "body", c.file.Fallen.Body); err != nil {
			return err
		}
	}
	for i, p := range c.file.Paints {
		if _, err := c.find(engine.BodyKind, fmt.Sprintf("paints[%d].body", i), "body", p.Body); err != nil {
			return err
		}
	}
	return nil
}

// aim notes the first height of the body that the camera follows.
func (c *Custom) aim() error {
	body, err := c.find(engine.BodyKind, "camera.body", "body", c.file.Camera.Body)
	if err != nil {
		return err
	}
	d, err := c.model.NewData()
	if err != nil {
		return err
	}
	if err := d.Forward(); err != nil {
		return idrl.Errorf(idrl.Invalid, "model: it breaks down in its first state (%v); check its masses and sizes", err)
	}
	c.height = d.XPos[3*body+2]
	return nil
}

// find returns the index of what a field of the file names.
func (c *Custom) find(kind engine.Kind, field, what, name string) (int, error) {
	id := c.model.ID(kind, name)
	if id < 0 {
		return 0, idrl.Errorf(idrl.Invalid, "%s: the model has no %s named %q; give one that name or correct it", field, what, name)
	}
	return id, nil
}

// observed notes the positions that a policy sees: all but x and y of the first
// free joint and those of the joints that the file hides.
func (c *Custom) observed() error {
	var hidden []int
	for _, j := range c.model.Joints {
		if j.Type == engine.Free {
			hidden = append(hidden, j.QPos, j.QPos+1)
			break
		}
	}
	for i, name := range c.file.Hide {
		field := fmt.Sprintf("hide[%d]", i)
		id, err := c.find(engine.JointKind, field, "joint", name)
		if err != nil {
			return err
		}
		j := c.model.Joints[id]
		if j.Type != engine.Slide && j.Type != engine.Hinge {
			return idrl.Errorf(idrl.Invalid, "%s must be a slide or a hinge, but %q is neither; x and y of a free joint are hidden anyway", field, name)
		}
		hidden = append(hidden, j.QPos)
	}
	for i := range c.model.NQ {
		if !slices.Contains(hidden, i) {
			c.shown = append(c.shown, i)
		}
	}
	return nil
}

// New returns a new environment of the model.
func (c *Custom) New() (*Env, error) {
	f, m := c.file, c.model
	t := &task{skip: f.FrameSkip}
	t.spec = idrl.EnvSpec{
		ID:      c.ID,
		Actions: idrl.ActionSpec{Low: m.CtrlLow, High: m.CtrlHigh}, ObsDim: len(c.shown) + m.NV,
		StepSeconds: m.TimestepSec * float64(f.FrameSkip), Horizon: f.Horizon, Discount: 1,
		ClipSteps: f.ClipSteps, Playback: f.Playback, StillLabel: "this moment", Search: idrl.Search(f.Search),
	}
	for _, feature := range f.Features {
		t.spec.FeatureNames = append(t.spec.FeatureNames, feature.Name)
		t.spec.PriorScale = append(t.spec.PriorScale, feature.priorScale())
	}
	t.reset = func(e *Env, rng *rand.Rand) {
		noise := uniform
		if f.ResetNoise.Kind == "normal" {
			noise = normal
		}
		noise(e.d.QPos, f.ResetNoise.Position, rng)
		noise(e.d.QVel, f.ResetNoise.Velocity, rng)
	}
	t.observe = func(e *Env, dst []float64) {
		for k, i := range c.shown {
			dst[k] = e.d.QPos[i]
		}
		copy(dst[len(c.shown):], e.d.QVel)
	}
	c.measure(t)
	t.fallen = c.fallen()
	t.name = ownNamer(f.Camera.Width)
	t.appearance = c.appearance()
	return newEnv(t, m)
}

// fallen returns task.fallen, nil if the file has no field "fallen".
func (c *Custom) fallen() func(e *Env) bool {
	f := c.file.Fallen
	if f == nil {
		return nil
	}
	body := c.model.ID(engine.BodyKind, f.Body)
	return func(e *Env) bool {
		e.must(e.d.Kinematics()) // Restore does not compute the positions of bodies
		leans := f.UprightBelow != nil && e.d.XMat[9*body+8] < *f.UprightBelow
		return leans || f.HeightBelow != nil && e.d.XPos[3*body+2] < *f.HeightBelow
	}
}

// appearance returns how the model is drawn. The camera stays at the height that the
// body has at first, unless the body jumps.
func (c *Custom) appearance() appearance {
	camera := c.file.Camera
	a := appearance{
		body: c.model.ID(engine.BodyKind, camera.Body), sideways: true, width: camera.Width, distance: camera.Distance,
		elevation: camera.ElevationDeg * math.Pi / 180, azimuth: camera.AzimuthDeg * math.Pi / 180,
		height: c.height,
	}
	if a.distance == 0 {
		a.distance = 2.5 * camera.Width
	}
	for _, p := range c.file.Paints {
		a.limbs = append(a.limbs, limb{p.Body, p.Body, p.Paint})
	}
	return a
}
