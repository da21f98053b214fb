package jobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// wire returns frames as they are sent.
func wire(t testing.TB, frames ...frame) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, f := range frames {
		must.Do(t, writeFrame(&b, f))
	}
	return b.Bytes()
}

// The header and the hello stay as they are: other versions read them.
func TestHelloStays(t *testing.T) {
	const want = "\x01\x00\x00\x00" + "\x00\x00\x00\x10" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "tiebreak jobs \x00\x02"
	if got := wire(t, hello()); string(got) != want {
		t.Errorf("hello = %q, want %q", got, want)
	}
	later := strings.Replace(want, "\x00\x02", "\x01\x02", 1)
	later = strings.Replace(later, "\x10", "\x15", 1) + "v0.9.1"[:5]
	if err := readHello(strings.NewReader(later), true); !errors.Is(err, errVersion) || idrl.KindOf(err) != idrl.Conflict || !strings.Contains(err.Error(), "the other version 258") {
		t.Errorf("a later version: %v", err)
	}
	for _, in := range []string{`{"id":1,"size":9}` + "\n", string(wire(t, frame{kind: typeAlive, id: 1})), want[:20], ""} {
		if err := readHello(strings.NewReader(in), true); err == nil || errors.Is(err, errVersion) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestBodies(t *testing.T) {
	job := record.JobRecord{
		JobKey:   record.JobKey{Session: "ä", Kind: "train", BasedOn: -3},
		Priority: record.Urgent, Payload: []byte("what\n"), Checkpoint: []byte{0, 255},
	}
	if got, err := decodeJob(encodeJob(job)); err != nil || cmp.Diff(job, got) != "" {
		t.Errorf("job: %v\n%s", err, cmp.Diff(job, got))
	}
	fresh := job
	fresh.Checkpoint = nil
	if got, err := decodeJob(encodeJob(fresh)); err != nil || got.Checkpoint != nil {
		t.Errorf("a job without a checkpoint arrives with %v, %v", got.Checkpoint, err)
	}
	for _, p := range []Progress{{}, {Done: 3, Total: 7, What: "solving\n"}, {Done: -1}} {
		if got, err := decodeProgress(encodeProgress(p)); err != nil || got != p {
			t.Errorf("progress %+v: %+v, %v", p, got, err)
		}
	}
	a := NewArtefact("generation", []byte("many"))
	if got, err := decodeArtefact(encodeArtefact(a)); err != nil || cmp.Diff(a, got) != "" {
		t.Errorf("artefact: %+v, %v", got, err)
	}
	long := strings.Repeat("é", maxText)
	if got := decodeEnd(encodeEnd(idrl.Errorf(idrl.Invalid, "%s", long))); idrl.KindOf(got) != idrl.Invalid || len(got.Error()) > maxText || !strings.HasPrefix(long, got.Error()) {
		t.Errorf("a long error has %d bytes", len(got.Error()))
	}
	if err := decodeEnd(encodeEnd(nil)); err != nil {
		t.Errorf("the end without an error: %v", err)
	}
}

// Frames are refused by their headers, before memory is taken for them.
func TestFramesThatAreRefused(t *testing.T) {
	announce := func(kind frameType, n int) []byte {
		b := wire(t, frame{kind: kind})
		b[4], b[5], b[6], b[7] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
		return b
	}
	for _, test := range []struct {
		name       string
		in         []byte
		fromWorker bool
		says       string
	}{
		{"too large", announce(typeCheckpoint, maxBlob+1), true, "at most 16777216 are allowed"},
		{"a sign of life with a body", announce(typeAlive, 1), true, "at most 0"},
		{"unknown", wire(t, frame{kind: 77}), true, "no header of a frame"},
		{"no type", make([]byte, headerSize), true, "no header of a frame"},
		{"a worker starts a job", wire(t, frame{kind: typeStart}), true, "wrong side"},
		{"a server makes progress", wire(t, frame{kind: typeProgress}), false, "wrong side"},
		{"half a header", wire(t, hello())[:7], true, "unexpected EOF"},
		{"half a body", wire(t, hello())[:20], true, "unexpected EOF"},
	} {
		in := bytes.NewReader(test.in)
		if _, err := readFrame(in, test.fromWorker); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// FuzzFrames: whatever the other side writes, it is read as frames that encode to what
// was read, and as an error; and bodies decode or are refused.
func FuzzFrames(f *testing.F) {
	job := encodeJob(record.JobRecord{JobKey: record.JobKey{Session: "s", Kind: "train", BasedOn: 3}, Payload: []byte("what"), Checkpoint: []byte("half")})
	f.Add(wire(f, hello(), frame{kind: typeStart, id: 1, body: job}, frame{kind: typeForget, body: []byte("s")}, frame{kind: typeCancel, id: 1}), false)
	f.Add(wire(f, hello(), frame{kind: typeAlive, id: 1},
		frame{kind: typeProgress, id: 1, body: encodeProgress(Progress{Done: 1, Total: 2, What: "x"})},
		frame{kind: typeArtefact, id: 1, body: encodeArtefact(NewArtefact("generation", []byte("many")))},
		frame{kind: typeCheckpoint, id: 1, body: []byte("half")},
		frame{kind: typeEnd, id: 1, body: encodeEnd(errors.New("no"))}), true)
	f.Fuzz(func(t *testing.T, in []byte, fromWorker bool) {
		r, read := bytes.NewReader(in), 0
		for {
			fr, err := readFrame(r, fromWorker)
			if err != nil {
				break
			}
			again := wire(t, fr)
			if !bytes.Equal(again, in[read:read+len(again)]) {
				t.Fatalf("frame at byte %d encodes to %x", read, again)
			}
			read += len(again)
			if len(fr.body) > limits[fr.kind].max {
				t.Fatalf("a body of %d bytes", len(fr.body))
			}
			if j, err := decodeJob(fr.body); err == nil && (len(j.Payload) > maxBlob || j.Priority > record.Urgent) {
				t.Fatalf("job %+v", j)
			}
			if a, err := decodeArtefact(fr.body); err == nil && NewArtefact(a.Name, a.Bytes).Hash != a.Hash {
				t.Fatalf("artefact %+v", a)
			}
			_, _ = decodeProgress(fr.body)
			_ = decodeEnd(fr.body)
		}
	})
}

// words does what the payload says: it is a handler without a process.
type words struct{ forgotten []idrl.SessionID }

func (w *words) Forget(session idrl.SessionID) { w.forgotten = append(w.forgotten, session) }

func (w *words) Do(ctx context.Context, job record.JobRecord, to Reporter) error {
	switch string(job.Payload) {
	case "echo":
		return to.Artefact("echo", job.Checkpoint)
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	}
	return idrl.Errorf(idrl.Invalid, "unknown word")
}

func startFrame(id uint64, payload, checkpoint string) frame {
	return frame{kind: typeStart, id: id, body: encodeJob(record.JobRecord{Payload: []byte(payload), Checkpoint: []byte(checkpoint)})}
}

func TestServeAnswersFrameByFrame(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan error, 1)
	w := &words{}
	go func() { ended <- Serve(t.Context(), in, out, w) }()
	for _, test := range []struct {
		name    string
		send    []frame
		receive []frame
	}{
		{"hello", nil, []frame{hello()}},
		{"a job", []frame{hello(), startFrame(1, "echo", "hi!")}, []frame{
			{kind: typeArtefact, id: 1, body: encodeArtefact(NewArtefact("echo", []byte("hi!")))},
			{kind: typeEnd, id: 1},
		}},
		{"stop a job that has ended, forget", []frame{{kind: typeCancel, id: 1}, {kind: typeForget, body: []byte("s")}}, nil},
		{"an error", []frame{startFrame(2, "no", "")}, []frame{{kind: typeEnd, id: 2, body: append([]byte{byte(idrl.Invalid)}, "unknown word"...)}}},
		{"stop a job", []frame{startFrame(3, "wait", ""), {kind: typeCancel, id: 3}}, []frame{{kind: typeEnd, id: 3, body: append([]byte{byte(idrl.Internal)}, "context canceled"...)}}},
	} {
		for _, f := range test.send {
			must.Do(t, writeFrame(send, f))
		}
		for _, want := range test.receive {
			got, err := readFrame(receive, true)
			if err != nil || got.kind != want.kind || got.id != want.id || !bytes.Equal(got.body, want.body) {
				t.Errorf("%s: got %+v, %v, want %+v", test.name, got, err, want)
			}
		}
	}
	_ = send.Close()
	if err := waittest.For(t, ended, "the worker to end with its input"); err != nil {
		t.Errorf("at the end of its input: %v", err)
	}
	if len(w.forgotten) != 1 || w.forgotten[0] != "s" {
		t.Errorf("it forgot %q", w.forgotten)
	}
}

func TestServeEnds(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	wait := wire(t, hello(), startFrame(1, "wait", ""))
	for _, test := range []struct {
		name  string
		ctx   context.Context
		in    []byte
		wrong bool
	}{
		{"nothing to do", t.Context(), nil, false},
		{"nothing after the hello", t.Context(), wire(t, hello()), false},
		{"another version", t.Context(), bytes.Replace(wire(t, hello()), []byte{0, version}, []byte{0, version + 1}, 1), true},
		{"no hello", t.Context(), wire(t, startFrame(1, "wait", "")), true},
		{"half a frame", t.Context(), wait[:len(wait)-1], true},
		{"a frame that is too large", t.Context(), append(wire(t, hello()), "\x02\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x01"...), true},
		{"no frame", t.Context(), append(wire(t, hello()), "hello, this is no header\n"...), true},
		{"a damaged job", t.Context(), wire(t, hello(), frame{kind: typeStart, id: 1, body: []byte{200}}), true},
		{"a second hello", t.Context(), wire(t, hello(), hello()), true},
		{"a second job too early", t.Context(), append(bytes.Clone(wait), wire(t, startFrame(2, "wait", ""))...), true},
		{"the server dies during a job", t.Context(), wait, false},
		{"canceled", canceled, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var in io.Reader = bytes.NewReader(test.in)
			if test.ctx.Err() != nil {
				r, w := io.Pipe() // never says anything
				defer w.Close()
				in = r
			}
			if err := Serve(test.ctx, in, io.Discard, &words{}); (err != nil) != test.wrong {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestServeReportsABrokenOutput(t *testing.T) {
	_, out := io.Pipe()
	_ = out.CloseWithError(errors.New("gone"))
	in, send := io.Pipe()
	defer send.Close()
	if err := Serve(t.Context(), in, out, &words{}); err == nil {
		t.Error("no error")
	}
}
