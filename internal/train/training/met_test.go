package training

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/idrl"
)

// Where no question about recordings looks as if a person could answer it, all encounters are asked about; of policies that act anew, none.
func TestMet(t *testing.T) {
	clips := []idrl.Clip{{ID: "c1", Steps: 1}, {ID: "c2", Steps: 1}, {ID: "c2", Steps: 1}}
	s := shots{who: []int{0, 1, 3}, clips: clips, asks: func(i, j int) bool { return i == 0 || j == 3 }}
	var got [][]idrl.ClipID
	for _, q := range s.met() {
		got = append(got, q.Clips)
	}
	if diff := cmp.Diff([][]idrl.ClipID{{"c1", "c2"}, {"c1", "c2"}}, got); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	s.asks = nil
	if q := s.met(); q != nil {
		t.Errorf("of no encounter: %v", q)
	}
}
