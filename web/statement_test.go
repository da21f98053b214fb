package web

import (
	"math"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
)

// Values of an earlier definition are not compared with those of today's, and only the ends of a curve are sent.
func TestEndsLeaveOutEarlierDefinitions(t *testing.T) {
	now := idrl.RegretDefinition
	if got, earlier := ends([]idrl.Regret{{Seq: 0, Definition: now, Mean: math.NaN()}, {Seq: 1, Definition: now, Mean: 0.5}, {Seq: 2, Definition: now, Mean: 0.25}}); earlier != 0 || len(got) != 2 || got[0] != (regretPoint{}) || got[1] != (regretPoint{Seq: 2, Mean: 0.25}) {
		t.Errorf("the ends are %+v, after row %d", got, earlier)
	}
	got, earlier := ends([]idrl.Regret{{Seq: 0, Definition: now, Bound: 0.5}, {Seq: 1, Definition: 1, Bound: 7}, {Seq: 2, Definition: 1, Bound: 7}, {Seq: 3, Definition: now, Bound: 0.25}})
	if len(got) != 1 || got[0].Seq != 3 || earlier != 2 { // no line over the gap
		t.Errorf("points %+v and earlier ones up to row %d; want that of row 3, and 2", got, earlier)
	}
}

// What is objected is said beside the statement, and by which return policies are compared.
func TestObjectionsInWords(t *testing.T) {
	st := view.Status{Basis: view.AgainstGiven, Return: idrl.MeanReturn, Regret: []idrl.Regret{{Within: 0.999, Tolerance: 0.05}}}
	st.Stopping = stopping.Stopping{Doubt: 0.1, Held: 3, Objections: []stopping.Objection{stopping.ObjectReturns("lands", "falls")}}
	got := statementOf(st)
	if !strings.HasSuffix(got.Headline, "of the best one known, by the mean reward of a step") || got.MayStop || len(got.Objections) != 1 ||
		got.Objections[0].Code != "returns" || !strings.Contains(got.Objections[0].Words, "lands is best by the mean reward of a step, and falls is best by the sum over the episode") {
		t.Errorf("%+v", got)
	}
	st.Return = idrl.SumReturn
	if got := statementOf(st).Headline; !strings.HasSuffix(got, ", by the sum over the episode") {
		t.Errorf("by the sum it says %q", got)
	}
}
