package belief

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
)

// A Joint is the belief about θ and about how each annotator answers, which are independent: a
// Gaussian, and for each annotator weights of the manners of an Own model and a Gaussian
// offset. It is immutable.
type Joint struct {
	theta  *Gaussian
	people []person // who have answered, by id
}

var _ idrl.Posterior = (*Joint)(nil)

// A person is how one annotator answers.
type person struct {
	id        idrl.AnnotatorID
	logs      []float32 // log weights of the manners, the greatest 0, none below faintest
	offset    float64   // of ratings, mean
	offsetVar float64
	kept      *keptBlend // cache of a function of the others; nil without a cache
}

// faintest is the least log weight of a manner between fits, the logarithm of 6e-6. Further
// answers may raise it.
const faintest = -12

// Weights returns the belief about θ.
func (j *Joint) Weights() *Gaussian { return j.theta }

// WeightsOf returns the belief about θ of a posterior of a Model or of an Own model; ok is false for others.
func WeightsOf(p idrl.Posterior) (g *Gaussian, ok bool) {
	if j, is := p.(*Joint); is {
		return j.theta, true
	}
	g, ok = p.(*Gaussian)
	return g, ok
}

// Dim returns d.
func (j *Joint) Dim() int { return j.theta.Dim() }

// Mean stores E[θ] in dst and returns it, under the rules of Gaussian.Mean.
func (j *Joint) Mean(dst []float64) []float64 { return j.theta.Mean(dst) }

// CovMul stores Σx in dst, under the rules of Gaussian.CovMul.
func (j *Joint) CovMul(dst, x []float64) { j.theta.CovMul(dst, x) }

// Sample stores a draw of θ in dst and returns it, under the rules of Gaussian.Sample.
func (j *Joint) Sample(dst []float64, rng *rand.Rand) []float64 { return j.theta.Sample(dst, rng) }

// SampleFrom stores a draw of θ in dst, under the rules of Gaussian.SampleFrom.
func (j *Joint) SampleFrom(dst, z []float64) []float64 { return j.theta.SampleFrom(dst, z) }

// find returns the place of id among the people, and whether they are there.
func (j *Joint) find(id idrl.AnnotatorID) (int, bool) {
	return slices.BinarySearchFunc(j.people, id, func(p person, id idrl.AnnotatorID) int { return cmp.Compare(p.id, id) })
}

// with returns j about theta, with p in the place of the person of that id.
func (j *Joint) with(theta *Gaussian, p person) *Joint {
	out := &Joint{theta: theta, people: slices.Clone(j.people)}
	if i, known := j.find(p.id); known {
		out.people[i] = p
	} else {
		out.people = slices.Insert(out.people, i, p)
	}
	return out
}

// rounded returns log weights in the form of person.logs.
func rounded(logs []float64) []float32 {
	level(logs)
	out := make([]float32, len(logs))
	for i, l := range logs {
		out[i] = float32(max(faintest, l))
	}
	return out
}

// wide stores the log weights of a person in dst as numbers to compute with, and returns it.
func (p person) wide(dst []float64) []float64 {
	for i, l := range p.logs {
		dst[i] = float64(l)
	}
	return dst
}
