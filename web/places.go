package web

import "sync"

// places are those of requests that stay open: so many in all, and so many of a person, so that
// one cannot take those of the others.
type places struct {
	all, own       int
	errAll, errOwn error // of a request for which there is none

	mu    sync.Mutex
	taken int            // guarded by mu
	of    map[person]int // guarded by mu: of those who have any
}

// enter takes a place, which the caller leaves once. It returns errOwn if the person has as
// many as one may have, and errAll if all are taken.
func (p *places) enter(who person) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.of[who] >= p.own:
		return nil, p.errOwn
	case p.taken >= p.all:
		return nil, p.errAll
	}
	if p.of == nil {
		p.of = map[person]int{}
	}
	p.taken++
	p.of[who]++
	return func() { p.leave(who) }, nil
}

func (p *places) leave(who person) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.of[who]--; p.of[who] == 0 {
		delete(p.of, who)
	}
}
