package bynats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/idrl"
)

// Names on NATS.
const (
	prefix        = "tiebreak."       // of all subjects
	messageStream = "TIEBREAK"        // of what is sent
	blobStream    = "TIEBREAK_BLOBS"  // of blobs
	blobPrefix    = prefix + "blobs." // of their subjects
)

const (
	messageAge = 10 * time.Minute
	// repeatsFor is how long JetStream knows the id of a message. A sender tries for sendFor, which is less.
	repeatsFor = 2 * time.Minute
	// keptFor is how long Put does not carry again what is there. A chunk lasts twice as long, and ten minutes more, so that
	// what such a Put has found lasts an hour from then.
	keptFor = time.Hour
	blobAge = 2*keptFor + 10*time.Minute
)

// makeStreams makes the streams, or changes them to what cfg says.
func (c *Carrier) makeStreams(ctx context.Context) error {
	for _, s := range []jetstream.StreamConfig{
		{
			Name: messageStream, Subjects: []string{prefix + "from.>", prefix + "to.>"},
			MaxAge: messageAge, MaxBytes: c.cfg.MessageBytes, Duplicates: repeatsFor,
		},
		{
			Name: blobStream, Subjects: []string{blobPrefix + "*.*"},
			MaxAge: blobAge, MaxBytes: c.cfg.BlobBytes, Duplicates: repeatsFor,
			MaxMsgsPerSubject: 1, AllowDirect: true, AllowMsgTTL: true,
		},
	} {
		s.Description = "Tiebreak"
		s.Storage, s.Discard, s.Replicas = jetstream.FileStorage, jetstream.DiscardOld, c.cfg.Replicas
		s.MaxMsgSize, s.DenyDelete, s.DenyPurge = maxPayload, true, true
		limited, cancel := context.WithTimeout(ctx, requestFor)
		_, err := c.js.CreateOrUpdateStream(limited, s)
		cancel()
		if err != nil {
			return c.explainStream(ctx, s.Name, err)
		}
	}
	return nil
}

// explainStream says why a stream could not be made.
func (c *Carrier) explainStream(ctx context.Context, name string, err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount {
		kind := idrl.Unavailable // as a cluster without a leader
		if api.Code < 500 {
			kind = idrl.Conflict
		}
		return idrl.Errorf(kind, "NATS at %s does not make the stream %s with %d replicas, %d MiB for messages and %d MiB for blobs: %s",
			c.cfg.where(), name, c.cfg.Replicas, c.cfg.MessageBytes>>20, c.cfg.BlobBytes>>20, api.Description)
	}
	return c.explain(ctx, fmt.Sprintf("make the stream %s", name), err)
}

// restore makes streams that are gone anew, if err says so and c is of a server.
func (c *Carrier) restore(ctx context.Context, err error) {
	if c.cfg.Name != "" || !errors.Is(err, jetstream.ErrNoStreamResponse) && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return
	}
	if err := c.makeStreams(ctx); err != nil {
		c.log.Debug("a stream of NATS is gone or has no leader, and cannot be made anew yet", "err", err)
		return
	}
	c.log.Warn("a stream of NATS was gone, with what was in it, or had no leader; it is there now")
}
