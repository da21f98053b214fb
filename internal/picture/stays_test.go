package picture

import (
	"testing"

	"tiebreak/internal/idrl"
)

// Two robots that go nowhere, as the line over their clips says, are not compared, however much
// they move; and they are rated alike.
func TestStays(t *testing.T) {
	turning := func(rate float64, note string) *View {
		c := bar(rate, 0).film()
		c.Header.Note = note
		return view(t, c)
	}
	goes, stays := turning(1, "The goal is 2 m to the right."), turning(2, "At the goal. "+idrl.Stays)
	stuck := turning(4, "The goal is 2 m to the right. "+idrl.Stays)
	for _, test := range []struct {
		name              string
		a, b              *View
		answerable, alike bool
	}{
		{"one goes", goes, stays, true, false},
		{"the other goes", stuck, goes, true, false},
		{"both stay", stays, stuck, false, true},
	} {
		ok, err := Answerable(test.a, test.b)
		p, errPair := Compare(test.a, test.b)
		alike, errAlike := RatedAlike(test.a, test.b)
		if err != nil || errPair != nil || errAlike != nil {
			t.Fatal(err, errPair, errAlike)
		}
		if ok != test.answerable || p.Answerable() != test.answerable || alike != test.alike {
			t.Errorf("%s: answerable %t and %t, rated alike %t", test.name, ok, p.Answerable(), alike)
		}
	}
	if alike, err := RatedAlike(goes, goes); err != nil || !alike || !stays.Ratable() {
		t.Errorf("a clip is rated alike to itself: %t (%v); one that stays can be rated: %t", alike, err, stays.Ratable())
	}
}
