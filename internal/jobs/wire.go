package jobs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Server and worker speak over the worker's standard input and output. A message
// is a line of JSON, its header, and as many bytes after it as the header says: the
// payload of a job, or its result. The sender knows how many before it sends them,
// so that the receiver can refuse a message before it takes memory for it.

// A request is a header to a worker: of a job, or the word to stop one.
type request struct {
	ID     int64 `json:"id"`
	Size   *int  `json:"size,omitempty"` // of the payload in bytes; nil only with Cancel
	Cancel bool  `json:"cancel,omitempty"`
}

// A reply is a header from a worker about job ID. One with a size or an error ends
// the job; any other is a sign of life, which may carry progress.
type reply struct {
	ID       int64     `json:"id"`
	Progress *progress `json:"progress,omitempty"`
	Size     *int      `json:"size,omitempty"` // of the result in bytes
	Error    *string   `json:"error,omitempty"`
	Kind     uint8     `json:"kind,omitempty"` // idrl.Kind of Error

	result []byte // what follows the header
}

func (r reply) ended() bool { return r.Size != nil || r.Error != nil }

type progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	What  string `json:"what"`
}

// Limits of a message, so that a runaway process cannot take all memory. The
// largest generation measured has 1.1 MB (ant, comparisons of clips; half-cheetah
// 1.0 MB, driver 0.5 MB), and it grows no faster than the number of candidates.
const (
	maxBody   = 16 << 20 // bytes after a header
	maxHeader = 64 << 10 // bytes
	maxText   = 8 << 10  // bytes of an error's text within a header
)

// readHeader decodes the next line of in into v. It returns io.EOF at the end. The
// buffer of in is at least maxHeader long.
func readHeader(in *bufio.Reader, v any) error {
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return fmt.Errorf("a line is longer than %d KiB", maxHeader>>10)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("a line is no message: %w", err)
	}
	return nil
}

// readBody returns the size bytes that follow a header.
func readBody(in *bufio.Reader, size int) ([]byte, error) {
	if size < 0 || size > maxBody {
		return nil, fmt.Errorf("a message of %d bytes is announced; at most %d MiB are allowed", size, maxBody>>20)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, fmt.Errorf("a message of %d bytes is cut short: %w", size, err)
	}
	return b, nil
}

// newReader returns a reader of messages.
func newReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, maxHeader) }

// writeMessage writes a header and what follows it.
func writeMessage(out io.Writer, header any, body []byte) error {
	b, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(b, '\n')); err != nil || len(body) == 0 {
		return err
	}
	_, err = out.Write(body)
	return err
}
