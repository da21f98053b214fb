package posterior

import (
	"context"
	"fmt"
	"sync/atomic"

	"tiebreak/internal/idrl"
)

// Config says how a History works.
type Config struct {
	Model idrl.Filter // required

	// Note is called with the report of each fit, from any goroutine; may be nil.
	Note func(idrl.FitReport)

	// Go runs a long fit in the background, or drops it. A dropped fit is made when it is
	// needed, as all fits are if Go is nil.
	Go func(fit func(context.Context))

	// Averaged is a model that averages over the assumptions of Model, for
	// History.Averaged. An answer that Model accepts and Averaged does not ends the
	// average. Nil for none.
	Averaged idrl.Filter

	cost, longest  float64 // of the plan; 0 for those of Model and the constant longest
	longestAverage float64 // 0 for the constant
}

// An Item is an effective, informative answer.
type Item struct {
	Seq       int64 // position in the log; items are in its order
	Query     *idrl.QueryVector
	Annotator idrl.AnnotatorID
	Choice    idrl.Choice
	Rating    float64
	Best      idrl.Side // of a group, as Worst
	Worst     idrl.Side
	Much      bool
	Remark    idrl.Remark
}

// ItemOf returns the item of an answer to q.
func ItemOf(q *idrl.QueryVector, a idrl.Answer) Item {
	return Item{Seq: a.Seq, Query: q, Annotator: a.Annotator, Choice: a.Choice, Rating: a.Rating, Much: a.Much, Remark: a.Remark, Best: a.Best, Worst: a.Worst}
}

// Answer returns the item as the answer that models read.
func (i Item) Answer() idrl.Answer {
	return idrl.Answer{Seq: i.Seq, Query: i.Query.ID, Annotator: i.Annotator, Choice: i.Choice, Rating: i.Rating, Much: i.Much, Remark: i.Remark, Best: i.Best, Worst: i.Worst}
}

// A History is a list of effective answers with its posterior. It is immutable, except for
// caches that any number of goroutines may share. With and Replace return a new one, which
// shares memory with the old one.
type History struct {
	cfg  *Config
	plan plan
	n    int    // items
	last *block // the complete blocks, newest first; nil if there is none
	tail []Item // after them; fewer than blockSize

	// taken is the number of items in the memory of tail, which several histories may share; nil
	// if it is not known. A history that increments it owns the next item.
	taken *atomic.Int32
	fits  []*fit // at the positions up to n of which one may be needed, ascending
	p     idrl.Posterior

	first  idrl.AnnotatorID // of the first item
	second int              // items up to the first one of another annotator; 0 if there is none

	average *History // of the same items by Config.Averaged; nil if there is none
}

// blockSize is the number of answers between two checkpoints. The last plan.kept of them are
// kept, so that the work after the withdrawal of one of the last 256 answers does not grow
// with the list.
const blockSize = 32

// A block is blockSize items.
type block struct {
	before *block
	items  []Item
	end    int                            // items up to its end
	after  atomic.Pointer[idrl.Posterior] // the posterior at its end, or nil
}

// New returns the history without answers.
func New(cfg Config) *History {
	prior := cfg.Model.Prior()
	h := &History{cfg: &cfg, plan: cfg.plan(), p: prior}
	if h.averages(0) {
		h.average = New(cfg.averaged())
	}
	return h
}

// Of returns the posterior after items.
func Of(ctx context.Context, m idrl.Filter, items []Item) (idrl.Posterior, error) {
	h, err := New(Config{Model: m}).Replace(ctx, 0, items)
	if err != nil {
		return nil, err
	}
	return h.Posterior(), nil
}

// Posterior returns the posterior after the items.
func (h *History) Posterior() idrl.Posterior { return h.p }

// Len returns the number of items.
func (h *History) Len() int { return h.n }

// With returns h with one more item, which comes after the others. It returns errors
// as Model.Condition does, and that of ctx if a fit was needed.
func (h *History) With(ctx context.Context, i Item) (*History, error) {
	next := h.add(i)
	next.schedule()
	if at := next.plan.base(next.n); at > 0 && next.plan.adopt(at) == next.n {
		if err := next.refresh(ctx); err != nil {
			return nil, err
		}
	} else {
		p, err := h.cfg.Model.Condition(h.p, *i.Query, i.Answer())
		if err != nil {
			return nil, fmt.Errorf("answer %d: %w", i.Seq, err)
		}
		next.p = p
	}
	next.checkpoint(next.p)
	return next, h.averageWith(ctx, next, i)
}

