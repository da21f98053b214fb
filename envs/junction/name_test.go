package junction_test

import (
	"testing"

	"tiebreak/envs/junction"
)

// States 0 to 14 are the corridor, 15 to 19 branch A, 20 to 24 branch B.
func TestName(t *testing.T) {
	for _, test := range []struct {
		states []float64
		want   string
	}{
		{[]float64{1, 2, 3}, "walks along the corridor"},
		{[]float64{14, 15, 16, 17}, "turns into branch A"},
		{[]float64{12, 13, 14, 20}, "comes to branch B late"},
		{[]float64{24, 23, 24}, "stays in branch B"},
		{[]float64{3}, "stands in the corridor"},
		{[]float64{19}, "stands in branch A"},
	} {
		var states [][]float64
		for i, s := range test.states {
			states = append(states, []float64{s, float64(i)})
		}
		if got := junction.New(junction.Config{}).Name(states); got.Name != test.want || got.Useless {
			t.Errorf("states %v: %v, want %q", test.states, got, test.want)
		}
	}
}
