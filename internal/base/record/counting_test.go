package record_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// The opposite of an answer says the contrary of what it says, and nothing else is changed; the
// opposite of that is the answer.
func TestOpposite(t *testing.T) {
	for _, test := range []struct{ given, want idrl.Answer }{
		{idrl.Answer{Choice: idrl.ChoseA, Left: idrl.SideB, Much: true, Remark: idrl.BothBad}, idrl.Answer{Choice: idrl.ChoseB, Left: idrl.SideB, Much: true, Remark: idrl.BothBad}},
		{idrl.Answer{Choice: idrl.ChoseB}, idrl.Answer{Choice: idrl.ChoseA}},
		{idrl.Answer{Choice: idrl.Equal, Remark: idrl.BothGood}, idrl.Answer{Choice: idrl.Equal, Remark: idrl.BothGood}},
		{idrl.Answer{Choice: idrl.CantTell}, idrl.Answer{Choice: idrl.CantTell}},
		{idrl.Answer{Choice: idrl.Skip, Reason: "other"}, idrl.Answer{Choice: idrl.Skip, Reason: "other"}},
		{idrl.Answer{Choice: idrl.TechnicalFailure}, idrl.Answer{Choice: idrl.TechnicalFailure}},
		{idrl.Answer{Choice: idrl.Rated, Rating: 0.6}, idrl.Answer{Choice: idrl.Rated, Rating: -0.6}}, // 8 of 10 is 2
		{idrl.Answer{Choice: idrl.Rated}, idrl.Answer{Choice: idrl.Rated}},
		{idrl.Answer{Choice: idrl.BestWorst, Best: "c", Worst: "e", Order: "fedcba"}, idrl.Answer{Choice: idrl.BestWorst, Best: "e", Worst: "c", Order: "fedcba"}},
	} {
		got := test.given.Opposite()
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("of %+v (-want +got):\n%s", test.given, d)
		}
		if d := cmp.Diff(test.given, got.Opposite()); d != "" {
			t.Errorf("of the opposite of %+v (-want +got):\n%s", test.given, d)
		}
	}
}

// The opposite of an answer to a group implies the comparisons that it implies, each the other way
// round.
func TestOppositeOfAGroup(t *testing.T) {
	sorted := func(pairs [][2]int) [][2]int {
		slices.SortFunc(pairs, func(a, b [2]int) int { return 10*(a[0]-b[0]) + a[1] - b[1] })
		return pairs
	}
	a := idrl.Answer{Choice: idrl.BestWorst, Best: "c", Worst: "e"}
	var want [][2]int
	for _, p := range a.Implied(idrl.GroupSize) {
		want = append(want, [2]int{p[1], p[0]})
	}
	if d := cmp.Diff(sorted(want), sorted(a.Opposite().Implied(idrl.GroupSize))); d != "" || len(want) != 9 {
		t.Error(d)
	}
}

// A decision is about the answers before it; the last one of a person is in force.
func TestCountings(t *testing.T) {
	log := []idrl.Answer{
		{ID: "1", Annotator: "bad", Choice: idrl.ChoseA},
		{ID: "2", Annotator: "good", Choice: idrl.ChoseA},
		{Annotator: "bad", Choice: idrl.Turned},
		{ID: "3", Annotator: "bad", Choice: idrl.ChoseA},
	}
	for i := range log {
		log[i].Seq = int64(i + 1)
	}
	said := func(log []idrl.Answer) (out []idrl.Choice) {
		all := record.Effective(log)
		for _, a := range all {
			out = append(out, a.Choice)
		}
		if d := cmp.Diff(all, slices.Collect(record.EachEffective(log))); d != "" {
			t.Errorf("one by one they are others:\n%s", d)
		}
		return out
	}
	then := func(c idrl.Choice) []idrl.Answer {
		return append(slices.Clone(log), idrl.Answer{Seq: 5, Annotator: "bad", Choice: c})
	}
	for _, test := range []struct {
		name string
		log  []idrl.Answer
		want []idrl.Choice
	}{
		{"turned", log, []idrl.Choice{"b", "a", "a"}},
		{"turned again", then(idrl.Turned), []idrl.Choice{"b", "a", "b"}},
		{"turned back", then(idrl.TakenIn), []idrl.Choice{"a", "a", "a"}},
		{"left out", then(idrl.LeftOut), []idrl.Choice{"a"}},
	} {
		if got := said(test.log); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q count, want %q", test.name, got, test.want)
		}
	}
	if log[0].Choice != idrl.ChoseA {
		t.Error("the log is changed")
	}
}
