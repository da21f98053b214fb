package bynats

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/train/elsewhere"
)

const (
	heartbeat   = 2 * time.Second // of a consumer; one that misses two is replaced
	pullFor     = 10 * time.Second
	pullAtOnce  = 64               // messages that wait in memory
	idleFor     = 30 * time.Second // after that NATS deletes a consumer that is not asked
	receiveWait = 250 * time.Millisecond
)

// Receive implements elsewhere.Carrier.
//
// It is like the ordered consumers of nats.go, which are not used because they go on by the position in the stream: after a
// stream was made anew they wait until it is as long as before. This goes on by the time, of the server of NATS,
// of the last message, and leaves out those that it has handed over.
func (c *Carrier) Receive(ctx context.Context, pattern string) (<-chan elsewhere.Message, error) {
	if err := c.mayRead(pattern); err != nil {
		return nil, err
	}
	r := &receiver{c: c, pattern: pattern}
	epoch := c.now()
	err := r.consume(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		c.restore(ctx, err)
		err = r.consume(ctx)
	}
	if err != nil {
		return nil, c.explain(ctx, "receive", err)
	}
	out, err := c.read(ctx, func(ctx context.Context, out chan<- elsewhere.Message) { r.run(ctx, epoch, out) })
	if err != nil {
		r.end()
	}
	return out, err
}

// now returns a context that is done when the connection is made again.
func (c *Carrier) now() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// A receiver is one call of Receive. After that its goroutine owns it.
type receiver struct {
	c        *Carrier
	pattern  string
	consumer jetstream.Consumer
	since    time.Time // of the last message that came, or of the first consumer, by the server of NATS
	seen     once
}

// consume makes a consumer of what came since, or from now on.
func (r *receiver) consume(ctx context.Context) error {
	cfg := jetstream.ConsumerConfig{
		Name: rand.Text(), FilterSubject: prefix + r.pattern, DeliverPolicy: jetstream.DeliverNewPolicy, AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: idleFor, Replicas: 1, MemoryStorage: true,
	}
	if !r.since.IsZero() {
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &r.since
	}
	ctx, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	consumer, err := r.c.js.CreateConsumer(ctx, messageStream, cfg)
	if err != nil {
		return err
	}
	r.consumer = consumer
	if r.since.IsZero() {
		r.since = consumer.CachedInfo().Created
	}
	return nil
}

// run hands over messages until ctx is done. epoch is that of the consumer.
func (r *receiver) run(ctx context.Context, epoch context.Context, out chan<- elsewhere.Message) {
	for {
		err := r.handOver(ctx, epoch, out)
		r.end()
		if ctx.Err() != nil {
			return
		}
		r.c.log.Debug("receiving from NATS goes on with a new consumer", "pattern", r.pattern, "why", err)
		for {
			epoch = r.c.now()
			if err = r.consume(ctx); err == nil {
				break
			}
			r.c.restore(ctx, err)
			pause := time.NewTimer(receiveWait)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
				return
			}
		}
	}
}

var errGap = errors.New("messages of the consumer are missing")

// handOver hands over what the consumer has, until it fails, ctx is done, or the connection was made again.
func (r *receiver) handOver(ctx, epoch context.Context, out chan<- elsewhere.Message) error {
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(epoch, cancel)()
	all, err := r.consumer.Messages(jetstream.PullMaxMessages(pullAtOnce), jetstream.PullExpiry(pullFor), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return err
	}
	defer all.Stop()
	for next := uint64(1); ; next++ {
		m, err := all.Next(jetstream.NextContext(both))
		if err != nil {
			return err
		}
		about, err := m.Metadata()
		if err != nil {
			return err
		}
		if about.Sequence.Consumer != next {
			return errGap
		}
		r.since = about.Timestamp
		got, ok := genuine(m.Subject(), m.Headers(), m.Data())
		of, isNumbered := numberOf(m.Headers())
		if !ok || !isNumbered {
			r.c.log.Warn("a message that was not sent under its subject is left out", "subject", m.Subject())
			continue
		}
		if !r.seen.first(got.Subject, of) {
			continue
		}
		select {
		case out <- got:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// end deletes the consumer, which NATS does itself later if this fails.
func (r *receiver) end() {
	name := r.consumer.CachedInfo().Name
	if !r.c.nc.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.c.js.DeleteConsumer(ctx, messageStream, name)
}
