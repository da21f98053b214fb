package learning_test

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/learn/learning"
)

// The chance of a duel to end for the challenger, and its length, are those of a random walk that ends two steps from
// its start, or by the majority of five: p²(1 + 2pq) + (2pq)²p and 2 + 2·2pq + (2pq)².
func TestErrorRatesOfDuels(t *testing.T) {
	for _, test := range []struct {
		p          float64 // an answer is for the challenger
		took, mean float64 // of five digits
	}{
		{0.9, 0.98496, 2.3924},
		{0.1, 0.01504, 2.3924},
		{0.5, 0.5, 3.25},
		{0.8, 0.92672, 2.7424},
	} {
		q := 1 - test.p
		even := 2 * test.p * q
		took, mean := test.p*test.p*(1+even)+even*even*test.p, 2+2*even+even*even
		if math.Abs(took-test.took) > 1e-5 || math.Abs(mean-test.mean) > 1e-4 {
			t.Errorf("p = %v: closed form %.5f after %.4f answers, want %v and %v", test.p, took, mean, test.took, test.mean)
		}
		const n = 100_000
		stream := rng.New(1, "duels", uint64(100*test.p))
		won, answers := 0, 0
		for range n {
			var d learning.Duel
			for d.Verdict() == learning.Undecided {
				if d.Wants() < 1 {
					t.Fatal("an undecided duel wants no answer")
				}
				answer := -1
				if stream.Float64() < test.p {
					answer = 1
				}
				d.Add(answer)
				answers++
			}
			if d.Wants() != 0 {
				t.Fatal("a decided duel wants answers")
			}
			if d.Verdict() == learning.Took {
				won++
			}
		}
		share, length := float64(won)/n, float64(answers)/n
		if std := math.Sqrt(took * (1 - took) / n); math.Abs(share-took) > 4*std {
			t.Errorf("p = %v: the challenger took the lead in %.5f of duels, want %.5f ± %.5f", test.p, share, took, std)
		}
		if math.Abs(length-mean) > 4*2/math.Sqrt(n) { // lengths are between 2 and 5
			t.Errorf("p = %v: %.4f answers a duel, want %.4f", test.p, length, mean)
		}
	}
}

// Equal answers are for neither; a draw leaves the lead where it is.
func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers []int
		want    learning.Verdict
		wants   int
	}{
		{"none", nil, learning.Undecided, 2},
		{"one", []int{1}, learning.Undecided, 1},
		{"two", []int{1, 1}, learning.Took, 0},
		{"against", []int{-1, 0, -1}, learning.Kept, 0},
		{"even", []int{1, -1}, learning.Undecided, 2},
		{"four equal", []int{0, 0, 0, 0}, learning.Undecided, 1},
		{"five equal", []int{0, 0, 0, 0, 0}, learning.Kept, 0},
		{"a majority of five", []int{1, -1, 0, 0, 1}, learning.Took, 0},
		{"what comes later", []int{1, 1, -1, -1, -1, -1}, learning.Took, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d learning.Duel
			for _, a := range test.answers {
				d.Add(a)
			}
			if d.Verdict() != test.want || d.Wants() != test.wants {
				t.Errorf("verdict %d, wants %d; want %d and %d", d.Verdict(), d.Wants(), test.want, test.wants)
			}
		})
	}
}
