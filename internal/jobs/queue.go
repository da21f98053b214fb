package jobs

import (
	"context"
	"slices"
	"time"

	"tiebreak/internal/idrl"
)

// A ticket is a job that waits for a worker or has one.
type ticket struct {
	job   Job
	last  bool          // there is no further attempt if the worker dies
	emit  func(Event)   // called from the goroutine that reads the stream
	given chan *worker  // receives the worker; buffered
	moved chan struct{} // receives when the outlook has changed; buffered

	stop    context.CancelFunc // ends the attempt; set before the job is queued
	ousted  bool               // guarded by the pool's mu: stop was called for another job's sake
	began   time.Time          // guarded by the pool's mu: when it was given a worker; zero before
	outlook idrl.Outlook       // guarded by the pool's mu
}

func (t *ticket) urgent() bool { return t.job.Priority == idrl.Urgent }

// like names the jobs that take about as long.
func (t *ticket) like() string {
	if t.urgent() {
		return "urgent " + t.job.Like
	}
	return "background " + t.job.Like
}

// tellEvery is how often a job is told its outlook though nothing has changed, for
// its time gets shorter.
const tellEvery = 5 * time.Second

// wait queues t until it is given a worker, which the caller must release.
func (p *Pool) wait(ctx context.Context, t *ticket) (*worker, error) {
	p.mu.Lock()
	p.enqueue(t)
	p.dispatch()
	p.makeRoom(t)
	p.mu.Unlock()
	again := time.NewTicker(tellEvery)
	defer again.Stop()
	for {
		select {
		case w := <-t.given:
			return w, nil
		case <-ctx.Done():
			p.leave(t)
			return nil, ctx.Err()
		case <-t.moved:
			p.tell(t)
		case <-again.C:
			p.tell(t)
		}
	}
}

// enqueue adds t behind the jobs that go first. The caller holds mu.
func (p *Pool) enqueue(t *ticket) {
	at := len(p.queue)
	if k := slices.IndexFunc(p.queue, func(o *ticket) bool { return o.job.Yields }); k >= 0 && !t.job.Yields {
		at = k
	}
	p.queue = slices.Insert(p.queue, at, t)
}

// makeRoom ends an attempt at a job that yields if t has to wait for a worker. The caller
// holds mu.
func (p *Pool) makeRoom(t *ticket) {
	if t.job.Yields || t.urgent() || !slices.Contains(p.queue, t) {
		return
	}
	for _, w := range p.workers {
		if w.now != nil && w.now.job.Yields && !w.now.ousted {
			w.now.ousted = true
			w.now.stop()
			return
		}
	}
}

// leave takes t out of the queue, or gives back the worker that it has just got.
func (p *Pool) leave(t *ticket) {
	p.mu.Lock()
	k := slices.Index(p.queue, t)
	if k >= 0 {
		p.queue = slices.Delete(p.queue, k, k+1)
		p.foresee()
	}
	p.mu.Unlock()
	if k < 0 {
		p.release(<-t.given, false)
	}
}

// release gives back a worker. done says that it did its job, whose duration then
// tells of others like it.
func (p *Pool) release(w *worker, done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done {
		p.learn(w.now)
	}
	w.now = nil
	w.tellEnded()
	p.idle = append(p.idle, w)
	p.dispatch()
	p.back.Broadcast()
}

// learn notes how long t took. The last jobs count most, for the load changes.
func (p *Pool) learn(t *ticket) {
	took, known := time.Since(t.began), p.typical[t.like()]
	if known > 0 {
		took = (2*known + took) / 3
	}
	p.typical[t.like()] = took
}

// dispatch gives idle workers to tickets, the oldest first. The caller holds mu.
func (p *Pool) dispatch() {
	select {
	case <-p.closed:
		return
	default:
	}
	now := time.Now()
	for _, t := range slices.Clone(p.queue) {
		k := slices.IndexFunc(p.idle, func(w *worker) bool { return p.suits(w, t) })
		if k < 0 {
			continue
		}
		w := p.idle[k]
		p.idle = slices.Delete(p.idle, k, k+1)
		p.queue = slices.DeleteFunc(p.queue, func(o *ticket) bool { return o == t })
		w.now, t.began = t, now
		t.given <- w
	}
	p.foresee()
}

// suits reports whether an idle worker may be given to t. An urgent job takes the
// worker of urgent jobs if it can, and another only where no other job waits for it.
func (p *Pool) suits(w *worker, t *ticket) bool {
	if !t.urgent() {
		return !w.urgentOnly
	}
	return w.urgentOnly || !slices.ContainsFunc(p.idle, func(o *worker) bool { return o.urgentOnly }) &&
		!slices.ContainsFunc(p.queue, func(o *ticket) bool { return !o.urgent() })
}

// foresee brings the outlook of every ticket up to date. The caller holds mu.
func (p *Pool) foresee() {
	now := time.Now()
	for _, urgent := range []bool{true, false} {
		ahead, free, known := p.serving(urgent, now)
		for _, t := range p.queue {
			if t.urgent() != urgent {
				continue
			}
			typical := p.typical[t.like()]
			known = known && typical > 0
			o := idrl.Outlook{Waiting: true, Ahead: ahead}
			if known {
				soonest := earliest(free)
				*soonest = soonest.Add(typical)
				o.Ready = *soonest
			}
			ahead++
			t.set(o)
		}
	}
}

// serving returns how many jobs those workers have in hand that do urgent jobs, or
// the others, when each of these workers will be free, and whether that is known.
// A worker that may do both kinds counts where its job belongs.
func (p *Pool) serving(urgent bool, now time.Time) (jobs int, free []time.Time, known bool) {
	known = true
	for _, w := range p.workers {
		switch {
		case w.now == nil && w.urgentOnly == urgent:
			free = append(free, now)
		case w.now == nil || w.urgentOnly != urgent && w.now.urgent() != urgent:
			// of no use to these jobs, as things stand
		default:
			jobs++
			ready := p.ready(w.now, now)
			known = known && !ready.IsZero()
			free = append(free, ready)
		}
	}
	return jobs, free, known
}

func earliest(times []time.Time) *time.Time {
	first := &times[0]
	for k := range times {
		if times[k].Before(*first) {
			first = &times[k]
		}
	}
	return first
}

// ready returns when a job under way is expected to end, zero if that is not known.
// One that takes longer than usual is taken to need a quarter more than it has had.
func (p *Pool) ready(t *ticket, now time.Time) time.Time {
	typical := p.typical[t.like()]
	if typical == 0 {
		return time.Time{}
	}
	had := now.Sub(t.began)
	return now.Add(max(typical-had, had/4))
}

// set keeps an outlook, and wakes the job if it differs by something to speak of.
func (t *ticket) set(o idrl.Outlook) {
	was := t.outlook
	t.outlook = o
	if was.Waiting == o.Waiting && was.Ahead == o.Ahead && was.Ready.IsZero() == o.Ready.IsZero() && o.Ready.Sub(was.Ready).Abs() < time.Second {
		return
	}
	select {
	case t.moved <- struct{}{}:
	default:
	}
}

// tell tells a job its present outlook.
func (p *Pool) tell(t *ticket) {
	p.mu.Lock()
	o := t.outlook
	if !t.began.IsZero() {
		o = idrl.Outlook{Ready: p.ready(t, time.Now())}
	}
	p.mu.Unlock()
	t.emit(Outlook(o))
}
