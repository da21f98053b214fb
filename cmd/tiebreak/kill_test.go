package main

import (
	"bytes"
	"context"
	"maps"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/train/training"
	"tiebreak/store"
	"tiebreak/web/client"
)

// study makes a session in a new folder and labels n questions of it, and says
// how long that took. With kills > 0 the server is killed that many times and
// started again: at a random moment of the next fuse, or after the next n/kills
// answers if that comes first.
func study(t *testing.T, n, kills int, fuse time.Duration) (*loadtest.Labeller, record.Record, time.Duration) {
	t.Helper()
	data, addr := t.TempDir(), freeAddr(t)
	status, stdout, stderr := cli(t, "session", "--data", data, "--addr", addr, "--env", "gridworld",
		"--kind", "clip_comparison", "--train-every", "3", "--adopt-after", "2", "--seed", "11")
	if status != 0 {
		t.Fatalf("session: %s", stderr)
	}
	out := &process{out: &syncBuffer{}}
	_, _ = out.out.Write([]byte(stdout))
	id, link := out.find(t, `Session:\s+(\S+)`), out.find(t, `Annotator:\s+(\S+)`)

	p := startServer(t, "serve", "--data", data, "--addr", addr)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn := must.Get(client.Dial(ctx, link))(t)
	defer conn.Close()
	l := loadtest.New(conn, 1)
	l.Heeds = true // what is asked next is then a function of the log, whatever comes first, an acknowledgement or the list
	began := time.Now()
	moments, midway := rng.New(2, "kill moments", 0), 0
	for k := range kills {
		timer := time.AfterFunc(time.Duration(moments.Int64N(int64(fuse))), func() { _ = p.cmd.Process.Kill() })
		if err := l.Label((k + 1) * n / (kills + 1)); err != nil && idrl.KindOf(err) != idrl.Internal {
			t.Fatalf("kill %d: %v", k, err)
		}
		if timer.Stop() {
			p.kill() // between two answers
		} else {
			midway++
		}
		<-p.done
		p = startServer(t, "serve", "--data", data, "--addr", addr)
		if err := conn.Reconnect(ctx); err != nil {
			t.Fatalf("reconnect after kill %d: %v\n%s", k, err, p.out)
		}
	}
	if err := l.Label(n); err != nil {
		t.Fatalf("label: %v\n%s", err, p.out)
	}
	took := time.Since(began)
	if kills > 0 {
		t.Logf("%d of %d kills came between a question and its acknowledgement", midway, kills)
	}
	p.kill()
	db := must.Get(store.OpenReadOnly(t.Context(), data))(t)
	defer db.Close()
	rec := must.Get(db.Load(t.Context(), idrl.SessionID(id)))(t)
	return l, rec, took
}

// TestKill kills the real server at twenty random moments while it is answered,
// and compares the outcome with a run that was left alone.
func TestKill(t *testing.T) {
	t.Parallel()
	const answers, kills = 126, 20
	calm, calmRec, took := study(t, answers, 0, 0)
	torn, rec, _ := study(t, answers, kills, took/kills)

	stored := map[idrl.AnswerID]int{}
	for _, a := range rec.Log {
		stored[a.ID]++
	}
	for id := range maps.Keys(torn.Acked) {
		if stored[id] != 1 {
			t.Errorf("acknowledged answer %s is stored %d times, want once", id, stored[id])
		}
	}
	if len(rec.Log) != answers || len(torn.Acked) != answers {
		t.Errorf("%d rows and %d acks for %d answers", len(rec.Log), len(torn.Acked), answers)
	}
	if diff := cmp.Diff(calm.Asked, torn.Asked); diff != "" {
		t.Errorf("the kills changed the questions (-without +with):\n%s", diff)
		for i, as := range rec.Assignments {
			if calm := calmRec.Assignments[i]; as.Query.ID != calm.Query.ID {
				t.Errorf("first at assignment %d, chosen for %+v, without kills for %+v", as.N, as.Why, calm.Why)
				break
			}
		}
	}
	last := rec.Snapshots[len(rec.Snapshots)-1]
	if want := replay(t, rec); !bytes.Equal(last.Belief, want) {
		t.Error("the belief is not the replay of the log")
	}
	if calmLast := calmRec.Snapshots[len(calmRec.Snapshots)-1]; !bytes.Equal(last.Belief, calmLast.Belief) {
		t.Error("the kills changed the belief")
	}
	if rec.Generation.BasedOn != calmRec.Generation.BasedOn {
		t.Errorf("generation %d in use, without kills %d", rec.Generation.BasedOn, calmRec.Generation.BasedOn)
	}
}

// replay returns the encoded belief that follows from the log alone.
func replay(t *testing.T, rec record.Record) []byte {
	t.Helper()
	model := must.Get(training.Model(envs.Catalogue(), rec.Spec))(t)
	queries := journaltest.Vectors(t, rec)
	var items []posterior.Item
	for _, a := range record.Effective(rec.Log) {
		if q := queries[a.Assignment]; a.Informative() {
			items = append(items, posterior.ItemOf(&q, a))
		}
	}
	p := must.Get(posterior.Of(t.Context(), model, items))(t)
	b := must.Get(model.Encode(p))(t)
	return b
}
