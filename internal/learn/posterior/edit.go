package posterior

import (
	"context"
	"slices"
)

// After returns the items that come after log row seq or are it.
func (h *History) After(seq int64) (items []Item) {
	return gather(h.last, h.tail, count(h.before(seq)))
}

// Before returns the number of items that come before log row seq.
func (h *History) Before(seq int64) int { return count(h.before(seq)) }

// count returns the number of items of complete blocks and the rest.
func count(last *block, tail []Item) int {
	if last == nil {
		return len(tail)
	}
	return last.end + len(tail)
}

// gather returns the items of complete blocks and the rest from index i on.
func gather(last *block, tail []Item, i int) []Item {
	parts := [][]Item{tail}
	begin := count(last, nil)
	for b := last; b != nil && b.end > i; b = b.before {
		parts = append(parts, b.items)
		begin = b.end - blockSize
	}
	slices.Reverse(parts)
	return slices.Concat(parts...)[max(0, i-begin):]
}

// before returns the items before log row seq: the complete blocks, and the rest.
func (h *History) before(seq int64) (last *block, tail []Item) {
	last, tail = h.last, h.tail
	for len(tail) == 0 || tail[0].Seq >= seq {
		if last == nil {
			return nil, nil
		}
		if last.items[blockSize-1].Seq < seq {
			return last, nil
		}
		last, tail = last.before, last.items
	}
	i := slices.IndexFunc(tail, func(i Item) bool { return i.Seq >= seq })
	if i < 0 {
		return last, tail
	}
	return last, tail[:i]
}

// Replace returns the history whose items before log row seq are those of h, and whose
// others are later, which must not change any more. If seq is recent, the work does not grow
// with the list; else it is that of a fit, and ctx can end it. It returns errors as
// Model.Condition does, and that of ctx.
func (h *History) Replace(ctx context.Context, seq int64, later []Item) (*History, error) {
	next := h.rejoin(seq, later)
	if err := next.refresh(ctx); err != nil {
		return nil, err
	}
	next.startPending()
	return next, h.averageReplaced(ctx, next, seq, later)
}

// Until returns the history of the items before log row seq, for a look back: it makes no fits in
// the background and has no average. Work and errors are those of Replace.
func (h *History) Until(ctx context.Context, seq int64) (*History, error) {
	next := h.rejoin(seq, nil)
	cfg := *h.cfg
	cfg.Go, cfg.Averaged = nil, nil
	next.cfg, next.average = &cfg, nil
	return next, next.refresh(ctx)
}

// Light reports whether Replace(seq, later) is work for a few milliseconds, where
// later are n items.
func (h *History) Light(seq int64, n int) bool {
	last, tail := h.before(seq)
	same := count(last, tail)
	if !h.averageLight(seq, n, same+n) {
		return false
	}
	n += same
	at := h.plan.base(n)
	if at > same { // the fit has to be made again
		return h.plan.light(at) && h.plan.updates(n-at)
	}
	for b := last; b != nil && b.end >= at; b = b.before {
		if b.after.Load() != nil && h.plan.base(b.end) == at {
			return h.plan.updates(n - b.end)
		}
	}
	return h.plan.updates(n-at) && (h.plan.light(at) || h.hasMade(at))
}

// hasMade reports whether the belief of the fit at a position was computed.
func (h *History) hasMade(at int) bool {
	f := h.find(at)
	return f != nil && f.made()
}

// rejoin returns Replace's history without its posterior.
func (h *History) rejoin(seq int64, later []Item) *History {
	next := &History{cfg: h.cfg, plan: h.plan, first: h.first, second: h.second}
	next.last, next.tail = h.before(seq)
	if next.n = count(next.last, next.tail); next.second > next.n {
		next.second = 0
	}
	for _, f := range h.fits {
		if f.at <= next.n {
			next.fits = append(next.fits, f)
		}
	}
	next.tail = append(make([]Item, 0, blockSize), next.tail...)
	lent := false // the tail is a part of later
	for k, i := range later {
		next.n++
		next.meet(i.Annotator)
		if len(next.tail) == 0 {
			lent = len(later)-k >= blockSize
		}
		if lent {
			next.tail = later[k-len(next.tail) : k+1 : k+1]
		} else {
			next.tail = append(next.tail, i)
		}
		if len(next.tail) == blockSize {
			next.last, next.tail = &block{before: next.last, items: next.tail, end: next.n}, nil
		}
		if next.plan.fits(next.n) {
			next.addFit()
		}
	}
	next.fits = slices.Clone(next.fits[max(0, len(next.fits)-3):])
	return next
}
