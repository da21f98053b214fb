package web

import (
	"sync/atomic"
	"time"

	"tiebreak/internal/base/tally"
	"tiebreak/internal/session/view"
)

// Counts are what a server has done since it started, for metrics.
type Counts struct {
	New, Replayed atomic.Int64     // answers acknowledged that were recorded then, and that were known
	Seconds       *tally.Histogram // from reading an answer to its acknowledgement, of both
	Slow          atomic.Int64     // sockets that ended because the client did not take a message in time
	Dropped       atomic.Int64     // messages that waited for a client whose connection broke
}

func newCounts() *Counts {
	return &Counts{Seconds: tally.New(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30)}
}

// answered counts an answer that was read at a time and is acknowledged now, unless there was an error.
func (c *Counts) answered(read time.Time, r view.Receipt, err error) {
	if err != nil {
		return
	}
	c.Seconds.Observe(time.Since(read).Seconds())
	if r.Replay {
		c.Replayed.Add(1)
	} else {
		c.New.Add(1)
	}
}

// Counts returns the counts of the server, which go on.
func (s *Server) Counts() *Counts { return s.counts }

// Sockets returns how many sockets are open.
func (s *Server) Sockets() int { return s.sockets.count() }
