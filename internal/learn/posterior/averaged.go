package posterior

import (
	"cmp"
	"context"

	"tiebreak/internal/idrl"
)

// A history may have a second one, of the same items, by a model that averages over the
// assumptions of the first model (Config.Averaged). It is a function of the items too, based
// on fits at positions of its own. It ends when its fits would take more than about a second:
// with so many answers, little uncertainty about the assumptions remains.
//
// A model that distinguishes annotators (posterior.Personal) assumes only the noise of an
// annotator who is alone. So its posterior is its own average once it is based on a fit of the
// answers of two.

const (
	// averagedCost is what an average costs, as a multiple of one posterior.
	averagedCost = 24

	// longestAverage is the cost of the longest fit, in the unit of longest.
	longestAverage = 120_000_000
)

// averaged returns the Config of the second history.
func (c *Config) averaged() Config {
	return Config{Model: c.Averaged, Go: c.Go, cost: averagedCost, longest: cmp.Or(c.longestAverage, longestAverage)}
}

// Averaged returns the posterior after the items by Config.Averaged; Posterior if there is
// no average, or none any more.
func (h *History) Averaged() idrl.Posterior {
	if h.average == nil {
		return h.p
	}
	return h.average.p
}

// averages reports whether a list of n items has an average.
func (h *History) averages(n int) bool {
	if h.cfg.Averaged == nil {
		return false
	}
	c := h.cfg.averaged()
	return n <= c.plan().last()
}

// personal reports whether h is based on a fit of the answers of several annotators, by a model
// that distinguishes them.
func (h *History) personal() bool {
	_, ok := h.cfg.Model.(Personal)
	return ok && h.second > 0 && h.plan.base(h.n) >= h.second
}

// averageWith sets the average of next, which is h with item i. If it cannot be computed next
// has no average; only the end of ctx is an error.
func (h *History) averageWith(ctx context.Context, next *History, i Item) error {
	next.average = nil
	if h.average == nil || next.n > h.average.plan.last() || next.personal() {
		return nil
	}
	a, err := h.average.With(ctx, i)
	return next.adopt(ctx, a, err)
}

// adopt makes a the average unless it could not be computed.
func (h *History) adopt(ctx context.Context, a *History, err error) error {
	if err == nil {
		h.average = a
		return nil
	}
	return ctx.Err()
}

// averageReplaced sets the average of next, which is h.Replace(seq, later).
func (h *History) averageReplaced(ctx context.Context, next *History, seq int64, later []Item) error {
	from := h.average
	if !h.averages(next.n) || next.personal() {
		return nil
	}
	if from == nil {
		from, seq, later = New(h.cfg.averaged()), 0, gather(next.last, next.tail, 0)
	}
	a, err := from.Replace(ctx, seq, later)
	return next.adopt(ctx, a, err)
}

// averageLight reports whether averageReplaced is work for a few milliseconds, where
// the list has n items then, of which later are new.
func (h *History) averageLight(seq int64, later, n int) bool {
	if same := n - later; h.average == nil && h.personal() && h.second <= same && h.plan.base(n) >= h.second {
		return true
	}
	return !h.averages(n) || h.average != nil && h.average.Light(seq, later)
}
