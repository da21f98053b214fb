package experiment

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/train/trainer"
	"tiebreak/internal/train/training"
)

var (
	stocksLock sync.Mutex
	stocks     = map[string]*trainer.Stock{} // guarded by stocksLock; by environment: all seeds share one
)

// libraryStage returns a session on a robot whose policies are the behaviours of its library: nothing is searched for. The
// true weights are a draw from the prior of sessions. It returns an error of kind Invalid if there is no such robot, or no library
// with returns.
func libraryStage(env string, seed uint64, s learning.Schedule) (*stage, error) {
	list := envs.Catalogue()
	entry, err := list.Find(env)
	if err != nil {
		return nil, err
	}
	spec := idrl.SessionSpec{Env: env, Kind: idrl.CompareClips, Questions: idrl.AnswerableQuestions}
	stocksLock.Lock()
	defer stocksLock.Unlock()
	stock := stocks[env]
	if stock == nil {
		if stock, err = training.NewStock(list, spec, slog.Default()); err != nil {
			return nil, err
		}
		stocks[env] = stock
	}
	newEnv := func() idrl.Environment { return entry.New(rng.New(trainer.StockSeed, "layout", 0)) }
	scale := newEnv().Spec().PriorScale
	d := newEnv().Spec().FeatureDim()
	theta, cov := make([]float64, d), mat.NewSymDense(d, nil)
	stream := rng.New(seed, "true weights", 0)
	for i := range theta {
		std := 1.0
		if scale != nil {
			std = scale[i]
		}
		theta[i] = std * stream.NormFloat64()
		cov.SetSym(i, i, std*std)
	}
	prior, err := belief.NewGaussian(make([]float64, d), cov)
	if err != nil {
		return nil, err
	}
	out := &stage{
		seed: seed, schedule: s, kind: idrl.CompareClips, theta: theta, prior: prior, newEnv: newEnv, stock: stock,
		mse: func([]float64) float64 { return 0 }, cosine: func([]float64) float64 { return 0 },
	}
	for i, b := range stock.Behaviours {
		mu := b.Mu()
		if mu == nil {
			return nil, idrl.Errorf(idrl.Invalid, "behaviour %q of %s has no returns", b.Name, env)
		}
		if worth := floats.Dot(theta, mu); i == 0 || worth > out.best {
			out.best = worth
		}
	}
	return out, nil
}

// A libraryTrainer is the trainer of a libraryStage.
type libraryTrainer struct{ *trainer.Thompson }

// Train returns the behaviours that are the best under the mean of the posterior and under draws from it: of each the best that was
// not taken before.
func (t libraryTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	if job.First {
		return t.Thompson.Train(ctx, job)
	}
	stream, left := rng.New(job.Seed, "thompson", uint64(job.BasedOn)), slices.Clone(t.Stock.Behaviours)
	theta, out := job.Posterior.Mean(nil), []idrl.Candidate(nil)
	for range t.Samples + 1 {
		k := 0
		for i, b := range left {
			if floats.Dot(theta, b.Mu()) > floats.Dot(theta, left[k].Mu()) {
				k = i
			}
		}
		p, err := t.Remake(t.NewEnv(), left[k].Params)
		if err != nil {
			return idrl.Generation{}, err
		}
		out = append(out, idrl.Candidate{Policy: p, Origin: idrl.FromLibrary, Theta: theta, Mus: left[k].Mus})
		left, theta = slices.Delete(left, k, k+1), job.Posterior.Sample(nil, stream)
	}
	return t.Show(ctx, job, out)
}

// libraryTrainer returns the trainer of a session by a method.
func (s *stage) libraryTrainer() *trainer.Thompson {
	t := &trainer.Thompson{
		NewEnv: s.newEnv, Kind: s.kind, Samples: s.schedule.Samples, MaxQueries: s.schedule.Queries, Stock: s.stock,
		Rollouts: 1, MuEpisodes: 1, Segments: 3, Remake: s.stock.Remake, Spread: true,
	}
	if s.made {
		t.Cuts = s.stock
	}
	return t
}
