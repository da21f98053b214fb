package representation

import (
	"fmt"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// features returns Σ φ over a clip, or φ of a still.
func (v *View) features(c idrl.Clip) ([]float64, error) {
	if v.rep == nil {
		return c.Phi, nil
	}
	if phi := v.clips[c.ID]; phi != nil {
		return phi, nil
	}
	s, err := Shown(c, v.source.Steps)
	if err != nil {
		return nil, err
	}
	phi := v.rep.Features(make([]float64, v.rep.Dim()), s)
	v.clips[c.ID] = phi
	return phi, nil
}

// Shown returns the raw steps that clip c shows: of a still, the one that led to it. get
// returns those of a trajectory. Errors as for View.Query.
func Shown(c idrl.Clip, get func(idrl.StepsID) (*idrl.Steps, error)) (idrl.Steps, error) {
	s, err := stepsOf("clip "+string(c.ID), c.Raw, get)
	if err != nil {
		return idrl.Steps{}, err
	}
	n := max(1, c.Steps)
	if c.Start < 0 || c.Start+n > s.Len() {
		return idrl.Steps{}, idrl.Errorf(idrl.Damaged, "clip %s ends at step %d of a trajectory of %d", c.ID, c.Start+n, s.Len())
	}
	return s.Cut(c.Start, n), nil
}

// Policy returns μ_π, the (discounted) feature expectation of c. Under learnt features
// that is the mean over the rollouts of c that are kept. Errors as for Query.
func (v *View) Policy(c idrl.Candidate) ([]float64, error) {
	if v.rep == nil {
		return c.Mu, nil
	}
	if mu := v.mu[c.ID]; mu != nil {
		return mu, nil
	}
	if len(c.Rollouts) == 0 {
		return nil, errNoSteps("policy " + string(c.ID))
	}
	all := make([]*idrl.Steps, len(c.Rollouts))
	for i, name := range c.Rollouts {
		var err error
		if all[i], err = stepsOf("policy "+string(c.ID), name, v.source.Steps); err != nil {
			return nil, err
		}
	}
	mu := Mu(v.rep, all, v.source.Discount)
	v.mu[c.ID] = mu
	return mu, nil
}

// Mu returns the mean over rollouts, of which there must be one, of Σ_t γ^t φ_t, length
// rep.Dim().
func Mu(rep idrl.Representation, rollouts []*idrl.Steps, discount float64) []float64 {
	mu, phi := make([]float64, rep.Dim()), make([]float64, rep.Dim())
	for _, s := range rollouts {
		weight := 1 / float64(len(rollouts))
		for t := range s.Len() {
			floats.AddScaled(mu, weight, rep.Features(phi, s.Cut(t, 1)))
			weight *= discount
		}
	}
	return mu
}

// stepsOf returns the raw steps with a name; of says in errors whose steps they are.
func stepsOf(of string, name idrl.StepsID, get func(idrl.StepsID) (*idrl.Steps, error)) (*idrl.Steps, error) {
	if name == "" {
		return nil, errNoSteps(of)
	}
	s, err := get(name)
	if err != nil {
		return nil, fmt.Errorf("raw steps of %s: %w", of, err)
	}
	return s, nil
}

func errNoSteps(of string) error {
	return idrl.Errorf(idrl.NotFound, "no raw steps are kept of %s, so that features cannot be computed from them; "+
		"this session can only use the features of its environment", of)
}
