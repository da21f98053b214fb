package belief

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"

	"gonum.org/v1/gonum/floats"
)

func encode(t testing.TB, g *Gaussian) []byte {
	t.Helper()
	data := must.Get(g.MarshalBinary())(t)
	return data
}

func TestCodecKeepsEveryBit(t *testing.T) {
	for _, d := range []int{1, 5, 39} {
		g := correlated(t, d, rng.New(1, "codec", uint64(d)))
		g = g.Condition(normals(d, rng.New(1, "codec", 100)), 0.3, 0.01)
		var got Gaussian
		must.Do(t, got.UnmarshalBinary(encode(t, g)))
		if !floats.Equal(got.mean, g.mean) || !floats.Equal(got.cov, g.cov) {
			t.Errorf("d=%d: the belief changed on the way", d)
		}
		x, y := g.Sample(nil, rng.New(1, "x", 0)), got.Sample(nil, rng.New(1, "x", 0))
		if !floats.Equal(x, y) {
			t.Errorf("d=%d: the draws differ", d)
		}
		if got.UnmarshalBinary(encode(t, g)) == nil {
			t.Error("decoded into a belief that is in use")
		}
	}
}

func TestCodecRefuses(t *testing.T) {
	good := encode(t, Isotropic(3, 2))
	// edit changes an encoding and gives it the right sum.
	edit := func(f func(b []byte) []byte) []byte {
		b := f(bytes.Clone(good[:len(good)-codecSum]))
		return binary.LittleEndian.AppendUint32(b, checksum(b))
	}
	number := func(at int, v float64) []byte {
		return edit(func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[codecHeader+8*at:], math.Float64bits(v))
			return b
		})
	}
	for name, data := range map[string][]byte{
		"empty":             {},
		"cut header":        good[:11],
		"cut":               good[:len(good)-1],
		"cut sum":           good[:codecHeader+1],
		"too long":          edit(func(b []byte) []byte { return append(b, 0) }),
		"other magic":       edit(func(b []byte) []byte { b[0]++; return b }),
		"other version":     edit(func(b []byte) []byte { b[4]++; return b }),
		"no dimensions":     edit(func(b []byte) []byte { b[8] = 0; return b[:codecHeader] }),
		"too many":          edit(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[8:], MaxDim+1); return b }),
		"wrong dimension":   edit(func(b []byte) []byte { b[8] = 4; return b }),
		"mean is NaN":       number(0, math.NaN()),
		"infinite":          number(4, math.Inf(-1)),
		"negative variance": number(3, -1),
	} {
		var g Gaussian
		if err := g.UnmarshalBinary(data); err == nil {
			t.Errorf("%s: no error", name)
		} else if g.Dim() != 0 {
			t.Errorf("%s: a refused encoding left its mark", name)
		}
	}
}

// TestCodecFindsAnyChange: a belief in which a bit has changed is refused, also where
// the number that it gives could be one.
func TestCodecFindsAnyChange(t *testing.T) {
	good := encode(t, Isotropic(2, 1).Condition([]float64{1, 2}, 0.5, 0.1))
	for bit := range 8 * len(good) {
		b := bytes.Clone(good)
		b[bit/8] ^= 1 << (bit % 8)
		var g Gaussian
		if g.UnmarshalBinary(b) == nil {
			t.Errorf("bit %d changed: no error", bit)
		}
	}
}

// first returns g as version 1 encoded it: without a sum.
func first(t testing.TB, g *Gaussian) []byte {
	b := encode(t, g)
	binary.LittleEndian.PutUint32(b[4:], 1)
	return b[:len(b)-codecSum]
}

func TestCodecReadsTheFirstVersion(t *testing.T) {
	want := Isotropic(3, 2).Condition([]float64{1, 2, 3}, 0.5, 0.1)
	var got Gaussian
	if err := got.UnmarshalBinary(first(t, want)); err != nil || !floats.Equal(got.mean, want.mean) || !floats.Equal(got.cov, want.cov) {
		t.Errorf("version 1: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, Isotropic(1, 1)))
	f.Add(encode(f, Isotropic(3, 2).Condition([]float64{1, 2, 3}, 0.5, 0.1)))
	f.Add(first(f, Isotropic(2, 1)))
	f.Add([]byte("TBEL"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var g Gaussian
		if g.UnmarshalBinary(data) != nil {
			return
		}
		again := encode(t, &g)
		if binary.LittleEndian.Uint32(data[4:]) == 1 {
			again = first(t, &g)
		}
		if !bytes.Equal(again, data) {
			t.Error("decoding and encoding again changed the bytes")
		}
		g.CovMul(make([]float64, g.Dim()), g.Mean(nil))
	})
}
