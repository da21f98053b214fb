package bynats_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"
)

// A wire is a proxy before an address that can be frozen: its connections stay, and carry nothing.
type wire struct {
	addr string

	mu     sync.Mutex
	frozen chan struct{} // closed when it is not
}

func freezable(t testing.TB, to string) *wire {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	w := &wire{addr: l.Addr().String(), frozen: make(chan struct{})}
	close(w.frozen)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.DialTimeout("tcp", to, 5*time.Second)
			if err != nil {
				_ = near.Close()
				continue
			}
			go w.carry(near, far)
			go w.carry(far, near)
		}
	}()
	return w
}

func (w *wire) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		w.mu.Lock()
		frozen := w.frozen
		w.mu.Unlock()
		<-frozen
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) freeze(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if on {
		w.frozen = make(chan struct{})
		return
	}
	close(w.frozen)
}
