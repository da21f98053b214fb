package live

import (
	"sync"

	"tiebreak/internal/idrl"
)

// A Hub tells the watchers of a session that something changed. The zero Hub is
// ready for use. Its methods may be called from any goroutine.
type Hub struct {
	mu       sync.RWMutex
	watchers map[idrl.SessionID]map[*watcher]struct{} // guarded by mu
}

// watcher is one subscription; its address names it.
type watcher struct{ notify func(Event) }

// Publish tells every watcher of the session, in the caller's goroutine.
func (h *Hub) Publish(session idrl.SessionID, e Event) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for w := range h.watchers[session] {
		w.notify(e)
	}
}

// Subscribe calls notify on every event of the session until stop is called. notify runs in the
// publisher's goroutine, and must return at once without calling the hub: typically it wakes a
// Pacer. After stop has returned notify is not called again. stop may be called more than once.
func (h *Hub) Subscribe(session idrl.SessionID, notify func(Event)) (stop func()) {
	w := &watcher{notify: notify}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = map[idrl.SessionID]map[*watcher]struct{}{}
	}
	if h.watchers[session] == nil {
		h.watchers[session] = map[*watcher]struct{}{}
	}
	h.watchers[session][w] = struct{}{}
	return func() { h.remove(session, w) }
}

// remove removes w and, with the last watcher, the session.
func (h *Hub) remove(session idrl.SessionID, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers[session], w)
	if len(h.watchers[session]) == 0 {
		delete(h.watchers, session)
	}
}

// Watchers returns how many subscriptions a session has.
func (h *Hub) Watchers(session idrl.SessionID) int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.watchers[session])
}
