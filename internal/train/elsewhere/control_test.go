package elsewhere_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
	"tiebreak/store"
)

// held is a Handler with one more word: a job "until FILE" ends when there is a file of that name.
type held struct{ *jobstest.Handler }

func (h held) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	file, ok := strings.CutPrefix(string(job.Payload), "until ")
	if !ok {
		return h.Handler.Do(ctx, job, to)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A controlled installation has a data folder, in which researchers say what they say of workers.
type controlled struct {
	*installation
	db       *store.DB
	bars     *elsewhere.Bars
	reporter elsewhere.Reporter
	heard    chan elsewhere.Bar // that the hub is told
	release  string             // a file at which jobs end
}

func control(t *testing.T) *controlled {
	t.Helper()
	db := must.Get(store.Open(t.Context(), t.TempDir()))(t)
	t.Cleanup(func() { _ = db.Close() })
	spec := settings.Complete(idrl.SessionSpec{ID: "s", Title: "Walk", Env: "chain", Kind: idrl.CompareClips, Features: []string{"x"}, CreatedAt: time.Now().UTC()})
	must.Do(t, db.CreateSession(t.Context(), spec))
	c := &controlled{db: db, heard: make(chan elsewhere.Bar, 1), release: filepath.Join(t.TempDir(), "release")}
	c.bars = elsewhere.NewBars(db.WorkerBars, log(t, "bars"))
	c.installation = install(t, db, func(_ *jobs.Config, h *elsewhere.HubConfig) {
		h.Barred = func(worker string) elsewhere.Bar {
			bar := c.bars.Of(worker)
			if bar != elsewhere.Open {
				select {
				case c.heard <- bar:
				default:
				}
			}
			return bar
		}
	})
	c.reporter = elsewhere.Reporter{Hub: c.hub, Pool: c.pool, Title: func(idrl.SessionID) string { return spec.Title }}
	return c
}

// say has a researcher say something of a worker, and returns when the hub acts by it.
func (c *controlled) say(worker, bar string) {
	c.t.Helper()
	if err := c.db.BarWorker(c.t.Context(), record.WorkerBar{Worker: worker, Bar: bar, Who: "Ada", At: time.Now()}); err != nil {
		c.t.Fatal(err)
	}
	c.bars.Changed()
	if bar != record.WorkerAllowed {
		waittest.For(c.t, c.heard, "the hub to hear that "+worker+" is "+bar)
		c.hub.States() // waits until it has looked at all workers
	}
}

// report returns what the server would show.
func (c *controlled) report() record.WorkerReport {
	c.t.Helper()
	bars, err := c.db.WorkerBars(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return c.reporter.Report(bars)
}

// do starts a job, and returns what is heard of it in the end, and a channel that is closed when it first begins.
func (c *controlled) do(n int64, payload string) (heard <-chan jobstest.Heard, began <-chan struct{}) {
	out, first := make(chan jobstest.Heard, 1), make(chan struct{})
	job := jobs.Job{JobKey: record.JobKey{Session: "s", Kind: []string{"train", "fit"}[n%2], BasedOn: n}, Like: "test", Work: time.Second, Payload: []byte(payload)}
	go func() {
		open := true
		out <- jobstest.Listen(c.pool.Start(c.t.Context(), job), func(e jobs.Event) bool {
			if _, ok := e.(jobs.Began); ok && open {
				open = false
				close(first)
			}
			return false
		})
	}()
	return out, first
}

// wait returns when the report is so.
func (c *controlled) wait(what string, so func(record.WorkerReport) bool) record.WorkerReport {
	c.t.Helper()
	for end := time.Now().Add(waittest.Limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if r := c.report(); so(r) {
			return r
		}
	}
	c.t.Fatalf("waited for %s; the report is %+v", what, c.report())
	panic("not reached")
}

func state(r record.WorkerReport, worker string) record.WorkerState {
	if k := slices.IndexFunc(r.Workers, func(w record.WorkerState) bool { return w.Name == worker }); k >= 0 {
		return r.Workers[k]
	}
	return record.WorkerState{}
}

func (c *controlled) end() {
	c.t.Helper()
	if err := os.WriteFile(c.release, nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// A worker that is drained finishes its job, gets no other, though one waits, and has jobs again when it is allowed.
func TestDrained(t *testing.T) {
	c := control(t)
	c.work("w1", nil)
	first, began := c.do(2, "until "+c.release)
	waittest.For(t, began, "the first job to begin")
	second, _ := c.do(3, "echo x")
	r := c.wait("a job that waits", func(r record.WorkerReport) bool { return len(r.Waiting) == 1 })
	if w := state(r, "w1"); w.State != record.WorkerWorks || len(w.Doing) != 1 || w.Doing[0].What() != "Walk: training" || r.Waiting[0].Why != "all workers are busy" {
		t.Errorf("while w1 works: %+v", r)
	}
	c.say("w1", record.WorkerDrained)
	if w := state(c.report(), "w1"); w.State != record.WorkerFinishing {
		t.Errorf("w1 is %+v", w)
	}
	c.end()
	if h := waittest.For(t, first, "the first job to end"); h.Err != nil || len(h.Began) != 1 {
		t.Errorf("of the first job is heard %+v", h)
	}
	r = c.wait("w1 to have left", func(r record.WorkerReport) bool { return state(r, "w1").State == record.WorkerDrained })
	if w := state(r, "w1"); w.Done != 1 || len(r.Waiting) != 1 || r.Waiting[0].Why != "all workers are drained, banned or refused" {
		t.Errorf("after its last job: %+v", r)
	}
	c.say("w1", record.WorkerAllowed)
	if h := waittest.For(t, second, "the second job to end"); h.Err != nil {
		t.Errorf("of the second job is heard %+v", h)
	}
	if w := state(c.report(), "w1"); w.Done != 2 {
		t.Errorf("when it is allowed again: %+v", w)
	}
}

// What a worker does when it is banned is done by another at once.
func TestBanned(t *testing.T) {
	c := control(t)
	c.work("w1", nil)
	heard, began := c.do(2, "until "+c.release)
	waittest.For(t, began, "the job to begin")
	c.say("w1", record.WorkerBanned)
	c.wait("the job to wait again", func(r record.WorkerReport) bool {
		return len(r.Waiting) == 1 && state(r, "w1").State == record.WorkerBanned
	})
	c.work("w2", nil)
	c.wait("w2 to have the job", func(r record.WorkerReport) bool { return len(state(r, "w2").Doing) == 1 })
	c.end()
	if h := waittest.For(t, heard, "the job to end"); h.Err != nil || len(h.Began) != 2 {
		t.Errorf("of the job is heard %+v", h)
	}
	r := c.report()
	if w1, w2 := state(r, "w1"), state(r, "w2"); w1.Done != 0 || w2.Done != 1 {
		t.Errorf("w1 has done %d jobs, w2 %d", w1.Done, w2.Done)
	}
}

// A worker whose results were false gets no more jobs until it is pardoned.
func TestPardon(t *testing.T) {
	c := control(t)
	c.work("w1", nil)
	for n := range int64(2) {
		heard, _ := c.do(n, "echo x")
		h := waittest.For(t, heard, "a job to end")
		if h.Done == nil {
			t.Fatalf("heard %+v", h)
		}
		h.Done.Reject(errors.New("it is false"))
	}
	heard, _ := c.do(4, "echo x")
	r := c.wait("a job that waits", func(r record.WorkerReport) bool { return len(r.Waiting) == 1 })
	if w := state(r, "w1"); w.State != record.WorkerRefused || w.False != 2 || w.Says() != "gets no jobs: its results were false" {
		t.Errorf("w1 is %+v", w)
	}
	c.hub.Pardon("w1")
	if h := waittest.For(t, heard, "the job to end"); h.Err != nil {
		t.Errorf("heard %+v", h)
	}
	if w := state(c.report(), "w1"); w.False != 0 || w.Refused != "" {
		t.Errorf("when it is pardoned: %+v", w)
	}
}

// The report says what workers lack for a job.
func TestReportSaysWhatIsLacking(t *testing.T) {
	c := control(t)
	c.work("w1", func(a *elsewhere.AgentConfig) { a.Offer.Has = []string{"environment chain"} })
	c.wait("w1", func(r record.WorkerReport) bool { return state(r, "w1").State == record.WorkerFree })
	job := jobs.Job{JobKey: record.JobKey{Session: "s", Kind: "train"}, Like: "test", Needs: []string{"environment chain", "environment ant"}, Payload: []byte("echo x")}
	done := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		jobstest.Listen(c.pool.Start(ctx, job), nil)
	}()
	r := c.wait("a job that waits", func(r record.WorkerReport) bool { return len(r.Waiting) == 1 })
	if got := r.Waiting[0]; got.Why != "no worker has: environment ant" || got.Title != "Walk" {
		t.Errorf("it waits: %+v", got)
	}
	stop()
	waittest.For(t, done, "the job to be given up")
}
