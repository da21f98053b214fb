package session_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/session"
)

// faultyJournal panics on the first log row, as a bug would.
type faultyJournal struct {
	*journal
	tried bool
}

func (j *faultyJournal) Append(ctx context.Context, id idrl.SessionID, rows ...record.Row) error {
	if !j.tried {
		j.tried = true
		panic("a fault")
	}
	return j.journal.Append(ctx, id, rows...)
}

func (b *bench) manager(t *testing.T, j record.Journal) *session.Manager {
	t.Helper()
	m := session.NewManager(j, func(r record.Record) (session.Config, error) {
		if r.Spec.Title == "faulty" {
			panic("a fault")
		}
		if r.Spec.Title == "broken" {
			return session.Config{}, idrl.Errorf(idrl.Invalid, "unknown environment")
		}
		return session.Config{
			Record: r, Model: b.model, Acquisition: acquisition.Methods()[0],
			Trainer: b.trainer, Journal: j, Publisher: nobody{}, Log: slog.New(slog.DiscardHandler),
		}, nil
	}, slog.New(slog.DiscardHandler))
	t.Cleanup(m.Close)
	return m
}

// asked claims through a handle until there is a question.
func asked(t *testing.T, h session.Handle) record.Assignment {
	t.Helper()
	for {
		o, err := h.Claim(t.Context(), "ann")
		if err != nil && idrl.KindOf(err) != idrl.Unavailable {
			t.Fatal(err)
		}
		if len(o.Open) > 0 {
			return o.Open[0]
		}
	}
}

func TestAFaultEndsNeitherServerNorSession(t *testing.T) {
	b := newBench(nil)
	h := session.Handle{Manager: b.manager(t, &faultyJournal{journal: b.journal}), ID: "s1"}
	first := asked(t, h)
	if _, err := h.Answer(t.Context(), "ann", reply(first, 1)); idrl.KindOf(err) != idrl.Unavailable {
		t.Fatalf("error %v of the answer that met the fault, want Unavailable, so that it is sent again", err)
	}
	again := asked(t, h)
	if again.ID != first.ID {
		t.Errorf("after the fault the question is %s, want %s", again.ID, first.ID)
	}
	if r, err := h.Answer(t.Context(), "ann", reply(again, 1)); err != nil || r.Seq != 1 || r.Replay {
		t.Errorf("receipt %+v, error %v; want seq 1", r, err)
	}
}

// A session that cannot be loaded because of a bug does not end the server, and is tried again.
func TestAFaultAtLoadingEndsNoServer(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Title = "faulty" })
	h := session.Handle{Manager: b.manager(t, b.journal), ID: "s1"}
	for range 2 {
		if _, err := h.Claim(t.Context(), "ann"); idrl.KindOf(err) != idrl.Internal {
			t.Errorf("error %v of a session that cannot be loaded, want Internal", err)
		}
	}
}

func TestManagerRefusesAndCloses(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Title = "broken" })
	m := b.manager(t, b.journal)
	for range 2 { // it is tried anew each time
		if _, err := m.Session(t.Context(), "s1"); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("error %v, want Invalid", err)
		}
	}
	b = newBench(nil)
	m = b.manager(t, b.journal)
	s := must.Get(m.Session(t.Context(), "s1"))(t)
	m.Close()
	if _, err := s.Claim(t.Context(), "ann"); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("error %v after Close, want Unavailable", err)
	}
}

// slowJournal hands over what it had when it was asked, once the gate is open.
type slowJournal struct {
	*journal
	gate chan struct{}
}

func (j *slowJournal) Load(ctx context.Context, id idrl.SessionID) (record.Record, error) {
	r, err := j.journal.Load(ctx, id)
	<-j.gate
	return r, err
}

// A session that is being loaded when a command changes what is wanted of it follows the command.
func TestFollowReachesWhatIsLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(nil)
		j := &slowJournal{b.journal, make(chan struct{})}
		m := b.manager(t, j)
		h := session.Handle{Manager: m, ID: "s1"}
		go func() { _, _ = h.Claim(context.Background(), "ann") }()
		synctest.Wait() // it has read the record
		b.journal.mu.Lock()
		b.journal.rec.Settings.State = record.StateClosed
		b.journal.mu.Unlock()
		followed := make(chan error, 1)
		go func() { followed <- m.Follow(context.Background()) }()
		synctest.Wait()
		close(j.gate)
		if err := <-followed; err != nil {
			t.Fatal(err)
		}
		if st, err := h.Status(t.Context()); err != nil || st.State != record.StateClosed {
			t.Errorf("the session is %q, %v; want it closed", st.State, err)
		}
		m.Close()
	})
}

// severalJournals has a journal for each session.
type severalJournals struct {
	record.Journal
	of map[idrl.SessionID]*journal
}

func (j severalJournals) Load(ctx context.Context, id idrl.SessionID) (record.Record, error) {
	return j.of[id].Load(ctx, id)
}

func (j severalJournals) Settings(ctx context.Context, id idrl.SessionID) (record.Settings, error) {
	return j.of[id].Settings(ctx, id)
}

// A session that waits for a training keeps no other session from following a command.
func TestFollowWaitsForNoOtherSession(t *testing.T) {
	for range 8 { // sessions are followed in any order
		synctest.Test(t, func(t *testing.T) {
			all := severalJournals{of: map[idrl.SessionID]*journal{}}
			for _, id := range []idrl.SessionID{"s1", "s2"} {
				all.of[id] = newBench(func(s *idrl.SessionSpec) { s.ID, s.TrainEvery, s.AdoptAfter = id, 1, 1 }).journal
			}
			b := newBench(nil)
			m := session.NewManager(all, func(r record.Record) (session.Config, error) {
				trainer := trainerFunc(func(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
					if r.Spec.ID == "s1" && job.BasedOn > 0 {
						<-ctx.Done()
						return idrl.Generation{}, ctx.Err()
					}
					return fakeTrainer{d: dim}.Train(ctx, job)
				})
				return session.Config{
					Record: r, Model: b.model, Acquisition: acquisition.Methods()[0],
					Trainer: trainer, Journal: all.of[r.Spec.ID], Publisher: nobody{}, Log: slog.New(slog.DiscardHandler),
				}, nil
			}, slog.New(slog.DiscardHandler))
			defer m.Close()
			waits, free := session.Handle{Manager: m, ID: "s1"}, session.Handle{Manager: m, ID: "s2"}
			must.Get(free.Claim(t.Context(), "ann"))(t)
			for i := range 2 {
				_ = must.Get(waits.Answer(t.Context(), "ann", reply(asked(t, waits), i)))(t)
			}
			synctest.Wait()
			all.of["s2"].mu.Lock()
			all.of["s2"].rec.Settings.State = record.StateClosed
			all.of["s2"].mu.Unlock()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := m.Follow(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v of the session that waits", err)
			}
			if st := must.Get(free.Status(t.Context()))(t); st.State != record.StateClosed {
				t.Errorf("the session is %q, want it closed", st.State)
			}
		})
	}
}
