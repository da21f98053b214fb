package measure

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// mostApart bounds each of the measures in Apart, so that what goes far does not hide
// what looks new.
const mostApart = 2

// Apart returns how far the clips look apart as one number: the sum of pose, path and
// place, each in units from which a pair is easy and at most 2. Of clips that whirl it is
// where they end that counts. Clips of pictures in which something small is plainly seen to differ
// are at least leastPlain apart.
func (p Pair) Apart() float64 {
	units := func(d, easy float64) float64 { return min(d/easy, mostApart) }
	if p.spot >= plainSpot {
		return max(leastPlain, units(p.Pose, EasyPose)+units(p.Place, EasyPlace))
	}
	if p.whirling() {
		return units(p.End, EasyPose) + units(p.Place, EasyPlace)
	}
	return units(p.Pose, EasyPose) + units(p.Path, EasyPath) + units(p.Place, EasyPlace)
}

// Worth returns the pairs of clips that a person can answer, by their places, those that
// look farthest apart first. The errors are those of Compare.
func Worth(views []*View) ([][2]int, error) {
	type pair struct {
		at    [2]int
		apart float64
	}
	var all []pair
	for j, b := range views {
		for i, a := range views[:j] {
			p, err := Compare(a, b)
			if err != nil {
				return nil, err
			}
			if p.Answerable() {
				all = append(all, pair{[2]int{i, j}, p.Apart()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(b.apart, a.apart) })
	out := make([][2]int, len(all))
	for k, p := range all {
		out[k] = p.at
	}
	return out, nil
}

// Spread returns the places of at most n behaviours, each given by views of its clips, by
// farthest point: each is the one whose distance to the nearest before it is largest. It
// begins with those of first. Behaviours without views are left out. The distance of two is the
// mean of Apart over clips of the same place; behaviours that no pair of such clips tells
// apart are not both taken. The errors are those of Compare.
func Spread(views [][]*View, first []int, n int) (chosen []int, err error) {
	nearest := make([]float64, len(views))
	for i, v := range views {
		if len(v) > 0 {
			nearest[i] = mostApart * 10
		}
	}
	take := func(k int) error {
		chosen = append(chosen, k)
		for i := range views {
			d, err := apart(views[k], views[i])
			if err != nil {
				return err
			}
			nearest[i] = min(nearest[i], d)
		}
		nearest[k] = 0
		return nil
	}
	for _, k := range first {
		if len(chosen) < n && nearest[k] > 0 {
			if err := take(k); err != nil {
				return nil, err
			}
		}
	}
	for len(views) > 0 && len(chosen) < n {
		k := floats.MaxIdx(nearest)
		if !(nearest[k] > 0) {
			break
		}
		if err := take(k); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// apart returns the distance of two behaviours, 0 if nobody could tell them apart.
func apart(a, b []*View) (float64, error) {
	sum, answerable := 0.0, false
	n := min(len(a), len(b))
	for k := range n {
		p, err := Compare(a[k], b[k])
		if err != nil {
			return 0, err
		}
		sum += p.Apart() / float64(n)
		answerable = answerable || p.Answerable()
	}
	if !answerable {
		return 0, nil
	}
	return sum, nil
}
