package mujoco

import (
	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A gauge reads a feature: a number of the engine at the end of a step, or its change
// over the step in units per second, times scale.
type gauge struct {
	read  func(d *engine.Data, a idrl.Action) float64
	rate  bool
	scale float64
}

// gauge returns the gauge of feature f, which is at a place of the file.
func (c *Custom) gauge(f *customFeature, at string) (gauge, error) {
	g := gauge{scale: f.scale()}
	var err error
	switch {
	case f.Sensor != "":
		g.read, err = c.sensor(f, at)
	case f.Joint != "":
		g.read, err = c.joint(f, at)
	case f.Site != "":
		id, missing := c.find(engine.SiteKind, at+".site", "site", f.Site)
		g, err = position(g, f.Quantity, func(d *engine.Data) []float64 { return d.SiteXPos[3*id:] }), missing
	case f.Body != "":
		id, missing := c.find(engine.BodyKind, at+".body", "body", f.Body)
		g, err = position(g, f.Quantity, func(d *engine.Data) []float64 { return d.XPos[3*id:] }), missing
		if f.Quantity == "upright" {
			g.read = func(d *engine.Data, _ idrl.Action) float64 { return d.XMat[9*id+8] }
		}
	case f.Quantity == "effort":
		g.read = func(_ *engine.Data, a idrl.Action) float64 { return floats.Dot(a, a) }
	default:
		g.read = func(*engine.Data, idrl.Action) float64 { return 1 }
	}
	return g, err
}

// position returns g with the coordinate of a point that a quantity names: x, y
// or z, or its rate vx, vy or vz.
func position(g gauge, quantity string, point func(*engine.Data) []float64) gauge {
	axis := int(quantity[len(quantity)-1] - 'x')
	g.rate = len(quantity) == 2
	g.read = func(d *engine.Data, _ idrl.Action) float64 { return point(d)[axis] }
	return g
}

func (c *Custom) sensor(f *customFeature, at string) (func(*engine.Data, idrl.Action) float64, error) {
	id, err := c.find(engine.SensorKind, at+".sensor", "sensor", f.Sensor)
	if err != nil {
		return nil, err
	}
	s := c.model.Sensors[id]
	if f.Index >= s.Dim {
		return nil, idrl.Errorf(idrl.Invalid, "%s.index must be from 0 to %d, for sensor %q has %d numbers", at, s.Dim-1, f.Sensor, s.Dim)
	}
	return func(d *engine.Data, _ idrl.Action) float64 { return d.SensorData[s.At+f.Index] }, nil
}

func (c *Custom) joint(f *customFeature, at string) (func(*engine.Data, idrl.Action) float64, error) {
	id, err := c.find(engine.JointKind, at+".joint", "joint", f.Joint)
	if err != nil {
		return nil, err
	}
	j := c.model.Joints[id]
	switch {
	case j.Type != engine.Slide && j.Type != engine.Hinge:
		return nil, idrl.Errorf(idrl.Invalid, "%s.joint must be a slide or a hinge, but %q is neither; use the body that it moves", at, f.Joint)
	case f.Quantity == "velocity":
		return func(d *engine.Data, _ idrl.Action) float64 { return d.QVel[j.QVel] }, nil
	}
	return func(d *engine.Data, _ idrl.Action) float64 { return d.QPos[j.QPos] }, nil
}

// measure gives t the features. The positions of bodies are computed at both ends of a
// step, because after a step the engine has those of an earlier stage.
func (c *Custom) measure(t *task) {
	start := make([]float64, len(c.gauges))
	t.before = func(e *Env) {
		e.must(e.d.Kinematics())
		for i, g := range c.gauges {
			if g.rate {
				start[i] = g.read(e.d, nil)
			}
		}
	}
	t.after = func(e *Env) { e.must(e.d.Kinematics()) }
	t.phi = func(e *Env, a idrl.Action, dst []float64) {
		for i, g := range c.gauges {
			v := g.read(e.d, a)
			if g.rate {
				v = (v - start[i]) / t.spec.StepSeconds
			}
			dst[i] = g.scale * v
		}
	}
}
