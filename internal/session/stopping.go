package session

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
)

// stopping returns whether the session may stop. It is a function of the log and of
// the statements recorded with it: an answer and its withdrawal leave it as it was.
// Without statements there is no rule.
func (s *statements) stopping() stopping.Stopping {
	if !s.spec.StatesRegret() {
		return stopping.Stopping{}
	}
	if duels := len(s.asked.duels); s.stop.seq != s.log.seq() || s.stop.stated != len(s.regret) || s.stop.gen != s.gen || s.stop.duels != duels {
		s.stop.seq, s.stop.stated, s.stop.gen, s.stop.duels = s.log.seq(), len(s.regret), s.gen, duels
		s.stop.now = s.judge()
	}
	return s.stop.now
}

// sure reports whether a probability of a small loss is large enough for the rule by which the session may stop.
func (s *settings) sure(within float64) bool { return stopping.Rule{Doubt: s.spec.Doubt}.Holds(within) }

// fewWeights is the number of weights up to which unasked is also computed where the session forecasts the number of answers
// left. With more weights it is computed only where the session would propose to stop.
const fewWeights = 64

// explained is stopping for researchers. It has the objections of unasked and unexplained also where the session neither
// proposes to stop nor forecasts anything.
func (s *statements) explained() stopping.Stopping {
	out := s.stopping()
	if out.Objections == nil && !out.Propose && len(s.stop.points) > 0 && s.learner.Posterior().Dim() <= fewWeights {
		out.Objections = s.unasked()
	}
	known := func(o stopping.Objection) bool { return o.Code == stopping.ByFeatures }
	if !s.spec.StatesRegret() || slices.ContainsFunc(out.Objections, known) {
		return out
	}
	if against := s.unexplained(); against != nil {
		out.Objections = slices.Concat(out.Objections, against)
		out.Propose, out.Left = false, stopping.Forecast{}
	}
	return out
}

// judge computes what stopping returns. The statements so far were over the policies known then,
// so that the session proposes to stop only if the one about the present holds, too.
func (s *statements) judge() stopping.Stopping {
	rule := stopping.Rule{Doubt: s.spec.Doubt}
	now := stopping.Pace{Answers: s.history.Len(), Every: int(spacing(s.log.seq()))}
	if stated, edits := len(s.regret), len(s.log.edits); s.stop.points == nil || s.stop.of != stated || s.stop.edits != edits {
		s.stop.points, s.stop.of, s.stop.edits = s.statements(), stated, edits // further replies change nothing of them
	}
	points, against := s.stop.points, s.objections()
	out := rule.Judge(points, now, against)
	if against == nil && (out.Propose || out.Left.Known && s.learner.Posterior().Dim() <= fewWeights) {
		if against = slices.Concat(s.unasked(), s.unexplained()); len(against) > 0 {
			out = rule.Judge(points, now, against)
		}
	}
	if out.Propose && !s.sure(s.present().Within) {
		out.Propose, out.Held = false, 0
	}
	out.ByItself = s.spec.StopByItself
	return out
}

// A stopState keeps the last result of stopping, and identifies the statements that it was computed from.
type stopState struct {
	seq    int64
	stated int
	gen    *idrl.Generation // in use then
	duels  int              // questions of duels that were asked then
	now    stopping.Stopping

	points []stopping.Point
	of     int // number of statements that points are of
	edits  int // rows that are no replies, at that time
}

// looksBack is how many statements the forecast needs at most.
const looksBack = 32

// statements returns the last statements that were made after informative answers that
// count, about the answers that count up to there now. It ends where a withdrawal or a
// decision has changed those: what was stated then was about other answers.
func (s *statements) statements() (points []stopping.Point) {
	answers, seq := s.history.Len(), s.log.seq()
	for _, r := range slices.Backward(s.regret) {
		if r.Seq == 0 || r.Definition != idrl.RegretDefinition || len(points) == looksBack {
			break
		}
		for ; seq > r.Seq; seq-- {
			if s.learnt(seq) {
				answers--
			}
		}
		if !s.learnt(r.Seq) {
			continue
		}
		if !s.log.intact(r.Seq) {
			break
		}
		points = append(points, stopping.Point{Answer: answers, Within: r.Within})
	}
	slices.Reverse(points)
	return points
}
