//go:build mujoco

package training_test

import (
	"log/slog"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// BenchmarkFirstQuestions is how long a worker takes for the first questions of a session on
// each robot: by random linear policies, from the library, and from the library where
// another session has begun in this worker.
func BenchmarkFirstQuestions(b *testing.B) {
	for _, e := range envs.Catalogue() {
		if e.Library == nil {
			continue
		}
		for _, solver := range []string{idrl.OwnSolver, idrl.GaitSolver} {
			b.Run(e.ID+"/"+solver, func(b *testing.B) {
				var again time.Duration
				for b.Loop() {
					spec := settings.Complete(idrl.SessionSpec{ID: "s", Title: "T", Env: e.ID, Solver: solver, Seed: 1})
					tr, err := training.New(envs.Catalogue(), spec)
					if err != nil {
						b.Fatal(err)
					}
					m, err := training.Model(envs.Catalogue(), spec)
					if err != nil {
						b.Fatal(err)
					}
					if solver == idrl.GaitSolver {
						if tr.Stock, err = training.NewStock(envs.Catalogue(), spec, slog.Default()); err != nil {
							b.Fatal(err)
						}
					}
					job := idrl.TrainJob{First: true, Posterior: m.Prior(), Seed: spec.Seed}
					must.Get(tr.Train(b.Context(), job))(b)
					if solver == idrl.GaitSolver {
						began := time.Now()
						must.Get(tr.Train(b.Context(), job))(b)
						again += time.Since(began)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)-again.Seconds()/float64(b.N), "s")
				if solver == idrl.GaitSolver {
					b.ReportMetric(again.Seconds()/float64(b.N), "s-again")
				}
			})
		}
	}
}
