package main

import (
	"log/slog"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A running server leaves out whom a rule excludes, in its name, once; a researcher who takes the answers in again has the last word.
func TestRulesLeaveOut(t *testing.T) {
	t.Parallel()
	a := must.Get(openApp(t.Context(), t.TempDir(), envs.Catalogue, site{base: "https://study.example.org", away: workplaceFlags{here: 1}}, slog.New(slog.DiscardHandler), program(t), "worker"))(t)
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	made := func(spec idrl.SessionSpec) idrl.SessionID {
		spec.Title, spec.Env, spec.Seed, spec.MinDwell = "t", "gridworld", 1, 1
		s := must.Get(newSession(t.Context(), a.db, a.envs(), spec))(t)
		answerAQuestion(t, a, s.ID) // at once, before the clips have played
		return s.ID
	}
	ruled, free := made(idrl.SessionSpec{ExcludeMarked: 0.5, ExcludeAfter: 1}), made(idrl.SessionSpec{})
	look := func() {
		t.Helper()
		for _, id := range []idrl.SessionID{ruled, free} {
			a.notices.Publish(id, live.Event{})
		}
		must.Do(t, a.notices.look(t.Context(), time.Now(), true))
	}
	leftOut := func(id idrl.SessionID) int {
		t.Helper()
		set := must.Get(a.db.Settings(t.Context(), id))(t)
		return len(set.LeftOut)
	}
	look()
	look()
	if leftOut(ruled) != 1 || leftOut(free) != 0 {
		t.Fatalf("%d are left out by the rule, %d without", leftOut(ruled), leftOut(free))
	}
	acts := must.Get(a.db.Acts(t.Context(), ruled, 10))(t)
	want := record.Act{Actor: "rule exclude_marked: 1 of 1 answers marked, above 0.5", Action: "leave answers out", Object: "a1"}
	n := 0
	for _, act := range acts {
		if act.Action == want.Action {
			act.At = time.Time{}
			if n++; act != want {
				t.Errorf("it says %+v", act)
			}
		}
	}
	if n != 1 {
		t.Errorf("it was done %d times", n)
	}
}
