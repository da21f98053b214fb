package training_test

import (
	"log/slog"
	"math"
	"strings"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// TestPeopleAreRight: the noise that sessions assume unless told otherwise makes people right about as many of the first
// questions as docs/methods.md, section 2.3, says. In corridors the first clips hardly differ.
func TestPeopleAreRight(t *testing.T) {
	for _, e := range envs.Catalogue() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			spec := settings.Complete(idrl.SessionSpec{ID: "s", Title: "T", Env: e.ID, Seed: 1})
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
			low, high := 0.82, 0.97
			if strings.Contains(e.ID, "corridor") {
				low, high = 0.5, 0.7
			}
			got := stats.ExpectedRight(std, spec.NoiseStd)
			t.Logf("right about %.2f of %d first questions", got, len(queries))
			if got < low || got > high {
				t.Errorf("people are taken to be right about %.3f of the first questions, not %v to %v", got, low, high)
			}
		})
	}
}
