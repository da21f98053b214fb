package web_test

import (
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Rehearsals are listed on demand, and marked.
func TestRehearsalsAreListedOnDemand(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	row := func(id idrl.SessionID, rehearses bool) record.Summary {
		return record.Summary{Spec: idrl.SessionSpec{ID: id, Title: string(id), Env: "driver", Kind: idrl.CompareClips, Rehearsal: rehearses}, State: record.StateRunning}
	}
	b.sessions.listed = []record.Summary{row("s1", true), row("s2", false)}
	if r := b.get(c, "/sessions"); r.lacks(`data-session="s2"`, "/sessions?rehearsals=1") != nil || r.lacks(`data-session="s1"`) == nil {
		t.Errorf("the list: %s", r.body)
	}
	if r := b.get(c, "/sessions?rehearsals=1"); r.lacks(`data-session="s1"`, "data-rehearsal-row", `data-session="s2"`) != nil {
		t.Errorf("the whole list: %s", r.body)
	}
	if r := b.get(c, "/arenas/new"); r.lacks(`value="s2"`) != nil || r.lacks(`value="s1"`) == nil {
		t.Errorf("policies of a rehearsal are offered for an arena: %s", r.body)
	}
}
