package acquisition_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

// Expected improvement is the average of what u has over the best.
func TestEIR(t *testing.T) {
	const noise, best = 0.3, 0.4
	for _, at := range []struct{ m, v float64 }{{0, 1}, {0.5, 0.2}, {-1, 0.5}, {2, 0.01}, {0.401, 3}} {
		in := one(t, idrl.RateState, belief.Rating{NoiseVar: noise}, at.m, at.v)
		in.Observed = true
		if got := score(t, acquisition.EIR{}, in)[0]; got != 0 {
			t.Errorf("before the first rating the value is %v", got)
		}
		in.Best, in.Rated = best, true
		over := func(u float64) float64 { return max(0, u-best-0.001) }
		// Simpson's rule across the corner is exact to the square of its step.
		within(t, "expected improvement", score(t, acquisition.EIR{}, in)[0], integral(over, at.m, at.v), 1e-6*math.Sqrt(at.v))
		s := at.v + noise
		within(t, "in paper mode", score(t, acquisition.EIR{Paper: true}, in)[0], integral(over, at.m, s*s), 1e-6*s)
		in.Observed = false
		within(t, "in paper mode before an answer", score(t, acquisition.EIR{Paper: true}, in)[0], integral(over, at.m, at.v*at.v), 1e-6*at.v)
	}
	known := one(t, idrl.RateState, belief.Rating{NoiseVar: noise}, 5, 0)
	known.Best, known.Rated = best, true
	for _, f := range []acquisition.EIR{{}, {Paper: true}} {
		if got := score(t, f, known)[0]; got != 0 {
			t.Errorf("%+v: a rating that is known improves by %v", f, got)
		}
	}
	_, err := acquisition.EIR{}.Score(make([]float64, 1), one(t, idrl.CompareClips, belief.PlusMinus{NoiseVar: 1}, 0, 1))
	if idrl.KindOf(err) != idrl.Invalid || err == nil {
		t.Errorf("comparisons: error %v, want one of kind Invalid", err)
	}
}

// EPD by belief updates: the policy after the answer that it imagines.
func TestEPD(t *testing.T) {
	stream := rng.New(30, "epd", 0)
	start := correlated(t, 4, stream)
	const noise = 0.3
	m := belief.Model{Start: start, Rating: belief.Rating{NoiseVar: noise}}
	g := random(4, 0, 6, idrl.RateClip, stream)
	solve := func(theta []float64) ([]float64, error) { // a policy in the unit ball
		return floats.ScaleTo(make([]float64, 4), 1/floats.Norm(theta, 2), theta), nil
	}
	imagine := func(p *belief.Gaussian, x []float64, sign float64, paper, observed bool) []float64 {
		mean, v := idrl.Moments(p, x, p.Mean(nil), make([]float64, 4))
		y := mean + sign*math.Sqrt(v+noise)
		if paper {
			y = mean + sign*v
			if observed {
				y = mean + sign*(v+noise)
			}
		}
		policy, _ := solve(p.ConditionOnValue(x, y, noise).Mean(nil))
		return policy
	}
	for _, observed := range []bool{false, true} {
		for _, distance := range []func(a, b []float64) float64{acquisition.L2, acquisition.SquaredL2} {
			in := input(m, start, g, nil)
			in.Solve, in.Distance, in.Observed = solve, distance, observed
			now, _ := solve(start.Mean(nil))
			plain, paper := score(t, acquisition.EPD{}, in), score(t, acquisition.EPD{Paper: true}, in)
			for i, q := range g.Queries {
				within(t, "divergence", plain[i], distance(now, imagine(start, q.X, 1, false, observed)), 1e-12)
				want := distance(now, imagine(start, q.X, 1, true, observed)) + distance(now, imagine(start, q.X, -1, true, observed))
				within(t, "divergence in paper mode", paper[i], want, 1e-12)
			}
		}
	}
	in := input(m, start, g, nil)
	broken := errors.New("broken")
	calls := 0
	in.Solve = func(theta []float64) ([]float64, error) {
		if calls++; calls == 3 {
			return nil, broken
		}
		return theta, nil
	}
	if _, err := (acquisition.EPD{}).Score(make([]float64, 6), in); !errors.Is(err, broken) {
		t.Errorf("error %v, want the solver's", err)
	}
	if _, err := acquisition.Select(acquisition.EPD{}, in); err != nil {
		t.Error(err)
	}
}

