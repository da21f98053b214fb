package bynats

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

const (
	chunkBytes   = 256 << 10
	maxChunks    = elsewhere.MaxBlob / chunkBytes
	maxPayload   = chunkBytes + 4<<10 // a message of NATS, with its headers
	chunksAtOnce = 8
	chunksHeader = "Tiebreak-Chunks" // how many the blob has
	keptWord     = "kept"            // in place of the number of a chunk: that all are there
)

// chunkSubject returns the subject of a chunk of a blob, or of the mark that it is kept.
func chunkSubject(name elsewhere.Hash, chunk string) string {
	return fmt.Sprintf("%s%x.%s", blobPrefix, name, chunk)
}

// Put implements elsewhere.Carrier. A mark that lasts an hour tells later calls that all chunks are there.
func (c *Carrier) Put(ctx context.Context, blob []byte) (elsewhere.Hash, error) {
	name := elsewhere.Hash(sha256.Sum256(blob))
	if len(blob) > elsewhere.MaxBlob {
		return name, idrl.Errorf(idrl.Invalid, "a blob has %d bytes; at most %d are allowed", len(blob), elsewhere.MaxBlob)
	}
	n := max(1, (len(blob)+chunkBytes-1)/chunkBytes)
	if c.has(ctx, name, n) {
		return name, nil
	}
	chunks := nats.Header{chunksHeader: {strconv.Itoa(n)}}
	err := each(ctx, n, func(ctx context.Context, k int) error {
		part := blob[k*chunkBytes : min((k+1)*chunkBytes, len(blob))]
		return c.publish(ctx, &nats.Msg{Subject: chunkSubject(name, strconv.Itoa(k)), Header: nats.Header{chunksHeader: chunks[chunksHeader]}, Data: part})
	})
	if err != nil {
		return name, err
	}
	return name, c.publish(ctx, &nats.Msg{Subject: chunkSubject(name, keptWord), Header: chunks}, jetstream.WithMsgTTL(keptFor))
}

// has reports whether a blob of n chunks is kept for an hour from now.
func (c *Carrier) has(ctx context.Context, name elsewhere.Hash, n int) bool {
	ctx, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	info, err := c.blobs.Info(ctx, jetstream.WithSubjectFilter(chunkSubject(name, "*")))
	return err == nil && len(info.State.Subjects) == n+1 && info.State.Subjects[chunkSubject(name, keptWord)] > 0
}

// Get implements elsewhere.Carrier.
func (c *Carrier) Get(ctx context.Context, name elsewhere.Hash) ([]byte, error) {
	first, err := c.chunk(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(first.Header.Get(chunksHeader))
	if err != nil || n < 1 || n > maxChunks {
		return nil, idrl.Errorf(idrl.Damaged, "the blob %x has no count of its chunks", name[:4])
	}
	parts := make([][]byte, n)
	parts[0] = first.Data
	err = each(ctx, n-1, func(ctx context.Context, k int) error {
		m, err := c.chunk(ctx, name, k+1)
		if err == nil {
			parts[k+1] = m.Data
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	h, size := sha256.New(), 0
	for _, p := range parts {
		_, _ = h.Write(p)
		size += len(p)
	}
	if elsewhere.Hash(h.Sum(nil)) != name || size > elsewhere.MaxBlob {
		return nil, idrl.Errorf(idrl.Damaged, "what NATS has as the blob %x is something else", name[:4])
	}
	blob := make([]byte, 0, size)
	for _, p := range parts {
		blob = append(blob, p...)
	}
	return blob, nil
}

// chunk returns a chunk of a blob. Any replica may answer, and one that does not have it yet is asked again.
func (c *Carrier) chunk(ctx context.Context, name elsewhere.Hash, k int) (*jetstream.RawStreamMsg, error) {
	tries := 1
	if c.blobs.CachedInfo().Config.Replicas > 1 {
		tries = 4
	}
	for wait := firstWait; ; wait *= 2 {
		limited, cancel := context.WithTimeout(ctx, requestFor)
		m, err := c.blobs.GetLastMsgForSubject(limited, chunkSubject(name, strconv.Itoa(k)))
		cancel()
		if err == nil {
			return m, nil
		}
		gone := errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, nats.ErrNoResponders) && c.nc.IsConnected()
		if tries--; tries == 0 || !gone {
			if gone {
				return nil, idrl.Errorf(idrl.NotFound, "NATS does not have the blob %x", name[:4])
			}
			return nil, c.explain(ctx, "read a blob", err)
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, ctx.Err()
		}
	}
}

// each calls f for 0 … n-1, a few at a time, until one returns an error, which each returns.
func each(ctx context.Context, n int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	places := make(chan struct{}, chunksAtOnce)
	var all sync.WaitGroup
	for k := range n {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-places }()
			if err := f(ctx, k); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
