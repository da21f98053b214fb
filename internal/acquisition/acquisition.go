// Package acquisition values queries: which question is worth asking next. An
// acquisition function is pure; Select breaks its ties with a stream of the
// caller.
package acquisition

import (
	"strings"

	"tiebreak/internal/idrl"
)

// ByName returns the acquisition function that a session names, or an error of
// kind Invalid that lists the known ones.
func ByName(name string) (idrl.Acquisition, error) {
	switch name {
	case "idrl":
		return IDRL{}, nil
	case "uniform":
		return Uniform{}, nil
	}
	return nil, idrl.Errorf(idrl.Invalid, "unknown acquisition function %q; known: %s", name, strings.Join(idrl.Acquisitions(), ", "))
}

// Pending returns the belief with the mean of p and the covariance expected
// once the queries, which are open with annotators, are answered. A question
// chosen under it does not ask what somebody is just answering. The covariance
// is exact for answers with Gaussian noise and expected for others. Source:
// reference "methods", section 3.
func Pending(m idrl.RewardModel, p idrl.Posterior, queries []idrl.Query) idrl.Posterior {
	for _, q := range queries {
		p = m.Anticipate(p, q)
	}
	return p
}

// Uniform values all queries alike, so that ties decide.
type Uniform struct{}

var _ idrl.Acquisition = Uniform{}

// Score stores 0 for every query in dst and returns it, under the rules of
// idrl.Acquisition.
func (Uniform) Score(dst []float64, _ idrl.RewardModel, _ idrl.Posterior, g idrl.Generation) []float64 {
	dst = destination(dst, len(g.Queries))
	clear(dst)
	return dst
}

// destination returns dst, or a new slice of length n if it is nil.
func destination(dst []float64, n int) []float64 {
	if dst == nil {
		return make([]float64, n)
	}
	if len(dst) != n {
		panic("acquisition: destination has the wrong length")
	}
	return dst
}
