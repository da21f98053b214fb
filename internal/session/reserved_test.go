package session_test

import (
	"cmp"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// Where that is asked for, held-out comparisons are about trajectories that nothing was learnt from, so that an export has a part for tests:
// nearly all of them where there are many trajectories, and more than half in a Gridworld with fourteen.
func TestHeldOutIsAboutOtherTrajectories(t *testing.T) {
	for _, of := range benchmarks() {
		if of.kind != idrl.CompareClips || of.name == "junction clip_comparison" { // which has six clips: none is reserved
			continue
		}
		t.Run(of.name, func(t *testing.T) {
			held, apart := 0, 0
			for n := range 5 {
				m := newMatched(t, of, n, func(s *idrl.SessionSpec) { s.HeldOut, s.HeldOutFrom = 0.2, idrl.ReservedTrajectories })
				m.each(t, 50, func(int, view.Status) {})
				one, clean := m.heldOut(t)
				held, apart = held+one, apart+clean
			}
			t.Logf("of %d held-out comparisons %d are about trajectories that no other is about", held, apart)
			if held < 30 || held > 70 || 2*apart < held {
				t.Error("want about 50 of 250, and at least half of them")
			}
		})
	}
}

// heldOut returns how many comparisons were held out, and how many of these have no trajectory in common with those
// that taught.
func (m *matched) heldOut(t *testing.T) (held, apart int) {
	rec := must.Get(m.journal.Load(t.Context(), m.spec.ID))(t)
	trajectory := map[idrl.ClipID]string{}
	for _, c := range rec.Clips {
		trajectory[c.ID] = cmp.Or(string(c.Raw), string(c.ID))
	}
	taught := map[string]bool{}
	for _, as := range rec.Assignments {
		for _, c := range as.Query.Clips {
			if as.Condition != record.HeldOut {
				taught[trajectory[c]] = true
			}
		}
	}
	for _, as := range rec.Assignments {
		if as.Condition == record.HeldOut {
			held++
			if !taught[trajectory[as.Query.Clips[0]]] && !taught[trajectory[as.Query.Clips[1]]] {
				apart++
			}
		}
	}
	return held, apart
}
