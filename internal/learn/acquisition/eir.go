package acquisition

import (
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/stat/distuv"
)

// EIR is the expected improvement of the reward over the best rating y⁺ so far:
//
//	(m_q − y⁺ − ξ) Φ(z) + s φ(z),  z = (m_q − y⁺ − ξ)/s,  s = √v_q,  ξ = 0.001,
//
// and 0 if s = 0. Before the first rating all values are 0, so that ties decide.
// It needs ratings. Source: the paper, appendix "Expected improvement";
// docs/methods.md, section 1.2.
type EIR struct {
	// Paper makes s the predictive variance of the rating, as in the paper's text and
	// code, where the formula needs a standard deviation.
	Paper bool
}

// PI is the probability of improvement of the reward over the best rating so far,
// Φ(z), with z as for EIR, and 0 if s = 0. It is in the authors' code and not in the paper.
// Source: docs/paper-code.md, section 4.
type PI struct {
	Paper bool // as for EIR
}

var (
	_ Function = EIR{}
	_ Function = PI{}
)

// Score implements Function. It returns an error of kind Invalid if a query is a
// comparison.
func (f EIR) Score(dst []float64, in *Input) (Pair, error) {
	return noPair(), improvement(dst, in, f.Paper, gain)
}

// Score implements Function. It returns an error of kind Invalid if a query is a
// comparison.
func (f PI) Score(dst []float64, in *Input) (Pair, error) {
	return noPair(), improvement(dst, in, f.Paper, func(lead, s float64) float64 {
		return distuv.UnitNormal.CDF(lead / s)
	})
}

// improvement stores value(m_q − y⁺ − ξ, s) of every query in dst.
func improvement(dst []float64, in *Input, paper bool, value func(lead, s float64) float64) error {
	const margin = 0.001
	t := in.Table
	t.clear(dst)
	for _, q := range t.queries {
		if q.Kind.Comparison() {
			return idrl.Errorf(idrl.Invalid, "improvement needs ratings, but query %s is a comparison", q.ID)
		}
	}
	if !in.Rated {
		return nil
	}
	if paper {
		t.predictive(dst, in.Observed)
	} else {
		for i, v := range t.vari {
			dst[i] = math.Sqrt(v)
		}
	}
	for i, s := range dst {
		if s > 0 {
			dst[i] = value(t.mean[i]-in.Best-margin, s)
		}
	}
	return nil
}
