package web

import "sync"

// places limit requests that stay open: in all, and for each person, so that one person cannot take
// all of them.
type places struct {
	all, own       int
	errAll, errOwn error // error for a person who has as many as allowed

	mu    sync.Mutex
	taken int            // guarded by mu
	of    map[person]int // guarded by mu: of those who have any
}

// enter takes a place, which the caller leaves once. It returns errOwn if the person has as many as
// allowed, and errAll if all are taken.
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
