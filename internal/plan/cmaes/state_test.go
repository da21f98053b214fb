package cmaes_test

import (
	"bytes"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/plan/cmaes"

	"github.com/google/go-cmp/cmp"
)

// TestGoesOn: a search that is encoded and decoded at any moment goes on with the same
// bytes.
func TestGoesOn(t *testing.T) {
	run := func(interrupt bool) (states [][]byte) {
		again := func(s *cmaes.Strategy) *cmaes.Strategy {
			states = append(states, s.Encode())
			if !interrupt {
				return s
			}
			s = must.Get(cmaes.Decode(states[len(states)-1]))(t)
			return s
		}
		s := newStrategy(t, make([]float64, 6), cmaes.Config{Sigma: 0.4, Lambda: 7, Scale: []float64{1, 2, 3, 4, 5, 6}})
		stream := rng.New(2, "state", 0)
		for range 30 {
			s = again(s)
			xs := s.Ask(stream)
			s = again(s)
			if diff := cmp.Diff(xs, s.Asked()); diff != "" {
				t.Fatalf("other candidates:\n%s", diff)
			}
			tell(t, s, xs, rosenbrock)
		}
		return states
	}
	whole, parts := run(false), run(true)
	for k := range whole {
		if !bytes.Equal(whole[k], parts[k]) {
			t.Fatalf("state %d differs", k)
		}
	}
}

func FuzzDecode(f *testing.F) {
	s := must.Get(cmaes.New([]float64{1, 2}, cmaes.Config{Sigma: 1}))(f)
	f.Add(s.Encode())
	s.Ask(rng.New(1, "", 0))
	f.Add(s.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := cmaes.Decode(b)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Encode(), b) {
			t.Error("what is decoded encodes to other bytes")
		}
		tell(t, s, s.Ask(rng.New(1, "", 0)), sphere)
	})
}
