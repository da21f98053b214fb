package sim_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

func TestNewTask(t *testing.T) {
	spec := func(d int) idrl.EnvSpec { return idrl.EnvSpec{FeatureNames: make([]string, d)} }
	for seed := range uint64(20) {
		drive := sim.NewTask("driver", spec(5), rng.New(seed, "task", 0))
		if n := floats.Norm(drive.Theta[:4], 2); !scalar.EqualWithinAbs(n, 0.5, 1e-12) || drive.Theta[4] != 0.5 {
			t.Errorf("seed %d: driver weights %v, want norm 0.5 and the constant 0.5", seed, drive.Theta)
		}
		grid := sim.NewTask("gridworld", spec(11), rng.New(seed, "task", 0))
		if floats.Min(grid.Theta) != 0 || floats.Max(grid.Theta) != 1 {
			t.Errorf("seed %d: gridworld weights %v, want them to span [0, 1]", seed, grid.Theta)
		}
	}
	if got := sim.NewTask("pond", spec(3), rng.New(1, "task", 0)); got.Env != "pond" || len(got.Theta) != 3 || floats.Norm(got.Theta, 1) == 0 {
		t.Errorf("task of an unknown environment: %+v", got)
	}
}

// ask answers q many times and returns the share of answers of each choice and
// the moments of the ratings.
func ask(t *testing.T, kind string, opt sim.Options, q idrl.Query) (a, b, equal, mean, std float64) {
	t.Helper()
	e, err := sim.NewExpert(kind, sim.Task{Theta: []float64{1, 0}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	var ratings []float64
	stream := rng.New(9, "answers", 0)
	for range n {
		got := e.Answer(q, stream)
		switch got.Choice {
		case idrl.ChoseA:
			a += 1.0 / n
		case idrl.ChoseB:
			b += 1.0 / n
		case idrl.Equal:
			equal += 1.0 / n
		case idrl.Rated:
			ratings = append(ratings, got.Rating)
		default:
			t.Fatalf("choice %q", got.Choice)
		}
		got.ID, got.Left = "x", idrl.SideA
		if err := got.Validate(q); err != nil {
			t.Fatal(err)
		}
	}
	if len(ratings) > 0 {
		mean = floats.Sum(ratings) / n
		for _, r := range ratings {
			std += (r - mean) * (r - mean) / n
		}
	}
	return a, b, equal, mean, math.Sqrt(std)
}

func TestComparisons(t *testing.T) {
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
		{"bernoulli", 0, sim.Options{Range: 2}, 0.5, 0},
		{"bernoulli", 1, sim.Options{Range: 2}, 0.75, 0},
		{"bernoulli", -1, sim.Options{Range: 2}, 0.25, 0},
		{"bernoulli", 5, sim.Options{Range: 2}, 1, 0},
		{"bradley-terry", 0.2, sim.Options{Range: 2}, 1 / (1 + math.Exp(-1)), 0},
		{"bradley-terry", 0.2, sim.Options{Range: 2, Temperature: 0.05}, 1 / (1 + math.Exp(-2)), 0},
	} {
		t.Run(fmt.Sprintf("%s %v %v", test.kind, test.u, test.opt), func(t *testing.T) {
			q := idrl.Query{Kind: idrl.CompareClips, X: []float64{test.u, 7}}
			a, b, equal, _, _ := ask(t, test.kind, test.opt, q)
			const tol = 0.015 // four standard errors
			if math.Abs(a-test.a) > tol || math.Abs(equal-test.equal) > tol || math.Abs(a+b+equal-1) > 1e-9 {
				t.Errorf("a %v, b %v, equal %v; want a %v, equal %v", a, b, equal, test.a, test.equal)
			}
		})
	}
}

func TestRatings(t *testing.T) {
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
	} {
		t.Run(fmt.Sprintf("%s %v", test.kind, test.u), func(t *testing.T) {
			q := idrl.Query{Kind: idrl.RateState, X: []float64{test.u, 7}}
			_, _, _, mean, std := ask(t, test.kind, test.opt, q)
			if math.Abs(mean-test.mean) > 0.003 || math.Abs(std-test.std) > 0.003 { // four standard errors
				t.Errorf("mean %v, std %v; want %v, %v", mean, std, test.mean, test.std)
			}
		})
	}
}

func TestNewExpertRefuses(t *testing.T) {
	for _, test := range []struct {
		name, kind string
		opt        sim.Options
		says       string
	}{
		{"unknown kind", "oracle", sim.Options{Range: 1}, "bernoulli, bradley-terry, perfect"},
		{"no range", "perfect", sim.Options{}, "range"},
		{"NaN range", "perfect", sim.Options{Range: math.NaN()}, "range"},
		{"cold", "bradley-terry", sim.Options{Range: 1, Temperature: -1}, "temperature"},
		{"negative noise", "bernoulli", sim.Options{Range: 1, NoiseStd: -1}, "noise"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := sim.NewExpert(test.kind, sim.Task{Theta: []float64{1}}, test.opt)
			if err == nil || idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want one of kind Invalid that names the %s", err, test.says)
			}
		})
	}
}

func TestRange(t *testing.T) {
	grid := gridworld.New(gridworld.Config{}, rng.New(1, "layout", 0))
	weights := make([]float64, 11)
	weights[3], weights[7] = -3, 2
	for _, test := range []struct {
		name     string
		env      idrl.Environment
		theta    []float64
		kind     idrl.QueryKind
		low, top float64
	}{
		{"every state counts", grid, weights, idrl.CompareStates, 5, 5},
		{"size of a state", grid, weights, idrl.RateState, 3, 3},
		{"no reward", grid, make([]float64, 11), idrl.RateState, 1, 1},
		{"the constant cancels", driver.New(), []float64{0, 0, 0, 0, 1}, idrl.CompareClips, 1, 1},
		{"mean of the constant", driver.New(), []float64{0, 0, 0, 0, 1}, idrl.RateClip, 1, 1},
		{"heading", driver.New(), []float64{0, 0, 1, 0, 0}, idrl.CompareClips, 1, 33},         // sin/0.0611 is at most 16.4
		{"heading now", driver.New(), []float64{0, 0, 1, 0, 0}, idrl.RateState, 0.3, 0.32721}, // 1/(0.06112367·50)
	} {
		t.Run(test.name, func(t *testing.T) {
			got := sim.Range(test.env, test.theta, test.kind, rng.New(2, "range", 0))
			if !(got >= test.low-1e-9 && got <= test.top+1e-9) {
				t.Errorf("range = %v, want it in [%v, %v]", got, test.low, test.top)
			}
		})
	}
}
