package jobs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Server and worker exchange frames: a header of 16 bytes, and a body. Numbers in the
// header are big-endian.
//
//	byte 0      type
//	bytes 1-3   zero
//	bytes 4-7   length of the body
//	bytes 8-15  id of the job, which the server counts from 1; 0 where there is none
//
// The receiver checks the header, and the length against the limit of the type, before
// it takes memory for the body. The first frame in each direction is a hello. Header and
// hello stay as they are in all versions of the protocol. docs/adr/0019 explains it.
const headerSize = 16

// version is that of the protocol. It changes whenever frames or their bodies do.
const version = 2

type frameType uint8

// Types of frames.
const (
	typeHello      frameType = iota + 1 // both ways: magic, version
	typeStart                           // to the worker: a job; body as encodeJob
	typeCancel                          // to the worker: stop job id
	typeForget                          // to the worker: the session in the body has ended
	typeAlive                           // from the worker: job id is being worked on
	typeProgress                        // from the worker: body as encodeProgress
	typeArtefact                        // from the worker: body as encodeArtefact
	typeCheckpoint                      // from the worker: the body is opaque
	typeEnd                             // from the worker: body as encodeEnd
	typePause                           // to the worker: job id waits at its next report
	typeResume                          // to the worker: job id goes on
)

// Limits in bytes. A first generation of half-cheetah, comparisons of clips, has 2.5 MB
// with its raw steps, and it grows no faster than the number of candidates.
const (
	maxBlob     = 16 << 20 // a payload, a checkpoint or an artefact
	maxHandover = 64 << 20 // all artefacts of an attempt
	maxText     = 8 << 10  // an error, or what a job is doing
	maxName     = 256      // a session, a kind of job, or the name of an artefact
	slack       = 1 << 10  // what stands beside blobs and texts
)

// limits holds the length that a body may have, and from whom the frame may come.
var limits = map[frameType]struct {
	max        int
	fromWorker bool
	toWorker   bool
}{
	typeHello:      {64, true, true},
	typeStart:      {2*maxBlob + slack, false, true},
	typeCancel:     {0, false, true},
	typeForget:     {maxName, false, true},
	typeAlive:      {0, true, false},
	typeProgress:   {maxText + slack, true, false},
	typeArtefact:   {maxBlob + slack, true, false},
	typeCheckpoint: {maxBlob, true, false},
	typeEnd:        {maxText + slack, true, false},
	typePause:      {0, false, true},
	typeResume:     {0, false, true},
}

type frame struct {
	kind frameType
	id   uint64
	body []byte
}

// writeFrame writes f at once if it is small.
func writeFrame(out io.Writer, f frame) error {
	b := make([]byte, headerSize, headerSize+min(len(f.body), slack))
	b[0] = byte(f.kind)
	binary.BigEndian.PutUint32(b[4:], uint32(len(f.body)))
	binary.BigEndian.PutUint64(b[8:], f.id)
	if len(f.body) <= slack {
		_, err := out.Write(append(b, f.body...))
		return err
	}
	if _, err := out.Write(b); err != nil {
		return err
	}
	_, err := out.Write(f.body)
	return err
}

// readFrame reads a frame that a worker, or a server, may send. It returns io.EOF at
// the end, and io.ErrUnexpectedEOF within a frame.
func readFrame(in io.Reader, fromWorker bool) (frame, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: frameType(h[0]), id: binary.BigEndian.Uint64(h[8:])}
	size := binary.BigEndian.Uint32(h[4:])
	limit, known := limits[f.kind]
	switch {
	case !known || h[1] != 0 || h[2] != 0 || h[3] != 0:
		return frame{}, fmt.Errorf("no header of a frame: %q", h[:])
	case fromWorker && !limit.fromWorker || !fromWorker && !limit.toWorker:
		return frame{}, fmt.Errorf("a frame of type %d from the wrong side", f.kind)
	case int64(size) > int64(limit.max):
		return frame{}, fmt.Errorf("a frame of type %d with %d bytes is announced; at most %d are allowed", f.kind, size, limit.max)
	}
	if size == 0 {
		return f, nil
	}
	f.body = make([]byte, size)
	if _, err := io.ReadFull(in, f.body); err != nil {
		return frame{}, fmt.Errorf("a frame of type %d with %d bytes is cut short: %w", f.kind, size, noEOF(err))
	}
	return f, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// magic begins the body of a hello; the version follows as uint16.
const magic = "tiebreak jobs "

func hello() frame {
	return frame{kind: typeHello, body: binary.BigEndian.AppendUint16([]byte(magic), version)}
}

// errVersion is in the chain of the errors that a new attempt does not mend.
var errVersion = idrl.Errorf(idrl.Conflict, "server and worker are not of the same version; start the server again")

// readHello reads the hello of the other side. Its error wraps errVersion if that is one
// of another version.
func readHello(in io.Reader, fromWorker bool) error {
	f, err := readFrame(in, fromWorker)
	if err != nil {
		return err
	}
	return checkHello(f)
}

