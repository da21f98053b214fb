package acquisition

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// ERR shrinks a bound on the expected regret of the leader, Σ_j E max(0, G_j − G_L)
// over all policies of the table: the value is its reduction when the answer takes
// variance away and moves no mean,
//
//	Σ_j h(a_j − a_L, s_j) − h(a_j − a_L, √(s_j² − (g_jq − g_Lq)² w_q)),
//
// with h(m, s) = m Φ(m/s) + s φ(m/s). Source: docs/methods.md, section 1.3.
type ERR struct{}

var _ Function = ERR{}

// Score implements Function.
func (ERR) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	r := t.rivals()
	info := t.Infos()
	t.eachCov(r.delta, func(first int, cov blas64.General) {
		for k := range cov.Rows {
			now := gain(r.lag[k], math.Sqrt(r.vari[k]))
			for i, c := range row(cov, k) {
				left := max(0, r.vari[k]-c*c*info[first+i])
				dst[first+i] += max(0, now-gain(r.lag[k], math.Sqrt(left)))
			}
		}
	})
	return noPair(), nil
}
