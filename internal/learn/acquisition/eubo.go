package acquisition

import "gonum.org/v1/gonum/floats"

// EUBO is the expected utility of the better of two policies i and j of Input.Pool
// whose whole trajectories a query compares:
//
//	E max(G_i, G_j) = a_j + h(a_i − a_j, s_ij),  h(m, s) = m Φ(m/s) + s φ(m/s),
//
// where s_ij is the standard deviation of the difference of their returns. For an
// annotator without noise the query that maximises it is the best to be asked last
// (Viappiani & Boutilier 2010; Astudillo et al. 2023). Source: docs/methods.md,
// section 1.3.
type EUBO struct{}

var _ Function = EUBO{}

// Score implements Function. It returns an error of kind Invalid if a query does
// not compare two policies of the pool.
func (EUBO) Score(dst []float64, in *Input) (Pair, error) {
	in.Table.clear(dst)
	pairs, err := in.pairs()
	if err != nil || len(pairs) == 0 {
		return noPair(), err
	}
	pool := NewTable(in.Table.model, in.Table.belief, nil)
	pool.SetPolicies(in.Pool)
	a := pool.returns()
	base := floats.Dot(pool.belief.Mean(nil), in.Pool[0].Mu)
	for q, pair := range pairs {
		i, j := pair[0], pair[1]
		dst[q] = base + a[j] + gain(a[i]-a[j], pool.std(i, j))
	}
	return noPair(), nil
}
