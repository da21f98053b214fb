package live

import (
	"sync"
	"time"
)

// A Pacer runs a function each time it is woken: never twice at a time, not more often than once an
// interval, and once more if it was woken while it ran. An idle Pacer holds no goroutine.
type Pacer struct {
	run      func()
	interval time.Duration

	mu      sync.Mutex
	running bool        // guarded by mu, as are all below
	again   time.Time   // woken while running: when to run next; zero if not
	timer   *time.Timer // pending run; nil if none
	due     time.Time   // of timer
	last    time.Time   // start of the last run
	stopped bool
	group   sync.WaitGroup // the goroutine of a run
}

// NewPacer returns a pacer that calls run with at least interval between the
// starts of two runs. interval may be 0. Stop it after use.
func NewPacer(interval time.Duration, run func()) *Pacer {
	return &Pacer{run: run, interval: interval}
}

// Wake asks for a run within the given delay, or as soon as the interval allows. It never blocks.
// It does not delay earlier requests.
func (p *Pacer) Wake(delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	at := time.Now().Add(delay)
	if earliest := p.last.Add(p.interval); at.Before(earliest) {
		at = earliest
	}
	if p.running {
		if p.again.IsZero() || at.Before(p.again) {
			p.again = at
		}
		return
	}
	p.schedule(at)
}

// schedule arranges a run at time at, unless one is due before. The caller holds mu.
func (p *Pacer) schedule(at time.Time) {
	if p.timer != nil {
		if !at.Before(p.due) || !p.timer.Stop() {
			return
		}
		p.timer = nil
		p.group.Done()
	}
	p.due = at
	p.group.Add(1)
	p.timer = time.AfterFunc(time.Until(at), p.fire)
}

// fire is the body of the goroutine of one run.
func (p *Pacer) fire() {
	defer p.group.Done()
	p.mu.Lock()
	p.timer = nil
	if p.stopped {
		p.mu.Unlock()
		return
	}
	p.running, p.last = true, time.Now()
	p.mu.Unlock()

	p.run()

	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
	if at := p.again; !at.IsZero() && !p.stopped {
		p.again = time.Time{}
		p.schedule(at)
	}
}

// Stop cancels a pending run and waits for the present one, so it must not be called from within
// one. Wake does nothing afterwards.
func (p *Pacer) Stop() {
	p.mu.Lock()
	p.stopped = true
	if p.timer != nil && p.timer.Stop() {
		p.group.Done()
	}
	p.timer = nil
	p.mu.Unlock()
	p.group.Wait()
}
