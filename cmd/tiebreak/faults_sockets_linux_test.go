package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// storm has every annotator connect again, answer, and open more tabs, all at once, and returns how many of the sockets are then greeted.
func (c *crowd) storm(tabs int) (greeted int) {
	c.t.Helper()
	sockets := make([][]*client.Conn, len(c.all))
	c.each(func(k int) error {
		if err := c.reconnect(k); err != nil {
			return err
		}
		sockets[k] = append(sockets[k], c.all[k].Conn)
		if err := c.all[k].Label(len(c.all[k].Acked) + 1); err != nil {
			return err
		}
		for end := time.Now().Add(waittest.Limit); len(sockets[k]) < tabs; {
			tab, err := c.all[k].Conn.Tab(c.t.Context())
			if err == nil {
				c.t.Cleanup(func() { _ = tab.Close() })
				sockets[k] = append(sockets[k], tab)
			} else if idrl.KindOf(err) != idrl.Unavailable || time.Now().After(end) {
				return err
			}
		}
		return nil
	})
	var n atomic.Int64
	c.each(func(k int) error {
		for _, s := range sockets[k] {
			if s.Send(&wire.ClientHello{}) == nil && untilGreeted(s) == nil {
				n.Add(1)
			}
		}
		return nil
	})
	return int(n.Load())
}

func untilGreeted(s *client.Conn) error {
	for {
		m, err := s.RecvBy(time.Now().Add(waittest.Limit))
		if _, ok := m.(*wire.Hello); ok || err != nil {
			return err
		}
	}
}

// TestFaultStorm: 504 sockets connect at once to a server that has been killed while they answered. All are served, and no answer is lost.
func TestFaultStorm(t *testing.T) {
	t.Parallel()
	const annotators, tabs = 42, 12 // as many sockets as a person can open at once
	c := newCrowd(t, annotators, t.TempDir())
	for range faults(t, 1) {
		c.killed(200 * time.Millisecond)
		c.start()
		began := time.Now()
		if n := c.storm(tabs); n != annotators*tabs {
			t.Errorf("%d of %d sockets are served", n, annotators*tabs)
		}
		t.Logf("%d sockets are served after %v", annotators*tabs, time.Since(began).Round(time.Millisecond))
	}
	if n, lost, twice := c.check(); lost != 0 || twice != 0 || n < annotators*(1+faults(t, 1)) {
		t.Errorf("%d acknowledged, %d lost, %d twice", n, lost, twice)
	}
}

// TestFaultStormControl: of more tabs than an annotator may have, the oldest are ended, and the count of TestFaultStorm finds that.
func TestFaultStormControl(t *testing.T) {
	t.Parallel()
	const tabs = 20 // the limit is 16, and the last one to be ended may be greeted before
	c := newCrowd(t, 1, t.TempDir())
	if n := c.storm(tabs); n == 0 || n == tabs {
		t.Errorf("%d of %d sockets are served", n, tabs)
	}
}

// TestFaultSlowReaders: sixteen annotators read nothing any more, ask again and again, and answer; others answer beside them as before.
// What the sixteen have sent is recorded; they learn of it when they read again, or connect again.
func TestFaultSlowReaders(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 4, t.TempDir())
	network := newCutProxy(t, c.addr)
	slow := &crowd{t: t, data: c.data, addr: c.addr, id: c.id, server: c.server, all: make([]*loadtest.Labeller, 16)}
	slow.each(func(k int) error {
		conn, err := client.Dial(t.Context(), strings.Replace(c.link, c.addr, network.addr(), 1))
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = conn.Close() })
		slow.all[k] = loadtest.New(conn, uint64(100+k))
		return slow.all[k].Label(1)
	})
	before, resident := len(c.log()), residentMB(t, c.server.cmd.Process.Pid)
	goOn := network.stop()
	defer goOn()
	waiting := make(chan struct{})
	go func() {
		defer close(waiting)
		slow.broken()
	}()
	slow.untilRecorded(before + len(slow.all))
	var flood, others sync.WaitGroup
	end := make(chan struct{})
	for _, l := range slow.all {
		flood.Go(func() {
			for tick := time.NewTicker(50 * time.Millisecond); ; {
				select {
				case <-end:
					tick.Stop()
					return
				case <-tick.C:
					_ = l.Conn.Send(&wire.ClientHello{}) // until the server ends the socket
				}
			}
		})
	}
	others.Go(func() { c.try(func(k int) error { return c.all[k].GoOn(len(c.all[k].Acked) + 50) }) })
	others.Wait()
	close(end)
	flood.Wait()
	t.Logf("%d readers stopped: the server takes %.1f MB, %.1f MB before", len(slow.all), residentMB(t, c.server.cmd.Process.Pid), resident)
	for k, l := range slow.all {
		if len(l.Acked) != 1 || l.Pending() == "" {
			t.Errorf("annotator %d was to hear nothing, and has %d answers acknowledged", k, len(l.Acked))
		}
	}
	if os.Getenv(faultsEnv) != "" {
		waittest.Until(t, "the sockets to be ended that give no sign of life", func() bool { return network.open() == 0 })
	}
	goOn()
	network.cut()
	waittest.For(t, waiting, "the connections to break")
	slow.again(1)
	for _, crowd := range []*crowd{c, slow} {
		if n, lost, twice := crowd.check(); lost != 0 || twice != 0 || n < 2*len(crowd.all) {
			t.Errorf("%d acknowledged, %d lost, %d twice", n, lost, twice)
		}
	}
}

// residentMB returns the memory of a process.
func residentMB(t *testing.T, pid int) float64 {
	t.Helper()
	status := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	var kib int
	must.Get(fmt.Sscan(after, &kib))(t)
	return float64(kib) / 1024
}