func TestDistances(t *testing.T) {
	a, b := []float64{1, 0, 2, 5}, []float64{1, 3, 2, 1}
	for _, test := range []struct {
		name           string
		tabular, paper bool
		want           float64
	}{
		{"states", true, false, 2},
		{"entries of one-hot rows", true, true, 4},
		{"Euclidean", false, false, 5},
		{"squared", false, true, 25},
	} {
		if got := acquisition.DistanceOf(test.tabular, test.paper)(a, b); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("policies of different lengths were compared")
		}
	}()
	acquisition.DiffersIn(a, b[:3])
}

func TestEVR(t *testing.T) {
	l := belief.Probit{NoiseStd: 0.5, TieBand: 0.2}
	for _, at := range []struct{ m, v float64 }{{0, 1}, {0.7, 0.4}, {-0.7, 0.4}, {3, 0.1}, {0, 0}} {
		r := math.Sqrt(at.v + 0.25)
		within(t, "chance of the less probable answer",
			score(t, acquisition.EVR{}, one(t, idrl.CompareClips, l, at.m, at.v))[0],
			normalCDF((-math.Abs(at.m)-0.2)/r), 1e-14)
		// With densities N(±1; m, s²), and s² = v + noise, the odds are exp(2m/s²).
		s2 := at.v + 0.25
		within(t, "with Gaussian answers",
			score(t, acquisition.EVR{}, one(t, idrl.CompareClips, belief.PlusMinus{NoiseVar: 0.25}, at.m, at.v))[0],
			1/(1+math.Exp(2*math.Abs(at.m)/s2)), 1e-14)
		within(t, "in paper mode",
			score(t, acquisition.EVR{Paper: true}, one(t, idrl.CompareClips, l, at.m, at.v))[0],
			(1-min(1, math.Abs(at.m)))/2, 1e-14)
	}
	_, err := acquisition.EVR{}.Score(make([]float64, 1), one(t, idrl.RateState, belief.Rating{NoiseVar: 1}, 0, 1))
	if idrl.KindOf(err) != idrl.Invalid || err == nil {
		t.Errorf("ratings: error %v, want one of kind Invalid", err)
	}
}

// pool returns n policies with rewards and all comparisons of two of them.
func pool(d, n int, seed uint64) (policies []idrl.Candidate, queries []idrl.QueryVector) {
	stream := rng.New(seed, "pool", 0)
	for i := range n {
		policies = append(policies, idrl.Candidate{Mu: normals(d, stream), Theta: normals(d, stream), Clip: clip(i)})
	}
	for i := range n {
		for j := range i {
			x := floats.SubTo(make([]float64, d), policies[i].Mu, policies[j].Mu)
			queries = append(queries, idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips, Clips: []idrl.ClipID{clip(i), clip(j)}}, X: x})
		}
	}
	return policies, queries
}

// Maximum regret from its definition, with the density of a library.
func TestMR(t *testing.T) {
	const d, n = 3, 7
	policies, queries := pool(d, n, 31)
	p := correlated(t, d, rng.New(31, "belief", 0))
	var cov mat.SymDense
	p.Cov(&cov)
	normal, ok := distmv.NewNormal(p.Mean(nil), &cov, nil)
	if !ok {
		t.Fatal("the covariance is not positive definite")
	}
	in := input(probit(p), p, game{Queries: queries}, nil)
	in.Pool = policies
	most := math.Inf(-1)
	for _, c := range policies {
		most = max(most, normal.LogProb(c.Theta))
	}
	got := score(t, acquisition.MR{}, in)
	for q, query := range queries {
		a, b := policies[query.Clips[0][0]-'a'], policies[query.Clips[1][0]-'a']
		regret := max(0, floats.Dot(a.Theta, a.Mu)-floats.Dot(a.Theta, b.Mu)) + max(0, floats.Dot(b.Theta, b.Mu)-floats.Dot(b.Theta, a.Mu))
		want := math.Exp(normal.LogProb(a.Theta)+normal.LogProb(b.Theta)-2*most) * regret
		within(t, "maximum regret", got[q], want, 1e-12*(1+want))
	}
}

