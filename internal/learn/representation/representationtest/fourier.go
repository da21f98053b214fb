package representationtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
)

// A Learner draws frequencies that suit the distances between the features that
// annotators have seen. Source: Rahimi and Recht, "Random features for large-scale
// kernel machines", NIPS 2007, algorithm 1.
type Learner struct {
	Every int          // informative answers from one fit to the next; required
	Dim   int          // features; required
	Model belief.Model // of answers; its Start is not used

	// Before, if not nil, is called when learning begins, and ends it by an error.
	Before func(ctx context.Context) error
}

var _ idrl.FeatureLearner = Learner{}

// Name implements idrl.FeatureLearner.
func (l Learner) Name() string { return "fourier" }

// Due implements idrl.FeatureLearner.
func (l Learner) Due(n int) bool { return n > 0 && n%l.Every == 0 }

// content is what Learn encodes.
type content struct {
	Frequencies [][]float64 // Dim×d
	Phases      []float64   // Dim
}

// Learn implements idrl.FeatureLearner.
func (l Learner) Learn(ctx context.Context, d idrl.Dataset, version int64, seed uint64) ([]byte, error) {
	if l.Before != nil {
		if err := l.Before(ctx); err != nil {
			return nil, err
		}
	}
	scale, width, err := distance(d)
	if err != nil {
		return nil, err
	}
	stream := rng.New(seed, "frequencies", uint64(version))
	c := content{Frequencies: make([][]float64, l.Dim), Phases: make([]float64, l.Dim)}
	for i := range c.Frequencies {
		c.Frequencies[i] = make([]float64, width)
		for k := range c.Frequencies[i] {
			c.Frequencies[i][k] = stream.NormFloat64() / scale
		}
		c.Phases[i] = 2 * math.Pi * stream.Float64()
	}
	return json.Marshal(c)
}

// distance returns the median distance of the first steps that were shown together, 1
// where they are alike, and the number of their features.
func distance(d idrl.Dataset) (median float64, width int, err error) {
	var all []float64
	for _, shown := range d.Shown {
		a, b := shown[0].Phi[0], shown[len(shown)-1].Phi[0]
		if dist := floats.Distance(a, b, 2); dist > 0 {
			all = append(all, dist)
		}
		width = len(a)
	}
	switch {
	case width == 0:
		return 0, 0, fmt.Errorf("representationtest: nothing was shown in %d answers", len(d.Answers))
	case len(all) == 0:
		return 1, width, nil
	}
	slices.Sort(all)
	return all[len(all)/2], width, nil
}

// Open implements idrl.FeatureLearner.
func (l Learner) Open(version int64, b []byte) (idrl.Representation, idrl.RewardModel, error) {
	var c content
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, nil, fmt.Errorf("representationtest: %w", err)
	}
	if len(c.Phases) == 0 || len(c.Phases) != len(c.Frequencies) {
		return nil, nil, fmt.Errorf("representationtest: %d phases for %d frequencies", len(c.Phases), len(c.Frequencies))
	}
	m := l.Model
	m.Start = belief.Isotropic(len(c.Phases), 1)
	return waves{content: c, version: version}, m, nil
}

// waves are the features √(2/D) cos(ω·φ + b).
type waves struct {
	content
	version int64
}

// Version implements idrl.Representation.
func (w waves) Version() int64 { return w.version }

// Dim implements idrl.Representation.
func (w waves) Dim() int { return len(w.Phases) }

// Features implements idrl.Representation.
func (w waves) Features(dst []float64, s idrl.Steps) []float64 {
	scale := math.Sqrt(2 / float64(len(w.Phases)))
	for i, f := range w.Frequencies {
		dst[i] = 0
		for _, phi := range s.Phi {
			dst[i] += scale * math.Cos(floats.Dot(f, phi)+w.Phases[i])
		}
	}
	return dst
}
