package bradley_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// Turned answers are in an arena what they count as, later ones what they say.
func TestTurnedOutcomes(t *testing.T) {
	clips := map[idrl.ClipID]idrl.Clip{"c1": {From: "e1.0"}, "c2": {From: "e2.0"}, "c3": {From: "e1.1"}, "c4": {From: "e1.2"}}
	rec := record.Record{Clips: clips, Spec: idrl.SessionSpec{Arena: idrl.Arena{Entrants: make([]idrl.Entrant, 2)}}}
	rec.Settings.Turned = map[idrl.AnnotatorID]int64{"bad": 3}
	choices := []idrl.Choice{idrl.ChoseA, idrl.Equal, "", idrl.ChoseA}
	for i, c := range []idrl.ClipID{"c2", "c3", "c2", "c2"} {
		id := idrl.AssignmentID(rune('a' + i))
		first := []idrl.ClipID{"c1", "c2", "c1", "c4"}[i]
		rec.Assignments = append(rec.Assignments, record.Assignment{ID: id, Query: idrl.NewComparison(idrl.Clip{ID: first}, idrl.Clip{ID: c})})
		a := idrl.Answer{ID: idrl.AnswerID(id), Seq: int64(i + 1), Assignment: id, Annotator: "bad", Choice: choices[i]}
		if a.Choice == "" {
			a.Choice = idrl.Turned
		}
		rec.Log = append(rec.Log, a)
	}
	got, err := bradley.Outcomes(rec)
	want := []bradley.Outcome{
		{Seq: 1, A: 0, B: 1, Choice: idrl.ChoseB, Person: "bad"},
		{Seq: 2, A: 1, B: 0, Choice: idrl.Equal, Person: "bad"},
		{Seq: 4, A: 0, B: 1, Choice: idrl.ChoseA, Person: "bad"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// TestReportOfATest: a report has the result of the test of its arena, by the answers in their order, and of pairs the shares of decisive answers.
func TestReportOfATest(t *testing.T) {
	rec := record.Record{Clips: map[idrl.ClipID]idrl.Clip{}, Spec: idrl.SessionSpec{Arena: idrl.Arena{Detect: 0.9, Entrants: []idrl.Entrant{{Title: "A"}, {Title: "B"}, {Title: "C"}}}}}
	said := func(a, b string, choice idrl.Choice, times int) {
		for range times {
			id := idrl.AssignmentID(rune(len(rec.Log) + 1))
			first, second := idrl.Clip{ID: idrl.ClipID(a + string(id))}, idrl.Clip{ID: idrl.ClipID(b + string(id))}
			rec.Clips[first.ID], rec.Clips[second.ID] = idrl.Clip{From: idrl.TrajectoryID(a + ".1")}, idrl.Clip{From: idrl.TrajectoryID(b + ".1")}
			rec.Assignments = append(rec.Assignments, record.Assignment{ID: id, Query: idrl.Query{ID: idrl.QueryID(id), Kind: idrl.CompareClips, Clips: []idrl.ClipID{first.ID, second.ID}}})
			rec.Log = append(rec.Log, idrl.Answer{Seq: int64(len(rec.Log) + 1), Assignment: id, Annotator: "ann", Choice: choice})
		}
	}
	report := func() bradley.Report {
		t.Helper()
		r, _, err := bradley.NewReport(rec)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	said("e1", "e2", idrl.ChoseA, 1)
	if r := report(); r.Test.Over || r.Test.Winner != "" || r.Test.Left < 2 || len(r.Test.Unbeaten) != 3 {
		t.Errorf("after one answer: %+v", r.Test)
	}
	said("e1", "e2", idrl.ChoseA, 12)
	r := report()
	want := &bradley.ReportTest{Detect: 0.9, Level: 0.05, Power: 0.95, Unbeaten: []string{"A", "C"}, Left: r.Test.Left}
	if d := cmp.Diff(want, r.Test); d != "" || !strings.HasSuffix(r.Guarantee(), "Not found to be worse than another one: “A”, “C”.") {
		t.Errorf("one pair is decided (-want +got):\n%s\n%s", d, r.Guarantee())
	}
	said("e3", "e1", idrl.ChoseB, 12)
	said("e3", "e1", idrl.ChoseA, 1)
	r = report()
	if r.Test.Winner != "A" || !r.Test.Over || r.Test.Left != 0 {
		t.Errorf("all of its pairs are decided: %+v", r.Test)
	}
	for _, p := range r.Pairs {
		share, decided := map[string]float64{"AB": 1, "AC": 12. / 13, "BC": 0.5, "CB": 0.5}[p.A+p.B], p.A == "A"
		if p.P != share || p.Separated != decided || p.Low > share || p.High < share || decided && p.Low < 0.5 {
			t.Errorf("pair %+v, want a share of %.2f", p, share)
		}
	}
	two, three := idrl.Clip{ID: "two", From: "e2.1"}, idrl.Clip{ID: "three", From: "e3.1"}
	rec.Generation = &idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{"one": {ID: "one", From: "e1.1"}, two.ID: two, three.ID: three}}
	for _, c := range []idrl.Clip{two, three} {
		rec.Generation.Queries = append(rec.Generation.Queries, idrl.Query{Kind: idrl.CompareClips, Clips: []idrl.ClipID{"one", c.ID}})
	}
	if r := report(); r.Test.Winner != "A" || len(r.Test.Alike) > 0 {
		t.Errorf("two losers look the same: %+v", r.Test)
	}
	rec.Log = rec.Log[:13] // A was preferred to B; C looks like A
	rec.Generation.Queries[1].Clips[0] = two.ID
	if r := report(); r.Test.Winner != "A" || !slices.Equal(r.Test.Alike, []string{"C"}) || r.Headline() != "“A” is the winner: people prefer it to every other policy that does not look the same, as “C” does." {
		t.Errorf("%q: %+v", r.Headline(), r.Test)
	}
	rec.Spec.Arena.Detect = 0
	if r := report(); r.Test != nil || r.Guarantee() != "" {
		t.Errorf("without a test: %+v", r.Test)
	}
}
