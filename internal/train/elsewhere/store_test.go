package elsewhere_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byfolder"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/embedded"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// hundred has a hundred jobs done, and calls lose after thirty of them. Each has its result once.
func hundred(t *testing.T, pool *jobs.Pool, lose func()) {
	t.Helper()
	var all sync.WaitGroup
	var done atomic.Int64
	for k := range 100 {
		all.Go(func() {
			whole(t, jobstest.Listen(pool.Start(t.Context(), counting(fmt.Sprint("s", k), 5+k%10)), nil), 5+k%10)
			if done.Add(1) == 30 {
				lose()
			}
		})
	}
	all.Wait()
}

// agents starts workers of one name.
func agents(t *testing.T, n int, name string, carrier func() elsewhere.Carrier) {
	t.Helper()
	for range n {
		a := must.Get(elsewhere.NewAgent(elsewhere.AgentConfig{
			Carrier: carrier(), Offer: elsewhere.Offer{Worker: name, Version: version}, Command: func(string) []string { return testProgram },
			Env: []string{workerEnv + "=counts", "GORACE=atexit_sleep_ms=0"}, Here: 100 * time.Millisecond, Quiet: 3 * time.Second, Log: log(t, name),
		}))(t)
		running(t, a.Run)
	}
}

// The NATS server is killed while a hundred jobs are under way, and all that it has kept is deleted.
func TestStoreOfNATSIsDeleted(t *testing.T) {
	public, seed, err := embedded.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "w.nkey")
	must.Do(t, os.WriteFile(key, seed, 0o600))
	dir, addr := filepath.Join(t.TempDir(), "nats"), "127.0.0.1:0"
	in := install(t, &jobstest.Store{}, func(c *jobs.Config, h *elsewhere.HubConfig) {
		countHere(-1)(c, h)
		h.Here, h.Quiet = 100*time.Millisecond, 3*time.Second
	})
	in.stop() // of the network in memory
	var stop func()
	serve := func() {
		nats, err := embedded.Start(context.Background(), embedded.Config{Listen: addr, Dir: dir, Workers: []embedded.Worker{{Name: "w", PublicKey: public}}})
		if err != nil {
			t.Error(err)
			return
		}
		addr = nats.Addr().String()
		config, err := nats.Carrier()
		if err != nil {
			t.Error(err)
			return
		}
		by, err := bynats.Open(context.Background(), config)
		if err != nil {
			t.Error(err)
			return
		}
		end := running(t, func(ctx context.Context) error { return in.hub.Run(ctx, by) })
		stop = func() {
			end()
			_ = by.Close()
			nats.Close()
		}
	}
	serve()
	t.Cleanup(func() { stop() })
	agents(t, 3, "w", func() elsewhere.Carrier {
		c := must.Get(bynats.Open(t.Context(), bynats.Config{URLs: "nats://" + addr, Credentials: key, Name: "w"}))(t)
		t.Cleanup(func() { _ = c.Close() })
		return c
	})
	hundred(t, in.pool, func() {
		stop()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
		serve()
	})
}

// The folder is deleted while a hundred jobs are under way.
func TestFolderIsDeleted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared")
	open := func() elsewhere.Carrier {
		c := must.Get(byfolder.Open(byfolder.Config{Dir: dir, Poll: 10 * time.Millisecond, Log: log(t, "folder")}))(t)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	in := install(t, &jobstest.Store{}, func(c *jobs.Config, h *elsewhere.HubConfig) {
		countHere(-1)(c, h)
		h.Here, h.Quiet = 100*time.Millisecond, 3*time.Second
	})
	in.stop() // of the network in memory
	by := open()
	running(t, func(ctx context.Context) error { return in.hub.Run(ctx, by) })
	agents(t, 3, "w", open)
	hundred(t, in.pool, func() {
		for _, name := range []string{"sent", "blobs", "told"} {
			_ = os.RemoveAll(filepath.Join(dir, name)) // one that is just used may be there again
		}
	})
}
