package elsewhere

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// An AgentConfig configures an Agent.
type AgentConfig struct {
	Carrier Carrier  // required
	Offer   Offer    // what it says of itself; Process, Share, Slot and Number are set by the agent
	Slots   int      // jobs at a time; default 1
	Env     []string // of the processes that do jobs, besides this process's own
	Files   string   // folder for files that jobs read, which is made; empty: jobs that read some cannot be done

	// Command returns the command line of a process that does jobs, by jobs.Serve, and finds its files in a folder. Required.
	Command func(files string) []string

	Idle  time.Duration // without a job after which Run returns; 0: never
	Alive string        // file that is written again and again while the agent lives; empty: none
	Here  time.Duration // between signs of life; default 2 s
	Quiet time.Duration // without a sign of life after which a server is given up; default 20 s
	Log   *slog.Logger  // default slog.Default()
}

// An Agent offers a machine to servers, and has processes of its own do their jobs.
type Agent struct {
	c     AgentConfig
	times times

	mu     sync.Mutex       // guards all below
	seats  []*seat          // one for each slot
	routes map[string]*link // by the subject of what the server sends
	active time.Time        // when there was a job last
}

// A seat is a slot of an agent.
type seat struct {
	offer Offer
	taken chan string // gets the subject of what the server sends that takes the offer; buffered; nil while no offer stands; guarded by the agent's mu
}

// Check returns an error of kind Invalid if the name of the worker cannot be a word of a subject, or it has too many slots.
func (c AgentConfig) Check() error {
	if !Valid(c.Offer.Worker) {
		return idrl.Errorf(idrl.Invalid, "%.100q cannot be the name of a worker: it may have up to %d letters from a to z, digits, - and _", c.Offer.Worker, maxWord)
	}
	if c.Slots < 0 || c.Slots > maxSlots {
		return idrl.Errorf(idrl.Invalid, "a worker does 1 to %d jobs at a time, and not %d", maxSlots, c.Slots)
	}
	return nil
}

// NewAgent returns an Agent, or the error of Check.
func NewAgent(c AgentConfig) (*Agent, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.Slots = cmp.Or(c.Slots, 1)
	c.Offer.Share = c.Offer.Memory / int64(c.Slots)
	c.Offer.Process = strings.ToLower(rand.Text()[:6])
	if c.Log == nil {
		c.Log = slog.Default()
	}
	a := &Agent{c: c, times: times{Here: c.Here, Quiet: c.Quiet}.orDefault(), routes: map[string]*link{}, active: time.Now()}
	for k := range c.Slots {
		o := c.Offer
		o.Slot = k + 1
		a.seats = append(a.seats, &seat{offer: o})
	}
	return a, nil
}

