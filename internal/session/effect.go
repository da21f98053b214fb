package session

import (
	"context"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
)

// Effect returns the result to show to annotators. It returns an error of kind NotFound if
// they are not to see it or there are no clips of it.
func (s *reports) Effect(ctx context.Context) (view.Effect, error) {
	return call(ctx, s.inbox, func() (view.Effect, error) {
		e := s.effect()
		if e == (view.Effect{}) {
			return e, idrl.Errorf(idrl.NotFound, "There are no clips of the result.")
		}
		return e, nil
	})
}

// effect returns the result to show to annotators. It is zero if they are not to see it, if no
// answer counts, or if there are no clips of it.
func (s *statements) effect() view.Effect {
	if !s.spec.ShowLearnt || s.cfg.Unseen || s.gen == nil || s.history.Len() == 0 {
		return view.Effect{}
	}
	e := view.Effect{Before: s.before.Clip, Now: s.lead().Leader.Clip}
	if e.Before == "" || e.Now == "" {
		return view.Effect{}
	}
	return e
}

// looksSame reports whether a person would take the two clips of e for the same.
func (s *statements) looksSame(e view.Effect) bool {
	if e == (view.Effect{}) || e.Before == e.Now {
		return e.Before != ""
	}
	if s.looked.effect != e {
		s.looked.effect, s.looked.same = e, s.sight.same(e.Before, e.Now)
	}
	return s.looked.same
}

// A shownEffect keeps the last result of looksSame.
type shownEffect struct {
	effect view.Effect
	same   bool
}

// same reports whether two clips look alike. Of clips that cannot be measured nothing is known,
// and they differ.
func (s *sight) same(a, b idrl.ClipID) bool {
	first, err := s.view(a)
	if err != nil || first == nil {
		return false
	}
	is, err := s.alike(first, b)
	return is && err == nil
}

// left returns how many answers are still expected: by the budget, or by the rule for
// stopping where that stops the session earlier or there is no budget.
func (s *statements) left() stopping.Forecast {
	rule := s.stopping()
	f := rule.Left
	if rule.Propose {
		f = stopping.Forecast{Known: true}
	}
	if s.spec.Budget == 0 {
		return f
	}
	n := max(0, s.spec.Budget-s.log.all.answers)
	if f.Known && f.About < n && s.spec.StopByItself {
		return f
	}
	return stopping.Forecast{Known: true, Least: n, About: n, Most: n}
}