// add returns h with one more item, whose posterior is still that of h.
func (h *History) add(i Item) *History {
	next := *h
	next.n++
	next.meet(i.Annotator)
	if n := int32(len(h.tail)); h.taken == nil || !h.taken.CompareAndSwap(n, n+1) {
		next.taken = new(atomic.Int32)
		next.taken.Store(n + 1)
		next.tail = append(make([]Item, 0, blockSize), h.tail...)
	}
	if next.tail = append(next.tail, i); len(next.tail) == blockSize {
		next.last, next.tail, next.taken = &block{before: h.last, items: next.tail, end: next.n}, nil, nil
	}
	return &next
}

// meet notes that the last item is of annotator who.
func (h *History) meet(who idrl.AnnotatorID) {
	switch {
	case h.n == 1:
		h.first = who
	case h.second == 0 && who != h.first:
		h.second = h.n
	}
}

// Slot returns the slot in which the posterior is to be stored for Restore, if the item of log
// row seq is the last one: slot 0 is overwritten at every item, and slot k > 0 when another
// posterior has Slot k.
func (h *History) Slot(seq int64) int {
	if h.n == 0 || len(h.tail) > 0 || h.last.items[blockSize-1].Seq != seq {
		return 0
	}
	return 1 + h.n/blockSize%mostKept
}

// checkpoint keeps p with the last block if it ends here.
func (h *History) checkpoint(p idrl.Posterior) {
	if len(h.tail) > 0 || h.last == nil {
		return
	}
	h.last.after.Store(&p)
	old := h.last
	for range h.plan.kept {
		if old = old.before; old == nil {
			return
		}
	}
	old.after.Store(nil)
}

// refresh computes the posterior of h from the last checkpoint that helps.
func (h *History) refresh(ctx context.Context) error {
	at := h.plan.base(h.n)
	for b := h.last; b != nil && b.end >= at && b.end > 0; b = b.before {
		if p := b.after.Load(); p != nil && h.plan.base(b.end) == at {
			h.p = *p
			return h.fill(ctx, b.end)
		}
	}
	if h.p = h.cfg.Model.Prior(); at > 0 {
		p, err := h.fitAt(at).get(ctx, h.cfg)
		if err != nil {
			return err
		}
		h.p = p
	}
	return h.fill(ctx, at)
}

// fill updates the posterior, which is that of the first begin items, with the others, one
// by one, and keeps the posteriors at the ends of the last blocks.
func (h *History) fill(ctx context.Context, begin int) (err error) {
	ends := map[int]*block{} // the last blocks, by their ends
	for b := h.last; b != nil && len(ends) < h.plan.kept && b.end > begin; b = b.before {
		ends[b.end] = b
	}
	at := h.plan.base(h.n)
	for k, i := range gather(h.last, h.tail, begin) {
		if k%blockSize == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if h.p, err = h.cfg.Model.Condition(h.p, *i.Query, i.Answer()); err != nil {
			return fmt.Errorf("answer %d: %w", i.Seq, err)
		}
		if b := ends[begin+k+1]; b != nil && h.plan.base(b.end) == at { // else the posterior there has another base
			p := h.p
			b.after.Store(&p)
		}
	}
	return nil
}

// Restore returns the history of items whose posterior is p, or nil if that is not
// known. after returns the posterior after the items up to log row seq, or nil if it
// is not known; it is asked about few. It returns errors as Replace does.
func Restore(ctx context.Context, cfg Config, items []Item, p idrl.Posterior, after func(seq int64) idrl.Posterior) (*History, error) {
	begin := New(cfg)
	h := begin.rejoin(0, items)
	for b, k := h.last, 0; b != nil && k < h.plan.kept; b, k = b.before, k+1 {
		if p := after(b.items[blockSize-1].Seq); p != nil {
			b.after.Store(&p)
		}
	}
	for _, f := range h.fits {
		if h.plan.adopt(f.at) == f.at { // then it is the posterior there
			f.p = after(gather(h.last, h.tail, f.at-1)[0].Seq)
		}
	}
	if h.p = p; p == nil {
		if err := h.refresh(ctx); err != nil {
			return nil, err
		}
	}
	h.startPending()
	return h, begin.averageReplaced(ctx, h, 0, items)
}
