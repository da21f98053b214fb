package web

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// Limits of heavy work: requests whose cost grows with a session, a file or the number of sessions.
const (
	heavyWaiting = 64        // requests that wait for a place, at most
	heavyOwn     = 8         // of them of one actor
	heavyMemory  = 192 << 20 // bytes that admitted requests may need together

	heavyWait  = 20 * time.Second // of waiting for a place, at most
	heavyAgain = 10 * time.Second // wait that a client is asked for if there was no place

	heavySlice = 100 * time.Millisecond // of a place, after which another request may have it

	timeRate  = 0.5 // seconds of places that an actor gains a second
	timeBurst = 60  // seconds of places that an actor can save up
	timeDebt  = 5   // seconds that one is in debt at most: the next work begins after twice that time
)

// Refusals of heavy work for which there was no place.
var (
	errHeavy   = idrl.Errorf(idrl.Unavailable, "The server is computing other large pages and exports. Try again in %d seconds.", int(heavyAgain.Seconds()))
	errUploads = idrl.Errorf(idrl.Unavailable, "the server is reading other uploads; try again in a moment")
)

// A work is a kind of heavy work.
type work struct {
	bytes int64         // memory that it may need, until it leaves
	after float64       // seconds that its actor is charged for what it causes afterwards
	waits time.Duration // how many times the wait of the scheduler it waits for a place, at most; 0 for once
	alone bool          // of one actor only one is admitted at a time
	busy  error         // of a request for which there was no place
}

// Kinds of heavy work. An upload needs more memory the longer it is.
var (
	pageWork   = work{bytes: 32 << 20, busy: errHeavy}
	fileWork   = work{bytes: 16 << 20, busy: errHeavy} // written row by row
	readWork   = work{bytes: 2 << 20, busy: errHeavy}
	createWork = work{bytes: 8 << 20, after: 3, busy: errHeavy} // the first clips are made afterwards
	uploadWork = work{bytes: 24 << 20, waits: 3, alone: true, busy: errUploads}
)

// A scheduler admits all heavy work of a server. It has places, half as many as there are
// processors, so that annotators have the others, and a budget of memory. Actors take turns, and one who has used
// much time of the places waits before the next request.
type scheduler struct {
	places int
	memory int64
	wait   time.Duration

	mu      sync.Mutex
	taken   int              // guarded by mu: places
	held    int64            // guarded by mu: bytes
	actors  map[person]*line // guarded by mu
	turn    []*line          // guarded by mu: those with waiting tickets, the next one first
	waiting int              // guarded by mu: tickets that are not admitted
	later   *time.Timer      // guarded by mu: dispatches when an actor has time again
}

// A line is what a scheduler knows of an actor. The scheduler's mutex guards it.
type line struct {
	queue    []*ticket
	admitted int    // tickets
	alone    bool   // one of these is of a work that is alone
	time     bucket // seconds of places
}

// A ticket is a request for heavy work. One goroutine uses it at a time, but for share.
type ticket struct {
	s    *scheduler
	line *line
	work
	admitted bool          // guarded by the scheduler's mutex: it has its memory
	place    bool          // guarded likewise
	since    time.Time     // guarded likewise: when it got its place
	ready    chan struct{} // receives one element when it gets a place
	away     sync.Mutex    // held from rest to resume, where several goroutines may call them
}

func newScheduler() *scheduler {
	return &scheduler{places: max(1, runtime.GOMAXPROCS(0)/2), memory: heavyMemory, wait: heavyWait, actors: map[person]*line{}}
}

// enter waits until work of an actor may begin. It returns w.busy if too many requests wait, or it
// has waited too long, or ctx is done. The caller must leave.
func (s *scheduler) enter(ctx context.Context, who person, w work) (*ticket, error) {
	s.mu.Lock()
	l := s.actors[who]
	if l == nil {
		l = &line{time: newBucket(timeRate, timeBurst)}
		s.forget()
		s.actors[who] = l
	}
	t := &ticket{s: s, line: l, work: w, ready: make(chan struct{}, 1)}
	t.bytes = min(t.bytes, s.memory)
	if s.waiting >= heavyWaiting || len(l.queue) >= heavyOwn {
		s.mu.Unlock()
		return nil, w.busy
	}
	s.queue(t, false)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.wait*max(1, w.waits))
	defer cancel()
	if !t.await(ctx) {
		return nil, w.busy
	}
	return t, nil
}

// rest frees the place, while the request waits for something else than a processor.
func (t *ticket) rest() {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.yield()
	t.s.dispatch()
}

// resume waits for a place again. It returns an error if ctx is done before.
func (t *ticket) resume(ctx context.Context) error {
	t.s.mu.Lock()
	t.s.queue(t, true)
	t.s.mu.Unlock()
	if !t.await(ctx) {
		return t.busy
	}
	return nil
}

