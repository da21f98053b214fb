package chain_test

import (
	"testing"

	"tiebreak/envs/chain"
)

// Fields are counted from 1, states from 0; up to field 10 the agent is carried.
func TestName(t *testing.T) {
	for _, test := range []struct {
		fields []float64
		want   string
	}{
		{[]float64{1, 2, 3}, "is carried on"},
		{[]float64{17, 18, 19, 20, 20}, "goes to the end"},
		{[]float64{20, 20, 20}, "stays at the end"},
		{[]float64{10, 11, 12, 11, 12, 11}, "goes to and fro on 11 to 12"},
		{[]float64{12, 13, 12}, "goes to and fro on 13 to 14"},
		{[]float64{19, 20, 19}, "goes to and fro on 19 to 20"},
		{[]float64{14, 15, 16}, "walks to 15 to 16"},
		{[]float64{4}, "stands on 1 to 10"},
		{[]float64{18}, "stands on 17 to 18"},
	} {
		var states [][]float64
		for i, f := range test.fields {
			states = append(states, []float64{f - 1, float64(i)})
		}
		if got := chain.New(chain.Config{}).Name(states); got.Name != test.want || got.Useless {
			t.Errorf("fields %v: %v, want %q", test.fields, got, test.want)
		}
	}
}
