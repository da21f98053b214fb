package pointmass_test

import (
	"testing"

	"tiebreak/envs/envtest"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
)

// TestContract holds the environment to the contract; with a limit its episodes
// break down early.
func TestContract(t *testing.T) {
	for name, cfg := range map[string]pointmass.Config{
		"endless line":  {},
		"limited line":  {Limit: 0.6},
		"other lengths": {Horizon: 7, ClipSteps: 7},
	} {
		t.Run(name, func(t *testing.T) {
			envtest.Run(t, func() idrl.Environment { return pointmass.New(cfg) })
		})
	}
}
