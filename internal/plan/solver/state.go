package solver

import (
	"fmt"
	"slices"

	"tiebreak/internal/base/pack"
)

// A searchState is a search after some iterations. The random draws of these follow from the stream
// of the solve.
type searchState struct {
	Settings string    // of the search
	Theta    []float64 // of the task
	Done     int       // iterations

	Weights      []float64
	SeenCount    float64
	SeenMean     []float64
	SeenM2       []float64
	Spent        int
	Best, BestMu []float64
	BestValue    float64
}

// settings describes the settings that a state depends on.
func (s *search) settings() string {
	a := s.ARS
	a.Workers, a.NewEnv = 0, nil
	return fmt.Sprintf("%s %d %+v", s.spec.ID, s.spec.Version, a)
}

// state returns the state after done iterations.
func (s *search) state(done int) []byte {
	return encode(&searchState{
		Settings: s.settings(), Theta: s.theta, Done: done,
		Weights: s.weights, SeenCount: s.seen.count, SeenMean: s.seen.mean, SeenM2: s.seen.m2, Spent: s.spent,
		Best: s.best, BestMu: s.bestMu, BestValue: s.bestValue,
	})
}

// resume continues from a state and returns the number of its iterations. It reports false, and
// changes nothing, for a state that is missing or of another search or version.
func (s *search) resume(state []byte) (done int, ok bool) {
	c, err := pack.Decode[searchState](state)
	switch {
	case err != nil || c.Settings != s.settings() || !slices.Equal(c.Theta, s.theta):
		return 0, false
	case len(c.Weights) != len(s.weights) || len(c.SeenMean) != len(s.seen.mean) || len(c.SeenM2) != len(s.seen.m2):
		return 0, false
	}
	s.weights, s.spent = c.Weights, c.Spent
	s.seen = moments{count: c.SeenCount, mean: c.SeenMean, m2: c.SeenM2}
	s.best, s.bestMu, s.bestValue = c.Best, c.BestMu, c.BestValue
	return c.Done, true
}
