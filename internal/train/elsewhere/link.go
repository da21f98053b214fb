package elsewhere

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// Both ends of a link send parcels: a type, a number, and a body. Those that must not be missed are numbered from 1, so that
// the receiver notices when one is lost; the others have the number of the last one before them.
const parcelHead = 9

type parcelType byte

const (
	parcelOpen  parcelType = iota + 1 // to the worker: the offer in the body is taken
	parcelFrame                       // the body is a frame
	parcelBlob                        // the body is the hash of a blob that is a frame
	parcelHere                        // a sign of life
	parcelLeft                        // the sender has left
	parcelDied                        // from the worker: its process has died; how is in the body
	parcelFiles                       // to the worker: files that the next job reads, as JSON
)

// numbered reports whether parcels of a type must not be missed.
func (t parcelType) numbered() bool {
	return t == parcelFrame || t == parcelBlob || t == parcelFiles
}

func encodeParcel(kind parcelType, number uint64, body []byte) []byte {
	m := make([]byte, parcelHead, parcelHead+len(body))
	m[0] = byte(kind)
	binary.BigEndian.PutUint64(m[1:], number)
	return append(m, body...)
}

// decodeParcel returns what a message holds; ok is false if it is no parcel.
func decodeParcel(m []byte) (kind parcelType, number uint64, body []byte, ok bool) {
	if len(m) < parcelHead || m[0] < byte(parcelOpen) || m[0] > byte(parcelFiles) {
		return 0, 0, nil, false
	}
	return parcelType(m[0]), binary.BigEndian.Uint64(m[1:parcelHead]), m[parcelHead:], true
}

// Times by which links are kept.
type times struct {
	Here  time.Duration // between signs of life, and offers; default 2 s
	Quiet time.Duration // without a sign of life after which a link has ended; default 20 s
}

func (t times) orDefault() times {
	if t.Here == 0 {
		t.Here = 2 * time.Second
	}
	if t.Quiet == 0 {
		t.Quiet = 10 * t.Here
	}
	return t
}

// maxBehind is how many parcels may wait to be read at one end of a link before it ends. A worker sends no
// faster than a job reports, and a frame of 16 MiB is one parcel.
const maxBehind = 4096

// A link carries frames over a carrier. It implements jobs.Link.
type link struct {
	carrier Carrier
	to      string // subject of what this end sends
	times   times
	traffic *traffic

	arrived chan []byte   // parcels
	heard   chan struct{} // a parcel has come; buffered
	ended   chan struct{} // closed when the link has ended

	sending sync.Mutex
	sent    uint64 // numbered parcels; guarded by sending
	handed  Hash   // of the files that the worker has; of the goroutine that writes
	got     uint64 // numbered parcels; of the goroutine that reads

	once sync.Once
	why  error // set before ended is closed
}

// A traffic counts what links carry.
type traffic struct{ parcels, bytes atomic.Int64 }

