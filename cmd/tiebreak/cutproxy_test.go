package main

import (
	"net"
	"sync"
	"testing"

	"tiebreak/internal/check/must"
)

// A cutProxy is the network between annotators and a server: it passes bytes on, and can lose and cut.
type cutProxy struct {
	listener net.Listener
	server   string

	mu    sync.Mutex // guards all below
	conns map[net.Conn]bool
	quota int           // bytes of annotators that are still passed on before a connection is cut; -1: all
	mute  bool          // what the server says is lost
	stuck chan struct{} // closed when what the server says is read again; nil if it is read
}

func newCutProxy(t *testing.T, server string) *cutProxy {
	t.Helper()
	listener := must.Get(net.Listen("tcp", freeAddr(t)))(t)
	p := &cutProxy{listener: listener, server: server, conns: map[net.Conn]bool{}, quota: -1}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			done.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
		done.Wait()
	})
	return p
}

// addr is where annotators reach the server.
func (p *cutProxy) addr() string { return p.listener.Addr().String() }

// serve passes on what both ends of a connection say until one of them ends.
func (p *cutProxy) serve(annotator net.Conn) {
	defer annotator.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[annotator] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pass(server, annotator, p.upTo) })
	both.Go(func() { p.pass(annotator, server, p.heard) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, annotator)
	p.mu.Unlock()
}

// pass copies as much as may be from one end to the other, and closes both in the end.
func (p *cutProxy) pass(to, from net.Conn, may func(n int) (bytes int, more bool)) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		bytes, more := may(n)
		if _, lost := to.Write(b[:bytes]); lost != nil || err != nil || !more {
			return
		}
	}
}

// upTo takes from the quota.
func (p *cutProxy) upTo(n int) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quota < 0 {
		return n, true
	}
	n = min(n, p.quota)
	p.quota -= n
	return n, p.quota > 0
}

func (p *cutProxy) heard(n int) (int, bool) {
	p.mu.Lock()
	stuck := p.stuck
	p.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mute {
		return 0, true
	}
	return n, true
}

// lose has what the server says from now on be lost, or not.
func (p *cutProxy) lose(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = is
}

// stop stops reading from the server until goOn is called.
func (p *cutProxy) stop() (goOn func()) {
	stuck := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = stuck
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stuck = nil
		close(stuck)
	})
}

// open returns how many connections there are.
func (p *cutProxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// tear has connections be cut after so many more bytes of annotators; -1: not.
func (p *cutProxy) tear(quota int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quota = quota
}

// cut cuts all connections.
func (p *cutProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.(*net.TCPConn).SetLinger(0) // it is reset, as one that a router has forgotten
		_ = conn.Close()
	}
}
