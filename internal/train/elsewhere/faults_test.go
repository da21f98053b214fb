package elsewhere_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/carriertest"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// counts has a worker's processes count.
func counts(c *elsewhere.AgentConfig) { c.Env = append(slices.Clone(c.Env), workerEnv+"=counts") }

// countHere has those of the server count.
func countHere(n int) func(*jobs.Config, *elsewhere.HubConfig) {
	return func(c *jobs.Config, h *elsewhere.HubConfig) {
		c.Workers, c.Env = n, append(c.Env, workerEnv+"=counts")
		h.Quiet = 400 * time.Millisecond
	}
}

// counting is a job that counts.
func counting(session string, n int) jobs.Job {
	return jobs.Job{JobKey: record.JobKey{Session: idrl.SessionID(session), Kind: "train"}, Like: "count", Work: time.Minute, Payload: fmt.Append(nil, "count ", n)}
}

// whole fails unless what was heard is the result of counting to n.
func whole(t *testing.T, h jobstest.Heard, n int) {
	t.Helper()
	if h.Err != nil || !slices.Equal(h.Texts(), []string{counted(n)}) {
		t.Errorf("counting to %d: %q, %v; began %+v", n, h.Texts(), h.Err, h.Began)
	}
}

// far reports whether a job has counted to k.
func far(e jobs.Event, k int) bool {
	p, is := e.(jobs.Progress)
	return is && p.Done >= k
}

// What is lost costs time, and neither jobs nor results.
func TestMessagesAreLost(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(-1))
	for k := range 3 {
		in.work(fmt.Sprint("w", k), func(c *elsewhere.AgentConfig) { counts(c); c.Quiet = 400 * time.Millisecond })
	}
	stream, rate := rand.New(rand.NewPCG(1, 1)), 0.002
	in.network.Fail(carriertest.Faults{
		Lose:   func(string, []byte) bool { return stream.Float64() < rate },
		Forget: func(elsewhere.Hash) bool { return stream.Float64() < 0.1 },
	})
	var all sync.WaitGroup
	var again atomic.Int64
	for k := range 12 {
		all.Go(func() {
			h := jobstest.Listen(in.pool.Start(t.Context(), counting(fmt.Sprint("s", k), 50+k)), nil)
			whole(t, h, 50+k)
			again.Add(int64(len(h.Began) - 1))
		})
	}
	all.Wait()
	if again.Load() == 0 {
		t.Error("no job began again: nothing was lost")
	}
}

// A worker that falls silent is given up, and its job goes on elsewhere from its checkpoint; what it says later, when it wakes
// up, changes nothing.
func TestWorkerFallsSilent(t *testing.T) {
	s := &jobstest.Store{}
	in := install(t, s, countHere(-1))
	in.work("frozen", counts)
	var silent atomic.Bool
	in.network.Fail(carriertest.Faults{Lose: func(subject string, _ []byte) bool {
		return silent.Load() && strings.Contains(subject, ".frozen.")
	}})
	awake := false
	h := jobstest.Listen(in.pool.Start(t.Context(), counting("s", 300)), func(e jobs.Event) bool {
		if far(e, 20) && !silent.Load() && !awake {
			silent.Store(true)
			in.work("good", counts)
		}
		if b, is := e.(jobs.Began); is && b.Attempt > 1 {
			silent.Store(false)
			awake = true
		}
		return false
	})
	whole(t, h, 300)
	if len(h.Began) != 2 || !h.Began[1].Resumed {
		t.Errorf("began %+v; want a second time, from a checkpoint", h.Began)
	}
	// The worker that woke up is told that its link has ended, and offers itself again.
	until(t, "both workers to offer themselves or work", func() bool {
		states := in.hub.States()
		return len(states) == 2 && states[0].Barred == "" && states[1].Barred == ""
	})
	whole(t, jobstest.Listen(in.pool.Start(t.Context(), counting("s2", 10)), nil), 10)
}

// A network that is cut for longer than the patience of both sides: the job ends on this machine.
func TestNetworkIsCut(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(1))
	in.work("w", func(c *elsewhere.AgentConfig) { counts(c); c.Quiet = 400 * time.Millisecond })
	var cut atomic.Bool
	in.network.Fail(carriertest.Faults{Cut: cut.Load})
	filler, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { jobstest.Listen(in.pool.Start(filler, counting("filler", 1_000_000)), nil) }) // has the process of this machine
	until(t, "a job on this machine", func() bool { return len(in.pool.Now()) == 1 })
	h := jobstest.Listen(in.pool.Start(t.Context(), counting("s", 300)), func(e jobs.Event) bool {
		if far(e, 20) && !cut.Load() {
			cut.Store(true)
			stop()
		}
		return false
	})
	whole(t, h, 300)
	if len(h.Began) < 2 || !h.Began[1].Resumed {
		t.Errorf("began %+v; want again, from a checkpoint", h.Began)
	}
	cut.Store(false)
	until(t, "the worker to offer itself again", func() bool { return len(in.hub.States()) == 1 })
}