// newLink returns a link that ends with ctx.
func newLink(ctx context.Context, c Carrier, to string, t times, count *traffic) *link {
	l := &link{
		carrier: c, to: to, times: t, traffic: count,
		arrived: make(chan []byte, maxBehind), heard: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go l.keep(ctx)
	return l
}

var _ jobs.Link = (*link)(nil)

// keep sends signs of life, and ends the link when none come.
func (l *link) keep(ctx context.Context) {
	here := time.NewTicker(l.times.Here)
	defer here.Stop()
	quiet := time.NewTimer(l.times.Quiet)
	defer quiet.Stop()
	for {
		select {
		case <-here.C:
			// One that cannot be sent is missed by the other end.
			_ = l.send(ctx, parcelHere, nil)
		case <-l.heard:
			quiet.Reset(l.times.Quiet)
		case <-quiet.C:
			l.end(fmt.Errorf("no sign of life for %v", l.times.Quiet))
		case <-ctx.Done():
			l.leave(parcelLeft, nil)
		case <-l.ended:
			return
		}
	}
}

// take takes a parcel that has come for this end. It does not wait.
func (l *link) take(m []byte) {
	l.traffic.parcels.Add(1)
	l.traffic.bytes.Add(int64(len(m)))
	select {
	case l.heard <- struct{}{}:
	default:
	}
	select {
	case l.arrived <- m:
	default:
		l.end(fmt.Errorf("%d messages wait to be read", maxBehind))
	}
}

// Read implements jobs.Link.
func (l *link) Read() ([]byte, error) {
	for {
		kind, body, err := l.next()
		if err != nil {
			return nil, err
		}
		if kind == parcelFrame {
			return body, nil
		}
	}
}

// next returns the next parcel but signs of life; a blob as the frame that it is.
func (l *link) next() (parcelType, []byte, error) {
	for {
		select {
		case m := <-l.arrived:
			kind, body, err := l.open(m)
			if err != nil {
				l.end(err)
				return 0, nil, err
			}
			if kind != parcelHere {
				return kind, body, nil
			}
		case <-l.ended:
			return 0, nil, l.why
		}
	}
}

// open returns what a parcel holds, or why the link ends with it.
func (l *link) open(m []byte) (parcelType, []byte, error) {
	kind, number, body, ok := decodeParcel(m)
	if !ok {
		return 0, nil, errors.New("what was received is no message of a link")
	}
	want := l.got
	if kind.numbered() {
		l.got++
		want = l.got
	}
	if number != want {
		return 0, nil, fmt.Errorf("message %d is lost", want)
	}
	switch kind {
	case parcelBlob:
		frame, err := l.fetch(body)
		return parcelFrame, frame, err
	case parcelLeft:
		return 0, nil, io.EOF
	case parcelDied:
		return 0, nil, fmt.Errorf("%w: %.1000s", jobs.ErrWorkerDied, body)
	default:
		return kind, body, nil
	}
}

// fetch returns the frame that is a blob.
func (l *link) fetch(name []byte) ([]byte, error) {
	var hash Hash
	if len(name) != len(hash) {
		return nil, errors.New("the name of a blob is damaged")
	}
	ctx, stop := l.context()
	defer stop()
	b, err := l.carrier.Get(ctx, Hash(name))
	if err == nil && len(b) > jobs.MaxFrame {
		err = idrl.Errorf(idrl.Invalid, "a frame has %d bytes", len(b))
	}
	if err != nil {
		return nil, fmt.Errorf("fetch a frame: %w", err)
	}
	l.traffic.bytes.Add(int64(len(b)))
	return b, nil
}

// context returns one that is done when the link has ended.
func (l *link) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-l.ended:
		case <-ctx.Done():
		}
		cancel()
	}()
	return ctx, cancel
}

// Write implements jobs.Link.
func (l *link) Write(frame []byte) error {
	ctx, stop := l.context()
	defer stop()
	if len(frame)+parcelHead <= MaxMessage {
		return l.send(ctx, parcelFrame, frame)
	}
	name, err := l.carrier.Put(ctx, frame)
	if err != nil {
		l.end(err)
		return err
	}
	l.traffic.bytes.Add(int64(len(frame)))
	return l.send(ctx, parcelBlob, name[:])
}

// send sends a parcel. If one that must not be missed cannot be sent, the link ends.
func (l *link) send(ctx context.Context, kind parcelType, body []byte) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	if kind.numbered() {
		l.sent++
	}
	m := encodeParcel(kind, l.sent, body)
	l.traffic.parcels.Add(1)
	l.traffic.bytes.Add(int64(len(m)))
	err := l.carrier.Send(ctx, l.to, m)
	if err != nil && kind.numbered() {
		l.end(err)
	}
	return err
}

// Close implements jobs.Link: it tells the other end, which need not hear it.
func (l *link) Close() error {
	l.leave(parcelLeft, nil)
	return nil
}

// leave ends the link, and tells the other end why if it has not ended before.
func (l *link) leave(kind parcelType, body []byte) {
	if !l.end(io.EOF) {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), l.times.Here)
	defer stop()
	_ = l.send(ctx, kind, body) // else the other end notices that no sign of life comes
}

// end ends the link, and reports whether it had not ended before.
func (l *link) end(why error) (first bool) {
	l.once.Do(func() {
		l.why, first = why, true
		close(l.ended)
	})
	return first
}
