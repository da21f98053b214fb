package jobs

import (
	"context"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A ticket is a job that waits for a worker or has one.
type ticket struct {
	job   Job
	here  bool          // it was lost elsewhere, and is done on this machine if that does any
	spare bool          // there is a further attempt if the link to the worker is lost
	last  bool          // there is no further attempt if the worker dies
	emit  func(Event)   // called from the goroutine that reads the stream
	given chan *worker  // receives the worker; buffered
	moved chan struct{} // receives when the outlook has changed; buffered
	turn  chan bool     // receives whether the job is paused, the newest; buffered

	stop  context.CancelFunc // ends the attempt; set before the job is queued
	level level              // of the process that does it; set before it is given a worker
	short bool               // likewise: it takes no place of long jobs

	// The pool's mu guards what follows.
	place   int64         // in the order of arrival
	ousted  bool          // stop was called for another job's sake
	began   time.Time     // when it was given a worker; zero before
	resting time.Time     // since when it waits for a worker, or is paused; zero while it runs
	waited  time.Duration // before that
	paused  time.Duration // before that, after it began
	used    time.Duration // processor time so far
	outlook idrl.Outlook
}

func (t *ticket) urgent() bool { return t.job.Priority == record.Urgent }

// pausing reports whether t has a worker and is paused.
func (t *ticket) pausing() bool { return !t.began.IsZero() && !t.resting.IsZero() }

// active returns how long t has had a worker without being paused. The caller holds the
// pool's mu.
func (t *ticket) active(now time.Time) time.Duration {
	if t.pausing() {
		now = t.resting
	}
	return now.Sub(t.began) - t.paused
}

// rest has t rest from now on. The caller holds the pool's mu.
func (t *ticket) rest(now time.Time) {
	t.resting = now
	t.tellTurn(true)
}

// run ends the rest of t. The caller holds the pool's mu.
func (t *ticket) run(now time.Time) {
	rested := now.Sub(t.resting)
	t.waited += rested
	if t.began.IsZero() {
		t.began = now
	} else {
		t.paused += rested
		t.tellTurn(false)
	}
	t.resting = time.Time{}
}

// tellTurn tells the attempt that t is paused, or goes on. The caller holds the pool's mu.
func (t *ticket) tellTurn(paused bool) {
	select {
	case <-t.turn: // not heard yet
	default:
	}
	t.turn <- paused
}

// tellEvery is how often a job is told its outlook though nothing has changed, for
// its time gets shorter, and how often the order of jobs is looked at, for their ratios grow.
const tellEvery = 5 * time.Second

// wait queues t until it is given a worker, which the caller must release.
func (p *Pool) wait(ctx context.Context, t *ticket) (*worker, error) {
	p.mu.Lock()
	p.enqueue(t, time.Now())
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
			p.mu.Lock()
			p.dispatch(time.Now())
			p.mu.Unlock()
			p.tell(t)
		}
	}
}

// enqueue adds t to those that wait. The caller holds mu.
func (p *Pool) enqueue(t *ticket, now time.Time) {
	p.places++
	t.place, t.resting = p.places, now
	p.queue = append(p.queue, t)
	p.dispatch(now)
}

