package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/representation"
)

// An inference holds the posterior after the answers that count.
type inference struct {
	*learntFeatures
	history *posterior.History // the effective answers
	learner *learning.Learner  // whose posterior is that of history
	fitting background
}

// know sets the effective answers and the belief.
func (s *inference) know(h *posterior.History) {
	s.history = h
	s.learner.Become(h.Posterior())
}

// noteFit logs a fit that did not converge, unless it was the one sweep by which a fit goes on after an answer: the next answer's goes on
// from that.
func (s *inference) noteFit(r idrl.FitReport) {
	if !r.Converged && r.Sweeps > 1 {
		s.cfg.Log.Warn("the fit of the posterior did not converge; its result is used as it is", "session", s.spec.ID,
			"answers", r.Answers, "sweeps", r.Sweeps, "change", r.Change, "skipped", r.Skipped)
	}
}

// restoreHistory sets the effective answers of the log, whose posterior is last, or
// nil if that is not known.
func (s *inference) restoreHistory(snapshots []record.Snapshot, last idrl.Posterior) error {
	items, err := s.items(s.features.view, s.log.rows)
	if err != nil {
		return err
	}
	after := func(seq int64) idrl.Posterior {
		i, ok := slices.BinarySearchFunc(snapshots, seq, func(snap record.Snapshot, seq int64) int { return cmp.Compare(snap.Seq, seq) })
		if !ok || !s.usable(snapshots[i]) || !s.log.intact(seq) {
			return nil
		}
		p, err := s.features.decode(snapshots[i])
		if err != nil { // restoreBelief has logged it
			return nil
		}
		return p
	}
	h, err := posterior.Restore(context.Background(), s.posteriorConfig(s.features.model), items, last, after)
	if err != nil {
		return err
	}
	s.know(h)
	return nil
}

// restoreBelief sets the posterior, and notes how well answers were predicted. Snapshots are a cache: if the last one is
// damaged then the posterior is computed from the log, which gives the same bits. If an earlier one is damaged the
// prediction of the answer after it may be lost.
func (s *inference) restoreBelief(snapshots []record.Snapshot) (err error) {
	m := beliefBefore{mean: s.cfg.Model.Prior().Mean(nil)}
	f, err := s.under(0)
	if err != nil {
		return err
	}
	s.log.expect(len(snapshots))
	for _, snap := range snapshots {
		if snap.Seq > s.log.seq() {
			return fmt.Errorf("snapshot %d is ahead of the log, which ends at %d", snap.Seq, s.log.seq())
		}
		s.notePast(f, snap, m)
		m.seq, m.mean, m.belief = -1, nil, nil // no row comes after it
		if snap.Representation != f.version() {
			next, err := s.under(snap.Representation)
			if err != nil { // restoreFeatures has logged it
				continue
			}
			f = next
		}
		if !snap.Emptied() { // else withdrawn data were part of it
			m.take(f, snap)
		}
	}
	if len(m.damaged) > 0 {
		s.cfg.Log.Warn("stored posteriors are damaged; what is needed of them is computed from the answers, and no answer is lost",
			"session", s.spec.ID, "damaged", len(m.damaged), "of", len(snapshots), "first", m.damaged[0])
	}
	if m.seq != s.log.seq() || !s.current(snapshots) {
		m.belief = nil
	}
	return s.restoreHistory(snapshots, m.belief)
}

// beliefBefore is the posterior before the answer that follows log row seq, as far as it is stored.
type beliefBefore struct {
	seq     int64          // -1 where nothing is stored
	mean    []float64      // nil likewise
	belief  idrl.Posterior // nil where the mean alone is stored
	damaged []error        // of the rows so far
}

// take sets the belief to that of a snapshot, about the weights of f.
func (m *beliefBefore) take(f features, snap record.Snapshot) {
	if snap.Belief != nil || snap.Mean == nil {
		p, err := f.decode(snap)
		if err != nil {
			m.damaged = append(m.damaged, err)
		} else {
			m.seq, m.mean, m.belief = snap.Seq, p.Mean(nil), p
		}
	}
	if len(snap.Mean) == f.model.Prior().Dim() {
		m.seq, m.mean = snap.Seq, snap.Mean
	}
}

