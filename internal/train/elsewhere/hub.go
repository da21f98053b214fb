package elsewhere

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// A Pool is a pool of workers that workers elsewhere join: *jobs.Pool.
type Pool interface {
	Join(ctx context.Context, link jobs.Link, place jobs.Place)
	Waiting() []jobs.Waiting
	Now() []jobs.Worker
	Leave(name string) bool
}

// A HubConfig configures a Hub.
type HubConfig struct {
	Pool    Pool   // required
	Server  string // Valid, and different for each server that the carrier reaches; default made at random
	Version string // of the program: workers of another one are not used

	Here  time.Duration // between signs of life; default 2 s
	Quiet time.Duration // without a sign of life after which a worker is given up; default 20 s
	Keep  time.Duration // for which a worker without a job is kept; default 30 s

	// Barred has those workers that are drained (they finish what they do) or banned (what they do is done by others).
	// It is asked often. Nil: none.
	Barred func(worker string) Bar

	Log *slog.Logger // default slog.Default()
}

// A Bar says why a worker is given no jobs.
type Bar string

// Bars.
const (
	Open    Bar = ""
	Drained Bar = "drained"
	Banned  Bar = "banned"
)

// maxWorkers is how many slots of workers a hub knows at a time.
const maxWorkers = 10_000

// false results after which a worker is given no more jobs by this hub.
const maxFalse = 2

// A Hub takes the offers of workers elsewhere for the jobs that wait in a pool, and has those workers join it.
type Hub struct {
	c       HubConfig
	times   times
	traffic traffic
	links   sync.WaitGroup

	mu    sync.Mutex       // guards all below
	by    Carrier          // of the Run under way; nil if there is none
	slots map[string]*slot // by Offer.name
	taken map[string]*slot // by the subject of what the worker sends
	notes map[string]*note // by worker
}

// A slot is a worker's place for one job, as the hub knows it. The hub's mu guards it.
type slot struct {
	offer Offer
	seen  time.Time // when the last offer came
	since time.Time // when the first came

	link   *link              // nil if no offer has been taken
	cancel context.CancelFunc // ends link
	joined bool
	idle   time.Time // since when it has no job
	done   string    // number of the offer that was taken last
}

// A note has the facts that a hub keeps about a worker, one for all its processes.
type note struct {
	since time.Time // when it was heard of first
	wrong int       // false results
	did   atomic.Int64
}

// of returns the note of a worker. The caller holds mu.
func (h *Hub) of(worker string) *note {
	n := h.notes[worker]
	if n == nil {
		if len(h.notes) >= maxWorkers {
			clear(h.notes) // of workers under ever new names
		}
		n = &note{since: time.Now()}
		h.notes[worker] = n
	}
	return n
}

// NewHub returns a Hub, which does nothing before Run.
func NewHub(c HubConfig) *Hub {
	c.Server = cmp.Or(c.Server, rand.Text())
	c.Keep = cmp.Or(c.Keep, 30*time.Second)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Hub{
		c: c, times: times{Here: c.Here, Quiet: c.Quiet}.orDefault(),
		slots: map[string]*slot{}, taken: map[string]*slot{}, notes: map[string]*note{},
	}
}

// lookEvery is how often a hub looks for jobs that wait.
const lookEvery = 200 * time.Millisecond

// Run serves workers over a carrier until ctx is done, and waits until all have left. It may be called again after it has
// returned. It returns ctx.Err(), or an error of kind Unavailable if the carrier has ended.
func (h *Hub) Run(ctx context.Context, by Carrier) error {
	ctx, stop := context.WithCancel(ctx)
	defer h.links.Wait()
	defer stop()
	h.mu.Lock()
	h.by = by
	h.mu.Unlock()
	offers, err := by.Watch(ctx, "offers.>")
	if err != nil {
		return err
	}
	parcels, err := by.Receive(ctx, "from.*.*."+h.c.Server+".>")
	if err != nil {
		return err
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case m, ok := <-offers:
			if !ok {
				return h.ended(ctx)
			}
			h.hear(m)
		case m, ok := <-parcels:
			if !ok {
				return h.ended(ctx)
			}
			h.pass(ctx, m)
		case <-look.C:
			h.look(ctx, time.Now())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *Hub) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return idrl.Errorf(idrl.Unavailable, "messages from workers on other machines have ended")
}

