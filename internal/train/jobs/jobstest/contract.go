package jobstest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// A Dispatcher has jobs done by workers. training.Dispatcher says the same.
type Dispatcher interface {
	Start(ctx context.Context, job jobs.Job) iter.Seq2[jobs.Event, error]
	Forget(session idrl.SessionID)
}

// Handler is what the workers of a dispatcher under test run. The first word of the
// payload says what to do.
type Handler struct {
	Die func() // required; ends the worker and does not return

	mu    sync.Mutex // guards ended
	ended []idrl.SessionID
}

// Forget implements jobs.Handler.
func (h *Handler) Forget(session idrl.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, session)
}

// Do implements jobs.Handler.
func (h *Handler) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	word, rest, _ := strings.Cut(string(job.Payload), " ")
	switch word {
	case "echo": // an artefact for each word of the rest
		for k, w := range strings.Fields(rest) {
			to.Progress(k, len(rest), w)
			if err := to.Artefact(fmt.Sprint(k), []byte(w)); err != nil {
				return err
			}
		}
		return nil
	case "job": // what a worker is told
		return to.Artefact("job", fmt.Appendf(nil, "%s %s %d %d", job.Session, job.Kind, job.BasedOn, job.Priority))
	case "invalid":
		return idrl.Errorf(idrl.Invalid, "%s", rest)
	case "climb": // dies at every step of the rest, with a checkpoint before
		return h.climb(job, to, len(rest))
	case "die":
		h.Die()
	case "wait":
		if err := to.Checkpoint([]byte("waits")); err != nil {
			return err
		}
		to.Progress(0, 1, "waiting")
		<-ctx.Done()
		return ctx.Err()
	case "large":
		return to.Artefact("large", make([]byte, 16<<20+1))
	case "many":
		for {
			if err := to.Artefact("part", make([]byte, 15<<20)); err != nil {
				return err
			}
		}
	case "ended":
		h.mu.Lock()
		defer h.mu.Unlock()
		return to.Artefact("ended", fmt.Append(nil, h.ended))
	}
	return errors.New("unknown word " + word)
}

// climb counts the bytes of its checkpoint and dies until there are n.
func (h *Handler) climb(job record.JobRecord, to jobs.Reporter, n int) error {
	if err := to.Artefact("began", job.Checkpoint); err != nil {
		return err
	}
	if len(job.Checkpoint) == n {
		return to.Artefact("end", job.Checkpoint)
	}
	if err := to.Checkpoint(append(job.Checkpoint, 'x')); err != nil {
		return err
	}
	to.Progress(len(job.Checkpoint)+1, n, "climbing")
	h.Die()
	return nil
}

// Heard is what was heard of a job.
type Heard struct {
	Began     []jobs.Began
	Progress  []jobs.Progress
	Artefacts []jobs.Artefact // since it began last
	Saved     []jobs.Checkpoint
	Done      *jobs.Done
	Err       error
}

// Texts returns the artefacts as text.
func (h Heard) Texts() (out []string) {
	for _, a := range h.Artefacts {
		out = append(out, string(a.Bytes))
	}
	return out
}

// Listen reads a stream to its end, unless until is not nil and returns true for an
// event.
func Listen(stream iter.Seq2[jobs.Event, error], until func(jobs.Event) bool) (h Heard) {
	for e, err := range stream {
		h.Err = err
		switch e := e.(type) {
		case jobs.Began:
			h.Began, h.Artefacts = append(h.Began, e), nil
		case jobs.Progress:
			h.Progress = append(h.Progress, e)
		case jobs.Artefact:
			h.Artefacts = append(h.Artefacts, e)
		case jobs.Checkpoint:
			h.Saved = append(h.Saved, e)
		case jobs.Done:
			h.Done = &e
		}
		if until != nil && until(e) {
			break
		}
	}
	return h
}

// Key is the job of the contract.
var Key = record.JobKey{Session: "s", Kind: "train", BasedOn: 3}

func job(payload string) jobs.Job {
	return jobs.Job{JobKey: Key, Like: "test", Work: time.Second, Payload: []byte(payload)}
}

// Run checks what every dispatcher promises. open returns one whose workers run a
// Handler and that records in the store.
func Run(t *testing.T, open func(t *testing.T, s jobs.Store) Dispatcher) {
	for name, test := range map[string]func(*testing.T, Dispatcher, *Store){
		"events in order":               inOrder,
		"the worker gets the whole job": wholeJob,
		"errors keep their kind":        kinds,
		"payloads that are made":        made,
		"goes on from its checkpoint":   climbs,
		"a job that kills is given up":  givenUp,
		"stopped jobs wait":             stopped,
		"a server that died":            resumed,
		"no worker does a job twice":    twice,
		"limits":                        tooLarge,
		"sessions that ended":           ended,
		"late results are refused":      fenced,
	} {
		t.Run(name, func(t *testing.T) {
			s := &Store{}
			test(t, open(t, s), s)
		})
	}
}

