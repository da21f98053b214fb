package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// stuckTrainer trains the first generation, and no other until it is cancelled.
type stuckTrainer struct{ idrl.Trainer }

func (s stuckTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	if job.First {
		return s.Trainer.Train(ctx, job)
	}
	<-ctx.Done()
	return idrl.Generation{}, ctx.Err()
}

// TestStopWhileASessionWaitsForATraining: a session that adopts each generation at a fixed
// row takes no call while it waits for one. A server stops without an error all the same,
// with an annotator's page and a researcher's request waiting for that session.
func TestStopWhileASessionWaitsForATraining(t *testing.T) {
	t.Parallel()
	ctx := context.WithoutCancel(t.Context())
	a := must.Get(openApp(ctx, t.TempDir(), envs.Catalogue, site{}, slog.New(slog.DiscardHandler), program(t), "worker"))(t)
	defer a.close()
	a.manager.Close()
	a.manager = session.NewManager(a.db, func(r record.Record) (session.Config, error) {
		cfg, err := a.build(r)
		cfg.Trainer = stuckTrainer{cfg.Trainer}
		return cfg, err
	}, a.log)
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- a.listen(running, ln) }()
	spec := must.Get(newSession(ctx, a.db, a.envs(), idrl.SessionSpec{Title: "waits", Env: "gridworld", Seed: 1, TrainEvery: 1, AdoptAfter: 1}))(t)
	token := must.Get(a.auth.NewInvitation(ctx, spec.ID, 1, time.Hour))(t)
	base := "http://" + ln.Addr().String()
	if status, _, says := cli(t, "simulate", "--url", base+"/join/"+token, "--answers", "2"); status != 0 {
		t.Fatal(says) // the second answer is the last before the training that never ends
	}
	waits := make(chan error, 1)
	go func() { waits <- budgetAsResearcher(ctx, a, base, spec.ID) }()
	select {
	case err := <-waits:
		t.Fatalf("the session does not wait: %v", err)
	case <-time.After(time.Second): // it must be under way; that it is not yet is no failure
	}
	stop()
	if err := waittest.For(t, stopped, "the server to stop"); err != nil {
		t.Errorf("the server stops with %v", err)
	}
	if err := waittest.For(t, waits, "the reply to the researcher's request"); err != nil {
		t.Errorf("the request that waited: %v", err)
	}
}

// budgetAsResearcher signs in and changes the budget of a session.
func budgetAsResearcher(ctx context.Context, a *app, base string, id idrl.SessionID) error {
	token, err := a.auth.NewResearcherLink(ctx, theResearcher)
	if err != nil {
		return err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	c := http.Client{Jar: jar}
	for _, post := range []struct {
		path string
		form url.Values
	}{{"/signin", url.Values{"token": {token}}}, {"/sessions/" + string(id) + "/budget", url.Values{"budget": {"7"}}}} {
		res, err := c.PostForm(base+post.path, post.form)
		if err != nil {
			return err
		}
		if err := res.Body.Close(); err != nil {
			return err
		}
	}
	return nil
}