// Workers whose results are false are found out; others do their jobs, and they get no more.
func TestWorkersThatLie(t *testing.T) {
	for _, how := range []string{"false hash", "damaged progress"} {
		t.Run(how, func(t *testing.T) {
			in := install(t, &jobstest.Store{}, countHere(1))
			in.work("liar", func(c *elsewhere.AgentConfig) { c.Env = append(slices.Clone(c.Env), workerEnv+"=lies: "+how) })
			until(t, "the offer", func() bool { return len(in.hub.States()) == 1 })
			filler, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			defer all.Wait()
			defer stop()
			all.Go(func() { jobstest.Listen(in.pool.Start(filler, counting("filler", 1_000_000)), nil) })
			until(t, "a job on this machine", func() bool { return len(in.pool.Now()) == 1 })
			done := make(chan jobstest.Heard, 1)
			all.Go(func() { done <- jobstest.Listen(in.pool.Start(t.Context(), counting("s", 20)), nil) })
			until(t, "the liar to be found out", func() bool {
				states := in.hub.States()
				return len(states) == 1 && states[0].Barred == "its results were false"
			})
			stop()
			whole(t, <-done, 20)
		})
	}
}

// A process that writes nonsense is one that dies.
func TestNonsense(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(-1))
	in.work("bad", func(c *elsewhere.AgentConfig) { c.Env = append(slices.Clone(c.Env), workerEnv+"=lies: nonsense") })
	h := jobstest.Listen(in.pool.Start(t.Context(), counting("s", 20)), nil)
	if h.Err == nil || !strings.Contains(h.Err.Error(), "its process has died") || len(h.Began) != 3 {
		t.Errorf("heard %v; began %+v", h.Err, h.Began)
	}
}

func TestWorkerOfAnotherVersion(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(1))
	in.work("old", func(c *elsewhere.AgentConfig) { counts(c); c.Offer.Version = "v0" })
	until(t, "the offer to be refused", func() bool {
		states := in.hub.States()
		return len(states) == 1 && states[0].Barred == "it runs version v0, and the server version "+version
	})
	whole(t, jobstest.Listen(in.pool.Start(t.Context(), counting("s", 5)), nil), 5)
}

// A job goes to the worker that has what it needs.
func TestNeeds(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(-1))
	in.work("small", func(c *elsewhere.AgentConfig) {
		counts(c)
		c.Offer.Has, c.Offer.Memory = []string{"environment a"}, 500
	})
	j := counting("s", 5)
	j.Needs = []string{"environment a", "environment b", jobs.NeedMemory(1000)}
	done := make(chan jobstest.Heard, 1)
	go func() { done <- jobstest.Listen(in.pool.Start(t.Context(), j), nil) }()
	until(t, "the job to wait beside a worker that cannot do it", func() bool {
		states, waiting := in.hub.States(), in.pool.Waiting()
		return len(states) == 1 && len(waiting) == 1 && states[0].Lacks(waiting[0].Needs) == "environment b, memory in MiB: 1000"
	})
	in.work("large", func(c *elsewhere.AgentConfig) {
		counts(c)
		c.Offer.Has, c.Offer.Memory = []string{"environment a", "environment b"}, 1000
	})
	whole(t, <-done, 5)
	for _, s := range in.hub.States() {
		if want := map[string]int{"small": 0, "large": 1}[s.Offer.Worker]; s.Work.Jobs != want {
			t.Errorf("%s has done %d jobs, want %d", s.Offer.Worker, s.Work.Jobs, want)
		}
	}
}

// A server that is started again goes on from the checkpoint, with the same worker.
func TestServerStartsAgain(t *testing.T) {
	s := &jobstest.Store{}
	in := install(t, s, countHere(-1))
	in.work("w", counts)
	ctx, kill := context.WithCancel(t.Context())
	jobstest.Listen(in.pool.Start(ctx, counting("s", 300)), func(e jobs.Event) bool {
		if far(e, 20) {
			kill()
		}
		return false
	})
	in.stop()
	_ = in.pool.Close()
	s.Interrupt()
	again := installOn(t, in.network, s, func(c *jobs.Config, h *elsewhere.HubConfig) {
		countHere(-1)(c, h)
		h.Server = "again"
	})
	h := jobstest.Listen(again.pool.Start(t.Context(), counting("s", 300)), nil)
	whole(t, h, 300)
	if !h.Began[0].Resumed {
		t.Errorf("began %+v; want from a checkpoint", h.Began)
	}
}

