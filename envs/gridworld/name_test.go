package gridworld

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/drawing"
)

func TestName(t *testing.T) {
	l := Layout{Start: 0}
	l.Tiles[3] = 2 // B
	env := must.Get(FromLayout(l))(t)
	for _, test := range []struct {
		cells   []float64
		want    string
		useless bool
	}{
		{[]float64{0, 1, 2, 3, 3, 3}, "goes to B", false},
		{[]float64{3, 3, 3}, "stays on B", false},
		{[]float64{3, 3, 2, 1, 1, 1}, "goes to the bare floor", false},
		{[]float64{0, 0, 0}, "stays on the bare floor", true},
		{[]float64{0, 1, 0, 1, 0, 1}, "walks all the time", false},
		{[]float64{3}, "stands on B", false},
		{[]float64{5}, "stands on the bare floor", false},
	} {
		var states [][]float64
		for i, s := range test.cells {
			states = append(states, []float64{s, float64(i)})
		}
		if got, want := env.Name(states), (drawing.Happening{Name: test.want, Useless: test.useless}); got != want {
			t.Errorf("%v: %v, want %v", test.cells, got, want)
		}
	}
}
