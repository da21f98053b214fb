package elsewhere_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/carriertest"
	"tiebreak/internal/train/elsewhere/natstest"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// workerEnv makes this program a worker's process.
const workerEnv = "TIEBREAK_TEST_WORKER"

func TestMain(m *testing.M) {
	natstest.Main()
	if how := os.Getenv(workerEnv); how != "" {
		contract := &jobstest.Handler{Die: func() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}}
		var h jobs.Handler = held{contract}
		switch lies, is := strings.CutPrefix(how, "lies: "); {
		case is:
			lie(lies)
			os.Exit(0)
		case how == "counts":
			h = counter{}
		}
		if err := jobs.Serve(context.Background(), os.Stdin, os.Stdout, h); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const version = "v1 of this test"

// log returns where programs of a test say what they do.
func log(t *testing.T, name string) *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{t}, nil)).With("of", name)
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	return w.t.Output().Write(b)
}

// An installation is a server and its workers.
type installation struct {
	t       *testing.T
	network *carriertest.Network
	pool    *jobs.Pool
	hub     *elsewhere.Hub
	config  elsewhere.HubConfig
	carrier elsewhere.Carrier
	stop    func() // ends the hub
}

// install starts a server without workers of its own.
func install(t *testing.T, s jobs.Store, change func(*jobs.Config, *elsewhere.HubConfig)) *installation {
	t.Helper()
	return installOn(t, &carriertest.Network{}, s, change)
}

// installOn is install on a network that others may be on.
func installOn(t *testing.T, n *carriertest.Network, s jobs.Store, change func(*jobs.Config, *elsewhere.HubConfig)) *installation {
	t.Helper()
	in := &installation{t: t, network: n}
	c := jobs.Config{
		Store: s, Workers: -1, Backoff: time.Millisecond, Log: log(t, "pool"),
		Command: []string{os.Args[0]}, Env: []string{workerEnv + "=1", "GORACE=atexit_sleep_ms=0"},
	}
	in.carrier = in.network.Dial()
	in.config = elsewhere.HubConfig{Server: "s", Version: version, Here: 50 * time.Millisecond, Quiet: 5 * time.Second, Log: log(t, "hub")}
	if change != nil {
		change(&c, &in.config)
	}
	var err error
	if in.pool, err = jobs.NewPool(c); err != nil {
		t.Fatal(err)
	}
	in.config.Pool = in.pool
	in.serve()
	t.Cleanup(func() { _ = in.pool.Close() })
	return in
}

// serve starts a hub.
func (in *installation) serve() {
	in.hub = elsewhere.NewHub(in.config)
	in.stop = running(in.t, func(ctx context.Context) error { return in.hub.Run(ctx, in.carrier) })
}

// running runs what ends with its context, until the test ends or stop is called.
func running(t testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// work starts a worker.
func (in *installation) work(name string, change func(*elsewhere.AgentConfig)) (stop func()) {
	in.t.Helper()
	c := elsewhere.AgentConfig{
		Carrier: in.network.Dial(), Offer: elsewhere.Offer{Worker: name, Host: "h", Version: version},
		Command: func(string) []string { return []string{os.Args[0]} },
		Env:     []string{workerEnv + "=1", "GORACE=atexit_sleep_ms=0"},
		Here:    50 * time.Millisecond, Quiet: 5 * time.Second, Log: log(in.t, name),
	}
	if change != nil {
		change(&c)
	}
	a, err := elsewhere.NewAgent(c)
	if err != nil {
		in.t.Fatal(err)
	}
	return running(in.t, a.Run)
}

// The contract of dispatchers holds with workers elsewhere alone, whatever carries jobs.
func TestContract(t *testing.T) {
	for _, by := range []string{"memory", "folder", "NATS"} {
		t.Run(by, func(t *testing.T) {
			jobstest.Run(t, func(t *testing.T, s jobs.Store) jobstest.Dispatcher {
				pool, _ := over(t, by, s)
				return pool
			})
		})
	}
}

// until waits until is returns true.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
