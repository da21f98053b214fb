package natstest

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"tiebreak/internal/check/must"
)

// A link carries what two servers of a cluster say to one another, unless it is cut.
type link struct {
	from string // name of the server that connects
	to   *Node
	at   net.Listener

	mu     sync.Mutex // guards all below
	closed bool
	open   map[net.Conn]bool
}

func newLink(t testing.TB, from string, to *Node) *link {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	l := &link{from: from, to: to, at: at, open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = at.Close()
		l.cut(true)
	})
	go func() {
		for {
			near, err := at.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", to.Cluster))
			if err != nil || !l.add(near, far) {
				_ = near.Close()
				continue
			}
			go l.carry(near, far)
			go l.carry(far, near)
		}
	}()
	return l
}

// add notes two connections; if the link is cut it closes the second and returns false.
func (l *link) add(near, far net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = far.Close()
		return false
	}
	l.open[near], l.open[far] = true, true
	return true
}

func (l *link) carry(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, from)
}

// cut closes what is open and what is opened until the link is mended.
func (l *link) cut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = cut
	for c := range l.open {
		if cut {
			_ = c.Close()
		}
	}
}