func inOrder(t *testing.T, d Dispatcher, s *Store) {
	h := Listen(d.Start(t.Context(), job("echo one two three")), nil)
	if h.Err != nil || h.Done == nil || len(h.Began) != 1 || h.Began[0] != (jobs.Began{Attempt: 1}) {
		t.Fatalf("heard %+v", h)
	}
	if got, want := h.Texts(), []string{"one", "two", "three"}; !slices.Equal(got, want) {
		t.Errorf("artefacts %q, want %q", got, want)
	}
	for k, a := range h.Artefacts {
		if a.Name != fmt.Sprint(k) || a.Hash != jobs.NewArtefact("", a.Bytes).Hash || h.Progress[k].What != string(a.Bytes) {
			t.Errorf("artefact %d: %+v after %+v", k, a, h.Progress[k])
		}
	}
	if r := s.Row(Key); r.State != record.JobDone || r.Attempt != 1 || r.Payload != nil {
		t.Errorf("recorded %+v", r)
	}
	h.Done.Reject(errors.New("it is not wanted"))
	if again := Listen(d.Start(t.Context(), job("echo again")), nil); again.Err != nil {
		t.Errorf("after a result was rejected: %v", again.Err)
	}
}

// The worker gets what Make returns, and the record has Payload.
func made(t *testing.T, d Dispatcher, s *Store) {
	j, recorded := job("record"), ""
	j.Make = func(context.Context) ([]byte, error) {
		recorded = string(s.Row(Key).Payload)
		return []byte("echo made"), nil
	}
	if h := Listen(d.Start(t.Context(), j), nil); h.Err != nil || recorded != "record" || !slices.Equal(h.Texts(), []string{"made"}) {
		t.Errorf("heard %+v, recorded %q", h, recorded)
	}
	j.Make = func(context.Context) ([]byte, error) { return nil, idrl.Errorf(idrl.Damaged, "gone") }
	if h := Listen(d.Start(t.Context(), j), nil); idrl.KindOf(h.Err) != idrl.Damaged || len(h.Artefacts) != 0 || s.Row(Key).State != record.JobFailed {
		t.Errorf("heard %+v of a payload that cannot be made; the job is %q", h, s.Row(Key).State)
	}
	j.Make = func(context.Context) ([]byte, error) { return make([]byte, 17<<20), nil }
	if h := Listen(d.Start(t.Context(), j), nil); idrl.KindOf(h.Err) != idrl.Invalid {
		t.Errorf("heard %+v of a payload that is too large", h)
	}
}

func wholeJob(t *testing.T, d Dispatcher, _ *Store) {
	j := job("job")
	j.Session, j.BasedOn, j.Priority = "Größe 1", -7, record.Urgent
	if h := Listen(d.Start(t.Context(), j), nil); !slices.Equal(h.Texts(), []string{"Größe 1 train -7 1"}) {
		t.Errorf("heard %+v", h)
	}
}

func kinds(t *testing.T, d Dispatcher, s *Store) {
	h := Listen(d.Start(t.Context(), job("invalid no such thing")), nil)
	if idrl.KindOf(h.Err) != idrl.Invalid || !strings.Contains(h.Err.Error(), "no such thing") || h.Done != nil {
		t.Errorf("heard %+v", h)
	}
	if r := s.Row(Key); r.State != record.JobFailed || r.Attempt != 1 {
		t.Errorf("recorded %+v: the same job fails the same way", r)
	}
	h = Listen(d.Start(t.Context(), job("what")), nil)
	if h.Err == nil || idrl.KindOf(h.Err) != idrl.Internal || !strings.Contains(h.Err.Error(), "unknown word") {
		t.Errorf("an unknown payload: %+v", h)
	}
}

func climbs(t *testing.T, d Dispatcher, s *Store) {
	h := Listen(d.Start(t.Context(), job("climb 12")), nil)
	if h.Err != nil || !slices.Equal(h.Texts(), []string{"xx", "xx"}) {
		t.Fatalf("heard %+v", h)
	}
	want := []jobs.Began{{Attempt: 1}, {Attempt: 2, Resumed: true}, {Attempt: 3, Resumed: true}}
	if !slices.Equal(h.Began, want) || len(h.Saved) != 2 {
		t.Errorf("began %+v, want %+v; %d checkpoints", h.Began, want, len(h.Saved))
	}
	if r := s.Row(Key); r.State != record.JobDone || r.Checkpoint != nil {
		t.Errorf("recorded %+v", r)
	}
}

