package driven

import (
	"sync"

	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
)

// A watch counts what a session announces about its trainings, and keeps why it cannot go on.
type watch struct {
	mu      sync.Mutex // guards what follows
	adopted int        // generations that came into use, and what was added to one
	news    int        // these, and trainings that began or gave nothing
	failure error

	more chan struct{} // has a value after any of these changed
	stop func()        // ends the session
}

// Publish implements session.Publisher.
func (w *watch) Publish(_ idrl.SessionID, e live.Event) {
	adopted := e.Kind == live.EventAdopted
	w.note(func() {
		if adopted {
			w.adopted++
		}
		if adopted || e.Kind == live.EventTraining {
			w.news++
		}
	})
}

func (w *watch) note(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// fail ends the session, which cannot go on because of err. The first reason is kept.
func (w *watch) fail(err error) {
	w.note(func() {
		if w.failure == nil {
			w.failure = err
		}
	})
	w.stop()
}

func (w *watch) counts() (adopted, news int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.adopted, w.news
}

// why returns why the session cannot go on; err if nothing is known of that.
func (w *watch) why(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil {
		return w.failure
	}
	return err
}
