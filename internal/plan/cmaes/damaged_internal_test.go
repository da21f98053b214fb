package cmaes

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/pack"
)

// TestDecodeRefusals: bytes that are whole but describe no search.
func TestDecodeRefusals(t *testing.T) {
	good := func() state {
		return state{Lambda: 2, Mean: []float64{1, 2}, Sigma: 1, Factor: []float64{1, 0, 1}, PathC: []float64{0, 0}, PathS: []float64{0, 0}}
	}
	encode := func(v state) []byte {
		b := must.Get(pack.Encode(&v))(t)
		return b
	}
	must.Get(Decode(encode(good())))(t)
	for name, change := range map[string]func(v *state){
		"no numbers":           func(v *state) { *v = state{Lambda: 2, Sigma: 1} },
		"one candidate":        func(v *state) { v.Lambda = 1 },
		"negative generations": func(v *state) { v.Generation = -1 },
		"no step size":         func(v *state) { v.Sigma = 0 },
		"short factor":         func(v *state) { v.Factor = v.Factor[:2] },
		"short path":           func(v *state) { v.PathC = v.PathC[:1] },
		"singular factor":      func(v *state) { v.Factor[2] = 0 },
		"mean NaN":             func(v *state) { v.Mean[1] = math.NaN() },
		"factor infinite":      func(v *state) { v.Factor[1] = math.Inf(1) },
		"too few candidates":   func(v *state) { v.Pending = [][]float64{{1, 2}} },
		"a short candidate":    func(v *state) { v.Pending = [][]float64{{1, 2}, {1}} },
	} {
		v := good()
		change(&v)
		if _, err := Decode(encode(v)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	b := encode(good())
	for _, b := range [][]byte{nil, b[:10], slices.Concat(b, []byte{0})} {
		if _, err := Decode(b); err == nil {
			t.Errorf("%d bytes: no error", len(b))
		}
	}
}
