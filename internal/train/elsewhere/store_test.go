package elsewhere_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// hundred has a hundred jobs done, and calls lose when so many of them are. It returns how many had not their result once, and how often a
// job had to begin again.
func hundred(t *testing.T, pool *jobs.Pool, lose func(), when ...int64) (wrong, again int64) {
	t.Helper()
	var all sync.WaitGroup
	var done, bad, more atomic.Int64
	for k := range 100 {
		all.Go(func() {
			h := jobstest.Listen(pool.Start(t.Context(), counting(fmt.Sprint("s", k), 5+k%10)), nil)
			if h.Err != nil || !slices.Equal(h.Texts(), []string{counted(5 + k%10)}) {
				bad.Add(1)
				t.Logf("job %d: %q, %v; began %+v", k, h.Texts(), h.Err, h.Began)
			}
			more.Add(max(int64(len(h.Began)), 1) - 1)
			if slices.Contains(when, done.Add(1)) {
				lose()
			}
		})
	}
	all.Wait()
	return bad.Load(), more.Load()
}

// TestHundredControl: where the server takes no more jobs after thirty, hundred finds those without a result.
func TestHundredControl(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(2))
	if wrong, _ := hundred(t, in.pool, func() { _ = in.pool.Close() }, 30); wrong == 0 || wrong > 70 {
		t.Errorf("%d of 100 jobs have no result, want some of the last 70", wrong)
	}
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
	wrong, again := hundred(t, in.pool, func() {
		stop()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
		serve()
	}, 30)
	if wrong > 0 || again == 0 {
		t.Errorf("%d jobs have not one result, %d began again", wrong, again)
	}
}

// The folder is deleted three times while a hundred jobs are under way. Else no job has to begin again.
func TestFolderIsDeleted(t *testing.T) {
	for _, deleted := range []bool{true, false} {
		t.Run(fmt.Sprintf("deleted=%t", deleted), func(t *testing.T) {
			wrong, again := hundredByFolder(t, deleted)
			if wrong > 0 || deleted != (again > 0) {
				t.Errorf("%d jobs have not one result, %d began again", wrong, again)
			}
		})
	}
}

func hundredByFolder(t *testing.T, deleted bool) (wrong, again int64) {
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
	return hundred(t, in.pool, func() {
		if !deleted {
			return
		}
		for _, name := range []string{"sent", "blobs", "told"} {
			_ = os.RemoveAll(filepath.Join(dir, name)) // one that is just used may be there again
		}
	}, 30, 45, 60) // at one moment it may be that nothing waits there
}
