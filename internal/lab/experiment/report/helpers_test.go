package report_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/authors"
)

// validated returns an experiment that makes sense.
func validated(t *testing.T, c experiment.Config) experiment.Experiment {
	t.Helper()
	e := must.Get(c.Validate())(t)
	return e
}

// areasOf returns a result of one answer, on which the areas under the curves
// are the regrets after it: those of each method, by seed.
func areasOf(methods []string, regrets ...[]float64) experiment.Result {
	r := experiment.Result{Experiment: experiment.Experiment{Config: experiment.Config{
		Figure: "chain", Queries: experiment.States, Mode: experiment.Corrected, Walls: experiment.Text,
		Candidates: experiment.Text, Expert: experiment.Model, Answers: 1, Methods: methods, Seeds: len(regrets[0]), FirstSeed: 1,
	}, Title: "Chain", Unit: "return"}}
	for i := range regrets[0] {
		var runs []experiment.Run
		for m := range methods {
			runs = append(runs, experiment.Run{
				Regret: []float64{8, regrets[m][i]}, MSE: []float64{1, 0.5}, Cosine: []float64{0, 0.25},
				Solves: 2, SelectNS: []int64{1000},
			})
		}
		r.Runs = append(r.Runs, runs)
	}
	return r
}

// synthetic returns a result with decaying curves and times that depend on
// clock alone.
func synthetic(t *testing.T, c experiment.Config, clock uint64) experiment.Result {
	t.Helper()
	e := validated(t, c)
	r := experiment.Result{Experiment: e}
	times := rng.New(clock, "times", 0)
	for i := range e.Seeds {
		var runs []experiment.Run
		for m := range e.Methods {
			noise := rng.New(e.Seed(i), "synthetic", uint64(m))
			run := experiment.Run{Solves: 3 * e.Answers}
			for _, n := range e.Counts() {
				fall := math.Exp(-float64(n) / float64(3+2*m))
				run.Regret = append(run.Regret, 40*fall*noise.Float64())
				run.MSE = append(run.MSE, 0.3*fall)
				run.Cosine = append(run.Cosine, 1-fall)
			}
			for range e.Answers {
				run.SelectNS = append(run.SelectNS, times.Int64N(1e7))
			}
			if c.Figure == "swimmer-corridor" || c.Figure == "ant-corridor" {
				run.Steps, run.WallNS = int64(m+1)*1e6, times.Int64N(1e13)
			}
			runs = append(runs, run)
		}
		r.Runs = append(r.Runs, runs)
	}
	return r
}

// asTheirs returns a result whose regret has the mean and the standard error of
// the authors' curves, but for shift, which is added to every regret. Half of
// the seeds are as far above the mean as the others are below.
func asTheirs(t *testing.T, c experiment.Config, shift func(queries int, se float64) float64) experiment.Result {
	t.Helper()
	r := synthetic(t, c, 0)
	e := r.Experiment
	names := map[string]string{"idrl": "IDRL", "uniform": "Uniform", "igr": "IGR", "eir": "EIR", "epd": "EPD", "evr": "EVR"}
	for m, method := range e.Methods {
		curve, ok := authors.CurveOf(e.Figure+"_"+e.Queries, names[method])
		if !ok {
			continue
		}
		for i := range r.Runs {
			side := float64(1 - 2*(i%2))
			for at, n := range e.Counts() {
				k := n - 1
				if k < 0 || k >= len(curve.Queries) {
					continue
				}
				se := curve.RegretSE[k]
				r.Runs[i][m].Regret[at] = curve.RegretMean[k] + side*se*math.Sqrt(float64(curve.Seeds)) + shift(n, se)
			}
		}
	}
	return r
}

func results(r ...experiment.Result) []experiment.Result { return r }
