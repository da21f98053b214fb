package bynats_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/nats-io/nats-server/v2/server"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/embedded"
)

// TestOpenFails: errors at the start have a kind, name the address without what is secret, and say what to do.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	p := start(t)
	_, stranger, err := embedded.NewKey()
	must.Do(t, err)
	folder := t.TempDir()
	unknown, nonsense := filepath.Join(folder, "unknown"), filepath.Join(folder, "nonsense")
	must.Do(t, os.WriteFile(unknown, stranger, 0o600))
	must.Do(t, os.WriteFile(nonsense, []byte("nonsense"), 0o600))
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	away := "nats://user:secret@" + free.Addr().String()
	must.Do(t, free.Close())
	plain := runNATS(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t) // it accepts no connection
	t.Cleanup(func() { _ = silent.Close() })
	for _, test := range []struct {
		name string
		cfg  bynats.Config
		kind idrl.Kind
		says string
	}{
		{"nobody is there", bynats.Config{URLs: away}, idrl.Unavailable, "cannot be reached"},
		{"silence", bynats.Config{URLs: "nats://" + silent.Addr().String()}, idrl.Unavailable, "cannot be reached"},
		{"an unknown key", bynats.Config{URLs: p.url(), Name: "w1", Credentials: unknown}, idrl.Forbidden, "worker-key"},
		{"no key", bynats.Config{URLs: p.url(), Name: "w1"}, idrl.Forbidden, "refuses"},
		{"no JetStream", bynats.Config{URLs: plain.ClientURL()}, idrl.Invalid, "JetStream"},
		{"no JetStream, for a worker", bynats.Config{URLs: plain.ClientURL(), Name: "w1"}, idrl.Invalid, "JetStream"},
		{"no streams yet", bynats.Config{URLs: p.url(), Name: "w1", Credentials: p.seeds["w1"]}, idrl.Unavailable, "start 'tiebreak serve'"},
		{"another's key", bynats.Config{URLs: p.url(), Name: "w2", Credentials: p.seeds["w1"]}, idrl.Forbidden, "permi"},
		{"too many replicas", bynats.Config{URLs: p.url(), Credentials: p.seeds["w1"], Replicas: 2}, idrl.Invalid, "replicas"},
		{"a worker's key for a server", bynats.Config{URLs: p.url(), Credentials: p.seeds["w1"]}, idrl.Forbidden, "permi"},
		{"no file", bynats.Config{URLs: p.url(), Credentials: filepath.Join(folder, "none")}, idrl.Invalid, "cannot be read"},
		{"no seed", bynats.Config{URLs: p.url(), Credentials: nonsense}, idrl.Invalid, "neither"},
		{"no address", bynats.Config{}, idrl.Invalid, "missing"},
		{"no such address", bynats.Config{URLs: "http://secret:secret@x"}, idrl.Invalid, "nats://"},
		{"no name", bynats.Config{URLs: p.url(), Name: "w.1"}, idrl.Invalid, "name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
			defer cancel()
			c, err := bynats.Open(ctx, test.cfg)
			if err == nil {
				_ = c.Close()
			}
			if idrl.KindOf(err) != test.kind || !strings.Contains(fmt.Sprint(err), test.says) || strings.Contains(fmt.Sprint(err), "secret") {
				t.Errorf("kind %d, want %d, and %q in: %v", idrl.KindOf(err), test.kind, test.says, err)
			}
			if test.kind == idrl.Unavailable && !strings.Contains(fmt.Sprint(err), "nats://127.0.0.1:") {
				t.Errorf("the address is not in: %v", err)
			}
		})
	}
}

// runNATS runs a server of NATS with other options than the embedded ones.
func runNATS(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	o.NoSigs, o.NoLog = true, true
	s := must.Get(server.NewServer(o))(t)
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(waittest.Limit) {
		t.Fatalf("waited %v for a server of NATS", waittest.Limit)
	}
	return s
}

