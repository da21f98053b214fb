package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

const restAfter = 10 * time.Minute

// resting returns a manager whose sessions rest after a time.
func (b *bench) resting(t *testing.T, after time.Duration, watched func() bool, log slog.Handler) *session.Manager {
	t.Helper()
	m := session.NewManager(b.journal, func(r record.Record) (session.Config, error) {
		return session.Config{
			Record: r, Model: b.model, Acquisition: b.method, Trainer: b.trainer, Journal: b.journal, Publisher: nobody{}, Log: b.log, Now: b.clock.Now,
			RestAfter: after, Watched: watched,
		}, nil
	}, slog.New(log))
	t.Cleanup(m.Close)
	return m
}

// A session that leaves the memory between answers asks the same questions as one that never does, and
// records the same, to the byte.
func TestRestChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain, rested := newBench(nil), newBench(nil)
		want := questions(t, plain, 15, false)
		m := rested.resting(t, restAfter, nil, slog.DiscardHandler)
		h := session.Handle{Manager: m, ID: "s1"}
		var got []idrl.QueryID
		rests := 0
		for i := range 15 {
			as := asked(t, h)
			got = append(got, as.Query.ID)
			must.Get(h.Answer(t.Context(), "ann", reply(as, i)))(t)
			if n := m.Running(); n != 1 {
				t.Fatalf("%d sessions in memory, want 1", n)
			}
			if time.Sleep(2 * restAfter); m.Running() == 0 { // else a generation waits for the answers after which it is adopted
				rests++
			}
		}
		if rests < 5 {
			t.Errorf("the session came to rest %d times", rests)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("questions of a session that rests differ (-without +with):\n%s", diff)
		}
		if diff := cmp.Diff(plain.journal.rec, rested.journal.rec); diff != "" {
			t.Errorf("records differ (-without +with):\n%s", diff)
		}
	})
}

// A session stays in memory while it is used, watched, or trains.
func TestSessionsInUseDoNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(nil)
		gate := make(chan struct{})
		b.trainer = fakeTrainer{d: dim, gate: gate}
		var watched atomic.Bool
		m := b.resting(t, restAfter, watched.Load, slog.DiscardHandler)
		h := session.Handle{Manager: m, ID: "s1"}
		stays := func(why string) {
			t.Helper()
			if time.Sleep(3 * restAfter); m.Running() != 1 {
				t.Fatalf("the session rests while %s", why)
			}
		}
		must.Get(h.Status(t.Context()))(t)
		stays("its first clips are made")
		watched.Store(true)
		gate <- struct{}{}
		stays("somebody looks at it")
		watched.Store(false)
		for range 10 {
			must.Get(h.Status(t.Context()))(t)
			if time.Sleep(restAfter / 2); m.Running() != 1 {
				t.Fatal("the session rests while it is used")
			}
		}
		if time.Sleep(2 * restAfter); m.Running() != 0 {
			t.Error("the session does not rest")
		}
	})
}

// A session that rests is loaded when a command wants something else of it, and not for others' sake.
func TestFollowLoadsWhatRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(nil)
		m := b.resting(t, restAfter, nil, slog.DiscardHandler)
		h := session.Handle{Manager: m, ID: "s1"}
		first := asked(t, h)
		if _, err := h.Answer(t.Context(), "bob", reply(first, 1)); idrl.KindOf(err) == idrl.Internal {
			t.Fatal(err)
		}
		rests := func() {
			t.Helper()
			if time.Sleep(2 * restAfter); m.Running() != 0 {
				t.Fatal("the session does not rest")
			}
		}
		follow := func(want int, after string) {
			t.Helper()
			must.Do(t, m.Follow(t.Context()))
			if synctest.Wait(); m.Running() != want {
				t.Errorf("after %s %d sessions are in memory, want %d", after, m.Running(), want)
			}
		}
		rests()
		follow(0, "no change")
		b.journal.mu.Lock()
		b.journal.rec.Settings.State = record.StateClosed
		b.journal.mu.Unlock()
		follow(1, "a command closed the session")
		rests()
		follow(0, "no further change")
		b.withdraw("bob")
		follow(1, "a withdrawal")
	})
}

// TestFollowTriesAgainToLoad: a command changes a session that rests while the disk does not answer. Follow says so, and loads the
// session when it is called again.
func TestFollowTriesAgainToLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(nil)
		j := &unreadable{journal: b.journal}
		m := session.NewManager(j, func(r record.Record) (session.Config, error) {
			return session.Config{
				Record: r, Model: b.model, Acquisition: b.method, Trainer: b.trainer, Journal: j, Publisher: nobody{}, Log: b.log, Now: b.clock.Now,
				RestAfter: restAfter,
			}, nil
		}, b.log)
		defer m.Close()
		asked(t, session.Handle{Manager: m, ID: "s1"})
		if time.Sleep(2 * restAfter); m.Running() != 0 {
			t.Fatal("the session does not rest")
		}
		b.want(0, record.Settings{State: record.StateClosed})
		j.off.Store(true)
		if err := m.Follow(t.Context()); idrl.KindOf(err) != idrl.Unavailable {
			t.Errorf("while it cannot be loaded: %v", err)
		}
		j.off.Store(false)
		must.Do(t, m.Follow(t.Context()))
		if m.Running() != 1 {
			t.Error("it was not loaded again")
		}
	})
}

// unreadable is a journal whose sessions cannot be loaded while it is off.
type unreadable struct {
	*journal
	off atomic.Bool
}

func (u *unreadable) Load(ctx context.Context, id idrl.SessionID) (record.Record, error) {
	if u.off.Load() {
		return record.Record{}, idrl.Errorf(idrl.Unavailable, "the disk does not answer")
	}
	return u.journal.Load(ctx, id)
}

// countRests counts sessions that come to rest.
type countRests struct {
	slog.Handler
	n *atomic.Int64
}

func (c countRests) Enabled(context.Context, slog.Level) bool { return true }

func (c countRests) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "session rests" {
		c.n.Add(1)
	}
	return nil
}

// Requests that arrive while a session comes to rest are carried out once: no answer is lost, refused or doubled, and the
// posterior is that of the answers.
func TestRestBesideRequests(t *testing.T) {
	const people, answers = 4, 25
	b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 0 })
	var rests atomic.Int64
	m := b.resting(t, time.Nanosecond, nil, countRests{slog.DiscardHandler, &rests})
	h := session.Handle{Manager: m, ID: "s1"}
	var all sync.WaitGroup
	for p := range people {
		all.Go(func() {
			who := idrl.AnnotatorID(fmt.Sprint("ann", p))
			for n := 0; n < answers; {
				o, err := h.Claim(t.Context(), who)
				if err != nil {
					t.Error(err)
					return
				}
				if len(o.Open) == 0 {
					continue
				}
				if r, err := h.Answer(t.Context(), who, reply(o.Open[0], p*answers+n)); err != nil || r.Replay {
					t.Errorf("receipt %+v, error %v", r, err)
					return
				}
				n++
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
	if len(rec.Log) != people*answers {
		t.Errorf("%d answers are recorded, want %d", len(rec.Log), people*answers)
	}
	if diff := cmp.Diff(b.afresh(t, rec), lastBelief(rec)); diff != "" {
		t.Errorf("the posterior is not that of the answers:\n%s", diff)
	}
	if rests.Load() == 0 {
		t.Error("the session never came to rest")
	}
}
