package neural_test

import (
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
)

// A model that has seen no answers knows no scale of its inputs: a training that goes on
// from it ends where one from drawn weights does, also where observations are large.
func TestGoingOnFromNothing(t *testing.T) {
	d := newTask(22).answers(60)
	for _, shown := range d.Shown {
		for _, s := range shown {
			for _, o := range s.Obs {
				for i := range o {
					o[i] *= 1000
				}
			}
		}
	}
	cfg := neural.Config{ObsDim: 5, ActDim: 2, Hidden: []int{16, 16}}
	nothing := train(t, cfg, idrl.Dataset{}, nil, 1)
	from, drawn := train(t, cfg, d, nothing, 2).Report(), train(t, cfg, d, nil, 2).Report()
	if from.Objective > 1.1*drawn.Objective {
		t.Errorf("objective %v from a model without answers, and %v from drawn weights", from.Objective, drawn.Objective)
	}
}