// Run does jobs until ctx is done, or there was none for Idle; then it returns nil. Jobs under way are stopped, and their
// servers told, which go on from their last checkpoints. It returns an error of kind Unavailable when the carrier has ended.
func (a *Agent) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	parcels, err := a.c.Carrier.Receive(ctx, "to."+a.c.Offer.Worker+"."+a.c.Offer.Process+".>")
	if err != nil {
		return err
	}
	for _, s := range a.seats {
		all.Go(func() { a.serve(ctx, s) })
	}
	tick := time.NewTicker(a.times.Here)
	defer tick.Stop()
	for {
		select {
		case m, ok := <-parcels:
			if !ok && ctx.Err() == nil {
				return idrl.Errorf(idrl.Unavailable, "messages from servers have ended")
			}
			if ok {
				a.pass(ctx, m)
			}
		case now := <-tick.C:
			a.live(now)
			if a.c.Idle > 0 && a.idle(now) > a.c.Idle {
				a.c.Log.Info("there was no job, and the worker ends", "for", a.c.Idle)
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// live writes the file that says that the agent lives.
func (a *Agent) live(now time.Time) {
	if a.c.Alive == "" {
		return
	}
	if err := os.WriteFile(a.c.Alive, []byte(now.UTC().Format(time.RFC3339)+"\n"), 0o600); err != nil {
		a.c.Log.Warn("the file that says that the worker lives cannot be written", "err", err)
	}
}

func (a *Agent) idle(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Sub(a.active)
}

// work notes that there is a job.
func (a *Agent) work() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.active = time.Now()
}

// pass hands a parcel to its link, or to the seat whose offer it takes. A server whose link is not known is told that the
// worker has left.
func (a *Agent) pass(ctx context.Context, m Message) {
	kind, _, body, ok := decodeParcel(m.Data)
	if !ok {
		return
	}
	a.mu.Lock()
	l := a.routes[m.Subject]
	if l == nil && kind == parcelOpen {
		if s := a.open(body); s != nil {
			s.taken <- m.Subject
			s.taken = nil
			a.mu.Unlock()
			return
		}
	}
	a.mu.Unlock()
	switch {
	case l != nil:
		l.take(m.Data)
	case kind != parcelLeft:
		_ = a.c.Carrier.Send(ctx, from(m.Subject), encodeParcel(parcelLeft, 0, nil)) // else the server waits until its link times out
	}
}

// open returns the seat whose standing offer a server takes, nil if there is none. The caller holds mu.
func (a *Agent) open(body []byte) *seat {
	var o Offer
	if json.Unmarshal(body, &o) != nil {
		return nil
	}
	for _, s := range a.seats {
		if s.taken != nil && s.offer.Slot == o.Slot && s.offer.Number == o.Number {
			return s
		}
	}
	return nil
}

// serve offers a seat, and does the jobs of the server that takes it, again and again.
func (a *Agent) serve(ctx context.Context, s *seat) {
	for ctx.Err() == nil {
		at, err := a.offer(ctx, s)
		if err != nil {
			return
		}
		if err := a.bridge(ctx, s, at); err != nil && ctx.Err() == nil {
			a.c.Log.Info("the link to a server has ended", "why", err)
		}
	}
}

// offer makes an offer again and again until a server takes it.
func (a *Agent) offer(ctx context.Context, s *seat) (at string, err error) {
	taken := make(chan string, 1)
	a.mu.Lock()
	s.offer.Number, s.taken = rand.Text(), taken
	a.mu.Unlock()
	text, err := json.Marshal(s.offer)
	if err != nil {
		return "", err
	}
	again := time.NewTicker(a.times.Here)
	defer again.Stop()
	told := true
	for {
		err := a.c.Carrier.Tell(ctx, s.offer.subject(), text)
		if err != nil && told && ctx.Err() == nil {
			a.c.Log.Warn("an offer cannot be told; it will be tried again and again", "slot", s.offer.Slot, "err", err)
		}
		told = err == nil
		select {
		case at := <-taken:
			return at, nil
		case <-again.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// bridge starts a process, and carries frames between it and a server until either ends.
func (a *Agent) bridge(ctx context.Context, s *seat, at string) error {
	l := newLink(ctx, a.c.Carrier, from(at), a.times, &traffic{})
	a.mu.Lock()
	a.routes[at] = l
	a.mu.Unlock()
	defer func() {
		_ = l.Close()
		a.mu.Lock()
		delete(a.routes, at)
		a.mu.Unlock()
	}()
	if err := l.send(ctx, parcelHere, nil); err != nil { // the answer that the server waits for
		return err
	}
	kept := cache{dir: a.c.Files, seat: fmt.Sprintf("slot-%d", s.offer.Slot)}
	p, err := jobs.StartProcess(a.c.Command(kept.folder()), a.c.Env, a.c.Log)
	if err != nil {
		l.leave(parcelDied, []byte(err.Error()))
		return err
	}
	up := make(chan struct{})
	go func() {
		defer close(up)
		a.up(l, p)
	}()
	down := a.down(l, p, kept)
	state := p.End()
	<-up
	if errors.Is(down, io.EOF) {
		return nil
	}
	return fmt.Errorf("%w (%s)", down, state)
}

// up carries what a process sends, until it is gone. If the link has not ended before, the server hears that the process
// has died.
func (a *Agent) up(l *link, p *jobs.Process) {
	for {
		m, err := p.Read()
		if err == nil {
			a.work()
			err = l.Write(m)
		}
		if err != nil {
			l.leave(parcelDied, []byte(strings.ToValidUTF8(err.Error(), "")))
			return
		}
	}
}

// down carries what the server sends, until the link ends.
func (a *Agent) down(l *link, p *jobs.Process, kept cache) error {
	for {
		kind, body, err := l.next()
		if err != nil {
			return err
		}
		switch kind {
		case parcelFrame:
			a.work()
			err = p.Write(body)
		case parcelFiles:
			err = kept.take(l, body)
		default:
		}
		if err != nil {
			l.leave(parcelDied, []byte(strings.ToValidUTF8(err.Error(), "")))
			return err
		}
	}
}
