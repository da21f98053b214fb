package web

import (
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/session/view"
	"tiebreak/templates"
)

// TestArenaSaysUntilWhenItAsks: the page of a running arena says until when it asks questions, and its badge whether it still does.
func TestArenaSaysUntilWhenItAsks(t *testing.T) {
	for _, test := range []struct {
		st          view.Status
		tests       bool
		badge, says string
	}{
		{view.Status{}, true, ">running<", "until the test for a winner ends"},
		{view.Status{Budget: 12, Answers: 11}, true, ">running<", "until the test for a winner ends"},
		{view.Status{Budget: 12, Answers: 11}, false, ">running<", "As asked."},
		{view.Status{Decided: true}, true, ">test over<", "test for a winner has ended, and no more questions are asked"},
		{view.Status{Budget: 12, Answers: 12}, true, ">all answered<", "wanted is reached, and no more questions are asked"},
		{view.Status{Budget: 12, Answers: 13}, false, ">all answered<", "wanted is reached, and no more questions are asked"},
	} {
		p := templates.ArenaPage{Control: templates.ControlPanel{State: "running"}}
		p.Control.Over, p.Control.Text = arenaOver(test.st.Decided, test.st.Answers, test.st.Budget), untilText(test.st, test.tests, "As asked.")
		var b strings.Builder
		must.Do(t, templates.Arena(p).Render(t.Context(), &b))
		if page := b.String(); !strings.Contains(page, test.badge) || !strings.Contains(page, test.says) || strings.Contains(page, ">running<") != (test.badge == ">running<") {
			t.Errorf("%+v: the page lacks %q or %q", test.st, test.badge, test.says)
		}
	}
}
