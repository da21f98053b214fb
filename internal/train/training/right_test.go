package training_test

import (
	"log/slog"
	"math"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// TestPeopleAreRight: the noise that sessions assume unless told otherwise makes people right about as many of the first
// questions as docs/methods.md, section 2.3, says, in sessions as they are made, whose features have scales.
func TestPeopleAreRight(t *testing.T) {
	says := map[string]float64{
		"driver": 0.87, "gridworld": 0.94, "gridworld-code": 0.93, "chain": 0.91, "junction": 0.88, "half-cheetah": 0.89, "walker2d": 0.81, "hopper": 0.81,
		"ant": 0.88, "swimmer": 0.82, "reacher": 0.88, "inverted-pendulum": 0.81, "inverted-double-pendulum": 0.85, "swimmer-corridor": 0.91, "ant-corridor": 0.89,
	}
	for _, e := range envs.Catalogue() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			spec, err := training.Complete(envs.Catalogue(), settings.Complete(idrl.SessionSpec{ID: "s", Title: "T", Env: e.ID, Seed: 1}))
			if err != nil {
				t.Fatal(err)
			}
			tr, err := training.New(envs.Catalogue(), spec)
			if err != nil {
				t.Fatal(err)
			}
			m, err := training.Model(envs.Catalogue(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if spec.Solver == idrl.GaitSolver {
				if tr.Stock, err = training.NewStock(envs.Catalogue(), spec, slog.Default()); err != nil {
					t.Fatal(err)
				}
			}
			g, err := tr.Train(t.Context(), idrl.TrainJob{First: true, Posterior: m.Prior(), Seed: spec.Seed})
			if err != nil {
				t.Fatal(err)
			}
			source := representation.Source{Clip: func(id idrl.ClipID) (idrl.Clip, error) { return g.Clips[id], nil }}
			queries, err := representation.New(nil, source).Queries(g.Queries)
			if err != nil {
				t.Fatal(err)
			}
			prior, std := m.Prior().(interface{ CovMul(dst, x []float64) }), make([]float64, 0, len(queries))
			cx := make([]float64, len(queries[0].X))
			for _, q := range queries {
				prior.CovMul(cx, q.X)
				v := 0.0
				for i, x := range q.X {
					v += x * cx[i]
				}
				std = append(std, math.Sqrt(v))
			}
			got := stats.ExpectedRight(std, spec.NoiseStd)
			t.Logf("%s: right about %.2f of %d first questions", e.ID, got, len(queries))
			if math.Abs(got-says[e.ID]) > 0.03 { // other versions of MuJoCo move robots a little otherwise
				t.Errorf("people are taken to be right about %.3f of the first questions, not %v", got, says[e.ID])
			}
		})
	}
}