// checkHello returns an error unless f is the hello of this version. It wraps errVersion if it is that of another one.
func checkHello(f frame) error {
	v, ok := bytes.CutPrefix(f.body, []byte(magic))
	if f.kind != typeHello || !ok || len(v) < 2 {
		return fmt.Errorf("a frame of type %d in place of a hello", f.kind)
	}
	if n := binary.BigEndian.Uint16(v); n != version {
		return fmt.Errorf("%w: this side speaks version %d of the protocol of jobs, the other version %d", errVersion, version, n)
	}
	return nil
}

// errBody is the error of a body that does not hold what its type says.
var errBody = errors.New("the body of a frame is damaged")

// A body is read from front to back.
type body struct {
	rest []byte
	bad  bool
}

func (b *body) uint() uint64 {
	v, n := binary.Uvarint(b.rest)
	if n <= 0 {
		b.bad, b.rest = true, nil
		return 0
	}
	b.rest = b.rest[n:]
	return v
}

func (b *body) int() int64 {
	v, n := binary.Varint(b.rest)
	if n <= 0 {
		b.bad, b.rest = true, nil
		return 0
	}
	b.rest = b.rest[n:]
	return v
}

// blob returns a part with its length before it, of at most limit bytes.
func (b *body) blob(limit int) []byte {
	n := b.uint()
	if n > uint64(min(limit, len(b.rest))) {
		b.bad, b.rest = true, nil
		return nil
	}
	out := b.rest[:n:n]
	b.rest = b.rest[n:]
	return out
}

func (b *body) err() error {
	if b.bad {
		return errBody
	}
	return nil
}

func appendBlob[T string | []byte](b []byte, part T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

func encodeJob(j record.JobRecord) []byte {
	b := make([]byte, 0, len(j.Payload)+len(j.Checkpoint)+slack)
	b = appendBlob(appendBlob(b, string(j.Session)), j.Kind)
	b = append(binary.AppendVarint(b, j.BasedOn), byte(j.Priority))
	return append(appendBlob(b, j.Checkpoint), j.Payload...)
}

func decodeJob(text []byte) (record.JobRecord, error) {
	b := body{rest: text}
	j := record.JobRecord{JobKey: record.JobKey{Session: idrl.SessionID(b.blob(maxName)), Kind: string(b.blob(maxName)), BasedOn: b.int()}}
	j.Priority = record.Priority(min(b.uint(), 255))
	if c := b.blob(maxBlob); len(c) > 0 { // else there is none
		j.Checkpoint = c
	}
	j.Payload = b.rest
	if j.Priority > record.Urgent || len(j.Payload) > maxBlob {
		return record.JobRecord{}, errBody
	}
	return j, b.err()
}

func encodeProgress(p Progress) []byte {
	b := binary.AppendVarint(binary.AppendVarint(nil, int64(p.Done)), int64(p.Total))
	return append(b, shorten(p.What)...)
}

func decodeProgress(text []byte) (Progress, error) {
	b := body{rest: text}
	p := Progress{Done: int(b.int()), Total: int(b.int())}
	p.What = string(b.rest)
	return p, b.err()
}

func encodeArtefact(a Artefact) []byte {
	b := make([]byte, 0, len(a.Bytes)+slack)
	return append(appendBlob(append(b, a.Hash[:]...), a.Name), a.Bytes...)
}

// decodeArtefact returns an error if the bytes do not have the hash.
func decodeArtefact(text []byte) (Artefact, error) {
	var a Artefact
	if len(text) < len(a.Hash) {
		return Artefact{}, errBody
	}
	b := body{rest: text[copy(a.Hash[:], text):]}
	a.Name, a.Bytes = string(b.blob(maxName)), b.rest
	if err := b.err(); err != nil {
		return Artefact{}, err
	}
	if NewArtefact(a.Name, a.Bytes).Hash != a.Hash {
		return Artefact{}, fmt.Errorf("%w: artefact %q does not have the hash that it came with", errBody, a.Name)
	}
	return a, nil
}

// encodeEnd returns the end of a job that err ended, nil if it is done.
func encodeEnd(err error) []byte {
	if err == nil {
		return nil
	}
	return append([]byte{byte(idrl.KindOf(err))}, shorten(err.Error())...)
}

// decodeEnd returns the error of encodeEnd.
func decodeEnd(text []byte) error {
	switch {
	case len(text) == 0:
		return nil
	case idrl.Kind(text[0]) == idrl.Internal:
		return fmt.Errorf("in the worker: %s", text[1:])
	default:
		return idrl.Errorf(idrl.Kind(text[0]), "%s", text[1:])
	}
}

// shorten cuts a text that is too long.
func shorten(s string) string {
	return string(bytes.ToValidUTF8([]byte(s[:min(len(s), maxText)]), nil))
}
