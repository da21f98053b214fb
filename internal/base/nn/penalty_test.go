package nn

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
)

// The gradient of a penalty is that of its value, by differences, with which it is exact.
func TestPenalty(t *testing.T) {
	n := must.Get(New(Config{Sizes: []int{3, 5, 2}, Bias: true}))(t)
	stream := rng.New(1, "penalty", 0)
	n.Init(stream)
	k, at := make([]float32, n.Len()), make([]float32, n.Len())
	for i := range k {
		k[i], at[i] = stream.Float32(), stream.Float32()-0.5
	}
	q := must.Get(n.NewPenalty(k, at))(t)
	p := n.NewPass(1)
	p.ZeroGrad()
	p.AddPenalty(q, 0.5)
	grad, w := p.Grad(nil), n.Params(nil)
	const h = 0.25
	value := func(i int, d float32) float64 {
		moved := append([]float32(nil), w...)
		moved[i] += d
		must.Do(t, n.SetParams(moved))
		return q.Value()
	}
	for i, g := range grad {
		if want := 0.5 * (value(i, h) - value(i, -h)) / (2 * h); math.Abs(float64(g)-want) > 1e-6 {
			t.Errorf("gradient of parameter %d: %v, by differences %v", i, g, want)
		}
	}
	must.Do(t, n.SetParams(at))
	if v := q.Value(); v != 0 {
		t.Errorf("the penalty is %v where it draws to", v)
	}
	for name, bad := range map[string][]float32{"short": k[1:], "not finite": append(append([]float32(nil), k[1:]...), float32(math.NaN()))} {
		if _, err := n.NewPenalty(bad, at); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if a := testing.AllocsPerRun(10, func() { p.AddPenalty(q, 0.5) }); a != 0 {
		t.Errorf("adding a penalty allocates %v times", a)
	}
}
