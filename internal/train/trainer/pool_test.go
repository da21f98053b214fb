package trainer_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/trainer"

	"gonum.org/v1/gonum/floats"
)

// The first generation hands over the pool, with clips that show it; later ones do
// not. Drafts are called so: they are optimal for nothing.
func TestFirstGenerationHasThePool(t *testing.T) {
	for _, test := range []struct {
		name   string
		tr     *trainer.Thompson
		n      int
		origin idrl.Origin
	}{
		{"comparisons", thompson(t, "chain", idrl.CompareClips), 4, idrl.FromPrior},
		{"ratings of states", thompson(t, "gridworld", idrl.RateState), 4, idrl.FromPrior},
		{"drafts", pushes(pointmass.Config{}), 8, idrl.FromDraft},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := jobFor(test.tr)
			job.BasedOn, job.First = 0, true
			g := train(t, test.tr, job)
			want := must.Get(test.tr.PoolPolicies(t.Context(), job.Seed))(t)
			if len(g.Pool) != test.n || len(want) != test.n {
				t.Fatalf("%d policies of %d, want %d", len(g.Pool), len(want), test.n)
			}
			for k, c := range g.Pool {
				if c.ID != want[k].ID || c.Origin != test.origin || !floats.Equal(c.Mu, want[k].Mu) || c.Params != nil || c.Theta != nil {
					t.Errorf("policy %d is %+v, want ID, origin %s and μ of %+v", k, c, test.origin, want[k])
				}
				if _, ok := g.Clips[c.Clip]; !ok {
					t.Errorf("the clip of policy %s is missing", c.ID)
				}
			}
			if later := train(t, test.tr, next(job, g)); later.Pool != nil {
				t.Errorf("a later generation has a pool of %d", len(later.Pool))
			}
		})
	}
}
