package session_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
)

// A session that is continued with another physics engine says so once and goes on.
func TestEngineThatChanges(t *testing.T) {
	b := newBench(nil)
	var log bytes.Buffer
	b.log = slog.New(slog.NewTextHandler(&log, nil))
	answered := 0
	play := func(engine string) {
		b.trainer = trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
			g, err := fakeTrainer{d: dim}.Train(ctx, job)
			g.Engine = engine
			return g, err
		})
		s, stop := b.start(t)
		for range 10 {
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], answered))
			answered++
		}
		stop()
	}
	const says = "the physics engine has changed"
	play("MuJoCo 2.2.2")
	if strings.Contains(log.String(), says) {
		t.Errorf("one engine, and it says\n%s", log.String())
	}
	play("MuJoCo 4.0.1")
	if got := log.String(); strings.Count(got, says) != 1 || !strings.Contains(got, `before="MuJoCo 2.2.2" now="MuJoCo 4.0.1"`) {
		t.Errorf("after a change it says\n%s", got)
	}
}
