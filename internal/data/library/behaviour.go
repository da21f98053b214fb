package library

import "gonum.org/v1/gonum/floats"

// A Behaviour is a policy that is kept in a library of a robot.
type Behaviour struct {
	Name   string      // for people: what it does, or how it was found
	Params []float64   // as package behaviour reads them: the class comes first
	Mus    [][]float64 // (discounted) features of whole episodes from several starts, each of length d; nil if they were not measured
}

// Mu returns the mean of Mus, nil if there are none.
func (b Behaviour) Mu() []float64 {
	if len(b.Mus) == 0 {
		return nil
	}
	mu := make([]float64, len(b.Mus[0]))
	for _, m := range b.Mus {
		floats.AddScaled(mu, 1/float64(len(b.Mus)), m)
	}
	return mu
}
