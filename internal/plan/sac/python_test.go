package sac_test

import (
	"math"
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/networks/networkstest"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"
)

// What another program computes from the files of a policy is what this one computes, to
// 1e-6; the time is what the row says.
func TestPythonComputesTheSameActions(t *testing.T) {
	horizon := pointmass.New(pointmass.Config{}).Spec().Horizon
	for name, timed := range map[string]bool{"with time": true, "without time": false} {
		t.Run(name, func(t *testing.T) {
			s := small()
			s.Time = timed
			a := newAgent(t, sac.Config{Settings: s, Seed: 3})
			run(t, a, 500)
			p := a.Policy(false)
			var rows [][]float64
			var want []float64
			stream := rng.New(1, "rows", 0)
			for k := range 100 {
				obs := []float64{stream.NormFloat64(), 3 * stream.NormFloat64(), stream.Float64()}
				step := k % (horizon + 5)
				want = append(want, p.ActAt(make(idrl.Action, 1), obs, step, nil)[0])
				if timed {
					obs = append(obs, float64(step))
				}
				rows = append(rows, obs)
			}
			differ := false
			for i, got := range networkstest.Evaluate(t, networkstest.Save(t, p.Network()), rows) {
				differ = differ || math.Abs(want[i]-want[0]) > 0.1
				if len(got) != 1 || math.Abs(got[0]-want[i]) > 1e-6 {
					t.Errorf("row %d: action %v in Python, %v here", i, got, want[i])
				}
			}
			if !differ {
				t.Error("all actions are alike: too little to tell")
			}
		})
	}
}
