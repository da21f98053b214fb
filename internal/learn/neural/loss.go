package neural

import (
	"math"

	"tiebreak/internal/idrl"
)

// A loss returns the loss of an answer whose clips have the sums of rewards a and b, and its
// derivatives in a and b.
type loss func(it *item, a, b float64) (value, da, db float64)

// corrected is −log p(answer given u), with u = c_0 a + c_1 b (item.c).
func corrected(it *item, a, b float64) (value, da, db float64) {
	l, d1, _ := logP(it, it.c[0]*a+it.c[1]*b)
	return -l, -d1 * it.c[0], -d1 * it.c[1]
}

// logP returns log p(answer given u) and its first two derivatives in u. For 'equal' in a
// model without ties it returns those of P(a)P(b), to which the probability of a tie is
// proportional if the tie width is small.
func logP(it *item, u float64) (l, d1, d2 float64) {
	l, d1, d2 = it.likelihood.LogZ(it.answer, u, 0)
	if it.answer.Choice == idrl.Equal && math.IsInf(l, -1) {
		a, _, _ := it.likelihood.LogZ(idrl.Answer{Choice: idrl.ChoseA, Annotator: it.answer.Annotator}, u, 0)
		b, _, _ := it.likelihood.LogZ(idrl.Answer{Choice: idrl.ChoseB, Annotator: it.answer.Annotator}, u, 0)
		l = a + b
	}
	return l, d1, d2
}

// Bounds of the authors' code.
const (
	paperSum   = 10   // of the rewards of a clip
	paperLeast = 0.01 // probability of a preference
)

// paper is the cross entropy of a preference, as in the authors' code: sums are clipped to
// ±10 and the probability to [0.01, 0.99], beyond which there is no derivative.
func paper(it *item, a, b float64) (value, da, db float64) {
	y, _ := it.answer.ProbA()
	ca, cb := max(-paperSum, min(paperSum, a)), max(-paperSum, min(paperSum, b))
	p := 1 / (1 + math.Exp(cb-ca))
	q := max(paperLeast, min(1-paperLeast, p))
	value = -y*math.Log(q) - (1-y)*math.Log1p(-q)
	if p != q {
		return value, 0, 0
	}
	if ca == a {
		da = p - y
	}
	if cb == b {
		db = y - p
	}
	return value, da, db
}
