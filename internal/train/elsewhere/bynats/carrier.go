package bynats

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

var _ elsewhere.Carrier = (*Carrier)(nil)

// A Carrier is an elsewhere.Carrier over one connection to NATS.
type Carrier struct {
	cfg   Config
	log   *slog.Logger
	id    string // of the sender, random
	nc    *nats.Conn
	js    jetstream.JetStream
	blobs jetstream.Stream

	sent  atomic.Uint64      // messages that were numbered
	turns [256]chan struct{} // one holds a token while a message is sent under one of its subjects

	denied atomic.Pointer[error] // what NATS last did not permit

	ctx     context.Context // done when the carrier is closed
	cancel  context.CancelFunc
	readers sync.WaitGroup // goroutines behind channels

	mu        sync.Mutex         // guards what follows
	closed    bool               // no reader begins any more
	epoch     context.Context    // done when the connection was made again
	nextEpoch context.CancelFunc // ends epoch
}

// Tell implements elsewhere.Carrier.
func (c *Carrier) Tell(ctx context.Context, subject string, data []byte) error {
	if err := c.mayPublish(subject, data); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.explain(ctx, "pass on what is told", c.nc.PublishMsg(message(subject, data)))
}

// Watch implements elsewhere.Carrier.
func (c *Carrier) Watch(ctx context.Context, pattern string) (<-chan elsewhere.Message, error) {
	if err := c.mayRead(pattern); err != nil {
		return nil, err
	}
	kept := newLatest()
	sub, err := c.nc.Subscribe(prefix+pattern, func(m *nats.Msg) {
		if got, ok := genuine(m.Subject, m.Header, m.Data); ok && elsewhere.Match(pattern, got.Subject) {
			kept.put(got)
		}
	})
	if err != nil {
		return nil, c.explain(ctx, "watch", err)
	}
	limited, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	if err := c.nc.FlushWithContext(limited); err != nil { // it has the subscription now
		_ = sub.Unsubscribe()
		return nil, c.explain(ctx, "watch", err)
	}
	return c.read(ctx, func(ctx context.Context, out chan<- elsewhere.Message) {
		defer func() { _ = sub.Unsubscribe() }()
		kept.handOver(ctx, out)
	})
}

// read has f write to a channel, in a goroutine, with a context that is done when ctx is or the carrier is closed.
// The channel is closed when f returns.
func (c *Carrier) read(ctx context.Context, f func(context.Context, chan<- elsewhere.Message)) (<-chan elsewhere.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, idrl.Errorf(idrl.Unavailable, "the connection to NATS is closed")
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	out := make(chan elsewhere.Message)
	c.readers.Go(func() {
		defer close(out)
		defer cancel()
		defer stop()
		f(ctx, out)
	})
	return out, nil
}

// Close implements elsewhere.Carrier.
func (c *Carrier) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.readers.Wait()
	c.nc.Close()
	return nil
}

// mayPublish returns an error unless data can be sent under subject, and it is for c to do so.
func (c *Carrier) mayPublish(subject string, data []byte) error {
	if err := elsewhere.CheckSent(subject, data); err != nil {
		return err
	}
	word, rest, _ := strings.Cut(subject, ".")
	name, _, _ := strings.Cut(rest, ".")
	if c.cfg.Name == "" && (word == "servers" || word == "to") || c.cfg.Name != "" && name == c.cfg.Name && (word == "offers" || word == "from") {
		return nil
	}
	return idrl.Errorf(idrl.Forbidden, "a message under %s is not for this process to send", subject)
}

// mayRead returns an error unless pattern is one, and it is for c to read what it matches.
func (c *Carrier) mayRead(pattern string) error {
	words := strings.Split(pattern, ".")
	for k, w := range words {
		if w == "*" || w == ">" && k == len(words)-1 {
			words[k] = "x"
		}
	}
	if elsewhere.CheckSubject(strings.Join(words, ".")) != nil {
		return idrl.Errorf(idrl.Invalid, "%.100q is no pattern of subjects", pattern)
	}
	if c.cfg.Name == "" || strings.HasPrefix(pattern, "servers.") || strings.HasPrefix(pattern, "to."+c.cfg.Name+".") {
		return nil
	}
	return idrl.Errorf(idrl.Forbidden, "messages under %s are not for the worker %s to read", pattern, c.cfg.Name)
}
