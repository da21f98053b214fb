//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
)

// falseWorker is a worker in good order whose generations show a clip that is not
// there. It adds a line to the file $1 when it starts.
const falseWorker = `
echo started >> "$1"
generation='{"BasedOn":0,"Candidates":[{"ID":"g0.p0","Mu":[1],"Clip":"none"}]}'
while read -r header; do
	id=${header#*'"id":'} size=${header#*'"size":'}
	head -c "${size%%[!0-9]*}" > /dev/null
	printf '{"id":%s,"size":%s}\n%s' "${id%%[!0-9]*}" "${#generation}" "$generation"
done`

// TestWorkerWithFalseResultsIsReplaced: the database refuses its generation; another
// process makes the next one, after a pause that grows.
func TestWorkerWithFalseResultsIsReplaced(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	starts := filepath.Join(t.TempDir(), "starts")
	a, err := openApp(ctx, t.TempDir(), envs.Catalogue(), site{}, slog.New(slog.DiscardHandler), "sh", "-c", falseWorker, "worker", starts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.close() })
	spec, err := newSession(ctx, a.db, a.envs, idrl.SessionSpec{Title: "false", Env: "gridworld"})
	if err != nil {
		t.Fatal(err)
	}
	news := make(chan struct{}, 1)
	defer a.hub.Subscribe(spec.ID, func(idrl.Event) {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	s, err := a.manager.Session(ctx, spec.ID)
	if err != nil {
		t.Fatal(err)
	}
	for { // until the second failure
		st, err := s.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(st.Training.Err, "again in 2s") {
			break
		}
		<-news
	}
	if b, err := os.ReadFile(starts); err != nil || strings.Count(string(b), "started") < 2 {
		t.Errorf("workers that started: %q, %v; want two", b, err)
	}
}
