package main

import (
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/web/wire"
)

// newFarCrowd is newCrowd behind a network that can be cut.
func newFarCrowd(t *testing.T, n int) (*crowd, *cutProxy) {
	t.Helper()
	c := &crowd{t: t, data: t.TempDir(), addr: freeAddr(t)}
	p := newCutProxy(t, c.addr)
	c.front = p.addr()
	return c.join(n), p
}

// broken has all answer until their connections break.
func (c *crowd) broken() {
	c.try(func(k int) error {
		if err := c.all[k].GoOn(len(c.all[k].Acked) + 1); idrl.KindOf(err) == idrl.Invalid {
			return err
		}
		return nil
	})
}

// again has all connect and give some answers.
func (c *crowd) again(answers int) {
	c.t.Helper()
	c.each(func(k int) error {
		if err := c.reconnect(k); err != nil {
			return err
		}
		return c.all[k].Label(len(c.all[k].Acked) + answers)
	})
}

// untilRecorded waits until so many rows are recorded.
func (c *crowd) untilRecorded(rows int) {
	c.t.Helper()
	waittest.Until(c.t, fmt.Sprintf("%d rows", rows), func() bool { return len(c.log()) >= rows })
}

// TestFaultNetwork: the network is cut within the message with an answer, so that the server has not got it, and after the answer is
// recorded, so that its acknowledgement is lost. Pages ask what is recorded, or send again what is not acknowledged; either way each
// answer is there once.
func TestFaultNetwork(t *testing.T) {
	t.Parallel()
	c, network := newFarCrowd(t, 8)
	for k := range c.all {
		c.all[k].Blind = k%2 == 0
	}
	places, rounds, after := rng.New(5, "places of cuts", 0), faults(t, 3), 0
	for range rounds {
		network.tear(places.IntN(8 * 300)) // an answer has some 300 bytes
		c.broken()
		network.tear(-1)
		c.again(1)

		before := len(c.log())
		network.lose(true)
		answers := make(chan struct{})
		go func() {
			defer close(answers)
			c.broken()
		}()
		c.untilRecorded(before + len(c.all))
		network.cut()
		waittest.For(t, answers, "the connections to break")
		for _, l := range c.all {
			if l.Pending() != "" {
				after++
			}
		}
		network.lose(false)
		c.again(1)
	}
	n, lost, twice := c.check()
	t.Logf("%d cuts, after which %d answers were recorded and not acknowledged; %d acknowledged answers, %d lost, %d twice", 2*rounds, after, n, lost, twice)
	if lost != 0 || twice != 0 || after != rounds*len(c.all) || n < rounds*2*len(c.all) {
		t.Errorf("%d acknowledged, %d lost, %d twice; %d acknowledgements were lost", n, lost, twice, after)
	}
}

// TestFaultNetworkControl: the check of TestFaultNetwork finds what is lost if what was sent is taken for recorded, and what is there
// twice. An answer that is sent again under another number is not acknowledged: its number is how the server knows it.
func TestFaultNetworkControl(t *testing.T) {
	t.Parallel()
	c, network := newFarCrowd(t, 4)
	network.tear(100) // less than an answer
	c.broken()
	network.tear(-1)
	c.trust()
	c.again(1)
	log := c.log()
	conn := c.all[0].Conn
	must.Do(t, conn.Send(&wire.Answer{ID: "another-number-of-it", Assignment: log[0].Assignment, Choice: log[0].Choice}))
	for {
		m := must.Get(conn.Recv())(t)
		if ack, ok := m.(*wire.Ack); ok {
			t.Errorf("acknowledged: %+v", ack)
		}
		if _, ok := m.(*wire.Nak); ok {
			break
		}
	}
	if n, lost, twice := c.check(); lost == 0 || lost > len(c.recorded) || twice != 0 {
		t.Errorf("%d taken for recorded, %d lost, %d twice: the check finds no loss", n, lost, twice)
	}
	for _, doubled := range []idrl.Answer{log[0], {ID: "another-number-of-it", Assignment: log[0].Assignment}} {
		if _, twice := lossesOf(nil, append(log[:len(log):len(log)], doubled)); twice != 1 {
			t.Errorf("the check finds %d rows twice, want 1", twice)
		}
	}
}
