package training

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// MakeClips has t ask about clips that are made to be informative. It does so in tabular environments, where that was measured to
// save answers (docs/adr/0052).
func MakeClips(t *trainer.Thompson, env idrl.Environment) {
	tabular, ok := env.(idrl.Tabular)
	if !ok {
		return
	}
	walks := solver.Prepare(tabular)
	t.Steer = func(theta []float64, from, n int) idrl.Policy { return walks.Walk(theta, from, n) }
}