// TestReconnect: receivers go on after NATS was away, with what was sent after that, in order and once.
func TestReconnect(t *testing.T) {
	t.Parallel()
	p := startOutside(t)
	server, w := p.open(t)
	down, up := receive(t, w, "to.w1.>"), receive(t, server, "from.*.s.>")
	must.Do(t, server.Send(t.Context(), "to.w1.s.l", []byte("0")))
	must.Do(t, w.Send(t.Context(), "from.w1.s.l", []byte("0")))
	waittest.For(t, down, "the first message down")
	waittest.For(t, up, "the first message up")
	p.stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := w.Send(ctx, "from.w1.s.l", []byte("lost")); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("sending while NATS is away: %v", err)
	}
	if err := w.Tell(t.Context(), "offers.w1.a", nil); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("telling while NATS is away: %v", err)
	}
	p.restart(t)
	for k := 1; k <= 5; k++ {
		text := fmt.Sprint(k)
		again(t, "NATS to be back", func(ctx context.Context) error { return server.Send(ctx, "to.w1.s.l", []byte(text)) })
		again(t, "NATS to be back", func(ctx context.Context) error { return w.Send(ctx, "from.w1.s.l", []byte(text)) })
	}
	for k := 1; k <= 5; k++ {
		for _, from := range []<-chan message{down, up} {
			if got := waittest.For(t, from, "a message after that"); string(got.Data) != fmt.Sprint(k) {
				t.Errorf("message %d is %q", k, got.Data)
			}
		}
	}
}

// An outside is a server of NATS that is no embedded one: it lets everybody in.
type outside struct {
	options server.Options
	nats    *server.Server
}

func startOutside(t testing.TB) *outside {
	t.Helper()
	o := &outside{options: server.Options{ServerName: "outside", Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir()}}
	o.restart(t)
	o.options.Port = o.nats.Addr().(*net.TCPAddr).Port
	return o
}

func (o *outside) restart(t testing.TB) {
	t.Helper()
	o.nats = runNATS(t, o.options.Clone())
}

func (o *outside) stop() {
	o.nats.Shutdown()
	o.nats.WaitForShutdown()
}

// open opens the carriers of a server and of the worker w1.
func (o *outside) open(t testing.TB) (server, worker *bynats.Carrier) {
	t.Helper()
	return open(t, bynats.Config{URLs: o.nats.ClientURL()}), open(t, bynats.Config{URLs: o.nats.ClientURL(), Name: "w1"})
}

// TestStoreDeleted: the folder of NATS is deleted while messages flow. No wrong message arrives, nothing panics, and
// after a restart of NATS all works again.
func TestStoreDeleted(t *testing.T) {
	t.Parallel()
	p := startOutside(t)
	server, w := p.open(t)
	down, up := receive(t, w, "to.w1.s.>"), receive(t, server, "from.*.s.>")
	blob := []byte(strings.Repeat("blob", 1000))
	name := must.Get(w.Put(t.Context(), blob))(t)

	deleted, stop := make(chan struct{}), make(chan struct{})
	flowing := make(chan [2]int, 2)
	for _, flow := range []func(context.Context, int) error{
		func(ctx context.Context, k int) error { return server.Send(ctx, "to.w1.s.l", fmt.Append(nil, k)) },
		func(ctx context.Context, k int) error { return w.Send(ctx, "from.w1.s.l", fmt.Append(nil, k)) },
	} {
		go func() {
			sent, failed := 0, 0
			for k := 0; ; k++ {
				select {
				case <-stop:
					flowing <- [2]int{sent, failed}
					return
				default:
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
				if flow(ctx, k) == nil {
					sent++
				} else {
					failed++
				}
				cancel()
				if k == 100 {
					deleted <- struct{}{}
				}
			}
		}()
	}
	counts := []chan int{ordered(t, down), ordered(t, up)}
	for range 2 {
		waittest.For(t, deleted, "a hundred messages")
	}
	must.Do(t, os.RemoveAll(filepath.Join(p.options.StoreDir, "jetstream")))
	_, err := server.Get(t.Context(), name)
	t.Logf("a blob without the folder: %v", err)
	p.stop()
	p.restart(t)
	reaches(t, server, w, "to.w1.t.l") // another link
	reaches(t, w, server, "from.w1.t.l")
	close(stop)
	for k := range 2 {
		n := <-flowing
		t.Logf("sent %d, failed %d, received %d", n[0], n[1], <-counts[k])
	}
	if _, err := server.Get(t.Context(), name); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("the blob that was lost: %v", err)
	}
	must.Get(server.Put(t.Context(), blob))(t)
	if got, err := w.Get(t.Context(), name); err != nil || string(got) != string(blob) {
		t.Errorf("the blob that was put again: %v", err)
	}
}

