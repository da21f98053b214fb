package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/corridor"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/stat"
)

// A cart goes along a corridor of Swimmer's measures at up to 0.04 m a step, its action times
// that: a body on which a random search finds what there is to find, at a hundredth of the
// cost of a swimmer's steps.
type cart struct {
	*toy
	spec idrl.EnvSpec
}

// newCart returns a cart with a search of that step size.
func newCart(step float64) *cart {
	c := &cart{toy: newToy(), spec: toySpec}
	c.maze.CellSize = 3
	c.spec.ID, c.spec.Horizon = "cart-corridor", 1000
	c.spec.Search = idrl.Search{StepSize: step, NoiseStd: 0.15, Directions: 16, Iterations: 30, Episodes: 10}
	return c
}

func (c *cart) Spec() idrl.EnvSpec { return c.spec }

func (c *cart) Step(a idrl.Action) idrl.TimeStep {
	before := c.x
	c.x, _ = c.maze.Enter(before, 0, before+0.04*a[0]+0.01*(c.stream.Float64()-0.5), 0)
	c.t++
	kind := idrl.Mid
	if c.t == c.spec.Horizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: c.obs(), Phi: c.maze.Features(c.phi, before, 0, c.x, 0)}
}

// BenchmarkCart repeats Swimmer's table with a cart: how much of Uniform's regret 20, 4, 2 and
// 1 updates leave after 20 answers, and by how many metres they are ahead, in standard
// errors. Once with a search that finds its way, once with one whose steps are a tenth.
func BenchmarkCart(b *testing.B) {
	rows := []string{"uniform", "idrl:20", "idrl:4", "idrl:2", "idrl:1"}
	for name, step := range map[string]float64{"search": 0.1, "weak-search": 0.01} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				e := must.Get(Config{Figure: "swimmer-corridor", Mode: Corrected, Seeds: 30, FirstSeed: 1, Measure: 2, Methods: rows}.Validate())(b)
				res := must.Get(Do(b.Context(), e, Options{Workers: 2, robot: &robot{
					newEnv:   func() (idrl.Environment, error) { return newCart(step), nil },
					explorer: func() ([]float64, error) { return append([]float64{1}, make([]float64, corridor.Cells)...), nil },
					random:   func(dst idrl.Action, a idrl.ActionSpec, stream *rand.Rand) { uniformAction(dst, a, stream) },
				}}))(b)
				reportCart(b, res, rows)
			}
		})
	}
}

func reportCart(b *testing.B, res Result, rows []string) {
	last := func(seed, row int) float64 { r := res.Runs[seed][row].Regret; return r[len(r)-1] }
	uniform := 0.0
	for s := range res.Runs {
		uniform += last(s, 0) / float64(len(res.Runs))
	}
	b.ReportMetric(uniform, "m-uniform")
	for k, row := range rows[1:] {
		var regret, ahead []float64
		for s := range res.Runs {
			regret, ahead = append(regret, last(s, k+1)), append(ahead, last(s, 0)-last(s, k+1))
		}
		mean, std := stat.MeanStdDev(ahead, nil)
		b.ReportMetric(stat.Mean(regret, nil)/uniform, "share-"+row)
		b.ReportMetric(mean*math.Sqrt(float64(len(ahead)))/std, "errors-ahead-"+row)
	}
}