// leave takes t out of the queue, or gives back the worker that it has just got.
func (p *Pool) leave(t *ticket) {
	p.mu.Lock()
	k := slices.Index(p.queue, t)
	if k >= 0 {
		p.queue = slices.Delete(p.queue, k, k+1)
		p.foresee(time.Now())
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
	p.free(w, done, time.Now())
}

// free is release. The caller holds mu.
func (p *Pool) free(w *worker, done bool, now time.Time) {
	if t := w.now; done {
		p.typical[t.like()] = p.typical[t.like()].with(length{took: t.active(now), work: max(t.used, leastWork)})
		w.did++
		w.place.didOne()
	}
	w.now = nil
	if w.place != nil && (w.leaving || !w.alive()) {
		if w.process != nil {
			w.abandon()
		}
		p.drop(w)
	} else {
		w.tellEnded()
		p.idle = append(p.idle, w)
	}
	p.dispatch(now)
	p.back.Broadcast()
}

// dispatch has those jobs go on, or begin, whose turn it is. The caller holds mu.
func (p *Pool) dispatch(now time.Time) {
	select {
	case <-p.closed:
		return
	default:
	}
	for _, t := range p.inOrder(slices.Concat(p.queue, p.pausing()), now) {
		switch {
		case t.pausing():
			if len(p.long()) < p.c.Workers {
				t.run(now)
			}
		case p.begin(t, now):
		case p.makeRoom(t, now):
			p.begin(t, now)
		}
	}
	p.foresee(now)
}

// begin gives t a worker if there is one that may do it. The caller holds mu.
func (p *Pool) begin(t *ticket, now time.Time) bool {
	t.level, t.short = p.level(t), p.short(t)
	w := p.worker(t)
	if w == nil {
		return false
	}
	p.idle = slices.DeleteFunc(p.idle, func(o *worker) bool { return o == w })
	p.queue = slices.DeleteFunc(p.queue, func(o *ticket) bool { return o == t })
	w.now, w.like = t, t.like()
	t.run(now)
	t.given <- w
	return true
}

// worker returns the idle worker that does t best, nil if there is none: one that did a job
// like it, and has not to be replaced. The caller holds mu.
func (p *Pool) worker(t *ticket) (best *worker) {
	full := full(p, t)
	most := -1
	for _, w := range p.idle {
		if full && w.place == nil {
			continue
		}
		if fit := p.fit(w, t); fit > most {
			best, most = w, fit
		}
	}
	return best
}

// fit says how well an idle worker suits t; negative if it does not. An urgent job has the
// worker of urgent jobs if it can, and another only where no other job waits for it; a short
// one has that worker last, and only where no urgent job waits for it. The caller holds mu.
func (p *Pool) fit(w *worker, t *ticket) int {
	if w.place != nil {
		return p.fitElsewhere(w, t)
	}
	waits := func(urgent bool) bool {
		return slices.ContainsFunc(p.queue, func(o *ticket) bool { return o.urgent() == urgent })
	}
	fit := 0
	switch {
	case t.urgent() && w.urgentOnly:
		fit = 4
	case t.urgent() && waits(false), w.urgentOnly && (!p.short(t) || waits(true)):
		return -1
	case !w.urgentOnly:
		fit = 2
	}
	if w.like == t.like() {
		fit++
	}
	if w.level > t.level {
		fit -= 2
	}
	return max(fit, 0)
}

// pausing returns the jobs that are paused. The caller holds mu.
func (p *Pool) pausing() (out []*ticket) {
	for _, w := range p.workers {
		if w.now != nil && w.now.pausing() {
			out = append(out, w.now)
		}
	}
	return out
}

// long returns the long jobs that run on this machine. The caller holds mu.
func (p *Pool) long() (out []*ticket) {
	for _, w := range p.workers {
		if t := w.now; t != nil && w.place == nil && !t.urgent() && !t.short && !t.pausing() {
			out = append(out, t)
		}
	}
	return out
}

// makeRoom makes room for t, which waits: it ends an attempt at a job that yields, or pauses a job that has much left. It
// reports whether t can begin at once. The caller holds mu.
func (p *Pool) makeRoom(t *ticket, now time.Time) bool {
	if t.urgent() || t.job.Yields {
		return false
	}
	running := p.inOrder(p.long(), now)
	slices.Reverse(running)
	for _, o := range running {
		if o.job.Yields {
			if !o.ousted {
				o.ousted = true
				o.stop()
			}
			return false
		}
	}
	free := slices.ContainsFunc(p.idle, func(w *worker) bool { return !w.urgentOnly && w.place == nil })
	for _, o := range running {
		if free && p.standing(t, now).overtakes(p.standing(o, now)) {
			o.rest(now)
			return true
		}
	}
	return false
}

// foresee updates the outlooks of all tickets that wait. The caller holds mu.
func (p *Pool) foresee(now time.Time) {
	order := p.inOrder(p.queue, now)
	for _, urgent := range []bool{true, false} {
		ahead, free, known := p.serving(urgent, now)
		for _, t := range order {
			if t.urgent() != urgent {
				continue
			}
			typical := p.typical[t.like()].took
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

// serving returns how many jobs workers have in hand that are urgent, or not, when the
// places for such jobs will be free, and whether that is known. The caller holds mu.
func (p *Pool) serving(urgent bool, now time.Time) (jobs int, free []time.Time, known bool) {
	known = true
	for _, w := range p.workers {
		if w.now == nil || w.now.urgent() != urgent {
			continue
		}
		jobs++
		ready := p.ready(w.now, now)
		known = known && !ready.IsZero()
		free = append(free, ready)
	}
	places := 1
	if !urgent {
		places = max(p.c.Workers, 0) + elsewhere(p.workers)
	}
	places = max(places, 1)
	for len(free) < places {
		free = append(free, now)
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
	typical := p.typical[t.like()].took
	if typical == 0 {
		return time.Time{}
	}
	had := t.active(now)
	return now.Add(max(typical-had, had/4))
}

// set keeps an outlook, and wakes the job if it differs in more than a second of Ready.
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
		o = idrl.Outlook{Ready: p.ready(t, time.Now()), Paused: t.pausing()}
	}
	p.mu.Unlock()
	t.emit(Outlook(o))
}
