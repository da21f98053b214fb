package experiment

import (
	"math"
	"testing"
)

// Answers that teach as much as plain ones are worth as many seconds, whatever they take.
func TestWorth(t *testing.T) {
	t.Parallel()
	const seconds = 10
	after := func(each float64, regret ...float64) Sitting {
		s := Sitting{Regret: regret}
		for range len(regret) - 1 {
			s.Seconds = append(s.Seconds, each)
		}
		return s
	}
	all := Sittings{
		{after(3, 4, 2, 1), after(2, 4, 2, 1), after(2, 4, 1, 0), after(1, 1, 1, 1), after(1, 9, 9, 9)},
		{after(3, 8, 2, 1), after(2, 8, 2, 1), after(2, 8, 2, 1), after(1, 1, 1, 1), after(1, 9, 9, 9)},
	}
	// Of both seeds together the regret over 10 s is 56 in the first way, and 10 + 13 t in the third
	// with answers of t s. The last two ways are at the ends of the range.
	for k, want := range []float64{3, 3, 46.0 / 13, 4, 0.5} {
		if got := all.Worth(k, seconds); math.Abs(got-want) > 1e-9 {
			t.Errorf("an answer of way %d is worth %v s, want %v", k, got, want)
		}
	}
	if got := all.Answers(0, 5); got != 1 {
		t.Errorf("%v answers in 5 s, want 1", got)
	}
	if got := all.End(2, 5); got != 0.5 {
		t.Errorf("regret %v after 5 s, want 0.5", got)
	}
}
