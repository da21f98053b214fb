//go:build unix

package jobs_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/jobs"
)

func TestServeAnswersMessageByMessage(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- jobs.Serve(t.Context(), in, out, handle) }()
	lines := bufio.NewScanner(receive)
	for _, test := range []struct{ request, reply string }{
		{`{"id":1,"size":9}` + "\necho hi!\n", `{"id":1,"size":4}`},
		{"", `hi!`},
		{`{"id":1,"cancel":true}` + "\n", ``}, // of a job that has ended
		{`{"id":2,"size":10}` + "\ninvalid no", `{"id":2,"error":"no","kind":1}`},
		{`{"id":3,"size":0}` + "\n", `{"id":3,"error":"unknown word "}`},
		{`{"id":4}` + "\n", `{"id":4,"error":"unknown word "}`},
	} {
		if _, err := io.WriteString(send, test.request); err != nil {
			t.Fatal(err)
		}
		if test.reply == "" {
			continue
		}
		if !lines.Scan() || lines.Text() != test.reply {
			t.Errorf("%s: got %s, want %s", test.request, lines.Text(), test.reply)
		}
	}
	_ = send.Close()
	if err := <-ended; err != nil {
		t.Errorf("at the end of its input: %v", err)
	}
}

func TestServeEnds(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name  string
		ctx   context.Context
		in    string
		wrong bool
	}{
		{"nothing to do", t.Context(), "", false},
		{"half a line", t.Context(), `{"id":1`, true},
		{"half a payload", t.Context(), `{"id":1,"size":9}` + "\nwai", true},
		{"a payload that is too large", t.Context(), `{"id":1,"size":99999999999}` + "\n", true},
		{"no JSON", t.Context(), "hello\n", true},
		{"a second job too early", t.Context(), `{"id":1,"size":4}` + "\nwait" + `{"id":2}` + "\n", true}, // wait
		{"the server dies during a job", t.Context(), `{"id":1,"size":4}` + "\nwait", false},
		{"canceled", canceled, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var in io.Reader = strings.NewReader(test.in)
			if test.ctx.Err() != nil {
				r, w := io.Pipe() // never says anything
				defer w.Close()
				in = r
			}
			stopped := false
			err := jobs.Serve(test.ctx, in, io.Discard, func(ctx context.Context, _ []byte, _ idrl.Progress) ([]byte, error) {
				<-ctx.Done()
				stopped = true
				return nil, ctx.Err()
			})
			if (err != nil) != test.wrong {
				t.Errorf("error = %v", err)
			}
			if strings.Contains(test.in, "\nwait") && !stopped {
				t.Error("the job was not stopped, or not waited for")
			}
		})
	}
}

func TestServeReportsABrokenOutput(t *testing.T) {
	_, out := io.Pipe()
	_ = out.CloseWithError(errors.New("gone"))
	in, send := io.Pipe()
	defer send.Close()
	go func() { _, _ = io.WriteString(send, `{"id":1,"size":7}`+"\necho hi") }()
	if err := jobs.Serve(t.Context(), in, out, handle); err == nil {
		t.Error("no error")
	}
}
