package main

import (
	"net/http"
	"testing"
	"time"

	"tiebreak/internal/idrl"
)

// TestFaultClock: the clock of the server jumps by an hour and by a day, forth and back, while annotators answer on sockets that stay
// open, and connect again. Sign-ins hold, all answers are recorded once in their order, and those of questions whose lease an hour
// ended are marked. A restart in the wrong hour changes nothing.
func TestFaultClock(t *testing.T) {
	t.Parallel()
	clock := newMovedClock(t)
	c := &crowd{t: t, data: t.TempDir(), addr: freeAddr(t), run: clock.run}
	c.join(4)
	late := 0
	for _, jump := range []time.Duration{time.Hour, 0, -time.Hour, 24 * time.Hour, -24 * time.Hour, 0} {
		clock.ahead(c.server, jump)
		before, began := len(c.log()), time.Now().Truncate(time.Second)
		c.each(func(k int) error { return c.all[k].GoOn(len(c.all[k].Acked) + 3) })
		c.again(2)
		c.server.kill()
		c.back(1)
		c.ready(http.StatusOK)
		log := c.log()
		if len(log) != before+len(c.all)*6 {
			t.Errorf("%v: %d rows, want %d", jump, len(log), before+len(c.all)*6)
		}
		for _, a := range log[before:] {
			if at := a.ReceivedAt.Add(-jump); at.Before(began) || at.After(time.Now().Add(time.Second)) {
				t.Errorf("%v: received at %v: the clock of the server has not jumped", jump, a.ReceivedAt)
			}
			if a.Late {
				late++
			}
		}
		for i, a := range log {
			if a.Seq != int64(i)+1 {
				t.Errorf("%v: row %d has number %d", jump, i, a.Seq)
			}
		}
	}
	if late == 0 {
		t.Error("no answer is marked as late, though an hour has passed since its question was handed out")
	}
	if n, lost, twice := c.check(); lost != 0 || twice != 0 || n != len(c.all)*(1+6*6) {
		t.Errorf("%d acknowledged, %d lost, %d twice", n, lost, twice)
	}
}

// TestFaultClockControl: after a jump that is longer than the life of a sign-in, connections are refused, and the steps of TestFaultClock
// would find that. The answer under way is kept by the page, and recorded once the person is signed in again.
func TestFaultClockControl(t *testing.T) {
	t.Parallel()
	clock := newMovedClock(t)
	c := &crowd{t: t, data: t.TempDir(), addr: freeAddr(t), run: clock.run}
	c.join(2)
	clock.ahead(c.server, 61*24*time.Hour)
	for k := range c.all {
		if err := c.reconnect(k); idrl.KindOf(err) != idrl.Forbidden {
			t.Errorf("annotator %d connects after two months: %v", k, err)
		}
	}
}