// ordered fails the test if numbers do not grow, and writes how many have come to who asks.
func ordered(t *testing.T, from <-chan message) chan int {
	t.Helper()
	count := make(chan int)
	go func() {
		last, n := -1, 0
		for {
			select {
			case m, ok := <-from:
				if !ok {
					return
				}
				var k int
				if _, err := fmt.Sscan(string(m.Data), &k); err != nil || k <= last {
					t.Errorf("after %d came %q", last, m.Data)
				}
				last = k
				n++
			case count <- n:
			}
		}
	}()
	return count
}

// TestRevoked: a worker that is no longer listed is disconnected and let in no more; the others stay.
func TestRevoked(t *testing.T) {
	t.Parallel()
	p := start(t)
	server, w1, w2 := p.server(t), p.worker(t, "w1"), p.worker(t, "w2")
	reaches(t, server, w1, "to.w1.s.l")
	must.Do(t, p.Reload(p.cfg.Workers[1:]))
	again(t, "the worker to be refused", func(ctx context.Context) error {
		if err := w1.Send(ctx, "from.w1.s.l", nil); idrl.KindOf(err) != idrl.Forbidden {
			return fmt.Errorf("sent: %w", err)
		}
		return nil
	})
	if _, err := bynats.Open(t.Context(), bynats.Config{URLs: p.url(), Name: "w1", Credentials: p.seeds["w1"]}); idrl.KindOf(err) != idrl.Forbidden {
		t.Errorf("opened by a revoked worker: %v", err)
	}
	reaches(t, server, w2, "to.w2.s.l")
	reaches(t, w2, server, "from.w2.s.l")
	must.Do(t, p.Reload(p.cfg.Workers))
	reaches(t, w1, server, "from.w1.s.l") // its carrier has tried again
}

// TestFrozen: calls end while NATS does not answer, and all goes on when it does.
func TestFrozen(t *testing.T) {
	t.Parallel()
	p := start(t)
	server := p.server(t)
	wire := freezable(t, p.cfg.Listen)
	w := open(t, bynats.Config{URLs: "nats://" + wire.addr, Name: "w1", Credentials: p.seeds["w1"]})
	name := must.Get(server.Put(t.Context(), []byte("blob")))(t)
	down := receive(t, w, "to.w1.s.>")
	wire.freeze(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := w.Send(ctx, "from.w1.s.l", []byte("x")); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("sending to a frozen server: %v", err)
	}
	if _, err := w.Get(ctx, name); err == nil {
		t.Error("a frozen server has sent a blob")
	}
	if _, err := w.Receive(ctx, "to.w1.t.>"); err == nil {
		t.Error("a frozen server has made a consumer")
	}
	must.Do(t, server.Send(t.Context(), "to.w1.s.l", []byte("meanwhile")))
	wire.freeze(false)
	if got := waittest.For(t, down, "what was sent meanwhile"); string(got.Data) != "meanwhile" {
		t.Errorf("received %q", got.Data)
	}
	reaches(t, w, server, "from.w1.s.l")
	wire.freeze(true)
	done := make(chan struct{})
	go func() { _ = w.Close(); close(done) }()
	waittest.For(t, done, "the end of a carrier whose server is frozen")
}