func givenUp(t *testing.T, d Dispatcher, s *Store) {
	h := Listen(d.Start(t.Context(), job("die")), nil)
	if h.Err == nil || idrl.KindOf(h.Err) != idrl.Internal || !strings.Contains(h.Err.Error(), "3 times") {
		t.Errorf("error = %v", h.Err)
	}
	if r := s.Row(Key); r.State != record.JobFailed || r.Attempt != 3 {
		t.Errorf("recorded %+v", r)
	}
	if h := Listen(d.Start(t.Context(), job("echo on")), nil); h.Err != nil {
		t.Errorf("after it: %v", h.Err)
	}
}

// Whoever leaves a stream stops the job, which can be handed out again.
func stopped(t *testing.T, d Dispatcher, s *Store) {
	working := func(e jobs.Event) bool { _, is := e.(jobs.Progress); return is }
	Listen(d.Start(t.Context(), job("wait")), working)
	if r := s.Row(Key); r.State != record.JobQueued || r.Attempt != 1 {
		t.Errorf("left: recorded %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h := Listen(d.Start(ctx, job("wait")), func(e jobs.Event) bool {
		if working(e) {
			cancel()
		}
		return false
	})
	if !errors.Is(h.Err, context.Canceled) || !h.Began[0].Resumed {
		t.Errorf("canceled: heard %+v", h)
	}
	rec, err := s.WaitingJob(t.Context(), "s", "train")
	if err != nil || string(rec.Payload) != "wait" || string(rec.Checkpoint) != "waits" {
		t.Errorf("waiting: %+v, %v", rec, err)
	}
}

// A job that was under way when the server died goes on from its checkpoint, and starts
// anew with another payload.
func resumed(t *testing.T, d Dispatcher, s *Store) {
	for _, test := range []struct {
		payload string
		want    []string
	}{
		{"climb 12", []string{"xx", "xx"}},
		{"climb 1", []string{"x", "x"}},
	} {
		ctx, now := t.Context(), time.Now()
		must.Do(t, s.QueueJob(ctx, record.JobRecord{JobKey: Key, Payload: []byte("climb 12")}, now))
		_, id, err := s.BeginJob(ctx, Key, now, now.Add(time.Hour))
		must.Do(t, err)
		must.Do(t, s.SaveJob(ctx, id, []byte("xx")))
		s.Interrupt()
		h := Listen(d.Start(ctx, job(test.payload)), nil)
		if h.Err != nil || !slices.Equal(h.Texts(), test.want) {
			t.Errorf("%s: heard %+v", test.payload, h)
		}
		if same := test.payload == "climb 12"; h.Began[0].Resumed != same {
			t.Errorf("%s: began %+v", test.payload, h.Began)
		}
	}
}

func twice(t *testing.T, d Dispatcher, _ *Store) {
	Listen(d.Start(t.Context(), job("wait")), func(e jobs.Event) bool {
		if _, is := e.(jobs.Progress); !is {
			return false
		}
		if h := Listen(d.Start(t.Context(), job("wait")), nil); idrl.KindOf(h.Err) != idrl.Conflict {
			t.Errorf("heard %+v", h)
		}
		return true
	})
}

func tooLarge(t *testing.T, d Dispatcher, _ *Store) {
	for payload, says := range map[string]string{"large": "at most 16 MiB", "many": "more than 64 MiB"} {
		if h := Listen(d.Start(t.Context(), job(payload)), nil); h.Err == nil || !strings.Contains(h.Err.Error(), says) {
			t.Errorf("%s: %v", payload, h.Err)
		}
	}
	h := Listen(d.Start(t.Context(), job(strings.Repeat("x", 16<<20+1))), nil)
	if idrl.KindOf(h.Err) != idrl.Invalid || !strings.Contains(h.Err.Error(), "payload") {
		t.Errorf("a large payload: %v", h.Err)
	}
}

func ended(t *testing.T, d Dispatcher, _ *Store) {
	if h := Listen(d.Start(t.Context(), job("echo")), nil); h.Err != nil { // there is a worker now
		t.Fatal(h.Err)
	}
	d.Forget("a")
	Listen(d.Start(t.Context(), job("wait")), func(e jobs.Event) bool {
		if _, is := e.(jobs.Progress); is {
			d.Forget("b")
			return true
		}
		return false
	})
	if h := Listen(d.Start(t.Context(), job("ended")), nil); !slices.Equal(h.Texts(), []string{"[a b]"}) {
		t.Errorf("heard %q, %v", h.Texts(), h.Err)
	}
}

func fenced(t *testing.T, d Dispatcher, s *Store) {
	s.Fence(true)
	h := Listen(d.Start(t.Context(), job("echo late")), nil)
	if idrl.KindOf(h.Err) != idrl.Conflict || h.Done != nil {
		t.Errorf("heard %+v", h)
	}
}