// notePast notes what the belief before, about the weights of f, foretold of the row of a
// snapshot.
func (s *inference) notePast(f features, snap record.Snapshot, m beliefBefore) {
	if m.seq != snap.Seq-1 {
		return
	}
	a := s.log.at(snap.Seq)
	if snap.Foretold == nil && m.belief != nil { // of an earlier version
		if said, ok := s.foretell(f, a, m.belief, 0); ok {
			snap.Foretold = said.P
		}
	}
	s.notePrediction(f, a, m.mean, snap.Foretold)
}

// posteriorConfig may be called from any goroutine: it reads nothing of the session that
// changes.
func (s *inference) posteriorConfig(m idrl.RewardModel) posterior.Config {
	cfg := posterior.Config{Model: m, Note: s.noteFit, Go: s.fitting.run}
	if s.cfg.Averaged != nil {
		cfg.Averaged = s.cfg.Averaged(m)
	}
	return cfg
}

// encode returns the encoded posterior of h.
func (s *inference) encode(h *posterior.History) ([]byte, error) {
	b, err := s.features.model.Encode(h.Posterior())
	if err != nil {
		return nil, fmt.Errorf("encode the belief: %w", err)
	}
	return b, nil
}

// posteriorAfter returns the posterior after rows under f, from the log alone.
func (s *learntFeatures) posteriorAfter(f features, rows []idrl.Answer) (idrl.Posterior, error) {
	items, err := s.items(f.view, rows)
	if err != nil {
		return nil, err
	}
	return posterior.Of(context.Background(), f.model, items)
}

// items returns those of the effective answers of a log that the posterior learns from.
func (s *learntFeatures) items(under *representation.View, log []idrl.Answer) (items []posterior.Item, err error) {
	items = make([]posterior.Item, 0, len(log))
	for a := range record.EachEffective(log) {
		if !s.teaches(a) {
			continue
		}
		q, err := s.question(under, a)
		if err != nil {
			return nil, err
		}
		items = append(items, posterior.ItemOf(q, a))
	}
	return items, nil
}

// extend returns h with answer a to q, the last one, if that counts.
func (s *inference) extend(h *posterior.History, q *idrl.QueryVector, a idrl.Answer) (*posterior.History, error) {
	if s.log.how[a.Annotator].Out || !s.teaches(a) {
		return h, nil
	}
	return h.With(context.Background(), posterior.ItemOf(q, a))
}

// An edit changes which answers count, or how, from a log row on. Its work may be long, so it
// can be done by the goroutine that asks for it, before the request that records it: the
// posterior is a function of the effective answers, whichever goroutine computes it.
type edit struct {
	at    int64              // the length of the log that it was made for
	under int64              // version of the features
	base  *posterior.History // of that log
	seq   int64              // of the first row that it changes
	later []posterior.Item   // the effective answers from there on, after the edit
}

// edited is an edit that was made.
type edited struct {
	at      int64
	under   int64 // version of the features
	history *posterior.History
}

// withdrawal returns the edit that takes away answer of.
func (s *inference) withdrawal(of idrl.Answer) edit {
	e := edit{at: s.log.seq(), under: s.features.version(), base: s.history, seq: of.Seq, later: s.history.After(of.Seq)}
	if len(e.later) > 0 && e.later[0].Seq == of.Seq { // else it did not count
		e.later = e.later[1:]
	}
	return e
}

// recount returns the edit that has the answers of who count as the settings say.
func (s *inference) recount(who idrl.AnnotatorID) (edit, error) {
	e, how := edit{at: s.log.seq(), under: s.features.version(), base: s.history, seq: s.log.seq() + 1}, s.decided(who)
	if first := s.log.of[who]; len(first) > 0 {
		e.seq = s.log.rows[first[0]].Seq
	}
	for _, a := range s.log.rows[e.seq-1:] {
		if !s.teaches(a) || s.log.undone[a.ID] || how[a.Annotator].Out {
			continue
		}
		q, err := s.question(s.features.view, a)
		if err != nil {
			return edit{}, err
		}
		e.later = append(e.later, posterior.ItemOf(q, how[a.Annotator].Of(a)))
	}
	return e, nil
}

