package insight

import (
	"cmp"
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

// A Weight is one weight of the reward, in standard deviations of its prior, so that weights
// of features of different units can be compared.
type Weight struct {
	Index     int // in the posterior
	Name      string
	Mean, Std float64
}

// A Point is the posterior after the first Answers of the answers that count.
type Point struct {
	Answers   int
	Mean, Std []float64 // of every weight, as in Weight
}

// A Posterior is the posterior of the weights and how it became that. It is empty where the
// weights have no names, or are too many.
type Posterior struct {
	Weights []Weight // by Index
	Largest []int    // indexes of the weights by |Mean|, the largest first
	Trace   []Point  // from the prior to now, by Answers
	now     idrl.Posterior
	scale   []float64
}

const (
	// mostWeights is how many weights a posterior may have to be followed.
	mostWeights = 400

	// fewWeights is how many there may be that are followed closely.
	fewWeights = 64
)

// A trace notes the posterior after the first answers, and then as often as to give about as
// many points for each doubling of the answers.
type trace struct {
	scale  []float64 // standard deviations of the prior; nil where nothing is noted
	close  int       // points of a doubling
	points []Point
}

func newTrace(prior idrl.Posterior) trace {
	d := prior.Dim()
	if d > mostWeights {
		return trace{}
	}
	t := trace{scale: make([]float64, d), close: 32}
	if d > fewWeights {
		t.close = 4
	}
	for k := range t.scale {
		t.scale[k] = 1
	}
	t.scale = t.point(0, prior).Std
	t.note(0, prior)
	return t
}

// notes reports whether the posterior after n answers is noted.
func (t *trace) notes(n int) bool {
	step := 1
	for n >= 2*t.close*step {
		step *= 2
	}
	return n%step == 0
}

// note takes in the posterior after n answers, which are more than before.
func (t *trace) note(n int, p idrl.Posterior) {
	if t.scale == nil || !t.notes(n) {
		return
	}
	t.points = append(t.points, t.point(n, p))
}

// cut forgets what came after n answers.
func (t *trace) cut(n int) {
	i := slices.IndexFunc(t.points, func(p Point) bool { return p.Answers > n })
	if i >= 0 {
		t.points = slices.Clip(t.points[:i])
	}
}

func (t *trace) point(n int, p idrl.Posterior) Point {
	d := len(t.scale)
	out := Point{Answers: n, Mean: p.Mean(nil), Std: make([]float64, d)}
	unit, cov := make([]float64, d), make([]float64, d)
	for k, scale := range t.scale {
		unit[k] = 1
		p.CovMul(cov, unit)
		unit[k] = 0
		out.Mean[k] /= scale
		out.Std[k] = math.Sqrt(max(0, cov[k])) / scale
	}
	return out
}

// posteriorOf returns the posterior that s handed over, with its trace.
func posteriorOf(s Source, t trace) Posterior {
	if t.scale == nil || len(s.Names) != len(t.scale) {
		return Posterior{}
	}
	p := Posterior{now: s.History.Posterior(), scale: t.scale, Trace: slices.Clone(t.points)}
	n := s.History.Len()
	last := t.point(n, p.now)
	if k := len(p.Trace); p.Trace[k-1].Answers < n {
		p.Trace = append(p.Trace, last)
	}
	for k, name := range s.Names {
		p.Weights = append(p.Weights, Weight{Index: k, Name: name, Mean: last.Mean[k], Std: last.Std[k]})
		p.Largest = append(p.Largest, k)
	}
	slices.SortStableFunc(p.Largest, func(a, b int) int {
		return cmp.Compare(math.Abs(last.Mean[b]), math.Abs(last.Mean[a]))
	})
	return p
}

// Covariance returns the covariances of some weights, in the unit of Weight, by their
// indexes.
func (p Posterior) Covariance(of []int) [][]float64 {
	out := make([][]float64, len(of))
	unit, cov := make([]float64, len(p.scale)), make([]float64, len(p.scale))
	for i, a := range of {
		unit[a] = 1
		p.now.CovMul(cov, unit)
		unit[a] = 0
		for _, b := range of {
			out[i] = append(out[i], cov[b]/p.scale[a]/p.scale[b])
		}
	}
	return out
}

// Correlation returns the correlations of some weights, by their indexes; 0 beside a weight
// without variance.
func (p Posterior) Correlation(of []int) [][]float64 {
	out := p.Covariance(of)
	std := make([]float64, len(of))
	for i := range of {
		std[i] = math.Sqrt(max(0, out[i][i]))
	}
	for i := range out {
		for j := range out[i] {
			switch v := std[i] * std[j]; {
			case i == j:
				out[i][j] = 1
			case v > 0:
				out[i][j] = max(-1, min(1, out[i][j]/v))
			default:
				out[i][j] = 0
			}
		}
	}
	return out
}
