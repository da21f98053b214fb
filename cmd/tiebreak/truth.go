package main

import (
	"context"
	"fmt"
	"log/slog"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/session"
	"tiebreak/internal/solver"
	"tiebreak/internal/training"
	"tiebreak/store"

	"gonum.org/v1/gonum/floats"
)

// A truth compares what a session recommends with the true reward. It reads the
// server's data folder, beside the server: neither the annotators' pages nor those of
// researchers tell what a policy does, and none is to learn the true reward.
type truth struct {
	envs    envs.List
	dir     string
	session idrl.SessionID
	theta   []float64

	best  []float64 // feature expectation of the best policy that a solver finds; nil where solving takes too long
	found string    // which policy that is
}

// searches is the number of starts in the search for the best policy of an
// environment that is not tabular.
const searches = 100

// newTruth returns the truth about a session in the data folder dir, for true
// weights theta. It returns an error if the session is not there.
func newTruth(ctx context.Context, list envs.List, dir string, id idrl.SessionID, theta []float64) (*truth, error) {
	t := &truth{envs: list, dir: dir, session: id, theta: theta}
	rec, err := t.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the server's data in %s: %w", dir, err)
	}
	env, err := training.Environment(list, rec.Spec)
	if err != nil {
		return nil, err
	}
	s, err := solver.For(env)
	if err != nil {
		return nil, err
	}
	switch s.(type) {
	case solver.Tabular:
		t.found = "the best policy there is"
	case solver.ActionSequence:
		t.found = fmt.Sprintf("the best policy found in %d searches", searches)
	default:
		return t, nil
	}
	p, err := s.Solve(ctx, idrl.SolveTask{Env: env, Theta: theta, Restarts: searches}, rng.New(rec.Spec.Seed, "true best", 0))
	if err != nil {
		return nil, fmt.Errorf("find the best policy under the true reward: %w", err)
	}
	t.best = solver.Mu(env, p, rng.New(rec.Spec.Seed, "true best", 1))
	return t, nil
}

func (t *truth) load(ctx context.Context) (idrl.Record, error) {
	db, err := store.OpenReadOnly(ctx, t.dir)
	if err != nil {
		return idrl.Record{}, err
	}
	defer db.Close()
	return db.Load(ctx, t.session)
}

// compare says what the session recommends now, how good that is in truth, and what
// the session's page says. All are shares of a span, the range of returns from the
// worst to the best known policy: the page's over draws from the posterior, the true
// one under the true reward.
func (t *truth) compare(ctx context.Context) (string, error) {
	rec, err := t.load(ctx)
	if err != nil {
		return "", fmt.Errorf("read the server's data: %w", err)
	}
	cfg, err := sessionConfig(t.envs, rec)
	if err != nil {
		return "", err
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	r, err := session.ReviewRecord(cfg)
	if err != nil {
		return "", err
	}
	if r.Best.ID == "" {
		return "There are no candidates yet to compare.", nil
	}
	return t.tell(r), nil
}

func (t *truth) tell(r session.Review) string {
	got := floats.Dot(t.theta, r.Best.Mu)
	most, least := got, got
	for _, c := range r.Known {
		g := floats.Dot(t.theta, c.Mu)
		most, least = max(most, g), min(least, g)
	}
	span := most - least
	share := func(loss float64) string {
		if span > 0 {
			loss /= span
		}
		return percent(loss)
	}
	says := fmt.Sprintf("After answer %d the session recommends %s. True regret: ", r.Seq, r.Best.ID)
	if t.best != nil {
		says += fmt.Sprintf("%s of the span against %s, ", share(max(most, floats.Dot(t.theta, t.best))-got), t.found)
	}
	says += fmt.Sprintf("%s against the best of the %d known policies.\n", share(most-got), len(r.Known))
	return says + fmt.Sprintf("  The session's page says: at most %s with a probability of %s; at most %s with a probability of 95 %%; %s on average.",
		percent(idrl.RegretTolerance), percent(r.Regret.Within), percent(r.Regret.Bound), percent(r.Regret.Mean))
}

// percent writes a share for people.
func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