// decided returns how replies count once the log says of who what the settings say, in its next
// row.
func (s *ledger) decided(who idrl.AnnotatorID) map[idrl.AnnotatorID]record.Counting {
	how, want := maps.Clone(s.log.how), s.wanted[who]
	if want.Turned > 0 {
		want.Turned = s.log.seq() + 1
	}
	how[who] = want
	return how
}

// heavyUndo returns the edit that the withdrawal a needs if that is long work; nil else.
func (s *inference) heavyUndo(a idrl.Answer) (*edit, error) {
	of := s.log.find(a.Undoes)
	if of == nil || of.Annotator != a.Annotator || s.log.undone[of.ID] || s.log.how[of.Annotator].Out || !s.teaches(*of) {
		return nil, nil
	}
	e := s.withdrawal(*of)
	if s.history.Light(e.seq, len(e.later)) {
		return nil, nil
	}
	return &e, nil
}

// heavyDecision returns the edit that a decision needs if that is long work; nil else.
func (s *inference) heavyDecision(who idrl.AnnotatorID) (*edit, error) {
	if s.follows(who) {
		return nil, nil
	}
	e, err := s.recount(who)
	if err != nil || s.history.Light(e.seq, len(e.later)) {
		return nil, err
	}
	return &e, nil
}

// ahead makes the edit that plan returns, if any, on the caller's goroutine.
func (s *Session) ahead(ctx context.Context, plan func() (*edit, error)) (*edited, error) {
	e, err := call(ctx, s.inbox, plan)
	if err != nil || e == nil {
		return nil, err
	}
	h, err := e.base.Replace(ctx, e.seq, e.later)
	if err != nil {
		return nil, err
	}
	return &edited{at: e.at, under: e.under, history: h}, nil
}

// edited returns the history after an edit. ahead is the edit as it was made before,
// or nil; it serves if the log has got nothing but replies since, and the features are the same. how says how
// replies count after the edit.
func (s *inference) edited(ahead *edited, how map[idrl.AnnotatorID]record.Counting, plan func() (edit, error)) (*posterior.History, error) {
	if n := len(s.log.edits); ahead == nil || ahead.under != s.features.version() || n > 0 && int64(s.log.edits[n-1]) >= ahead.at {
		e, err := plan()
		if err != nil {
			return nil, err
		}
		return e.base.Replace(context.Background(), e.seq, e.later)
	}
	h := ahead.history
	for _, a := range s.log.rows[ahead.at:] {
		if !s.teaches(a) || how[a.Annotator].Out {
			continue
		}
		q, err := s.question(s.features.view, a)
		if err != nil {
			return nil, err
		}
		if h, err = h.With(context.Background(), posterior.ItemOf(q, how[a.Annotator].Of(a))); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// background runs fits beside the session.
type background struct {
	mu      sync.Mutex              // guards all but work
	waiting []func(context.Context) // until the session runs
	begin   func(fit func(context.Context))
	ended   bool
	active  int // fits that run
	work    sync.WaitGroup
}

// run runs fit in the background once the session runs; if that has ended, not at all.
func (b *background) run(fit func(context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ended:
	case b.begin == nil:
		b.waiting = append(b.waiting, fit)
	default:
		b.begin(fit)
	}
}

// start starts what waits; ctx ends it, and all that is run later.
func (b *background) start(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin = func(fit func(context.Context)) {
		b.active++
		b.work.Go(func() {
			defer func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.active--
			}()
			fit(ctx)
		})
	}
	for _, fit := range b.waiting {
		b.begin(fit)
	}
	b.waiting = nil
}

// busy reports whether a fit runs.
func (b *background) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.active > 0
}

// wait returns when no fit is left and none can begin.
func (b *background) wait() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.work.Wait()
}
