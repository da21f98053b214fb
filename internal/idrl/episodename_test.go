package idrl_test

import (
	"testing"

	"tiebreak/internal/idrl"
)

// The name of an episode tells the policy and the number.
func TestEpisodeName(t *testing.T) {
	for _, policy := range []idrl.PolicyID{"g0.p3", "g120.p11", "pool.p2", "u7", "made16-0"} {
		for _, n := range []int{0, 1, 12} {
			if id, k := idrl.EpisodeName(policy, n).Episode(); id != policy || k != n {
				t.Errorf("episode %d of %s is read as %d of %s", n, policy, k, id)
			}
		}
	}
	for _, other := range []idrl.TrajectoryID{"", "x.", "x.-1", "x.01", "x.0", "x.99999999999999999999"} {
		if id, n := other.Episode(); string(id) != string(other) || n != 0 {
			t.Errorf("%q is read as episode %d of %s", other, n, id)
		}
	}
}
