package posterior

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
)

// A fit is the belief after the first at items, fitted at once. If the model is a Resumer, it
// continues from the factors of the fit at the position before, and so on, so that it is a function
// of the list.
type fit struct {
	at int

	mu     sync.Mutex // guards the fields below
	before *fit       // at the position before; nil if there is none, or none is needed
	last   *block     // the items
	tail   []Item
	p      idrl.Posterior // nil before it is known
	ended  bool           // left was computed
	left   Factors
}

// get returns the belief of the fit, and computes it the first time.
func (f *fit) get(ctx context.Context, cfg *Config) (idrl.Posterior, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.p != nil {
		return f.p, nil
	}
	return f.p, f.run(ctx, cfg)
}

// factors returns the factors of the fit, and computes them the first time.
func (f *fit) factors(ctx context.Context, cfg *Config) (Factors, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return f.left, nil
	}
	return f.left, f.run(ctx, cfg)
}

// run makes the fit. The caller holds f.mu.
func (f *fit) run(ctx context.Context, cfg *Config) (err error) {
	var left Factors
	if f.before != nil {
		if left, err = f.before.factors(ctx, cfg); err != nil {
			return err
		}
	}
	in := f.input()
	defer in.free()
	p, left, report, err := fitWith(ctx, cfg.Model, left, in.queries, in.answers)
	if err != nil {
		return fmt.Errorf("fit of %d answers: %w", f.at, err)
	}
	if cfg.Note != nil {
		cfg.Note(report)
	}
	f.p, f.left, f.ended, f.before, f.last, f.tail = p, left, true, nil, nil, nil
	return nil
}

// An input is the items of a fit, as the models read them.
type input struct {
	queries []idrl.QueryVector
	answers []idrl.Answer
}

// inputs is of *input. All sessions share it: the memory of one would be collected before its next fit.
var inputs sync.Pool

// input returns the items of the fit. The caller frees it.
func (f *fit) input() *input {
	in, ok := inputs.Get().(*input)
	if !ok {
		in = &input{}
	}
	in.queries, in.answers = slices.Grow(in.queries, f.at)[:f.at], slices.Grow(in.answers, f.at)[:f.at]
	put := func(items []Item, begin int) {
		for k, item := range items {
			in.queries[begin+k], in.answers[begin+k] = *item.Query, item.Answer()
		}
	}
	put(f.tail, count(f.last, nil))
	for b := f.last; b != nil; b = b.before {
		put(b.items, b.end-blockSize)
	}
	return in
}

// free returns the memory to the pool.
func (in *input) free() {
	clear(in.queries)
	clear(in.answers)
	in.queries, in.answers = in.queries[:0], in.answers[:0]
	inputs.Put(in)
}

func fitWith(ctx context.Context, m idrl.Filter, left Factors, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, Factors, idrl.FitReport, error) {
	if r, ok := m.(Resumer); ok {
		return r.Resume(ctx, m.Prior(), left, qs, as)
	}
	p, report, err := m.Fit(ctx, m.Prior(), qs, as)
	return p, nil, report, err
}

// made reports whether the belief of the fit was computed.
func (f *fit) made() bool {
	if !f.mu.TryLock() {
		return false
	}
	defer f.mu.Unlock()
	return f.p != nil
}

// schedule adds the fit at the position n if the plan has one, and begins it if it is
// for later.
func (h *History) schedule() {
	if h.plan.fits(h.n) {
		h.fits = slices.Clone(h.fits[max(0, len(h.fits)-2):])
		h.begin(h.addFit())
	}
}

// addFit adds the fit at the position n.
func (h *History) addFit() *fit {
	f := h.prefix(h.n)
	h.fits = append(h.fits, f)
	return f
}

// begin starts f in the background if it is needed later.
func (h *History) begin(f *fit) {
	if cfg := h.cfg; cfg.Go != nil && h.plan.adopt(f.at) > h.n {
		cfg.Go(func(ctx context.Context) { _, _ = f.get(ctx, cfg) }) // an error occurs again when the fit is needed
	}
}

// startPending starts the fits that will be needed later.
func (h *History) startPending() {
	for _, f := range h.fits {
		if h.plan.adopt(f.at) > h.n {
			h.begin(f)
		}
	}
}

// find returns the fit at a position up to n, or nil if it was forgotten.
func (h *History) find(at int) *fit {
	for _, f := range h.fits {
		if f.at == at {
			return f
		}
	}
	return nil
}

// fitAt returns the fit at a position up to n.
func (h *History) fitAt(at int) *fit {
	f := h.find(at)
	if f == nil {
		f = h.prefix(at)
		h.fits = append([]*fit{f}, h.fits...)
	}
	return f
}

// prefix returns a new fit of the first at items.
func (h *History) prefix(at int) *fit {
	f := &fit{at: at, last: h.last, tail: h.tail}
	for f.last != nil && f.last.end > at {
		f.last, f.tail = f.last.before, f.last.items
	}
	f.tail = f.tail[:at-count(f.last, nil)]
	if _, resumes := h.cfg.Model.(Resumer); !resumes {
		return f
	}
	if at = h.plan.before(at); at > 0 {
		if f.before = h.find(at); f.before == nil {
			f.before = h.prefix(at)
		}
	}
	return f
}
