package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// falseCommand, and the path of a file after it, make this program a worker in good order whose
// generations show a clip that is not there. It adds a line to the file when it starts.
const falseCommand = "false-worker"

// falseHandler is the handler of that worker.
type falseHandler struct{}

func (falseHandler) Forget(idrl.SessionID) {}

func (falseHandler) Do(_ context.Context, _ record.JobRecord, to jobs.Reporter) error {
	m := manifest{Generation: idrl.Generation{Candidates: []idrl.Candidate{{ID: "g0.p0", Mu: []float64{1}, Clip: "none"}}}}
	b, err := pack.Encode(&m)
	return errors.Join(err, to.Artefact("generation", b))
}

// manifest is that of package training.
type manifest struct {
	Generation idrl.Generation
	Drawings   map[idrl.ClipID][32]byte
	Steps      map[idrl.StepsID][32]byte
}

// serveFalsely is the main function of that worker.
func serveFalsely(starts string) int {
	f, err := os.OpenFile(starts, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString("started\n")
	}
	if err != nil || jobs.Serve(context.Background(), os.Stdin, os.Stdout, falseHandler{}) != nil {
		return 1
	}
	return 0
}

// TestWorkerWithFalseResultsIsReplaced: the database refuses its generation; another
// process makes the next one, after a pause that grows.
func TestWorkerWithFalseResultsIsReplaced(t *testing.T) {
	t.Parallel()
	ctx := context.WithoutCancel(t.Context())
	starts := filepath.Join(t.TempDir(), "starts")
	a := must.Get(openApp(ctx, t.TempDir(), envs.Catalogue, site{}, slog.New(slog.DiscardHandler), os.Args[0], falseCommand, starts))(t)
	t.Cleanup(func() { _ = a.close() })
	spec := must.Get(newSession(ctx, a.db, a.envs(), idrl.SessionSpec{Title: "false", Env: "gridworld"}))(t)
	news := make(chan struct{}, 1)
	defer a.hub.Subscribe(spec.ID, func(live.Event) {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	s := must.Get(a.manager.Session(ctx, spec.ID))(t)
	for { // until the second failure
		st := must.Get(s.Status(ctx))(t)
		if strings.Contains(st.Training.Err, "again in 2s") {
			break
		}
		waittest.For(t, news, "the second training that fails")
	}
	if b, err := os.ReadFile(starts); err != nil || strings.Count(string(b), "started") < 2 {
		t.Errorf("workers that started: %q, %v; want two", b, err)
	}
}
