package bundle_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
)

// between returns comparisons of the trajectories that pair names.
func between(n int, pair func() (a, b int)) (out []record.Labelled) {
	clip := func(k int) idrl.Clip { return idrl.Clip{Raw: idrl.StepsID(fmt.Sprint("trajectory ", k))} }
	for range n {
		a, b := pair()
		out = append(out, record.Labelled{Clips: []idrl.Clip{clip(a), clip(b)}})
	}
	return out
}

// For every graph of comparisons the parts have the stated share, as nearly as they can without a
// trajectory in both; and they depend on the set of comparisons alone.
func TestSplitShares(t *testing.T) {
	for _, n := range []int{5, 10, 30, 50, 200, 2000} {
		for name, pair := range map[string]func(r *rand.Rand) (int, int){
			"apart": func(r *rand.Rand) (int, int) { k := r.IntN(n); return 2 * k, 2*k + 1 },
			"few":   func(r *rand.Rand) (int, int) { k := r.IntN(4 + n/3); return k, (k + 1 + r.IntN(3+n/3)) % (4 + n/3) },
			"many":  func(r *rand.Rand) (int, int) { k := r.IntN(n + 2); return k, (k + 1 + r.IntN(n+1)) % (n + 2) },
			"two groups": func(r *rand.Rand) (int, int) {
				k, side := r.IntN(3+n/4), r.IntN(2)
				return 2*k + side, 2*((k+1+r.IntN(2+n/4))%(3+n/4)) + side
			},
			"with itself": func(r *rand.Rand) (int, int) { k := r.IntN(n/2 + 1); return k, k },
		} {
			r := rng.New(3, name, uint64(n))
			list := between(n, func() (int, int) { return pair(r) })
			count := map[string]int{}
			split := bundle.SplitsOf(list)
			for _, s := range split {
				count[s]++
			}
			kept := float64(n - count[""])
			if share := float64(count["test"]) / kept; n >= 10 && (share < 0.1 || share > 0.34) || 5*count["train"] < 2*n || kept < 0.5*float64(n) {
				t.Errorf("%d comparisons, %s: %v", n, name, count)
			}
			order := r.Perm(n)
			mixed := make([]record.Labelled, n)
			for i, k := range order {
				mixed[i] = list[k]
			}
			for i, s := range bundle.SplitsOf(mixed) {
				if s != split[order[i]] {
					t.Fatalf("%d comparisons, %s: in another order comparison %d is in %q, not in %q", n, name, order[i], s, split[order[i]])
				}
			}
		}
	}
}

// Where one trajectory is in every comparison nothing can be for tests.
func TestSplitOfAStar(t *testing.T) {
	k := 0
	for i, s := range bundle.SplitsOf(between(40, func() (int, int) { k++; return 0, k })) {
		if s != "train" {
			t.Fatalf("comparison %d is in %q", i, s)
		}
	}
}

// Where held-out comparisons have trajectories of their own they are the test part, and everything else is for
// training; where they have not, the division decides as if none were held out.
func TestSplitByDesign(t *testing.T) {
	r := rng.New(3, "design", 0)
	for _, overlap := range []int{0, 3, 20} { // trajectories of held-out comparisons that are also learnt from
		list := between(40, func() (int, int) { return r.IntN(20), r.IntN(20) })
		held := between(10, func() (int, int) { return 20 - overlap + r.IntN(8), 20 - overlap + r.IntN(8) })
		for i := range held {
			held[i].Condition = record.HeldOut
		}
		list = append(list, held...)
		taught, in, n := map[idrl.StepsID]bool{}, map[idrl.StepsID]string{}, map[string]int{}
		for _, c := range list[:40] {
			taught[c.Clips[0].Raw], taught[c.Clips[1].Raw] = true, true
		}
		clean := 0
		for _, c := range list[40:] {
			if !taught[c.Clips[0].Raw] && !taught[c.Clips[1].Raw] {
				clean++
			}
		}
		for i, s := range bundle.SplitsOf(list) {
			n[s]++
			for _, c := range list[i].Clips {
				if was := in[c.Raw]; s != "" && was != "" && was != s {
					t.Errorf("overlap %d: trajectory %s stands in %s and in %s", overlap, c.Raw, was, s)
				} else if s != "" {
					in[c.Raw] = s
				}
			}
		}
		if overlap < 20 && (n["test"] != clean || n["train"] != 40 || n[""] != 10-clean || clean < 2) {
			t.Errorf("overlap %d: %v, of which %d are apart", overlap, n, clean)
		}
		if overlap == 20 && (clean > 0 || n["train"] == 40) {
			t.Errorf("without trajectories of their own: %v", n)
		}
	}
}
