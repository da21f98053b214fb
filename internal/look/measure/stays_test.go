package measure

import (
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// Two robots that go nowhere, as the line over their clips says, are not compared, however much
// they move; and they are rated alike. This does not hold where they are far apart in a corridor
// with numbered cells: one has reached the goal, say, and one is at the start.
func TestStays(t *testing.T) {
	turning := func(rate, place float64, note string) *View {
		s := moved(bar(rate, 0), place)
		s.camera, s.static = [3]float64{place}, []drawing.Shape{{Kind: drawing.Text}}
		c := s.film()
		c.Header.Note = note
		return view(t, c)
	}
	goes, stays := turning(1, 0, "The goal is 2 m to the right."), turning(2, 0, "At the goal. "+idrl.Stays)
	const stuckNote = "The goal is 2 m to the right. " + idrl.Stays
	stuck := turning(4, 0, stuckNote)
	near, far := turning(4, -2*StaysApart+0.1, stuckNote), turning(4, -2*StaysApart-0.1, stuckNote) // the body is 2 m long
	for _, test := range []struct {
		name              string
		a, b              *View
		answerable, alike bool
	}{
		{"one goes", goes, stays, true, false},
		{"the other goes", stuck, goes, true, false},
		{"both stay", stays, stuck, false, true},
		{"both stay at some distance", stays, near, false, true},
		{"both stay far apart", stays, far, true, false},
		{"both stay far apart, the other way round", far, stays, true, false},
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
