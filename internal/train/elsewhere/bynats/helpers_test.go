package bynats_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/embedded"
)

// A place is an embedded server with two workers, w1 and w2.
type place struct {
	*embedded.Server
	cfg   embedded.Config
	seeds map[string]string // files, by worker
}

func logOf(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// start starts an embedded server on a free port.
func start(t testing.TB) *place {
	t.Helper()
	p := &place{seeds: map[string]string{}, cfg: embedded.Config{Listen: "127.0.0.1:0", Dir: t.TempDir(), Log: logOf(t)}}
	for _, name := range []string{"w1", "w2"} {
		public, seed, err := embedded.NewKey()
		must.Do(t, err)
		p.seeds[name] = filepath.Join(t.TempDir(), name+".seed")
		must.Do(t, os.WriteFile(p.seeds[name], seed, 0o600))
		p.cfg.Workers = append(p.cfg.Workers, embedded.Worker{Name: name, PublicKey: public})
	}
	p.restart(t)
	t.Cleanup(func() { p.Close() })
	return p
}

// restart starts the server (again), at the same address if it had one.
func (p *place) restart(t testing.TB) {
	t.Helper()
	s := must.Get(embedded.Start(t.Context(), p.cfg))(t)
	p.Server = s
	p.cfg.Listen = s.Addr().String()
}

func (p *place) url() string { return "nats://" + p.cfg.Listen }

// server opens the carrier of a server in the process.
func (p *place) server(t testing.TB) *bynats.Carrier {
	t.Helper()
	cfg := must.Get(p.Carrier())(t)
	return open(t, cfg)
}

func (p *place) worker(t testing.TB, name string) *bynats.Carrier {
	t.Helper()
	return open(t, bynats.Config{URLs: p.url(), Name: name, Credentials: p.seeds[name]})
}

// raw returns a connection of a worker that keeps to no rule of bynats.
func (p *place) raw(t testing.TB, name string, options ...nats.Option) *nats.Conn {
	t.Helper()
	seed := must.Get(os.ReadFile(p.seeds[name]))(t)
	key := must.Get(nkeys.FromSeed(seed))(t)
	public := must.Get(key.PublicKey())(t)
	nc := must.Get(nats.Connect(p.url(), append([]nats.Option{nats.Nkey(public, key.Sign), nats.CustomInboxPrefix("_INBOX." + name)}, options...)...))(t)
	t.Cleanup(nc.Close)
	return nc
}

func open(t testing.TB, cfg bynats.Config) *bynats.Carrier {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = logOf(t)
	}
	c := must.Get(bynats.Open(t.Context(), cfg))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// receive receives the messages of a pattern.
func receive(t testing.TB, c elsewhere.Carrier, pattern string) <-chan elsewhere.Message {
	t.Helper()
	return must.Get(c.Receive(t.Context(), pattern))(t)
}

// again calls f until it returns nil.
func again(t testing.TB, what string, f func(ctx context.Context) error) {
	t.Helper()
	for end := time.Now().Add(waittest.Limit); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := f(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s: %v", waittest.Limit, what, err)
		}
	}
}

// reaches sends messages from one to the other until one arrives.
func reaches(t testing.TB, from, to elsewhere.Carrier, subject string) {
	t.Helper()
	var got <-chan elsewhere.Message
	again(t, "a receiver of "+subject, func(ctx context.Context) (err error) {
		got, err = to.Receive(t.Context(), subject)
		return err
	})
	again(t, "a message under "+subject, func(ctx context.Context) error {
		if err := from.Send(ctx, subject, []byte("again")); err != nil {
			return err
		}
		select {
		case <-got:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("it was sent and did not arrive")
		}
	})
}

type (
	message = elsewhere.Message
)
