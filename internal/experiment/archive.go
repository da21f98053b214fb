package experiment

import (
	"encoding/binary"
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// An archive holds distinct policies, in the order in which they came.
type archive struct {
	seen map[string]bool
	list []idrl.Candidate
}

// add adds c unless a policy with its feature expectation is there.
func (a *archive) add(c idrl.Candidate) {
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	if k := fingerprint(c.Mu); !a.seen[k] {
		a.seen[k] = true
		a.list = append(a.list, c)
	}
}

// fingerprint names mu to nine digits, so that rounding makes no difference.
func fingerprint(mu []float64) string {
	scale := 1e9 / (1 + floats.Norm(mu, math.Inf(1)))
	r := make([]float64, len(mu))
	for i, v := range mu {
		r[i] = math.Round(v*scale) + 0 // +0: no negative zero
	}
	return bits(r)
}

// bits returns the bits of x, which serve as its key in a map: equal vectors have
// equal keys and others have not.
func bits(x []float64) string {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return string(b)
}
