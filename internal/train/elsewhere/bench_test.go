package elsewhere_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byfolder"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/carriertest"
	"tiebreak/internal/train/elsewhere/embedded"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// BenchmarkJob measures a job that gives back the payload, by one worker: a process of the server's own, and one elsewhere by each
// carrier. The first job, at which the worker is found, is not counted.
//
//	bytes  of messages and blobs, there and back, per job
func BenchmarkJob(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, by := range []string{"process", "memory", "folder", "NATS"} {
			b.Run(fmt.Sprintf("%s/%d", by, size), func(b *testing.B) {
				pool, hub := benched(b, by)
				do := func(k int) {
					j := jobs.Job{JobKey: record.JobKey{Session: "s", Kind: "train", BasedOn: int64(k)}, Like: "echo", Work: time.Minute}
					j.Payload = append([]byte("echo "), make([]byte, size)...)
					for i := range j.Payload[5:] {
						j.Payload[5+i] = 'a' + byte((i*7+k)%23)
					}
					if h := jobstest.Listen(pool.Start(b.Context(), j), nil); h.Err != nil || len(h.Texts()) != 1 || len(h.Texts()[0]) != size {
						b.Fatalf("heard %v", h.Err)
					}
				}
				do(0)
				before := int64(0)
				if hub != nil {
					_, before = hub.Traffic()
				}
				b.ResetTimer()
				for k := range b.N {
					do(k + 1)
				}
				b.StopTimer()
				if hub != nil {
					_, after := hub.Traffic()
					b.ReportMetric(float64(after-before)/float64(b.N), "bytes")
				}
			})
		}
	}
}

// benched returns a pool with one worker, and its hub unless the worker is a process of the pool.
func benched(b *testing.B, by string) (*jobs.Pool, *elsewhere.Hub) {
	b.Helper()
	if by != "process" {
		return over(b, by, &jobs.Rows{})
	}
	pool := must.Get(jobs.NewPool(jobs.Config{Store: &jobs.Rows{}, Workers: 1, Command: testProgram, Env: []string{workerEnv + "=1"}}))(b)
	b.Cleanup(func() { _ = pool.Close() })
	return pool, nil
}

// over returns a pool with one worker elsewhere, by a carrier.
func over(t testing.TB, by string, s jobs.Store) (*jobs.Pool, *elsewhere.Hub) {
	t.Helper()
	pool := must.Get(jobs.NewPool(jobs.Config{Store: s, Workers: -1, Backoff: time.Millisecond, Log: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() { _ = pool.Close() })
	server, worker := carriers(t, by)
	hub := elsewhere.NewHub(elsewhere.HubConfig{Pool: pool, Version: version, Here: 200 * time.Millisecond, Quiet: 20 * time.Second, Log: slog.New(slog.DiscardHandler)})
	agent := must.Get(elsewhere.NewAgent(elsewhere.AgentConfig{
		Carrier: worker, Offer: elsewhere.Offer{Worker: "w", Version: version}, Here: 200 * time.Millisecond, Quiet: 20 * time.Second,
		Env: []string{workerEnv + "=1", "GORACE=atexit_sleep_ms=0"}, Command: func(string) []string { return testProgram }, Log: slog.New(slog.DiscardHandler),
	}))(t)
	running(t, func(ctx context.Context) error { return hub.Run(ctx, server) })
	running(t, agent.Run)
	return pool, hub
}

// carriers returns those of a server and of the worker "w".
func carriers(b testing.TB, by string) (server, worker elsewhere.Carrier) {
	b.Helper()
	check := func(c elsewhere.Carrier, err error) elsewhere.Carrier {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		return c
	}
	switch by {
	case "memory":
		n := &carriertest.Network{}
		return n.Dial(), n.Dial()
	case "folder":
		c := byfolder.Config{Dir: filepath.Join(b.TempDir(), "shared")}
		return check(byfolder.Open(c)), check(byfolder.Open(c))
	}
	public, seed, err := embedded.NewKey()
	if err != nil {
		b.Fatal(err)
	}
	key := filepath.Join(b.TempDir(), "w.nkey")
	must.Do(b, os.WriteFile(key, seed, 0o600))
	nats, err := embedded.Start(context.Background(), embedded.Config{Listen: "127.0.0.1:0", Dir: b.TempDir(), Workers: []embedded.Worker{{Name: "w", PublicKey: public}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nats.Close)
	config, err := nats.Carrier()
	if err != nil {
		b.Fatal(err)
	}
	server = check(bynats.Open(context.Background(), config))
	return server, check(bynats.Open(context.Background(), bynats.Config{URLs: "nats://" + nats.Addr().String(), Credentials: key, Name: "w"}))
}