// share lets a request that waits have the place, after each slice of time. Long work calls it between its pieces; several
// goroutines may.
func (t *ticket) share(ctx context.Context) {
	if !t.away.TryLock() {
		return
	}
	defer t.away.Unlock()
	t.s.mu.Lock()
	due := t.place && time.Since(t.since) >= heavySlice && slices.ContainsFunc(t.s.turn, func(l *line) bool { return len(l.queue) > 0 })
	t.s.mu.Unlock()
	if due {
		t.rest()
		_ = t.resume(ctx) // without a place, it ends soon: ctx is done
	}
}

// leave ends the work.
func (t *ticket) leave() {
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	t.yield()
	t.line.time.spend(t.after, timeDebt, time.Now())
	t.admitted = false
	s.held -= t.bytes
	t.line.admitted--
	if t.alone {
		t.line.alone = false
	}
	s.dispatch()
}

// await waits until t has a place. It gives up when ctx is done, and reports whether t has one.
func (t *ticket) await(ctx context.Context) bool {
	select {
	case <-t.ready:
		return true
	case <-ctx.Done():
	}
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-t.ready: // it got one meanwhile
		return true
	default:
	}
	t.line.queue = slices.DeleteFunc(t.line.queue, func(o *ticket) bool { return o == t })
	if !t.admitted {
		s.waiting--
	}
	s.dispatch()
	return false
}

// yield frees the place of t, if it has one, and charges its actor for the time. The caller holds
// the scheduler's mutex.
func (t *ticket) yield() {
	if !t.place {
		return
	}
	t.place = false
	t.s.taken--
	now := time.Now()
	t.line.time.spend(now.Sub(t.since).Seconds(), timeDebt, now)
}

// queue adds a ticket to its actor's line: at its end, or as the first. The caller holds the mutex.
func (s *scheduler) queue(t *ticket, first bool) {
	if len(t.line.queue) == 0 && !slices.Contains(s.turn, t.line) {
		s.turn = append(s.turn, t.line)
	}
	if first {
		t.line.queue = slices.Insert(t.line.queue, 0, t)
	} else {
		t.line.queue = append(t.line.queue, t)
		s.waiting++
	}
	s.dispatch()
}

// dispatch gives free places to tickets: one of each actor in turn. Tickets that have their memory
// already come before all others, so that they end. The caller holds the mutex.
func (s *scheduler) dispatch() {
	now := time.Now()
	for s.taken < s.places {
		t := s.next(now)
		if t == nil {
			return
		}
		s.taken++
		t.place, t.since = true, now
		if !t.admitted {
			t.admitted = true
			s.waiting--
			s.held += t.bytes
			t.line.admitted++
			t.line.alone = t.line.alone || t.alone
		}
		t.ready <- struct{}{}
	}
}

// next takes the ticket out of the lines that gets the next place; nil if none may have one now. An
// actor whose ticket needs more memory than is free is waited for, lest smaller ones overtake it for ever.
func (s *scheduler) next(now time.Time) *ticket {
	s.turn = slices.DeleteFunc(s.turn, func(l *line) bool { return len(l.queue) == 0 })
	for i, l := range s.turn {
		if l.queue[0].admitted {
			return s.serve(i)
		}
	}
	wait := time.Duration(-1)
	for i, l := range s.turn {
		t := l.queue[0]
		if owed := l.time.until(0, now); owed > 0 {
			if wait < 0 || owed < wait {
				wait = owed
			}
			continue
		}
		if t.alone && l.alone {
			continue
		}
		if s.held+t.bytes > s.memory {
			break
		}
		return s.serve(i)
	}
	if wait > 0 {
		s.remind(wait)
	}
	return nil
}

// serve takes the first ticket of the i-th actor, who is the last one from now on.
func (s *scheduler) serve(i int) *ticket {
	l := s.turn[i]
	t := l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	s.turn = append(slices.Delete(s.turn, i, i+1), l)
	return t
}

// remind dispatches after a wait.
func (s *scheduler) remind(wait time.Duration) {
	if s.later != nil {
		s.later.Stop()
	}
	s.later = time.AfterFunc(wait+time.Millisecond, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dispatch()
	})
}

// forget removes actors of whom nothing need be known, if there are many. The caller holds the mutex.
func (s *scheduler) forget() {
	if len(s.actors) < maxActors {
		return
	}
	now := time.Now()
	for who, l := range s.actors {
		if len(l.queue) == 0 && l.admitted == 0 && l.time.full(now) {
			delete(s.actors, who)
		}
	}
}

// maxActors is how many actors a scheduler remembers before it looks which of them it can forget.
const maxActors = 1024
