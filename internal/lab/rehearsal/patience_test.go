package rehearsal

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/web/wire"
)

func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := patience{limit: time.Minute, out: &out}
		away := errors.New("the server is away")
		began := time.Now()
		var at []time.Duration
		var err error
		for err == nil {
			err = p.failed(t.Context(), 0, away)
			at = append(at, time.Since(began))
		}
		if !errors.Is(err, away) || at[len(at)-1] != time.Minute || at[0] != firstPause || at[1] != 3*firstPause {
			t.Errorf("tried again after %v, then %v", at, err)
		}
		p.succeeded()
		if err := p.failed(t.Context(), 2*time.Second, away); err != nil || time.Since(began) != time.Minute+2*time.Second {
			t.Errorf("after a success: %v after %v", err, time.Since(began))
		}
		if n := strings.Count(out.String(), "the server is away. Trying again in"); n != len(at) { // the last failure but one gives up
			t.Errorf("%d attempts were told, want %d:\n%s", n, len(at), out.String())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.failed(ctx, 0, away); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
	})
}

// TestWaitsVisibly: where the server cannot store answers, or is not ready.
func TestWaitsVisibly(t *testing.T) {
	var out strings.Builder
	r := &Annotator{cfg: Config{Out: &out}, patience: patience{limit: time.Minute, out: &out}}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := r.take(t.Context(), &wire.Nak{Message: "There is no room on the disk.", RetryMS: 1000}); err != nil || time.Since(began) != time.Second {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
		for range 2 {
			if err := r.take(t.Context(), &wire.Status{Waiting: "The first clips are being made."}); err != nil {
				t.Error(err)
			}
		}
	})
	want := "Waiting: the session cannot go on: There is no room on the disk. Trying again in 1s, for up to 1m0s.\n" +
		"It goes on after 1s.\nWaiting: The first clips are being made.\n"
	if out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}

// away is Data that cannot be read a few times, and then not at all.
type away struct{ times int }

func (a *away) Record(context.Context, idrl.SessionID) (record.Record, error) {
	if a.times--; a.times >= 0 {
		return record.Record{}, idrl.Errorf(idrl.Unavailable, "the database is busy")
	}
	return record.Record{}, idrl.Errorf(idrl.NotFound, "there is no such session")
}

func (a *away) Config(record.Record) (session.Config, error) { return session.Config{}, nil }

func (a *away) PolicyClips(context.Context, idrl.SessionID, idrl.ClipID) ([][]byte, error) {
	return nil, nil
}

// What cannot be read now is read later: no comparison is left out, and an annotator
// who could not be prepared is prepared when the connection is there again.
func TestDataThatCannotBeReadNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		data := &away{times: 2}
		r := &Annotator{cfg: Config{Out: &out, Data: data}.withDefaults(), patience: patience{limit: time.Minute, out: &out}, truth: &truth{data: data}, given: 1}
		if err := r.compare(t.Context()); idrl.KindOf(err) != idrl.NotFound || strings.Count(out.String(), "Waiting: ") != 2 {
			t.Errorf("error %v after:\n%s", err, out.String())
		}
	})
	r := &Annotator{cfg: Config{Data: &away{times: 1}}}
	for _, want := range []idrl.Kind{idrl.Unavailable, idrl.NotFound} {
		if err := r.greet(t.Context(), &wire.Hello{}); idrl.KindOf(err) != want || r.Session() != "" {
			t.Errorf("error = %v, want kind %v", err, want)
		}
	}
}
