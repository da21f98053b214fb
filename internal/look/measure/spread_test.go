package measure

import (
	"slices"
	"testing"

	"tiebreak/internal/check/must"
)

// cars returns behaviours of one clip each, of cars at these speeds.
func cars(t *testing.T, speeds ...float64) (out [][]*View) {
	for _, v := range speeds {
		out = append(out, []*View{view(t, slider(v, 0).film())})
	}
	return out
}

// A car of size 2√2 m that goes at v for 2 s is on its way v·2/2/2√2 sizes from one that
// stands, in the mean: 0.5 of them, one unit, at √2 m/s.
func TestApart(t *testing.T) {
	near(t, "speeds √2 apart", compare(t, slider(0, 0), slider(1.41421356, 0)).Apart(), 1, 1e-3)
	near(t, "alike", compare(t, slider(1, 0), slider(1, 0)).Apart(), 0, 1e-9)
	near(t, "speeds 20 apart", compare(t, slider(0, 0), slider(20, 0)).Apart(), mostApart, 1e-9)
}

// TestWorth: pairs that are alike or both still are left out, the others are in order.
func TestWorth(t *testing.T) {
	var views []*View
	for _, one := range cars(t, 0, 0.1, 2, 4, 4.01) {
		views = append(views, one...)
	}
	got := must.Get(Worth(views))(t)
	if len(got) != 8 || slices.Contains(got, [2]int{0, 1}) || slices.Contains(got, [2]int{3, 4}) {
		t.Errorf("pairs %v, want all but 0 1, both still, and 3 4, which are alike", got)
	}
	last := 10.0
	for _, p := range got {
		pair := must.Get(Compare(views[p[0]], views[p[1]]))(t)
		if pair.Apart() > last {
			t.Errorf("pair %v is farther apart than that before it", p)
		}
		last = pair.Apart()
	}
}

func TestSpread(t *testing.T) {
	views := cars(t, 0, 0.4, 1, 1.01, 2, 2.6)
	for _, test := range []struct {
		name  string
		first []int
		n     int
		want  []int
	}{
		{"from the first", nil, 3, []int{0, 5, 3}},
		{"from one that is given", []int{4}, 3, []int{4, 0, 2}},
		{"not more than asked for", []int{4, 0, 2}, 2, []int{4, 0}},
		{"none twice", []int{2, 2, 3}, 2, []int{2, 5}},
		{"none", nil, 0, nil},
	} {
		got, err := Spread(views, test.first, test.n)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v; error %v", test.name, got, test.want, err)
		}
	}
	all := must.Get(Spread(views, nil, 10))(t)
	if slices.Contains(all, 2) && slices.Contains(all, 3) {
		t.Errorf("%v has two that look alike", all)
	}
	views[5] = nil
	if got, err := Spread(views, nil, 2); err != nil || !slices.Equal(got, []int{0, 4}) {
		t.Errorf("without views of one: %v, error %v", got, err)
	}
	if got, err := Spread(nil, nil, 3); got != nil || err != nil {
		t.Errorf("of none: %v, error %v", got, err)
	}
	foreign := append(cars(t, 0), []*View{view(t, bar(1, 0).film())})
	if _, err := Spread(foreign, nil, 2); err == nil {
		t.Error("clips that show different things are compared")
	}
	if _, err := Worth([]*View{foreign[0][0], foreign[1][0]}); err == nil {
		t.Error("clips that show different things are paired")
	}
}
