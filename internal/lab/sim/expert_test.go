package sim_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// asked is how often ask puts a question.
const asked = 20000

// A tally holds what an expert said to one question asked many times.
type tally struct {
	share   map[idrl.Choice]float64
	ratings []float64
}

// ask puts a question to an expert with true reward (1, 0).
func ask(t *testing.T, kind string, opt sim.Options, q idrl.QueryVector) tally {
	t.Helper()
	e := must.Get(sim.NewExpert(kind, sim.Task{Theta: []float64{1, 0}}, opt))(t)
	out := tally{share: map[idrl.Choice]float64{}}
	stream := rng.New(9, "answers", 0)
	for range asked {
		got := e.Answer(q, stream)
		out.share[got.Choice] += 1.0 / asked
		if got.Choice == idrl.Rated {
			out.ratings = append(out.ratings, got.Rating)
		}
		got.ID, got.Left = "x", idrl.SideA
		if !opt.Unclamped {
			must.Do(t, got.Validate(q.Query))
		}
	}
	return out
}

// near reports whether a share of the answers to ask is a probability, to four
// standard errors.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 4*math.Sqrt(max(0, want*(1-want))/asked)+1e-9 // sums are rounded
}

// comparison has the difference u of returns under the true reward of ask.
func comparison(u float64) idrl.QueryVector {
	return idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips, Clips: []idrl.ClipID{"a", "b"}}, X: []float64{u, 7}}
}

func logistic(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

func TestComparisons(t *testing.T) {
	phi := distuv.UnitNormal.CDF
	for _, test := range []struct {
		kind     string
		u        float64
		opt      sim.Options
		a, equal float64
	}{
		{"perfect", 0.1, sim.Options{Range: 2}, 1, 0},
		{"perfect", -0.1, sim.Options{Range: 2}, 0, 0},
		{"perfect", 0, sim.Options{Range: 2}, 0, 1},
		{"perfect", 0.1, sim.Options{Range: 2, TieBand: 0.06}, 0, 1},
		{"deterministic", 0.1, sim.Options{Range: 2, NoiseStd: 9}, 1, 0},
		{"bernoulli", 0, sim.Options{Range: 2}, 0.5, 0},
		{"bernoulli", 1, sim.Options{Range: 2}, 0.75, 0},
		{"bernoulli", -1, sim.Options{Range: 2}, 0.25, 0},
		{"bernoulli", 5, sim.Options{Range: 2}, 1, 0},
		{"bradley-terry", 0.2, sim.Options{Range: 2}, logistic(1), 0},
		{"bradley-terry", 0.2, sim.Options{Range: 2, Temperature: 0.05}, logistic(2), 0},
		{"bradley-terry", 9, sim.Options{Range: 2, Temperature: math.Inf(1)}, 0.5, 0},
		{"numeric", 0.4, sim.Options{Range: 2, NoiseStd: 0.2}, phi(1), 0},
		{"numeric", -0.4, sim.Options{Range: 2, NoiseStd: 0.2}, phi(-1), 0},
		{"numeric", 0.4, sim.Options{Range: 2}, 1, 0},
		{"numeric", 0, sim.Options{Range: 2}, 0, 1},
		{"tie-band", 0.2, sim.Options{Range: 2}, logistic(1), 0}, // no band: bradley-terry
		{"tie-band", 0.2, sim.Options{Range: 2, Temperature: 0.2, TieBand: 0.3}, logistic(-1), logistic(1) - logistic(-2)},
		{"tie-band", -0.2, sim.Options{Range: 2, Temperature: 0.2, TieBand: 0.3}, logistic(-2), logistic(2) - logistic(-1)},
		{"tie-band", 0.2, sim.Options{Range: 2, Temperature: 0.2, TieBand: 0.3, ForcedChoice: true}, logistic(0.5), 0},
	} {
		t.Run(fmt.Sprintf("%s %v %+v", test.kind, test.u, test.opt), func(t *testing.T) {
			got := ask(t, test.kind, test.opt, comparison(test.u))
			a, b, equal := got.share[idrl.ChoseA], got.share[idrl.ChoseB], got.share[idrl.Equal]
			if !near(a, test.a) || !near(equal, test.equal) || math.Abs(a+b+equal-1) > 1e-9 {
				t.Errorf("a %v, b %v, equal %v; want a %v, equal %v", a, b, equal, test.a, test.equal)
			}
		})
	}
}

func TestRatings(t *testing.T) {
	// A rating of 0.9 with noise of std 0.1 is cut off one standard deviation
	// above: E min(Z, 1) = -φ(1) + 1-Φ(1), and E min(Z, 1)² = Φ(1) - φ(1) + 1-Φ(1).
	density, tail := distuv.UnitNormal.Prob(1), distuv.UnitNormal.Survival(1)
	mean := -density + tail
	std := math.Sqrt(1 - density - mean*mean)
	for _, test := range []struct {
		kind      string
		u         float64
		opt       sim.Options
		mean, std float64
	}{
		{"perfect", 0.5, sim.Options{Range: 2, NoiseStd: 9}, 0.25, 0},
		{"bernoulli", -0.5, sim.Options{Range: 2, NoiseStd: 0.1}, -0.25, 0.1},
		{"bradley-terry", 9, sim.Options{Range: 2}, 1, 0},
		{"bernoulli", -9, sim.Options{Range: 2}, -1, 0},
		{"numeric", 1.8, sim.Options{Range: 2, NoiseStd: 0.1}, 0.9 + 0.1*mean, 0.1 * std},
		{"numeric", 1.8, sim.Options{Range: 2, NoiseStd: 0.1, Unclamped: true}, 0.9, 0.1},
		{"numeric", 9, sim.Options{Range: 2, Unclamped: true}, 4.5, 0},
		{"numeric", 0.5, sim.Options{Range: 2, NoiseStd: 0.1, Offset: -0.3, Scale: 0.4}, -0.2, 0.1},
		{"tie-band", 0.5, sim.Options{Range: 2, Offset: 0.3, Scale: 4}, 1, 0},
		{"b-pref", 0.5, sim.Options{Range: 2}, 0.25, 0},
	} {
		t.Run(fmt.Sprintf("%s %v %+v", test.kind, test.u, test.opt), func(t *testing.T) {
			got := ask(t, test.kind, test.opt, idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: []float64{test.u, 7}}).ratings
			if len(got) != asked {
				t.Fatalf("%d ratings, want %d", len(got), asked)
			}
			mean, std := stat.MeanStdDev(got, nil)
			const tol = 4 * 0.1 / 141 // four standard errors of the largest std here, and more than those of std itself
			if math.Abs(mean-test.mean) > tol || math.Abs(std-test.std) > tol {
				t.Errorf("mean %v, std %v; want %v, %v", mean, std, test.mean, test.std)
			}
		})
	}
}

