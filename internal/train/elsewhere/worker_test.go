package elsewhere_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// counter is what processes of these tests do besides the contract.
type counter struct{}

func (counter) Forget(idrl.SessionID) {}

// Do does what the first word of the payload says.
//
//	count N: counts to N, a millisecond each, with a checkpoint after each; the result depends on all steps
//	read FILE: returns the content of a file
func (counter) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	word, rest, _ := strings.Cut(string(job.Payload), " ")
	switch word {
	case "count":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		return count(ctx, job, n, to)
	case "read":
		b, err := os.ReadFile(filepath.Join(os.Args[1], rest))
		return errors.Join(err, to.Artefact("result", b))
	}
	return errors.New("unknown word " + word)
}

// count hashes again and again. The state after k steps is 8 bytes of k and a hash.
func count(ctx context.Context, job record.JobRecord, n int, to jobs.Reporter) error {
	state := make([]byte, 8, 40)
	state = append(state, sha256.New().Sum(nil)...)
	if job.Checkpoint != nil {
		state = bytes.Clone(job.Checkpoint)
	}
	for k := int(binary.BigEndian.Uint64(state)); k < n; k++ {
		sum := sha256.Sum256(state)
		binary.BigEndian.PutUint64(state, uint64(k+1))
		copy(state[8:], sum[:])
		if err := to.Checkpoint(state); err != nil {
			return err
		}
		to.Progress(k+1, n, "counting")
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return to.Artefact("result", fmt.Appendf(nil, "%x", state))
}

// counted returns the result of counting to n without interruption.
func counted(n int) string {
	var r result
	_ = count(context.Background(), record.JobRecord{}, n, &r) // nothing in it fails
	return string(r)
}

type result []byte

func (r *result) Artefact(_ string, b []byte) error { *r = b; return nil }
func (*result) Progress(int, int, string)           {}
func (*result) Checkpoint([]byte) error             { return nil }

// lie plays a worker's process that answers each job with what it read from the environment: frames in hexadecimal digits
// would be hard to read, so kinds have names.
func lie(how string) {
	hello := "\x01\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00tiebreak jobs \x00\x02"
	_, _ = os.Stdout.WriteString(hello)
	head := make([]byte, 16)
	for {
		if _, err := io.ReadFull(os.Stdin, head); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, os.Stdin, int64(binary.BigEndian.Uint32(head[4:]))); err != nil {
			return
		}
		if head[0] != 2 { // no start
			continue
		}
		id := head[8:16]
		answer := func(kind byte, body []byte) {
			f := append([]byte{kind, 0, 0, 0}, binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
			_, _ = os.Stdout.Write(append(append(f, id...), body...))
		}
		switch how {
		case "false hash":
			answer(7, append(make([]byte, sha256.Size), "\x06resultwhatever"...))
			answer(9, nil)
		case "nonsense":
			_, _ = os.Stdout.WriteString(strings.Repeat("this is no frame ", 10))
		case "damaged progress":
			answer(6, nil)
		}
	}
}

// testProgram is this program.
var testProgram = []string{os.Args[0]}

func file(path, content string) jobs.File {
	return jobs.File{Path: path, Hash: sha256.Sum256([]byte(content)), Size: int64(len(content)), Read: func() ([]byte, error) { return []byte(content), nil }}
}
