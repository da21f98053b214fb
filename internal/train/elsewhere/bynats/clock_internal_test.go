package bynats

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/nats-io/nats-server/v2/server"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/elsewhere"
)

// TestNoClock: nothing here reads the clock of the machine; deadlines of contexts do not depend on what it is set to.
func TestNoClock(t *testing.T) {
	t.Parallel()
	files := must.Get(filepath.Glob("*.go"))(t)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Now" {
				t.Errorf("%s reads a clock", name)
			}
			return true
		})
	}
}

// TestServerClockMoves: a receiver goes on after the clock of the server of NATS was set back or forward by an hour.
func TestServerClockMoves(t *testing.T) {
	t.Parallel()
	s := must.Get(server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}))(t)
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(waittest.Limit) {
		t.Fatalf("waited %v for a server of NATS", waittest.Limit)
	}
	c := must.Get(Open(t.Context(), Config{URLs: s.ClientURL()}))(t)
	t.Cleanup(func() { _ = c.Close() })
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		last := time.Now().Add(off)
		r := &receiver{c: c, pattern: "to.w1.>", since: last}
		must.Do(t, r.consume(t.Context()))
		got := must.Get(c.read(t.Context(), func(ctx context.Context, out chan<- elsewhere.Message) { r.run(ctx, c.now(), out) }))(t)
		want := fmt.Sprint(off)
		must.Do(t, c.Send(t.Context(), "to.w1.a.b", []byte(want)))
		for string(waittest.For(t, got, "the message sent at "+want).Data) != want {
		} // with the earlier clock also what was sent before
	}
}

// Numbers that do not grow under a subject are of messages that came before, from whatever stream.
func TestOnce(t *testing.T) {
	t.Parallel()
	var o once
	for _, test := range []struct {
		subject string
		of      number
		want    bool
	}{
		{"to.w1.a", number{"s", 2}, true},
		{"to.w1.a", number{"s", 2}, false},
		{"to.w1.a", number{"s", 1}, false},
		{"to.w1.b", number{"s", 1}, true},
		{"to.w1.a", number{"r", 1}, true},
		{"to.w1.a", number{"s", 3}, true},
	} {
		if got := o.first(test.subject, test.of); got != test.want {
			t.Errorf("%s %v: first %v, want %v", test.subject, test.of, got, test.want)
		}
	}
	for k := range 10 * maxOnce {
		o.first(fmt.Sprint("to.w1.", k), number{"s", 4})
		o.first("to.w1.a", number{"s", uint64(4 + k)})
	}
	if o.first("to.w1.a", number{"s", 5}) {
		t.Error("a subject in use is forgotten")
	}
	if n := len(o.now) + len(o.before); n > 2*maxOnce {
		t.Errorf("%d numbers are kept", n)
	}
}
