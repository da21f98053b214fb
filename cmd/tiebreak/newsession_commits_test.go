package main

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/train/jobs/jobstest"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// From the request to the first questions a new session takes five transactions: one for itself, three when its training is queued, begins and ends,
// and one for the generation with the row of that training. While annotators answer, only the generation has one of its own: the others share those of answers.
func TestTransactionsOfNewSession(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers time.Duration // between two answers in another session; 0: none
		want    uint64
	}{{"alone", 0, 5}, {"beside answers", 5 * time.Millisecond, 1}} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				db := must.Get(store.Open(t.Context(), dir))(t)
				defer db.Close()
				other := must.Get(newSession(t.Context(), db, envs.Catalogue(), idrl.SessionSpec{Title: "new", Env: "gridworld"}))(t)
				before, answers, stop, stopped := transactions(db), uint64(0), make(chan struct{}), make(chan struct{})
				answer := func() error { answers++; return db.Issue(t.Context(), other.ID, nil) } // as what follows an answer
				if test.answers > 0 {
					must.Do(t, answer())
				}
				go func() {
					defer close(stopped)
					for test.answers > 0 {
						select {
						case <-stop:
							return
						case <-time.After(test.answers):
							if err := answer(); err != nil {
								t.Error(err)
							}
						}
					}
				}()
				firstQuestions(t, db)
				close(stop)
				<-stopped
				if own := transactions(db) - before - answers; own != test.want {
					t.Errorf("a new session takes %d transactions of its own, want %d", own, test.want)
				}
			})
		})
	}
}

func transactions(db *store.DB) uint64 {
	n, _, _ := db.TransactionSizes().Counts()
	return n
}

// firstQuestions makes a session and waits until its first generation is in use. Jobs are done in this process.
func firstQuestions(t *testing.T, db *store.DB) {
	t.Helper()
	adopted := make(adoptions)
	m := session.NewManager(db, func(r record.Record) (session.Config, error) {
		cfg, err := sessionConfig(envs.Catalogue(), r)
		cfg.Trainer = &training.Remote{
			Jobs: jobstest.Memory{Store: db, Handler: &training.Handler{Envs: envs.Catalogue}}, Records: db, Spec: cfg.Record.Spec, Model: cfg.Model,
		}
		cfg.Journal, cfg.Publisher, cfg.Log = db, adopted, slog.New(slog.DiscardHandler)
		return cfg, err
	}, slog.New(slog.DiscardHandler))
	defer m.Close()
	spec := must.Get(newSessionOf(t.Context(), db, envs.Catalogue(), idrl.SessionSpec{Title: "new", Env: "gridworld"}, ""))(t)
	must.Get(m.Session(t.Context(), spec.ID))(t)
	<-adopted
}

// adoptions is a publisher that says when a generation is in use.
type adoptions chan struct{}

func (a adoptions) Publish(_ idrl.SessionID, e live.Event) {
	if e.Kind == live.EventAdopted {
		close(a)
	}
}
