package elsewhere_test

import (
	"context"
	"os"
	"testing"
	"time"

	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byflags"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/natstest"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// partitionEnv is the variable with the time for which the network of a cluster is cut, such as 1m.
const partitionEnv = "TIEBREAK_FAULTS_PARTITION"

// hundredOnCluster is hundred on a cluster of three NATS servers; lose is given its leader.
func hundredOnCluster(t *testing.T, lose func(*natstest.Cluster, *natstest.Node)) {
	t.Helper()
	cluster := natstest.Start(t)
	in := install(t, &jobstest.Store{}, func(c *jobs.Config, h *elsewhere.HubConfig) {
		countHere(-1)(c, h)
		h.Here, h.Quiet = 100*time.Millisecond, 3*time.Second
	})
	in.stop() // of the network in memory
	keep := func(name string, run func(context.Context, elsewhere.Carrier) error) {
		logs := log(t, name+" of the cluster")
		open := func(ctx context.Context) (elsewhere.Carrier, error) {
			cfg := bynats.Config{URLs: cluster.URLs(), Log: logs, Name: name}
			if name == "" {
				cfg.Replicas = 3
			}
			return bynats.Open(ctx, cfg)
		}
		running(t, func(ctx context.Context) error {
			for ctx.Err() == nil {
				err := byflags.Keep(ctx, open, func(err error) { logs.Warn("it is tried again", "err", err) }, run)
				logs.Warn("it is begun anew", "err", err) // as by who runs a server or worker
				time.Sleep(100 * time.Millisecond)
			}
			return nil
		})
	}
	keep("", in.hub.Run)
	for range 3 {
		keep("w", func(ctx context.Context, by elsewhere.Carrier) error {
			a, err := elsewhere.NewAgent(elsewhere.AgentConfig{
				Carrier: by, Offer: elsewhere.Offer{Worker: "w", Version: version}, Command: func(string) []string { return testProgram },
				Env: []string{workerEnv + "=counts", "GORACE=atexit_sleep_ms=0"}, Here: 100 * time.Millisecond, Quiet: 3 * time.Second, Log: log(t, "w"),
			})
			if err != nil {
				return err
			}
			return a.Run(ctx)
		})
	}
	if wrong, _ := hundred(t, in.pool, func() { lose(cluster, cluster.Leader(t)) }, 30); wrong > 0 {
		t.Errorf("%d jobs have not one result", wrong)
	}
}

// The leader of the cluster is cut off from the two others for a while.
func TestClusterIsPartitioned(t *testing.T) {
	long := 5 * time.Second
	if text := os.Getenv(partitionEnv); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	hundredOnCluster(t, func(c *natstest.Cluster, leader *natstest.Node) {
		c.Isolate(leader.Name, true)
		<-time.After(long)
		c.Isolate(leader.Name, false)
	})
}

// The leader of the cluster is killed, and what it has stored is deleted.
func TestLeaderOfAClusterIsDeleted(t *testing.T) {
	hundredOnCluster(t, func(_ *natstest.Cluster, leader *natstest.Node) {
		leader.Kill()
		if err := os.RemoveAll(leader.Dir); err != nil {
			t.Error(err)
		}
		leader.Start(t)
	})
}
