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

func TestServeAnswersLineByLine(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- jobs.Serve(t.Context(), in, out, handle) }()
	lines := bufio.NewScanner(receive)
	for _, test := range []struct{ request, reply string }{
		{`{"id":1,"payload":"ZWNobyBoaQ=="}`, `{"id":1,"result":"aGk="}`}, // echo hi
		{`{"id":1,"cancel":true}`, ``},                                    // of a job that has ended
		{`{"id":2,"payload":"aW52YWxpZCBubw=="}`, `{"id":2,"error":"no","kind":1}`},
		{`{"id":3}`, `{"id":3,"error":"unknown word "}`},
	} {
		if _, err := io.WriteString(send, test.request+"\n"); err != nil {
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
		{"no JSON", t.Context(), "hello\n", true},
		{"a second job too early", t.Context(), `{"id":1,"payload":"d2FpdA=="}` + "\n" + `{"id":2}` + "\n", true}, // wait
		{"the server dies during a job", t.Context(), `{"id":1,"payload":"d2FpdA=="}` + "\n", false},
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
			if strings.Contains(test.in, "payload") && !stopped {
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
	go func() { _, _ = io.WriteString(send, `{"id":1,"payload":"ZWNobyBoaQ=="}`+"\n") }()
	if err := jobs.Serve(t.Context(), in, out, handle); err == nil {
		t.Error("no error")
	}
}
