package training

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/idrl"
)

// Clips of different tasks are never compared, whatever a person could tell apart.
func TestSameTask(t *testing.T) {
	tasks := map[idrl.PolicyID][]string{"pool.p0": {"stack", "fold"}, "pool.p1": {"fold", "stack"}}
	of := func(c idrl.Candidate, n int) string { return tasks[c.ID][n] }
	clips := []idrl.Clip{
		{From: idrl.EpisodeName("pool.p0", 0)},
		{From: idrl.EpisodeName("pool.p0", 1)},
		{From: idrl.EpisodeName("pool.p1", 0)},
		{From: idrl.EpisodeName("pool.p1", 1)},
	}
	some := func(pairs ...[2]int) func([]idrl.Clip) ([][2]int, error) {
		return func([]idrl.Clip) ([][2]int, error) { return pairs, nil }
	}
	for name, test := range map[string]struct {
		pairs func([]idrl.Clip) ([][2]int, error)
		want  [][2]int
	}{
		"those that can be answered":           {some([2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}), [][2]int{{1, 2}}},
		"all, where none of one task could be": {some([2]int{0, 1}), [][2]int{{1, 2}, {0, 3}}},
		"all, where none could be":             {some(), [][2]int{{1, 2}, {0, 3}}},
		"all, where all may be":                {nil, [][2]int{{1, 2}, {0, 3}}},
	} {
		got, err := sameTask(of, test.pairs)(clips)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, pairs (-want +got):\n%s", name, err, diff)
		}
	}
}
