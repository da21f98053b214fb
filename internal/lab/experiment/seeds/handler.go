package seeds

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
	"tiebreak/internal/train/jobs"
)

// A Handler computes runs in a worker. It remembers what the seeds of the last experiment share.
type Handler struct {
	Cache string // as that of experiment.Options; empty: each worker makes the tables of policies itself

	mu    sync.Mutex // is held while a job is done; guards what follows
	bench *experiment.Bench
	of    string // what bench is of
	desk  desk
}

var _ jobs.Handler = (*Handler)(nil)

// Forget implements jobs.Handler. Nothing is remembered of the session of a job.
func (*Handler) Forget(idrl.SessionID) {}

// Do implements jobs.Handler. After each run it saves a checkpoint, from which it goes on.
func (h *Handler) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	e, err := decodeRequest(job.Payload)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.desk = desk{to: to, seed: e.FirstSeed, state: newState(e, job)}
	defer func() { h.desk = desk{} }()
	if err := h.open(ctx, e); err != nil {
		return err
	}
	runs, err := h.bench.Runs(ctx, e.FirstSeed)
	if err != nil {
		return err
	}
	b, err := encodeResult(e, runs)
	if err != nil {
		return err
	}
	return to.Artefact(Kind, b)
}

// open makes sure that bench is of e, with any seed. The caller holds mu.
func (h *Handler) open(ctx context.Context, e experiment.Experiment) error {
	of := fmt.Sprintf("%s %s %q", e.Name(), report.Fingerprint(e), e.Methods)
	if h.bench != nil && h.of == of {
		return nil
	}
	h.bench = nil
	bench, err := experiment.Open(ctx, e, experiment.Options{
		Workers: 1, Store: &h.desk, Cache: h.Cache, Preparing: h.desk.preparing, Answered: h.desk.answered,
	})
	if err != nil {
		return err
	}
	h.bench, h.of = bench, of
	return nil
}

// A desk has the runs of the job under way. It is used while Handler.mu is held.
type desk struct {
	to    jobs.Reporter
	seed  uint64
	state state
}

var _ experiment.Store = (*desk)(nil)

// A state is a checkpoint: the runs that are finished.
type state struct {
	Payload [sha256.Size]byte // hash of the payload that they belong to
	Runs    map[string][]byte // by method; report.EncodeRun
}

// newState returns what the job goes on from. A checkpoint that cannot be read is left out.
func newState(e experiment.Experiment, job record.JobRecord) state {
	payload := sha256.Sum256(job.Payload)
	s, err := pack.Decode[state](job.Checkpoint)
	if err != nil || s.Payload != payload || s.Runs == nil {
		return state{Payload: payload, Runs: map[string][]byte{}}
	}
	for method, b := range s.Runs {
		if _, err := report.DecodeRun(e, method, e.FirstSeed, b); err != nil {
			delete(s.Runs, method)
		}
	}
	return s
}

// Load implements experiment.Store.
func (d *desk) Load(e experiment.Experiment, method string, seed uint64) (experiment.Run, bool) {
	b, ok := d.state.Runs[method]
	if !ok {
		return experiment.Run{}, false
	}
	r, err := report.DecodeRun(e, method, seed, b)
	return r, err == nil
}

// Save implements experiment.Store.
func (d *desk) Save(e experiment.Experiment, method string, seed uint64, r experiment.Run) (err error) {
	if d.state.Runs[method], err = report.EncodeRun(e, method, seed, r); err != nil {
		return err
	}
	b, err := pack.Encode(&d.state)
	if err == nil {
		_ = d.to.Checkpoint(b) // without it, another worker would compute the run again
	}
	return err
}

func (d *desk) preparing(done, total int, what string) {
	d.to.Progress(done, total, fmt.Sprintf("seed %d, a worker prepares what its seeds share: %s", d.seed, what))
}

func (d *desk) answered(done, total int, what string) { d.to.Progress(done, total, what) }