// hear notes an offer.
func (h *Hub) hear(m Message) {
	o, err := decodeOffer(m)
	if err != nil {
		h.c.Log.Warn("an offer of a worker is left out", "err", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	s := h.slots[o.name()]
	if s == nil {
		if len(h.slots) >= maxWorkers {
			return
		}
		s = &slot{since: now}
		h.slots[o.name()] = s
		if h.notes[o.Worker] == nil {
			h.c.Log.Info("a worker on another machine offers itself", "worker", o.Worker, "host", o.Host, "version", o.Version)
		}
	}
	s.offer, s.seen = o, now
}

// pass hands on a parcel to its link. If the hub does not know the link, it tells the worker that the link has ended.
func (h *Hub) pass(ctx context.Context, m Message) {
	h.mu.Lock()
	s := h.taken[m.Subject]
	kind, _, _, _ := decodeParcel(m.Data)
	first := s != nil && !s.joined && kind != parcelLeft
	if s != nil {
		s.seen = time.Now()
	}
	if first {
		s.joined = true
	}
	var l *link
	declined := false
	if s != nil {
		l, declined = s.link, kind == parcelLeft && !s.joined
	}
	h.mu.Unlock()
	switch {
	case l == nil:
		h.refuse(ctx, m)
	case first:
		l.take(m.Data)
		h.join(ctx, s)
	case declined: // it has taken another server's job
		l.end(io.EOF)
	default:
		l.take(m.Data)
	}
}

// refuse tells a worker that the link on which it has sent m has ended.
func (h *Hub) refuse(ctx context.Context, m Message) {
	kind, _, _, ok := decodeParcel(m.Data)
	back, cut := strings.CutPrefix(m.Subject, "from.")
	if !ok || kind == parcelLeft || kind == parcelDied || !cut {
		return
	}
	h.mu.Lock()
	by := h.by
	h.mu.Unlock()
	_ = by.Send(ctx, "to."+back, encodeParcel(parcelLeft, 0, nil)) // it may come again
}

// join has the pool use a slot whose worker has answered, until its link ends.
func (h *Hub) join(ctx context.Context, s *slot) {
	h.mu.Lock()
	l, name, worker := s.link, s.offer.name(), s.offer.Worker
	lacks := s.offer.Lacks
	s.idle = time.Now()
	did := &h.of(worker).did
	h.mu.Unlock()
	h.links.Go(func() {
		h.c.Pool.Join(ctx, l, jobs.Place{Name: name, Lacks: lacks, Did: did, Refused: func(error) { h.blame(worker) }})
		h.forget(s, l)
	})
}

// blame notes that a result of a worker was false.
func (h *Hub) blame(worker string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.of(worker)
	if n.wrong++; n.wrong == maxFalse {
		h.c.Log.Error("a worker gets no more jobs: its results were false", "worker", worker, "results", maxFalse)
	}
}

// Pardon forgets that results of a worker were false, so that it may have jobs again.
func (h *Hub) Pardon(worker string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of(worker).wrong = 0
}

// forget takes the link of a slot away.
func (h *Hub) forget(s *slot, l *link) {
	_ = l.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.link == l {
		delete(h.taken, from(l.to))
		s.link, s.joined = nil, false
		s.cancel()
	}
}

// from returns the subject of what a worker sends, from that of what is sent to it.
func from(to string) string { return "from." + strings.TrimPrefix(to, "to.") }

// look takes offers for the jobs that wait, and releases workers for which there is no job.
func (h *Hub) look(ctx context.Context, now time.Time) {
	waiting, doing := h.c.Pool.Waiting(), map[string]bool{}
	for _, w := range h.c.Pool.Now() {
		doing[w.Name] = w.Doing
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var free, coming []*slot
	for _, s := range h.sorted() {
		switch name := s.offer.name(); {
		case s.link == nil && now.Sub(s.seen) > h.times.Quiet:
			delete(h.slots, name)
		case s.link == nil:
			if s.done != s.offer.Number && h.bar(s.offer) == "" {
				free = append(free, s)
			}
		case h.c.Barred != nil && h.c.Barred(s.offer.Worker) == Banned, h.of(s.offer.Worker).wrong >= maxFalse:
			go s.link.Close()
		case h.bar(s.offer) != "", s.joined && !doing[name] && now.Sub(s.idle) > h.c.Keep:
			if !s.joined {
				go s.link.Close()
			} else {
				h.c.Pool.Leave(name) // also while it has a job, so that it gets no other
			}
		case doing[name]:
			s.idle = now
		default:
			coming = append(coming, s)
		}
	}
	for _, job := range waiting {
		if job.Here || remove(&coming, job.Needs) != nil {
			continue
		}
		if s := remove(&free, job.Needs); s != nil {
			h.take(ctx, s)
		}
	}
}

// remove takes the first slot out of a list whose worker can do a job with such needs; nil if there is none.
func remove(list *[]*slot, needs []string) *slot {
	k := slices.IndexFunc(*list, func(s *slot) bool { return s.offer.Lacks(needs) == "" })
	if k < 0 {
		return nil
	}
	s := (*list)[k]
	*list = slices.Delete(*list, k, k+1)
	return s
}

// sorted returns the slots, those that came first before others. The caller holds mu.
func (h *Hub) sorted() []*slot {
	return slices.SortedFunc(maps.Values(h.slots), func(a, b *slot) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.offer.name(), b.offer.name()))
	})
}

// bar returns why a worker is given no jobs, in words; empty if it may have some. The caller holds mu.
func (h *Hub) bar(o Offer) string {
	switch {
	case o.Version != h.c.Version:
		return "it runs version " + o.Version + ", and the server version " + h.c.Version
	case h.of(o.Worker).wrong >= maxFalse:
		return "its results were false"
	case h.c.Barred != nil:
		return string(h.c.Barred(o.Worker))
	}
	return ""
}

// take takes the offer of a slot. The worker answers with a sign of life, or that it has left. The caller holds mu.
func (h *Hub) take(ctx context.Context, s *slot) {
	ctx, s.cancel = context.WithCancel(ctx)
	to := "to." + s.offer.Worker + "." + s.offer.Process + "." + h.c.Server + "." + rand.Text()
	l := newLink(ctx, h.by, to, h.times, &h.traffic)
	s.link, s.joined, s.idle, s.done = l, false, time.Now(), s.offer.Number
	h.taken[from(to)] = s
	offer, _ := json.Marshal(s.offer) // of strings and numbers
	h.links.Go(func() {
		if err := l.send(ctx, parcelOpen, offer); err != nil {
			l.end(err)
		}
		<-l.ended
		h.mu.Lock()
		joined := s.joined && s.link == l
		h.mu.Unlock()
		if !joined { // else join forgets it
			h.forget(s, l)
		}
	})
}
