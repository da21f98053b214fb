package learning_test

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
)

// told holds the results of duels for a test, by the names of the policies.
type told struct {
	may, lost map[idrl.PolicyID]bool // nil may: all
	verdict   map[idrl.PolicyID]learning.Verdict
	alike     map[idrl.PolicyID]bool
}

func (o told) Tested(known []idrl.Candidate) (may, lost []bool) {
	if o.may == nil {
		return nil, nil
	}
	for _, c := range known {
		may, lost = append(may, o.may[c.ID]), append(lost, o.lost[c.ID])
	}
	return may, lost
}

func (o told) Between(challenger, _ idrl.Candidate) (learning.Verdict, bool) {
	return o.verdict[challenger.ID], o.alike[challenger.ID]
}

// The policies a, b, c and d have expected returns of 1, 2, 2.04 and 4.
func TestLead(t *testing.T) {
	model := belief.Model{Start: belief.Isotropic(1, 1), Comparison: belief.Probit{NoiseStd: 1}}
	l := learning.New(learning.Config{
		Model: model, Method: acquisition.Methods()[0], Schedule: learning.Live(), Tolerance: 0.05, Regret: rng.New(1, "regret", 0),
	})
	var all []idrl.Candidate
	for _, p := range []struct {
		id idrl.PolicyID
		mu float64
	}{{"a", 1}, {"b", 2}, {"c", 2.04}, {"d", 4}} {
		all = append(all, idrl.Candidate{ID: p.id, Mu: []float64{p.mu}})
	}
	l.Adopt(nil, all)
	x := idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"1", "2"}}, X: []float64{3}}
	if err := l.Observe(x, idrl.Answer{Choice: idrl.ChoseA}); err != nil {
		t.Fatal(err)
	}
	ids := func(of ...idrl.PolicyID) map[idrl.PolicyID]bool {
		out := map[idrl.PolicyID]bool{}
		for _, id := range of {
			out[id] = true
		}
		return out
	}
	for _, test := range []struct {
		name               string
		by                 told
		leader, challenger idrl.PolicyID
		gain               float64
		stated             int // policies
	}{
		{"without tests", told{}, "d", "", 0, 4},
		{"the best is not tested", told{may: ids("a", "b")}, "b", "d", 2. / 3, 4},
		{"it won", told{may: ids("b"), verdict: map[idrl.PolicyID]learning.Verdict{"d": learning.Took}}, "d", "", 0, 4},
		{"it lost, and the next is not better by the tolerance", told{may: ids("b"), verdict: map[idrl.PolicyID]learning.Verdict{"d": learning.Kept}}, "b", "", 0, 3},
		{"it lost before", told{may: ids("a"), lost: ids("d")}, "a", "c", 1.04 / 3, 3},
		{"it looks alike", told{may: ids("b"), alike: ids("d")}, "d", "", 0, 4},
		{"another one looks alike", told{may: ids("a"), alike: ids("c")}, "a", "d", 1, 4},
		{"what leads has lost", told{may: ids("a"), lost: ids("a")}, "d", "", 0, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			by, known := l.LeadBy(l.Posterior(), test.by), l.Policies().Known()
			challenger := idrl.PolicyID("")
			if by.Challenger >= 0 {
				challenger = known[by.Challenger].ID
			}
			if known[by.Leader].ID != test.leader || challenger != test.challenger || math.Abs(by.Gain-test.gain) > 1e-9 {
				t.Errorf("%s leads, %q challenges it with a gain of %v; want %s, %q, %v", known[by.Leader].ID, challenger, by.Gain, test.leader, test.challenger, test.gain)
			}
			if n := l.Regret(l.Posterior(), by).Policies; n != test.stated {
				t.Errorf("the statement is over %d policies, want %d", n, test.stated)
			}
		})
	}
}
