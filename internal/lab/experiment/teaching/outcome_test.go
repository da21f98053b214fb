package teaching

import (
	"math"
	"testing"

	"tiebreak/internal/idrl"
)

// What an episode is told by: the way until a fall, turns in all of it, steps near the
// target, and whether the goal was reached.
func TestGauge(t *testing.T) {
	spec := idrl.EnvSpec{
		FeatureNames: []string{"Distance forward", "Rotation backwards", "Distance to the target", "Cell 7: staying"},
		StepSeconds:  0.02, Horizon: 4,
	}
	g, e := newGauge(spec), Episode{}
	metres := func(d float64) float64 { return 50 * 0.02 * d } // in the unit of the feature, over a step
	for n, phi := range [][]float64{
		{2, math.Pi, metres(0.1), 0},
		{3, math.Pi, metres(0.021), 0},
		{4, math.Pi, metres(0.019), 1},
		{5, math.Pi, metres(0), 0},
	} {
		g.read(&e, phi)
		e.Fell = e.Fell || n == 1
	}
	if e.Forward != 5 || e.Steps != 2 || math.Abs(e.Turns-2) > 1e-12 || e.Near != 0.5 || !e.Arrived {
		t.Errorf("%+v; want 5 m in the 2 steps before the fall, 2 turns, half of the steps near the target, and the goal", e)
	}
	o := Outcome{Episodes: []Episode{e, {Forward: 7, Steps: 4, Return: 8}, {Forward: 1, Turns: 5, Steps: 3}}}
	if o.Forward() != 5 || o.Steps() != 3 || o.Turns() != 2 || o.Near() != 0 || o.Falls() != 1 || o.Arrived() != 1 || math.Abs(o.Return()-8.0/3) > 1e-12 {
		t.Errorf("outcome: forward %v, %v steps, %v turns, near %v, %v falls, %v arrived, return %v", o.Forward(), o.Steps(), o.Turns(), o.Near(), o.Falls(), o.Arrived(), o.Return())
	}
}
