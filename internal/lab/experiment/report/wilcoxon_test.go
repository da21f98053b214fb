package report_test

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment/report"
)

// ranked returns differences 1 to n of which those below zero have the ranks in
// negative.
func ranked(n int, negative ...int) (d []float64) {
	for r := 1; r <= n; r++ {
		v := float64(r)
		if slices.Contains(negative, r) {
			v = -v
		}
		d = append(d, v)
	}
	return d
}

func TestWilcoxon(t *testing.T) {
	for _, test := range []struct {
		name string
		d    []float64
		w, p float64
	}{
		// Without ties, P(W ≤ w) is the number of sets of ranks with a sum of at most w, over 2ⁿ.
		{"none below zero", ranked(5), 15, 2.0 / 32},
		{"none above", ranked(5, 1, 2, 3, 4, 5), 0, 2.0 / 32},
		{"one below", ranked(6, 1), 20, 4.0 / 64},
		{"sets of sum 3 at most: {} {1} {2} {3} {1,2}", ranked(6, 3), 18, 10.0 / 64},
		{"in the middle", ranked(4, 1, 4), 5, 1},
		// Critical values of the published tables for a two-sided level of 0.05:
		// 8 for n = 10, where P = 50/1024.
		{"table, n = 10", ranked(10, 8), 47, 50.0 / 1024},
		// Depression scores of nine patients before and after (Hollander and Wolfe,
		// Nonparametric Statistical Methods, 1973): V = 40, P = 0.0390625.
		{"Hollander and Wolfe", []float64{0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01}, 40, 0.0390625},
		// Ranks of |d| with ties: 1.5, 1.5, 3, 4 ; sums of subsets: 0, 1.5 (twice), 3 (twice), ….
		{"ties", []float64{1, -1, 2, 3}, 8.5, 6.0 / 16},
		// A zero takes rank 1 and drops out: ranks 2 and 3 stay.
		{"a zero", []float64{0, 5, 6}, 5, 2.0 / 4},
		{"zeros only", []float64{0, 0, 0}, 0, 1},
		{"nothing", nil, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := report.Wilcoxon(test.d)
			if got.W != test.w || math.Abs(got.P-test.p) > 1e-14 || !got.Exact {
				t.Errorf("%+v, want W = %v, P = %v", got, test.w, test.p)
			}
		})
	}
}

// 52 is the critical value of the published tables for n = 20 and a two-sided
// level of 0.05; 53 is not.
func TestWilcoxonTable(t *testing.T) {
	if got := report.Wilcoxon(ranked(20, 20, 19, 13)); got.W != 210-52 || got.P > 0.05 {
		t.Errorf("%+v, want P ≤ 0.05", got)
	}
	if got := report.Wilcoxon(ranked(20, 20, 19, 14)); got.W != 210-53 || got.P <= 0.05 {
		t.Errorf("%+v, want P > 0.05", got)
	}
}

// P against all 2ⁿ choices of signs, with zeros and ties.
func TestWilcoxonAgainstEnumeration(t *testing.T) {
	draws := rng.New(1, "test", 0)
	for trial := range 60 {
		d := make([]float64, 1+draws.IntN(9))
		for i := range d {
			d[i] = float64(draws.IntN(7) - 3)
		}
		if got, want := report.Wilcoxon(d).P, enumerated(d); math.Abs(got-want) > 1e-14 {
			t.Errorf("trial %d: P of %v = %v, want %v", trial, d, got, want)
		}
	}
}

// enumerated counts the choices of signs with a W at least as far from its
// mean. The rank of a value is 1 + the number of smaller ones + half that of
// the other equal ones.
func enumerated(d []float64) float64 {
	var ranks []float64
	var up []bool
	for i, v := range d {
		r := 1.0
		for j, u := range d {
			switch cmp.Compare(math.Abs(u), math.Abs(v)) {
			case -1:
				r++
			case 0:
				if i != j {
					r += 0.5
				}
			}
		}
		if v != 0 {
			ranks, up = append(ranks, r), append(up, v > 0)
		}
	}
	w := func(sign func(i int) bool) (off float64) { // twice the distance from the mean
		for i, r := range ranks {
			if sign(i) {
				off += r
			} else {
				off -= r
			}
		}
		return math.Abs(off)
	}
	own, count := w(func(i int) bool { return up[i] }), 0.0
	for set := range 1 << len(ranks) {
		if w(func(i int) bool { return set>>i&1 == 1 }) >= own {
			count++
		}
	}
	return count / math.Pow(2, float64(len(ranks)))
}

// Beyond exactLimit, the approximation against whole numbers: the number of sets
// of ranks by their sum, of n = 120 without ties.
func TestWilcoxonOfMany(t *testing.T) {
	const n = 120
	sets := make([]*big.Int, n*(n+1)/2+1)
	for i := range sets {
		sets[i] = new(big.Int)
	}
	sets[0].SetInt64(1)
	for r := 1; r <= n; r++ {
		for s := len(sets) - 1; s >= r; s-- {
			sets[s].Add(sets[s], sets[s-r])
		}
	}
	for _, lowest := range []int{40, 50, 55} { // how many of the lowest ranks are above zero, with every third besides
		d := make([]float64, n)
		w := 0
		for r := 1; r <= n; r++ {
			d[r-1] = -float64(r)
			if r <= lowest || r%3 == 0 {
				d[r-1] = float64(r)
				w += r
			}
		}
		tail := new(big.Int)
		for _, v := range sets[:min(w, len(sets)-1-w)+1] {
			tail.Add(tail, v)
		}
		p, _ := new(big.Rat).SetFrac(tail, new(big.Int).Lsh(big.NewInt(1), n-1)).Float64()
		got := report.Wilcoxon(d)
		if got.Exact || got.W != float64(w) || math.Abs(got.P-p) > 0.002 { // the error of the approximation is of order 1/n²
			t.Errorf("%d lowest: %+v, want P = %v", lowest, got, p)
		}
	}
}

func TestHolm(t *testing.T) {
	for _, test := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}}, // 2 × 0.03 > 0.04
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.6, 0.5}, []float64{1, 1}},
		{[]float64{0.2}, []float64{0.2}},
		{nil, []float64{}},
	} {
		got := report.Holm(test.p)
		if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-14 }) {
			t.Errorf("%v adjusted: %v, want %v", test.p, got, test.want)
		}
	}
}
