package elsewhere

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tiebreak/internal/base/record"
)

// barsFor is how long Bars keeps what it has read.
const barsFor = 2 * time.Second

// Bars caches for two seconds which workers researchers have drained or banned. Its methods may be called from any goroutine.
type Bars struct {
	read func(context.Context) ([]record.WorkerBar, error)
	log  *slog.Logger

	mu  sync.Mutex // guards all below
	at  time.Time  // when it was read; zero: it must be read again
	now map[string]Bar
}

// NewBars returns Bars that are read by a function. If it returns an error, that is logged, and the last result stays valid.
func NewBars(read func(context.Context) ([]record.WorkerBar, error), log *slog.Logger) *Bars {
	return &Bars{read: read, log: log}
}

// Of returns the bar of a worker, as HubConfig.Barred needs it.
func (b *Bars) Of(worker string) Bar {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.Sub(b.at) > barsFor {
		b.at = now
		ctx, cancel := context.WithTimeout(context.Background(), barsFor)
		defer cancel()
		list, err := b.read(ctx)
		if err != nil {
			b.log.Warn("what researchers say of workers cannot be read; what they said before holds", "err", err)
			return b.now[worker]
		}
		b.now = map[string]Bar{}
		for _, o := range list {
			if o.Bar != record.WorkerAllowed {
				b.now[o.Worker] = Bar(o.Bar)
			}
		}
	}
	return b.now[worker]
}

// Changed has the next Of read again.
func (b *Bars) Changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = time.Time{}
}
