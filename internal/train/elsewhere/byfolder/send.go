package byfolder

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// An outbox writes what is told or sent under a subject. One goroutine at a time does; what comes meanwhile has one file.
type outbox struct {
	kind, subject string
	waiting       []*waiting // guarded by the carrier's mu
	busy          bool       // guarded by the carrier's mu

	next   uint64  // of the goroutine that writes, as what follows; 0 before the first file
	stream string  // drawn with next
	before []entry // that Tell replaces
}

// A waiting message is one that is to be written.
type waiting struct {
	data []byte
	done chan error // has room for one
}

// Tell writes data in place of what was told under a subject.
func (c *Carrier) Tell(ctx context.Context, subject string, data []byte) error {
	return c.post(ctx, told, subject, data)
}

// Send writes data for the receiver of a subject. It returns when the file is there, or ctx is done. It returns an
// error of kind Unavailable if the folder is full or cannot be used.
func (c *Carrier) Send(ctx context.Context, subject string, data []byte) error {
	return c.post(ctx, sent, subject, data)
}

func (c *Carrier) post(ctx context.Context, kind, subject string, data []byte) error {
	if err := elsewhere.CheckSent(subject, data); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &waiting{data: bytes.Clone(data), done: make(chan error, 1)}
	if err := c.enqueue(kind, subject, w); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

const mostOutboxes = 4096

func (c *Carrier) enqueue(kind, subject string, w *waiting) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	o := c.outs[kind+subject]
	if o == nil {
		if len(c.outs) >= mostOutboxes { // those that are made again begin a new stream
			for key, other := range c.outs {
				if !other.busy {
					delete(c.outs, key)
				}
			}
		}
		o = &outbox{kind: kind, subject: subject}
		c.outs[kind+subject] = o
	}
	o.waiting = append(o.waiting, w)
	if !o.busy {
		o.busy = true
		c.work.Go(func() { c.empty(o) })
	}
	close(c.poked) // an answer may come soon
	c.poked = make(chan struct{})
	return nil
}

// empty writes what waits in an outbox.
func (c *Carrier) empty(o *outbox) {
	for {
		batch, size := c.take(o)
		if len(batch) == 0 {
			return
		}
		messages := make([][]byte, len(batch))
		for k, w := range batch {
			messages[k] = w.data
		}
		if o.kind == told {
			messages = messages[len(messages)-1:]
		}
		err := c.write(o, messages, size)
		for _, w := range batch {
			w.done <- err
		}
	}
}

// take returns the messages for the next file, and their size in bytes; none when the outbox is empty.
func (c *Carrier) take(o *outbox) (batch []*waiting, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(o.waiting) > 0 && size < batchBytes && len(batch) < batchCount {
		batch, size = append(batch, o.waiting[0]), size+int64(len(o.waiting[0].data))
		o.waiting = o.waiting[1:]
	}
	o.busy = len(batch) > 0
	return batch, size
}

// write writes a file of messages. A second attempt is made if the folder was removed and made again.
func (c *Carrier) write(o *outbox, messages [][]byte, size int64) error {
	box := boxOf(o.subject)
	if o.kind == sent {
		if err := c.room(o.kind+"/"+box, size+256); err != nil {
			return err
		}
	}
	data := encode(o.subject, messages)
	err := c.writeOnce(o, box, data)
	if replaced(err) {
		c.folder.broken()
		err = c.writeOnce(o, box, data)
	}
	var known *idrl.Error
	if err != nil && !errors.As(err, &known) {
		return c.folder.unusable(err)
	}
	return err
}

func (c *Carrier) writeOnce(o *outbox, box string, data []byte) error {
	if o.next == 0 {
		if err := c.begin(o, box); err != nil {
			return err
		}
	}
	root, err := c.folder.get()
	if err != nil {
		return err
	}
	dir := o.kind + "/" + box
	e := entry{hash: hashOf(o.subject), number: o.next, stream: o.stream}
	err = c.folder.write(root, dir, e.String(), data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = c.folder.mkdir(root, dir); err == nil {
			err = c.folder.write(root, dir, e.String(), data)
		}
	}
	if err != nil {
		return err
	}
	o.next++
	if o.kind == told {
		for _, old := range o.before {
			_ = root.Remove(dir + "/" + old.String())
		}
		o.before = []entry{e}
	}
	return nil
}

// begin draws a stream, and a number after those of all files of the subject that are there.
func (c *Carrier) begin(o *outbox, box string) error {
	all, err := c.entries(o.kind, box)
	if err != nil {
		return err
	}
	next, hash := uint64(time.Now().UnixNano()), hashOf(o.subject) //nolint:gosec // after 1970
	for _, e := range all {
		if e.hash == hash && e.number < 1<<63 {
			next = max(next, e.number+1)
			o.before = append(o.before, e)
		}
	}
	o.next, o.stream = next, randomName()
	return nil
}
