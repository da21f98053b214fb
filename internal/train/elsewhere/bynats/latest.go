package bynats

import (
	"context"
	"sync"

	"tiebreak/internal/train/elsewhere"
)

// maxLatest is how many subjects a watcher may be behind with.
const maxLatest = 1024

// latest holds the newest message of each subject that a watcher has not read.
type latest struct {
	wake chan struct{}

	mu    sync.Mutex // guards what follows
	order []string   // subjects, the first to be read first
	data  map[string][]byte
}

func newLatest() *latest { return &latest{wake: make(chan struct{}, 1), data: map[string][]byte{}} }

// put replaces the message of a subject. It leaves out one of a further subject if there are too many.
func (l *latest) put(m elsewhere.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, is := l.data[m.Subject]; !is {
		if len(l.order) == maxLatest {
			return
		}
		l.order = append(l.order, m.Subject)
	}
	l.data[m.Subject] = m.Data
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take removes a message.
func (l *latest) take() (m elsewhere.Message, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.order) == 0 {
		return m, false
	}
	m.Subject, l.order = l.order[0], l.order[1:]
	m.Data = l.data[m.Subject]
	delete(l.data, m.Subject)
	return m, true
}

// handOver writes messages to out until ctx is done.
func (l *latest) handOver(ctx context.Context, out chan<- elsewhere.Message) {
	for {
		m, ok := l.take()
		if !ok {
			select {
			case <-l.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case out <- m:
		case <-ctx.Done():
			return
		}
	}
}