// The belief of Wilde et al. by hand: two rewards, two answers.
func TestMRSimple(t *testing.T) {
	policies := []idrl.Candidate{
		{Mu: []float64{1, 0}, Theta: []float64{2, 0}, Clip: clip(0)},
		{Mu: []float64{0, 1}, Theta: []float64{0, 1}, Clip: clip(1)},
		{Mu: []float64{1, 0}, Theta: []float64{0, 7}, Clip: clip(0)}, // shares the clip of the first, which counts
	}
	query := idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips, Clips: []idrl.ClipID{clip(0), clip(1)}}, X: []float64{1, -1}}
	m := probit(belief.Isotropic(2, 1))
	in := input(m, m.Prior(), game{Queries: []idrl.QueryVector{query}}, nil)
	in.Pool = policies
	asked := func(choices ...idrl.Choice) (out []acquisition.Asked) {
		for _, c := range choices {
			out = append(out, acquisition.Asked{Query: query, Answer: idrl.Answer{Choice: c}})
		}
		return out
	}
	const regret = 2 + 1 // of either policy under the other's reward
	for _, test := range []struct {
		name     string
		accuracy float64
		history  []acquisition.Asked
		want     float64 // p_0 p_1, the larger of which is 1
	}{
		{"no answer", 0, nil, 1},
		{"one for a", 0, asked(idrl.ChoseA), 1.0 / 9},
		{"one for b", 0.8, asked(idrl.ChoseB), 0.25},
		{"one each", 0.7, asked(idrl.ChoseA, idrl.ChoseB), 1},
		{"two for a", 0.7, asked(idrl.ChoseA, idrl.ChoseA), 9.0 / 49},
		{"no side taken", 0.7, asked(idrl.Equal, idrl.CantTell), 1},
		{"certain", 1, asked(idrl.ChoseA), 0},
		{"certain, and contradicted", 1, asked(idrl.ChoseA, idrl.ChoseB), 1},
	} {
		in.History = test.history
		got := score(t, acquisition.MR{Simple: true, Accuracy: test.accuracy}, in)[0]
		within(t, test.name, got, test.want*regret, 1e-14)
	}
}

func TestPoolIsRequired(t *testing.T) {
	policies, queries := pool(2, 3, 32)
	m := probit(belief.Isotropic(2, 1))
	for _, f := range []acquisition.Function{acquisition.MR{}, acquisition.MR{Simple: true}, acquisition.EUBO{}} {
		for name, spoil := range map[string]func(*acquisition.Input){
			"no pool":       func(in *acquisition.Input) { in.Pool = nil },
			"unknown clip":  func(in *acquisition.Input) { in.Pool = policies[:2] },
			"one clip only": func(in *acquisition.Input) { in.Table.Queries()[1].Clips = []idrl.ClipID{clip(0)} },
		} {
			in := input(m, m.Prior(), game{Queries: slices.Clone(queries)}, nil)
			in.Pool = policies
			spoil(in)
			if _, err := f.Score(make([]float64, len(queries)), in); idrl.KindOf(err) != idrl.Invalid || err == nil {
				t.Errorf("%T, %s: error %v, want one of kind Invalid", f, name, err)
			}
		}
	}
	in := input(m, m.Prior(), game{Queries: queries}, nil)
	in.Pool = slices.Clone(policies)
	in.Pool[1].Theta = nil
	if _, err := (acquisition.MR{}).Score(make([]float64, len(queries)), in); idrl.KindOf(err) != idrl.Invalid || err == nil {
		t.Errorf("a policy without a reward: error %v, want one of kind Invalid", err)
	}
}

// Where rounding has made Σ singular the densities are still ranked.
func TestMRSingularBelief(t *testing.T) {
	policies, queries := pool(2, 3, 33)
	p := belief.Isotropic(2, 1).Condition([]float64{1, 0}, 0, 1) // the first weight is known: 0
	m := probit(p)
	in := input(m, p, game{Queries: queries}, nil)
	in.Pool = []idrl.Candidate{policies[0], policies[1], policies[2]}
	for i, first := range []float64{0, 0, 1} {
		in.Pool[i].Theta = []float64{first, 0.5}
	}
	got := score(t, acquisition.MR{}, in) // of the pairs (1, 0), (2, 0), (2, 1)
	if !(got[0] > 0) || got[1] != 0 || got[2] != 0 {
		t.Errorf("values %v, want those of the impossible third reward at 0", got)
	}
}
