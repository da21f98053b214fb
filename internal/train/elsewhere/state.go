package elsewhere

import (
	"cmp"
	"slices"
	"time"

	"tiebreak/internal/train/jobs"
)

// A State describes a slot of a worker, as a hub knows it.
type State struct {
	Offer
	Since, Seen time.Time
	Linked      bool        // it has a job, or is kept for the next one
	Barred      string      // why it is given no jobs, in words; empty if it may have some
	Wrong       int         // results that were false
	Did         int         // jobs that the worker has done
	Work        jobs.Worker // what it does, if Linked
}

// States returns what is known of all workers, by name and slot.
func (h *Hub) States() []State {
	doing := map[string]jobs.Worker{}
	for _, w := range h.c.Pool.Now() {
		doing[w.Name] = w
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []State
	for name, s := range h.slots {
		n := h.of(s.offer.Worker)
		out = append(out, State{
			Offer: s.offer, Since: n.since, Seen: s.seen, Linked: s.link != nil, Barred: h.bar(s.offer),
			Wrong: n.wrong, Did: int(n.did.Load()), Work: doing[name],
		})
	}
	slices.SortFunc(out, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Slot, b.Slot))
	})
	return out
}

// Traffic returns how many messages, and bytes of messages and blobs, links have carried to and from workers.
func (h *Hub) Traffic() (messages, bytes int64) {
	return h.traffic.parcels.Load(), h.traffic.bytes.Load()
}
