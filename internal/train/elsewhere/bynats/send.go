package bynats

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/idrl"
)

const (
	sendFor    = 10 * time.Second // a message is tried that long
	attemptFor = 3 * time.Second  // one attempt
	firstWait  = 50 * time.Millisecond
	maxWait    = time.Second // between attempts
)

// Send implements elsewhere.Carrier. It tries for ten seconds to have JetStream acknowledge the message, whose id keeps
// a repeated attempt from being stored twice, and whose number keeps it from being received twice. Calls under
// one subject take turns.
func (c *Carrier) Send(ctx context.Context, subject string, data []byte) error {
	if err := c.mayPublish(subject, data); err != nil {
		return err
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(subject))
	turn := c.turns[h.Sum32()%uint32(len(c.turns))]
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-turn }()
	m := message(subject, data)
	numbered(m, number{c.id, c.sent.Add(1)})
	return c.publish(ctx, m)
}

// publish publishes a message of a stream until JetStream acknowledges it.
func (c *Carrier) publish(ctx context.Context, m *nats.Msg, options ...jetstream.PublishOpt) error {
	limited, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	options = append(options, jetstream.WithRetryAttempts(0))
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		attempt, end := context.WithTimeout(limited, attemptFor)
		_, err := c.js.PublishMsg(attempt, m, options...)
		end()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, nats.ErrMaxPayload):
			return idrl.Errorf(idrl.Invalid, "NATS at %s does not take a message of %d bytes: set max_payload to 1MB in its configuration", c.cfg.where(), len(m.Data))
		case errors.Is(err, nats.ErrConnectionClosed):
			return idrl.Errorf(idrl.Unavailable, "the connection to NATS is closed")
		case refused(c.nc.LastError()) && !c.nc.IsConnected():
			return c.explain(ctx, "take a message", err)
		}
		c.restore(limited, err)
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-limited.Done():
			pause.Stop()
			return c.explain(ctx, "take a message", err)
		case <-c.ctx.Done():
			pause.Stop()
			return idrl.Errorf(idrl.Unavailable, "the connection to NATS is closed")
		}
	}
}
