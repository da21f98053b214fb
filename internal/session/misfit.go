package session

import (
	"tiebreak/internal/learn/misfit"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/stopping"
)

// mostTested is the number of answers that the test of the features looks at, the first ones: a test
// of more would take long to make again.
const mostTested = 200

// shownUnexplained is how many answers the objection of the features names.
const shownUnexplained = 3

// A featureTest is the test whether the answers that count follow the features of clips. It is a
// function of the list of answers and the model.
type featureTest struct {
	items []posterior.Item // that it has, in their order
	test  *misfit.Test     // nil before the first
	edits int              // rows of the log that were no replies
}

// follow makes t the test of items: by what is new if the items before are those that t has.
func (t *featureTest) follow(rival func(stds []float64) posterior.Personal, items []posterior.Item) error {
	if t.test == nil || !continues(items, t.items) {
		*t = featureTest{test: misfit.New(rival)}
	}
	for _, i := range items[len(t.items):] {
		t.items = append(t.items, i)
		if err := t.test.Take(i.Query, i.Answer()); err != nil {
			return err
		}
	}
	return nil
}

// unexplained objects if the answers follow something that the features do not tell. It takes about 0.3 ms for
// each answer since the last time (misfit.BenchmarkTake).
func (s *statements) unexplained() []stopping.Objection {
	if s.cfg.Rival == nil || s.features.version() != 0 || s.spec.IsArena() || s.history.Len() == 0 {
		return nil
	}
	t := &s.fitted
	if edits := len(s.log.edits); len(t.items) < mostTested || t.edits != edits {
		items := s.history.After(0)
		if err := t.follow(s.cfg.Rival, items[:min(len(items), mostTested)]); err != nil {
			s.cfg.Log.Warn("the test of the features has ended", "session", s.spec.ID, "err", err)
		}
		t.edits = edits
	}
	if !t.test.Alarm() {
		return nil
	}
	return []stopping.Objection{stopping.ObjectFeatures(t.test.Top(), t.test.Unexplained(shownUnexplained), s.fixedPolicies())}
}
