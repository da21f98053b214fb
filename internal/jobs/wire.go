package jobs

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// Server and worker speak lines of JSON over the worker's standard input and
// output. The payload and the result are opaque bytes (base64 in JSON).

// A request is a line to a worker: a job, or the word to stop one.
type request struct {
	ID      int64  `json:"id"`
	Payload []byte `json:"payload,omitempty"`
	Cancel  bool   `json:"cancel,omitempty"`
}

// A reply is a line from a worker about job ID. One with a result or an error
// ends the job; any other is a sign of life, which may carry progress.
type reply struct {
	ID       int64     `json:"id"`
	Progress *progress `json:"progress,omitempty"`
	Result   *[]byte   `json:"result,omitempty"`
	Error    *string   `json:"error,omitempty"`
	Kind     uint8     `json:"kind,omitempty"` // idrl.Kind of Error
}

func (r reply) ended() bool { return r.Result != nil || r.Error != nil }

type progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	What  string `json:"what"`
}

// maxLine bounds a line, so that a runaway process cannot take all memory.
const maxLine = 256 << 20

var errLong = errors.New("a line is too long")

// readLine decodes the next line of in into v. It returns io.EOF at the end.
func readLine(in *bufio.Reader, v any) error {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return errLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) > 0 && errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		return json.Unmarshal(line, v)
	}
}

func writeLine(out io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}
