package trainer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Where all episodes of a policy are alike, the policies of a pool may take few different
// walks: seven in a gridworld with many walls. wander adds policies until there are
// differentQuestions questions that look different, and tries at most maxWanderers policies.
const (
	differentQuestions = 2 * learning.Remembered
	maxWanderers       = 120
)

// wander adds policies to p until its walks give enough questions that look different: those
// that are optimal if each state has a reward of its own, normal with the standard deviation of
// a weight, beside what its features earn. Policies whose walks look like others are left out.
// It does nothing where people do not look for what differs, where questions are about
// states, and where episodes have chance.
func (r *run) wander(ctx context.Context, p *pool) error {
	env, ok := r.env.(idrl.Tabular)
	if !ok || r.pairs == nil || r.kind.Still() || uncertain(env) {
		return nil
	}
	var walks []idrl.Clip
	for _, s := range p.policies {
		if err := r.addNew(&walks, s); err != nil {
			return err
		}
	}
	withIndicators, scale := newWithIndicators(env), r.stateScale()
	draws := rng.New(r.job.Seed, "withIndicators", 0)
	theta := make([]float64, withIndicators.Spec().FeatureDim())
	for k := 0; k < maxWanderers && r.different(len(walks)) < differentQuestions; k++ {
		for i := range theta {
			theta[i] = draws.NormFloat64() * scale(i)
		}
		policy, err := r.solver.Solve(ctx, r.task(withIndicators, theta, nil), rng.New(r.job.Seed, "whim solve", uint64(k)))
		if err != nil {
			return fmt.Errorf("solve for rewards of single states: %w", err)
		}
		s, err := r.try(ctx, poolID(len(p.policies)), policy, p.policies)
		if err != nil {
			return err
		}
		before := len(walks)
		if err := r.addNew(&walks, s); err != nil {
			return err
		}
		if len(walks) > before {
			p.policies, p.added = append(p.policies, s), p.added+1
		}
	}
	return nil
}

// different returns how many questions n clips give that look different.
func (r *run) different(n int) int {
	if r.kind.Comparison() {
		return n * (n - 1) / 2
	}
	return n
}

// addNew adds the opening of s to walks if people can distinguish it from all of them, its features
// differ from theirs, and, where questions are about one clip, it can be rated.
func (r *asking) addNew(walks *[]idrl.Clip, s solved) error {
	all := append(slices.Clone(*walks), s.opening())
	last := len(all) - 1
	for _, c := range *walks {
		if slices.Equal(c.Phi, all[last].Phi) {
			return nil
		}
	}
	if err := r.drawEach(all[last:]); err != nil {
		return err
	}
	if !r.kind.Comparison() && r.rated != nil {
		if ok, err := r.rated(all[last:]); err != nil || len(ok) == 0 {
			return err
		}
	}
	pairs, err := r.pairs(all)
	if err != nil {
		return err
	}
	n := 0
	for _, pair := range pairs {
		if pair[1] == last {
			n++
		}
	}
	if n == last {
		*walks = all
	}
	return nil
}

// stateScale returns the standard deviations of the weights of withIndicators: of the features those of
// the prior, and of each state their root mean square.
func (r *run) stateScale() func(i int) float64 {
	if r.priorScale == nil {
		return func(int) float64 { return 1 }
	}
	d := len(r.priorScale)
	mean := floats.Norm(r.priorScale, 2) / math.Sqrt(float64(d))
	return func(i int) float64 {
		if i < d {
			return r.priorScale[i]
		}
		return mean
	}
}

// withIndicators is an environment with an indicator of each state beside its features. Its steps
// tell of the features alone.
type withIndicators struct {
	idrl.Tabular
	spec idrl.EnvSpec
}

func newWithIndicators(env idrl.Tabular) withIndicators {
	spec := env.Spec()
	spec.FeatureNames = slices.Clone(spec.FeatureNames)
	for s := range env.NumStates() {
		spec.FeatureNames = append(spec.FeatureNames, fmt.Sprintf("State %d", s))
	}
	return withIndicators{env, spec}
}

func (w withIndicators) Spec() idrl.EnvSpec { return w.spec }

func (w withIndicators) Features(dst *mat.Dense) {
	n, d := w.NumStates(), w.Tabular.Spec().FeatureDim()
	w.Tabular.Features(dst.Slice(0, n, 0, d).(*mat.Dense))
	for s := range n {
		for to := range n {
			dst.Set(s, d+to, 0)
		}
		dst.Set(s, d+s, 1)
	}
}
