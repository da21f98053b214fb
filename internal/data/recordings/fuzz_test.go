package recordings

import (
	"testing"

	"tiebreak/internal/idrl"
)

// Any bytes are refused as a manifest, or are one within limits.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 0.05, "features": ["one"], "rollouts": [{"name": "a", "policy": "x"}, {"name": "b", "policy": "y"}]}`))
	f.Add([]byte(`{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 1e-300, "rollouts": [{"name": "a"}, {"name": "b"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readManifest(b)
		if err != nil {
			if idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("%v", err)
			}
			return
		}
		names, of := policies(len(m.Rollouts), maxPolicies, func(i int) (string, string) { return m.Rollouts[i].Policy, m.Rollouts[i].Name })
		if len(names) < 2 || len(names) > maxPolicies || len(of) != len(m.Rollouts) || !(m.StepSeconds > 0) || m.ClipSteps < 1 || m.ClipSteps > maxClip || m.PerStep < 1 {
			t.Errorf("%+v", m)
		}
	})
}
