package jobs

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"tiebreak/internal/base/record"
)

// A Place is a worker elsewhere, which does one job at a time.
type Place struct {
	Name string // of the worker, for people

	// Lacks returns what the worker does not have of what a job needs, in words for people; empty if it can do the
	// job. Nil: it has everything.
	Lacks func(needs []string) string

	// Did counts the jobs that the worker has done. It may be nil.
	Did *atomic.Int64

	// Refused hears that a result of the worker was false. It may be nil.
	Refused func(why error)
}

// OnThisMachine is the name of a worker that is a process of this machine. No Place may have it.
const OnThisMachine = "here"

func (p *Place) name() string {
	if p == nil {
		return OnThisMachine
	}
	return p.Name
}

func (p *Place) refused(why error) {
	if p != nil && p.Refused != nil {
		p.Refused(why)
	}
}

func (p *Place) didOne() {
	if p != nil && p.Did != nil {
		p.Did.Add(1)
	}
}

func (p *Place) can(needs []string) bool { return p.Lacks == nil || p.Lacks(needs) == "" }

// Join adds a worker elsewhere to the pool, until its link ends, ctx is done, or the pool is closed, and
// returns after it has left. The link is closed then. A job that the worker had is given to another one; a worker of
// another version of the protocol leaves at its first job.
//
// Long jobs go to workers elsewhere first, so that the processors of this machine are left to people; urgent and short
// ones go there where no process of this machine is free for them.
func (p *Pool) Join(ctx context.Context, link Link, place Place) {
	w := &worker{place: &place, process: newProcess(linked{link})}
	by := w.process
	p.mu.Lock()
	select {
	case <-p.closed:
		p.mu.Unlock()
		by.abandon()
		return
	default:
	}
	w.joined = time.Now()
	p.workers = append(p.workers, w)
	p.idle = append(p.idle, w)
	p.dispatch(w.joined)
	p.mu.Unlock()

	select {
	case <-by.exited:
	case <-ctx.Done():
		by.abandon()
	case <-p.closed:
		by.abandon()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for slices.Contains(p.workers, w) {
		if k := slices.Index(p.idle, w); k >= 0 {
			p.idle = slices.Delete(p.idle, k, k+1)
			p.drop(w)
			break
		}
		p.back.Wait() // until the job of w has noticed
	}
}

// drop takes a worker elsewhere out of the pool. The caller holds mu.
func (p *Pool) drop(w *worker) {
	p.workers = slices.DeleteFunc(p.workers, func(o *worker) bool { return o == w })
	p.back.Broadcast()
}

// elsewhere counts those of the workers that are elsewhere.
func elsewhere(workers []*worker) (n int) {
	for _, w := range workers {
		if w.place != nil {
			n++
		}
	}
	return n
}

// fitElsewhere is fit for a worker elsewhere. The caller holds mu.
func (p *Pool) fitElsewhere(w *worker, t *ticket) int {
	if t.here && p.c.Workers > 0 || !w.place.can(t.job.Needs) {
		return -1
	}
	fit := 0
	if !t.urgent() && !p.short(t) {
		fit = 4
	}
	if w.like == t.like() {
		fit++
	}
	return fit
}

// A Waiting is a job that waits for a worker.
type Waiting struct {
	record.JobKey
	Since time.Time
	Needs []string
	Here  bool // it was lost elsewhere too often, and is done on this machine
	Local bool // processes of this machine may do it
}

// Waiting returns the jobs that wait for a worker, in the order of arrival. It leaves out those that are paused.
func (p *Pool) Waiting() (out []Waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.queue {
		out = append(out, Waiting{JobKey: t.job.JobKey, Since: t.resting, Needs: t.job.Needs, Here: t.here && p.c.Workers > 0, Local: p.c.Workers > 0})
	}
	return out
}

// A Worker describes what a worker of the pool does now.
type Worker struct {
	Name  string    // OnThisMachine for a process of this machine
	Since time.Time // when it joined; zero for one of this machine
	Doing bool
	Job   record.JobKey // if Doing
	Began time.Time     // likewise
	Jobs  int           // that it has done
}

// Now returns what the workers do: those elsewhere, and those of this machine that have a job.
func (p *Pool) Now() (out []Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if w.place == nil && w.now == nil {
			continue
		}
		o := Worker{Name: w.place.name(), Since: w.joined, Jobs: w.did}
		if t := w.now; t != nil {
			o.Doing, o.Job, o.Began = true, t.job.JobKey, t.began
		}
		out = append(out, o)
	}
	return out
}

// Here returns how many jobs processes of this machine can do at a time.
func (p *Pool) Here() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if w.place == nil {
			n++
		}
	}
	return n
}

// Leave has a worker elsewhere leave as soon as it has no job. It reports whether there is one of that name.
func (p *Pool) Leave(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := false
	for _, w := range slices.Clone(p.workers) {
		if w.place == nil || w.place.Name != name {
			continue
		}
		found, w.leaving = true, true
		if k := slices.Index(p.idle, w); k >= 0 {
			p.idle = slices.Delete(p.idle, k, k+1)
			w.abandon()
			p.drop(w)
		}
	}
	return found
}
