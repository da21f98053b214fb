package belief

import "tiebreak/internal/idrl"

// PerAnnotator is the likelihood of answers of annotators with noise, ties or lapses of
// their own, by Answer.Annotator.
type PerAnnotator struct {
	Of    map[idrl.AnnotatorID]idrl.Likelihood // not changed any more
	Other idrl.Likelihood                      // of everybody else; required
}

var _ idrl.Likelihood = PerAnnotator{}

func (p PerAnnotator) of(a idrl.Answer) idrl.Likelihood {
	if l, ok := p.Of[a.Annotator]; ok {
		return l
	}
	return p.Other
}

// LogZ returns log Z of answer a, and its first two derivatives in m, by the likelihood of
// its annotator.
func (p PerAnnotator) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	return p.of(a).LogZ(a, m, v)
}

// Replies returns the answers that the likelihood of everybody else tells apart.
func (p PerAnnotator) Replies() []idrl.Answer { return idrl.Replies(p.Other) }

// Info returns the information factor of an answer of everybody else: who will answer is
// not known.
func (p PerAnnotator) Info(m, v float64) float64 { return p.Other.Info(m, v) }