// Two servers share a worker: one that a server no longer needs does the jobs of the other.
func TestTwoServers(t *testing.T) {
	one := install(t, &jobstest.Store{}, func(c *jobs.Config, h *elsewhere.HubConfig) {
		countHere(-1)(c, h)
		h.Server, h.Keep = "one", 100*time.Millisecond
	})
	two := installOn(t, one.network, &jobstest.Store{}, func(c *jobs.Config, h *elsewhere.HubConfig) {
		countHere(-1)(c, h)
		h.Server, h.Keep = "two", 100*time.Millisecond
	})
	one.work("w", counts)
	var all sync.WaitGroup
	for k := range 3 {
		for _, in := range []*installation{one, two} {
			all.Go(func() {
				whole(t, jobstest.Listen(in.pool.Start(t.Context(), counting(fmt.Sprint("s", k), 20)), nil), 20)
			})
		}
	}
	all.Wait()
}

// A worker without jobs ends by itself, and one that is told to end hands its job back first.
func TestWorkersEnd(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(-1))
	a := must.Get(elsewhere.NewAgent(elsewhere.AgentConfig{
		Carrier: in.network.Dial(), Offer: elsewhere.Offer{Worker: "w", Version: version}, Here: 20 * time.Millisecond,
		Idle: 100 * time.Millisecond, Command: func(string) []string { return nil }, Log: log(t, "w"),
	}))(t)
	if err := a.Run(t.Context()); err != nil {
		t.Errorf("a worker without jobs: %v", err)
	}
	stop := in.work("told", counts)
	h := jobstest.Listen(in.pool.Start(t.Context(), counting("s", 200)), func(e jobs.Event) bool {
		if far(e, 20) && stop != nil {
			stop()
			stop = nil
			in.work("next", counts)
		}
		return false
	})
	whole(t, h, 200)
	if len(h.Began) != 2 || !h.Began[1].Resumed {
		t.Errorf("began %+v; want a second time, from a checkpoint", h.Began)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "a.b", "a b", "../x", strings.Repeat("x", 65)} {
		if _, err := elsewhere.NewAgent(elsewhere.AgentConfig{Offer: elsewhere.Offer{Worker: name}}); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("a worker of the name %q: %v", name, err)
		}
	}
	if _, err := elsewhere.NewAgent(elsewhere.AgentConfig{Offer: elsewhere.Offer{Worker: "w"}, Slots: 2000}); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("2000 slots: %v", err)
	}
}

var errGone = errors.New("the file is gone")

// Files are carried once to a worker, and a job finds just its own.
func TestFiles(t *testing.T) {
	in := install(t, &jobstest.Store{}, countHere(-1))
	dir := t.TempDir()
	in.work("w", func(c *elsewhere.AgentConfig) {
		counts(c)
		c.Files, c.Command = dir, func(files string) []string { return append(slices.Clone(testProgram), files) }
	})
	large := strings.Repeat("0123456789abcdef", 5<<20) // 80 MiB: three parts
	read := func(session, path, content string, files ...jobs.File) jobstest.Heard {
		j := counting(session, 0)
		j.Payload, j.Files = []byte("read "+path), append(files, file(path, content))
		return jobstest.Listen(in.pool.Start(t.Context(), j), nil)
	}
	if h := read("a", "rollouts/x/index.json", "{}", file("rollouts/x/large", large)); h.Err != nil || h.Texts()[0] != "{}" {
		t.Fatalf("heard %v, %v", h.Texts(), h.Err)
	}
	before := in.network.Bytes()
	if h := read("b", "rollouts/y/index.json", "[]", file("rollouts/y/large", large)); h.Err != nil || h.Texts()[0] != "[]" {
		t.Fatalf("heard %v, %v", h.Texts(), h.Err)
	}
	if more := in.network.Bytes() - before; more > 1<<20 {
		t.Errorf("%d bytes were carried for a file that the worker had", more)
	}
	j := counting("c", 0)
	j.Payload, j.Files = []byte("read rollouts/x/index.json"), []jobs.File{file("rollouts/y/index.json", "[]")}
	if h := jobstest.Listen(in.pool.Start(t.Context(), j), nil); h.Err == nil || !strings.Contains(h.Err.Error(), "no such file") {
		t.Errorf("a file of another job: %q, %v", h.Texts(), h.Err)
	}
	for _, path := range []string{"../x", "/etc/x", "a/../../x", ".hidden", "a//b"} {
		if h := read("d", path, "x"); h.Err == nil || !strings.Contains(h.Err.Error(), "cannot be taken") {
			t.Errorf("a file %q: %q, %v", path, h.Texts(), h.Err)
		}
	}
	wrong := file("a", "x")
	wrong.Hash[0]++
	if h := read("e", "b", "y", wrong); h.Err == nil || !strings.Contains(h.Err.Error(), "not what its hash says") {
		t.Errorf("a false hash: %v", h.Err)
	}
	gone := file("a", "x")
	gone.Read = func() ([]byte, error) { return nil, errGone }
	if h := read("f", "b", "y", gone); h.Err == nil || !strings.Contains(h.Err.Error(), errGone.Error()) {
		t.Errorf("a file that is gone: %v", h.Err)
	}
}
