package neural

import "math"

// A scale transforms the inputs of a network, coordinate by coordinate: x ← (x − mean)·per.
// Both have the width of an input.
type scale struct{ mean, per []float32 }

// raw returns the scale that leaves inputs as they are.
func raw(width int) scale {
	s := scale{make([]float32, width), make([]float32, width)}
	for i := range s.per {
		s.per[i] = 1
	}
	return s
}

// firmness is a divisor of the inputs with which λ = ½ fits answers of which nine in ten are
// right (docs/methods.md, section 2.5).
const firmness = 3

// scaleOf returns the scale under which the rows of d have mean 0 and standard deviation
// 1/(3L), with L the mean number of steps of a clip, or 1 for ratings, which are about means
// over clips. So the result does not depend on the units and the origin of an observation,
// nor on the length of clips. A coordinate that does not vary becomes 0.
func scaleOf(d *data) scale {
	s, n := raw(d.width), float64(len(d.x)/d.width)
	if n == 0 {
		return s
	}
	length, clips := 0.0, 0.0
	for i := range d.items {
		for k, rows := range d.items[i].rows {
			if rows > 0 {
				length += math.Abs(d.items[i].c[k]) * float64(rows)
				clips++
			}
		}
	}
	length /= clips / firmness
	for j := range d.width {
		var mean, square float64
		for i := j; i < len(d.x); i += d.width {
			mean += float64(d.x[i]) / n
		}
		for i := j; i < len(d.x); i += d.width {
			e := float64(d.x[i]) - mean
			square += e * e / n
		}
		s.mean[j], s.per[j] = float32(mean), 0
		if std := math.Sqrt(square); std > 1e-6*math.Abs(mean) && std > 1e-30 {
			s.per[j] = float32(1 / (std * length))
		}
	}
	return s
}

// apply scales a row in place. A number that is not finite, which no training has seen,
// counts as the mean of its coordinate.
func (s scale) apply(x []float32) {
	for j, v := range x {
		if v -= s.mean[j]; v-v != 0 { // NaN or infinite
			v = 0
		}
		x[j] = v * s.per[j]
	}
}

// move returns factors for the columns of the first layer, with which its outputs for inputs
// under s are those for inputs under from, up to a constant.
func (s scale) move(from scale) []float32 {
	out := make([]float32, len(s.per))
	for j := range out {
		if s.per[j] != 0 {
			out[j] = from.per[j] / s.per[j]
		}
	}
	return out
}
