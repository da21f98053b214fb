package web

import (
	"context"
	"net/netip"
	"time"
)

// PingEvery makes s look after its sockets more often. Call it before the first.
func PingEvery(s *Server, d time.Duration) { s.pingEvery = d }

// Stream makes streams of answers of s send a line that often, and end after that time. Call it
// before the first.
func Stream(s *Server, beat, last time.Duration) { s.streamBeat, s.streamFor = beat, last }

// StreamSlots has an element for each open stream of answers.
func StreamSlots(s *Server) chan struct{} { return s.streams }

// ReplyWait changes how long a client may take for a part of a reply. Call it before the first.
func ReplyWait(s *Server, d time.Duration) { s.replyWait = d }

// DrainWait changes how long Drain waits for calls under way.
func DrainWait(s *Server, d time.Duration) { s.drainWait = d }

// Tighten gives every address and person n tokens of each limit, and rate a second, and
// hears of refusals at once.
// Call it while no request is under way.
func Tighten(s *Server, n, rate float64) {
	s.limits.wait = time.Millisecond
	for _, l := range []**limiter[netip.Addr]{&s.limits.open, &s.limits.static, &s.limits.health} {
		*l = newLimiter[netip.Addr](rate, n)
	}
	for _, l := range []**limiter[person]{&s.limits.requests, &s.limits.messages} {
		*l = newLimiter[person](rate, n)
	}
}

// Enter takes a place among the requests of an address that are worked on.
func Enter(s *Server, ctx context.Context, address string) (leave func()) {
	return s.gates.enter(ctx, netip.MustParseAddr(address))
}

// Bundling holds what somebody who is sent a bundle holds, until it is released.
func Bundling(s *Server) (release func()) {
	s.bundling.Lock()
	return s.bundling.Unlock
}
