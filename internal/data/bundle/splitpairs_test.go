package bundle

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func compared(a, b string) *record.Labelled {
	return &record.Labelled{Query: idrl.Query{ID: idrl.QueryID(a + b), Clips: []idrl.ClipID{idrl.ClipID(a), idrl.ClipID(b)}}}
}

// Of many pairs the parts have their shares, within what chance explains, and another seed gives other parts.
func TestPairShares(t *testing.T) {
	const n = 20000
	count, other := map[string]int{}, 0
	for i := range n {
		r := compared(fmt.Sprint("clip ", i), fmt.Sprint("clip ", i+1))
		count[pairPart(r, 7)]++
		if pairPart(r, 7) != pairPart(r, 8) {
			other++
		}
	}
	for part, share := range map[string]float64{train: 0.8, validation: 0.1, test: 0.1} {
		if z := (float64(count[part]) - share*n) / math.Sqrt(share*(1-share)*n); math.Abs(z) > 4 { // 1 in 10,000 seeds has more
			t.Errorf("%s has %d of %d, %.1f standard deviations from its share", part, count[part], n, z)
		}
	}
	if share := float64(other) / n; math.Abs(share-0.34) > 0.02 { // 1 - 0.8² - 2·0.1², as of independent draws
		t.Errorf("another seed moves %.2f of the pairs", share)
	}
}

// Every answer to a pair is in one part, in both orders, under another query and by any annotator; and all that a group implies.
func TestPairsStayTogether(t *testing.T) {
	for i := range 200 {
		a, b := fmt.Sprint("clip ", i), fmt.Sprint("clip ", 3*i+1)
		again := compared(b, a)
		again.Query.ID, again.Answer.Annotator = "another", "a2"
		if pairPart(compared(a, b), 7) != pairPart(again, 7) {
			t.Fatalf("%s and %s are in two parts", a, b)
		}
		first, second := compared(a, b), compared(b, fmt.Sprint("clip ", 5*i+2))
		first.Query.ID, second.Query.ID, first.Part, second.Part = "g", "g", 1, 2
		if pairPart(first, uint64(i)) != pairPart(second, uint64(i)) {
			t.Fatal("a group is in two parts")
		}
	}
}

// Where held-out comparisons have trajectories of their own these are the tests, and nothing is divided by pairs.
func TestNoPairsByDesign(t *testing.T) {
	for _, held := range []record.Condition{"", record.HeldOut} {
		var s splits
		list := []*record.Labelled{compared("a", "b"), compared("b", "c"), compared("d", "e")}
		list[2].Condition = held
		for _, r := range list {
			r.Clips = []idrl.Clip{{ID: r.Query.Clips[0]}, {ID: r.Query.Clips[1]}}
			s.add(r)
		}
		for i, r := range list {
			split, pair := s.of(r), s.pairOf(r, 7)
			if none := pair == ""; none != (held != "") {
				t.Errorf("comparison %d, of which held out is %q, is in %q by trajectories and in %q by pairs", i, held, split, pair)
			}
		}
	}
}
