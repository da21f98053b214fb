package envtest_test

import (
	"slices"
	"testing"

	"tiebreak/envs/envtest"
)

// Two behaviours with two clips and one: only clips of different behaviours are compared.
func TestDifferences(t *testing.T) {
	sums := [][][]float64{{{0, 0}, {9, 9}}, {{3, 2}}}
	// √((1·3)² + (2·2)²)/3 and √((1·6)² + (2·7)²)/3, from the second behaviour to the first
	got := envtest.Differences(sums, []float64{1, 2})
	if want := []float64{5.0 / 3, 15.231546211727817 / 3}; !slices.Equal(got, want) {
		t.Errorf("differences %v, want %v", got, want)
	}
}
