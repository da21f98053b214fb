package session

import (
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/view"
)

// stated is the number of statements of regret for each doubling of the log: one after each of the first 2·stated rows, then
// after every second row up to 4·stated, every fourth up to 8·stated, and so on. A statement takes
// about as long as choosing a question, and a curve has no room for more points.
const stated = 32

// spacing returns how many log rows lie between two statements about row seq.
func spacing(seq int64) int64 {
	step := int64(1)
	for seq >= 2*stated*step {
		step *= 2
	}
	return step
}

// states reports whether the regret is stated after log row seq. It depends on
// nothing else, so that the curve is a function of the log.
func states(seq int64) bool { return seq%spacing(seq) == 0 }

// statements are the statements of regret of a session, whether it may stop, and the result to show to
// annotators.
type statements struct {
	*generation
	regret []idrl.Regret  // recorded, by Seq
	before idrl.Candidate // that was recommended before the first answer
	now    present
	stop   stopState
	looked shownEffect

	evidence evidence
	fitted   featureTest
}

// present is the statement about the present, kept until something changes.
type present struct {
	gen    *idrl.Generation // of the statement
	duels  int              // questions of duels that were asked before it
	regret idrl.Regret
}

// restoreKnown sets the known policies as the adoptions so far left them, and the
// statement before the first answer.
func (s *statements) restoreKnown(r record.Record) {
	if r.Generation == nil {
		return
	}
	for i, candidates := range append(slices.Clone(r.Archive), r.Generation.Candidates) {
		s.learner.Adopt(r.Pool, candidates)
		s.families.add(r.Pool, candidates)
		if i == 0 {
			s.noteStart(candidates)
		}
	}
}

// represent makes f the features in use, under which the effective answers are h and the
// queries of the generation are vectors. What f makes of the known policies must have
// been computed.
func (s *statements) represent(f features, h *posterior.History, vectors []idrl.QueryVector) {
	s.features, s.vectors = f, vectors
	s.learner.Represent(f.model, f.mu, rng.New(s.spec.Seed, "regret", uint64(f.version())))
	s.know(h)
	s.now, s.stop, s.led = present{}, stopState{}, led{}
}

// statement returns what stopping after log row seq would cost, where the effective
// answers are those of h.
func (s *statements) statement(h *posterior.History, seq int64) idrl.Regret {
	r := s.learner.Regret(h.Averaged(), s.leadAfter(h))
	r.Seq, r.Answers = seq, h.Len()
	return r
}

// atRow returns the statement that is recorded with log row seq; one of definition 0
// if that row has none.
func (s *statements) atRow(h *posterior.History, seq int64) idrl.Regret {
	if s.gen == nil || !s.spec.StatesRegret() || !states(seq) {
		return idrl.Regret{Seq: seq}
	}
	return s.statement(h, seq)
}

// noteRegret adds a recorded statement to the curve, if it is one that the session makes.
func (s *statements) noteRegret(r idrl.Regret) {
	if r.Definition != 0 && s.spec.StatesRegret() {
		s.regret = append(s.regret, r)
	}
}

// restoreRegret sets the statements that were recorded after answers.
func (s *statements) restoreRegret(snapshots []record.Snapshot) {
	learnt := s.learntAfter()
	for _, snap := range snapshots {
		if seq := snap.Regret.Seq; seq < int64(len(learnt)) {
			snap.Regret.Answers = learnt[seq]
		}
		if snap.Regret.Definition == idrl.RegretDefinition {
			snap.Regret.Tolerance = s.spec.Tolerance // a setting, which no row repeats
		}
		s.noteRegret(snap.Regret)
	}
}

// noteStart adds the statement before the first answer to the curve, and keeps what was
// recommended then. first are the first candidates.
func (s *statements) noteStart(first []idrl.Candidate) {
	s.before = s.learner.AtStart(first)
	if !s.spec.StatesRegret() {
		return
	}
	if len(s.regret) > 0 && s.regret[0].Seq == 0 { // of the clips before an upload
		s.regret = s.regret[1:]
	}
	s.regret = slices.Insert(s.regret, 0, s.learner.RegretAtStart(first))
}

// curve returns the statements so far, of which the last is about the present belief
// and the policies known now: that of the last row may have been over fewer. There
// must be a generation. It is empty where the session states no regret.
func (s *statements) curve() []idrl.Regret {
	if !s.spec.StatesRegret() {
		return nil
	}
	now, past := s.present(), s.regret
	if n := len(past); n > 0 && past[n-1].Seq == now.Seq {
		past = past[:n-1]
	}
	return append(slices.Clone(past), now)
}

// present returns the statement about the present posterior and policies. There must be a
// generation, and the session one that states its regret.
func (s *statements) present() idrl.Regret {
	if n := len(s.asked.duels); s.now.gen != s.gen || s.now.regret.Seq != s.log.seq() || s.now.duels != n {
		s.now.gen, s.now.duels, s.now.regret = s.gen, n, s.statement(s.history, s.log.seq())
	}
	return s.now.regret
}

// basis returns what the statements compare the best policy with.
func (s *statements) basis() view.Basis {
	switch {
	case s.spec.Uploads():
		return view.AgainstUploads
	case s.cfg.Steps != nil:
		return view.AgainstGiven
	case s.spec.ByGaits(): // which prepare no pool
		return view.AgainstSearch
	case len(s.learner.Policies().Pool()) == 0:
		return view.AgainstEarlier
	case s.learner.Policies().Pool()[0].Origin == idrl.FromDraft:
		return view.AgainstSearch
	case s.cfg.Exact && s.answersTrained():
		return view.AgainstOptima
	}
	return view.AgainstPool
}
