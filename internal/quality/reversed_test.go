package quality_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/quality"
)

// People who answer the other way round are named so, by gold questions and by what others
// answer; those who answer by chance, or well, are not.
func TestReversedPeople(t *testing.T) {
	people := map[idrl.AnnotatorID]float64{"good1": 0.1, "good2": 0.15, "good3": 0.2, "random": 0.5, "reversed": 0.9}
	order := []idrl.AnnotatorID{"good1", "good2", "good3", "random", "reversed"}
	log := clickers(80, people, order...)
	named := func(gold int) (out []idrl.AnnotatorID) {
		right := map[idrl.AnswerID]bool{}
		for _, a := range log {
			var k int
			if _, err := fmt.Sscanf(string(a.Query), "q%d", &k); err != nil {
				t.Fatal(err)
			}
			if k < gold {
				right[a.ID] = a.Choice == truth(k)
			}
		}
		r := quality.Of(log, nil, 1)
		r.KnowGold(log, right)
		for _, p := range r.People {
			if slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "the other way round") }) {
				out = append(out, p.Annotator)
			}
		}
		return out
	}
	for _, gold := range []int{0, 30} {
		if got := named(gold); !slices.Equal(got, []idrl.AnnotatorID{"reversed"}) {
			t.Errorf("with %d gold questions %v are said to answer the other way round", gold, got)
		}
	}
}

// truth returns the answer to question k that clickers consider right.
func truth(k int) idrl.Choice {
	return clickers(k+1, map[idrl.AnnotatorID]float64{}, "sage")[k].Choice
}

// Of those who answer by chance few are named; of those who answer the other way round most.
func TestReversedByChance(t *testing.T) {
	for _, test := range []struct {
		k, n int
		want bool
	}{{0, 0, false}, {0, 5, false}, {0, 12, true}, {2, 20, true}, {6, 20, false}, {8, 40, true}, {10, 40, false}, {18, 40, false}, {40, 40, false}} {
		if got := quality.Reversed(test.k, test.n); got != test.want {
			t.Errorf("%d of %d agree: %t, want %t", test.k, test.n, got, test.want)
		}
	}
}