func TestExperts(t *testing.T) {
	want := []string{"bernoulli", "bradley-terry", "perfect", "numeric", "tie-band", "b-pref"}
	if got := sim.Experts(); !slices.Equal(got, want) {
		t.Errorf("Experts() = %v, want %v", got, want)
	}
}

// TestDeterminism gives every kind the same stream twice, and changes what was
// handed to NewExpert in between.
func TestDeterminism(t *testing.T) {
	for _, kind := range sim.Experts() {
		t.Run(kind, func(t *testing.T) {
			theta := []float64{1, 0}
			e := must.Get(sim.NewExpert(kind, sim.Task{Theta: theta}, sim.Options{
				Range: 2, NoiseStd: 0.5, Temperature: 0.5, TieBand: 0.1, Teacher: sim.Teacher{Beta: 1, Mistake: 0.2},
			}))(t)
			answers := func() (out []idrl.Answer) {
				stream := rng.New(2, "answers", 0)
				for k := range 100 {
					q := comparison(float64(k%7-3) / 5)
					if k%2 == 0 {
						q = idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip, Clips: q.Clips[:1]}, X: q.X}
					}
					out = append(out, e.Answer(q, stream))
				}
				return out
			}
			first := answers()
			theta[0] = -1
			if again := answers(); !slices.Equal(first, again) {
				t.Error("the same stream gives other answers")
			}
		})
	}
}

func TestNewExpertRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	teacher := func(v sim.Teacher) sim.Options { return sim.Options{Range: 1, Teacher: v} }
	for _, test := range []struct {
		name, kind string
		opt        sim.Options
		says       string
	}{
		{"unknown kind", "oracle", sim.Options{Range: 1}, "bernoulli, bradley-terry, perfect, numeric, tie-band, b-pref"},
		{"no range", "perfect", sim.Options{}, "range"},
		{"NaN range", "perfect", sim.Options{Range: nan}, "range"},
		{"endless range", "perfect", sim.Options{Range: inf}, "range"},
		{"cold", "bradley-terry", sim.Options{Range: 1, Temperature: -1}, "temperature"},
		{"negative noise", "bernoulli", sim.Options{Range: 1, NoiseStd: -1}, "noise"},
		{"negative band", "tie-band", sim.Options{Range: 1, TieBand: -1}, "tie band"},
		{"NaN offset", "numeric", sim.Options{Range: 1, Offset: nan}, "offset"},
		{"negative scale", "numeric", sim.Options{Range: 1, Scale: -1}, "scale"},
		{"negative beta", "b-pref", teacher(sim.Teacher{Beta: -1}), "beta"},
		{"growing discount", "b-pref", teacher(sim.Teacher{Discount: 1.1}), "discount"},
		{"NaN mistakes", "b-pref", teacher(sim.Teacher{Mistake: nan}), "mistakes"},
		{"too many mistakes", "b-pref", teacher(sim.Teacher{Mistake: 1.1}), "mistakes"},
		{"negative skip", "b-pref", teacher(sim.Teacher{SkipBelow: -1}), "thresholds"},
		{"NaN equal", "b-pref", teacher(sim.Teacher{EqualWithin: nan}), "thresholds"},
		{"skip without steps", "b-pref", teacher(sim.Teacher{SkipBelow: 1}), "Steps"},
		{"myopic without steps", "b-pref", teacher(sim.Teacher{Discount: 0.9}), "Steps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := sim.NewExpert(test.kind, sim.Task{Theta: []float64{1}}, test.opt)
			if err == nil || idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want one of kind Invalid that names the %s", err, test.says)
			}
		})
	}
}
