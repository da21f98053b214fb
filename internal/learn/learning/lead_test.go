package learning_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

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

// The policies a, b, c and d have expected returns of 1, 2, 2.04 and 4 times the mean of the only weight.
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
	must.Do(t, l.Observe(x, idrl.Answer{Choice: idrl.ChoseA}))
	mean := l.Posterior().Mean(nil)[0]
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
		{"the best is not tested", told{may: ids("a", "b")}, "b", "d", 2, 4},
		{"it won", told{may: ids("b"), verdict: map[idrl.PolicyID]learning.Verdict{"d": learning.Took}}, "d", "", 0, 4},
		{"it lost, and the next is not better by the tolerance", told{may: ids("b"), verdict: map[idrl.PolicyID]learning.Verdict{"d": learning.Kept}}, "b", "", 0, 3},
		{"it lost before", told{may: ids("a"), lost: ids("d")}, "a", "c", 1.04, 3},
		{"it looks alike", told{may: ids("b"), alike: ids("d")}, "d", "", 0, 4},
		{"another one looks alike", told{may: ids("a"), alike: ids("c")}, "a", "d", 3, 4},
		{"what leads has lost", told{may: ids("a"), lost: ids("a")}, "d", "", 0, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			by, known := l.LeadBy(l.Posterior(), test.by), l.Policies().Known()
			challenger := idrl.PolicyID("")
			if by.Challenger >= 0 {
				challenger = known[by.Challenger].ID
			}
			if known[by.Leader].ID != test.leader || challenger != test.challenger || math.Abs(by.Gain-test.gain*mean) > 1e-9 {
				t.Errorf("%s leads, %q challenges it with a gain of %v; want %s, %q, %v", known[by.Leader].ID, challenger, by.Gain, test.leader, test.challenger, test.gain*mean)
			}
			if n := l.Regret(l.Posterior(), by).Policies; n != test.stated {
				t.Errorf("the statement is over %d policies, want %d", n, test.stated)
			}
		})
	}
}

// The stated gain of a challenger, a share of the range, equals its true gain on average:
// weights are drawn from the prior, a person answers by them about random pairs, and half of twelve policies may not lead yet.
func TestGainIsTrue(t *testing.T) {
	const runs = 1500
	var stated, truth, squares, n float64
	noisy := model()
	noisy.Comparison = belief.Probit{NoiseStd: 1}
	for seed := range uint64(runs) {
		stream := rng.New(seed, "gain", 0)
		l := learning.New(learning.Config{
			Model: noisy, Method: acquisition.Methods()[0], Schedule: learning.Live(), Tolerance: 0.05, Regret: rng.New(seed, "regret", 0),
		})
		theta, all, by := vector(stream), candidates(12, 0, stream), told{may: map[idrl.PolicyID]bool{}}
		for k, c := range all {
			by.may[c.ID] = k%2 == 0
		}
		l.Adopt(nil, all)
		for range 4 + seed%12 {
			x := vector(stream)
			a := idrl.Answer{Choice: idrl.ChoseB}
			if floats.Dot(theta, x)+stream.NormFloat64() > 0 {
				a.Choice = idrl.ChoseA
			}
			q := idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"1", "2"}}, X: x}
			must.Do(t, l.Observe(q, a))
		}
		lead := l.LeadBy(l.Posterior(), by)
		if lead.Challenger < 0 {
			continue
		}
		known, low, high := l.Policies().Known(), math.Inf(1), math.Inf(-1)
		for _, c := range known {
			g := floats.Dot(theta, c.Mu)
			low, high = min(low, g), max(high, g)
		}
		says := lead.Gain / l.Regret(l.Posterior(), lead).Span
		is := (floats.Dot(theta, known[lead.Challenger].Mu) - floats.Dot(theta, known[lead.Incumbent].Mu)) / (high - low)
		stated, truth, squares, n = stated+says, truth+is, squares+(says-is)*(says-is), n+1
	}
	stated, truth = stated/n, truth/n
	if err := 3 * math.Sqrt(squares) / n; math.Abs(stated-truth) > err || err > 0.05 {
		t.Errorf("of %v challengers a gain of %.3f is stated, and %.3f is true; three standard errors are %.3f", n, stated, truth, err)
	}
	t.Logf("%v challengers: %.3f stated, %.3f true", n, stated, truth)
}

// The statement by another return is about the policy that leads by the duels, and not about policies that lost one.
func TestOtherwiseFollowsTheDuels(t *testing.T) {
	l := learning.New(learning.Config{
		Model: belief.Model{Start: belief.Isotropic(1, 1), Comparison: belief.Probit{NoiseStd: 1}}, Method: acquisition.Methods()[0],
		Schedule: learning.Live(), Tolerance: 0.05, Regret: rng.New(1, "regret", 0),
	})
	l.Adopt(nil, []idrl.Candidate{{ID: "a", Mu: []float64{1}}, {ID: "b", Mu: []float64{2}}, {ID: "c", Mu: []float64{4}}})
	x := idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"1", "2"}}, X: []float64{3}}
	if err := l.Observe(x, idrl.Answer{Choice: idrl.ChoseA}); err != nil {
		t.Fatal(err)
	}
	same := func(idrl.Candidate) float64 { return 1 }
	for _, test := range []struct {
		by           learning.Lead
		leader, best idrl.PolicyID
		loss         float64
	}{
		{learning.Lead{Leader: 2}, "c", "c", 0},
		{learning.Lead{Leader: 1}, "b", "c", 2. / 3},
		{learning.Lead{Leader: 0, Out: []bool{false, false, true}}, "a", "b", 1},
	} {
		got := l.Otherwise(test.by, l.Posterior(), same)
		if got.Leader.ID != test.leader || got.Best.ID != test.best || math.Abs(got.Loss-test.loss) > 1e-9 {
			t.Errorf("%+v: %s leads, %s is best, loss %v; want %s, %s, %v", test.by, got.Leader.ID, got.Best.ID, got.Loss, test.leader, test.best, test.loss)
		}
	}
}
