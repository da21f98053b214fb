package carriertest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// wait is how long a test waits for a message, which comes much sooner.
const wait = time.Minute

// Run checks what every carrier promises while nothing is lost. open returns two carriers that reach each other: that
// of a server, and that of a worker named "w1".
func Run(t *testing.T, open func(t *testing.T) (server, worker elsewhere.Carrier)) {
	for name, test := range map[string]func(t *testing.T, server, worker elsewhere.Carrier){
		"told":           told,
		"sent in order":  inOrder,
		"patterns":       patterns,
		"large messages": largeMessages,
		"blobs":          blobs,
		"bad subjects":   badSubjects,
		"channels end":   channelsEnd,
		"slow readers":   slowReaders,
	} {
		t.Run(name, func(t *testing.T) {
			server, worker := open(t)
			test(t, server, worker)
		})
	}
}

// next returns the next message.
func next(t *testing.T, from <-chan elsewhere.Message) elsewhere.Message {
	t.Helper()
	select {
	case m, ok := <-from:
		if !ok {
			t.Fatal("the channel has ended")
		}
		return m
	case <-time.After(wait):
		t.Fatal("no message came")
	}
	panic("not reached")
}

// What is told again and again is heard some time, and what is heard last is the newest.
func told(t *testing.T, server, worker elsewhere.Carrier) {
	heard := must.Get(worker.Watch(t.Context(), "servers.*"))(t)
	for k := range 10 {
		must.Do(t, server.Tell(t.Context(), "servers.s", fmt.Append(nil, k)))
	}
	for {
		if m := next(t, heard); string(m.Data) == "9" {
			if m.Subject != "servers.s" {
				t.Errorf("told under %q", m.Subject)
			}
			return
		}
	}
}

func inOrder(t *testing.T, server, worker elsewhere.Carrier) {
	const n = 200
	down := must.Get(worker.Receive(t.Context(), "to.w1.>"))(t)
	up := must.Get(server.Receive(t.Context(), "from.*.s.>"))(t)
	for k := range n {
		must.Do(t, server.Send(t.Context(), "to.w1.s.link", fmt.Append(nil, "down ", k)))
		must.Do(t, worker.Send(t.Context(), "from.w1.s.link", fmt.Append(nil, "up ", k)))
	}
	for k := range n {
		if got, want := next(t, down), fmt.Sprint("down ", k); string(got.Data) != want || got.Subject != "to.w1.s.link" {
			t.Fatalf("received %q under %s, want %q", got.Data, got.Subject, want)
		}
		if got, want := next(t, up), fmt.Sprint("up ", k); string(got.Data) != want {
			t.Fatalf("received %q, want %q", got.Data, want)
		}
	}
}

func patterns(t *testing.T, server, worker elsewhere.Carrier) {
	mine := must.Get(server.Receive(t.Context(), "from.*.mine.>"))(t)
	for _, to := range []string{"from.w1.other.a", "from.w1.mine.a", "from.w1.mine.b.c"} {
		must.Do(t, worker.Send(t.Context(), to, []byte(to)))
	}
	got := map[string]bool{next(t, mine).Subject: true, next(t, mine).Subject: true}
	if !got["from.w1.mine.a"] || !got["from.w1.mine.b.c"] {
		t.Errorf("received %v", got)
	}
}

func largeMessages(t *testing.T, server, worker elsewhere.Carrier) {
	up := must.Get(server.Receive(t.Context(), "from.>"))(t)
	large := random(elsewhere.MaxMessage)
	must.Do(t, worker.Send(t.Context(), "from.w1.s.l", large))
	if got := next(t, up); string(got.Data) != string(large) {
		t.Errorf("%d bytes came back as %d", len(large), len(got.Data))
	}
	for _, send := range []func(context.Context, string, []byte) error{worker.Send, worker.Tell} {
		if err := send(t.Context(), "from.w1.s.l", make([]byte, elsewhere.MaxMessage+1)); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("a message that is too large: %v", err)
		}
	}
}

func random(n int) []byte {
	stream, b := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for k := range b {
		b[k] = byte(stream.Uint32())
	}
	return b
}

func blobs(t *testing.T, server, worker elsewhere.Carrier) {
	for _, n := range []int{0, 1, 1 << 20, 17 << 20} {
		blob := random(n)
		for _, by := range []elsewhere.Carrier{worker, server, worker} { // once or again
			if name := must.Get(by.Put(t.Context(), blob))(t); name != sha256.Sum256(blob) {
				t.Fatalf("%d bytes are named %x", n, name)
			}
		}
		if got := must.Get(server.Get(t.Context(), sha256.Sum256(blob)))(t); string(got) != string(blob) {
			t.Errorf("%d bytes came back as %d others", n, len(got))
		}
	}
	if _, err := server.Get(t.Context(), elsewhere.Hash{1}); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("a blob that nobody has put: %v", err)
	}
	if _, err := server.Put(t.Context(), make([]byte, elsewhere.MaxBlob+1)); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a blob that is too large: %v", err)
	}
}

func badSubjects(t *testing.T, server, _ elsewhere.Carrier) {
	for _, subject := range []string{"", "to", "to..a", "to.a b", "to.../etc", "to.*.a", "to.>", "to.a.b.c.d.e.f", "to." + strings.Repeat("x", 65), "to.ä"} {
		if err := server.Send(t.Context(), subject, nil); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("sent under %q: %v", subject, err)
		}
		if err := server.Tell(t.Context(), subject, nil); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("told under %q: %v", subject, err)
		}
	}
}

func channelsEnd(t *testing.T, server, worker elsewhere.Carrier) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watched := must.Get(server.Watch(ctx, "offers.>"))(t)
	received := must.Get(server.Receive(ctx, "from.>"))(t)
	later := must.Get(worker.Receive(t.Context(), "to.w1.>"))(t)
	cancel()
	must.Do(t, worker.Close())
	for _, c := range []<-chan elsewhere.Message{watched, received, later} {
		select {
		case _, ok := <-c:
			if ok {
				t.Error("there is a message")
			}
		case <-time.After(wait):
			t.Fatal("the channel does not end")
		}
	}
}

// A receiver that is slow loses nothing, and holds up nobody else.
func slowReaders(t *testing.T, server, worker elsewhere.Carrier) {
	const n = 2000
	slow := must.Get(server.Receive(t.Context(), "from.*.slow.>"))(t)
	quick := must.Get(server.Receive(t.Context(), "from.*.quick.>"))(t)
	for k := range n {
		must.Do(t, worker.Send(t.Context(), "from.w1.slow.l", fmt.Append(nil, k)))
	}
	must.Do(t, worker.Send(t.Context(), "from.w1.quick.l", nil))
	next(t, quick)
	for k := range n {
		if got := next(t, slow); string(got.Data) != fmt.Sprint(k) {
			t.Fatalf("received %q as message %d", got.Data, k)
		}
	}
}
