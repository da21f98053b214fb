package web

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"tiebreak/internal/people/auth"
)

// Routes returns method and pattern of every route.
func Routes() (out []string) {
	for _, r := range routesOf(newServer(new(site)).routes()) {
		out = append(out, r.method+" "+r.path)
	}
	return out
}

// PingEvery makes s look after its sockets more often. Call it before the first.
func PingEvery(s *Server, d time.Duration) { s.pingEvery = d }

// WriteWait changes how long a client may take for a message of a socket. Call it before the first.
func WriteWait(s *Server, d time.Duration) { s.writeWait = d }

// Stream makes streams of answers of s send a line that often, and end after that time. Call it
// before the first.
func Stream(s *Server, beat, last time.Duration) { s.api.streamBeat, s.api.streamFor = beat, last }

// Streams are the places of streams of answers.
func Streams(s *Server) Places { return Places{&s.api.streams} }

// Waits are the places of requests that wait for answers.
func Waits(s *Server) Places { return Places{&s.api.waits} }

// Places are those of requests that stay open.
type Places struct{ *places }

// Taken returns how many are taken.
func (p Places) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// Enter takes places of the program with a token until it has them all or none is left. Leave
// gives one back.
func (p Places) Enter(token int64) (taken int, leave func()) {
	for {
		l, err := p.enter(personOf(auth.Actor{Role: auth.Program, Token: token}))
		if err != nil {
			return taken, leave
		}
		taken, leave = taken+1, l
	}
}

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
	s.downloads.bundling.Lock()
	return s.downloads.bundling.Unlock
}

// BusyWithPages takes all places of heavy requests until leave is called; others wait that long.
func BusyWithPages(s *Server, wait time.Duration) (leave func()) {
	s.heavy.wait = wait
	var taken []*ticket
	for n := range s.heavy.places {
		t, err := s.heavy.enter(context.Background(), person{id: strconv.Itoa(n)}, work{busy: errHeavy})
		if err != nil {
			panic(err)
		}
		taken = append(taken, t)
	}
	return func() {
		for _, t := range taken {
			t.leave()
		}
	}
}

// Taken returns how many places of the scheduler of s are taken.
func Taken(s *Server) int {
	s.heavy.mu.Lock()
	defer s.heavy.mu.Unlock()
	return s.heavy.taken
}
