package measure

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// mostApart bounds each of the measures in Apart, so that a large difference in one does not hide
// the others.
const mostApart = 2

// Apart returns the difference of the clips as one number: the sum of pose, path and place, each in
// units of the threshold of easy pairs and at most 2. For whirling clips it is the distance of
// their ends. Clips of pictures in which a small visible difference is found are at least
// leastPlain apart.
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

// Worth returns the pairs of clips that a person can answer, by their places, the most different
// ones first. The errors are those of Compare.
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

// Spread returns the places of at most n behaviours, each given by views of its clips, by farthest
// point: each is the one whose distance to the nearest before it is largest. It begins with those
// of first. Behaviours without views are left out. The distance of two is the mean of Apart over
// clips of the same place; if no such pair of clips distinguishes two behaviours, only one of them
// is taken. The errors are those of Compare.
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

// apart returns the distance of two behaviours, 0 if people cannot distinguish them.
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
