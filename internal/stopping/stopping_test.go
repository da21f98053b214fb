package stopping

import (
	"math"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
)

// after returns statements after every step-th answer.
func after(step int, within ...float64) (out []Point) {
	for i, p := range within {
		out = append(out, Point{Answer: step * (i + 1), Within: p})
	}
	return out
}

func TestThreeInARow(t *testing.T) {
	r := Rule{Doubt: 0.1}
	for _, test := range []struct {
		name    string
		within  []float64
		held    int
		propose bool
	}{
		{"nothing stated", nil, 0, false},
		{"two", []float64{0.95, 0.99}, 2, false},
		{"three, on the line", []float64{0.2, 0.9, 0.9, 0.9}, 3, true},
		{"interrupted", []float64{0.95, 0.95, 0.89, 0.95, 0.95}, 2, false},
		{"not now", []float64{0.95, 0.95, 0.95, 0.5}, 0, false},
		{"for long", []float64{0.95, 0.95, 0.95, 0.95, 0.95}, 3, true},
		{"not a number", []float64{0.95, 0.95, math.NaN()}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := r.Judge(after(1, test.within...))
			if got.Held != test.held || got.Propose != test.propose {
				t.Errorf("%+v, want %d held", got, test.held)
			}
			if got.Propose && got.Left != (idrl.Forecast{}) {
				t.Errorf("a forecast where nothing is left: %+v", got.Left)
			}
		})
	}
}

// Where P rises evenly the forecast is what is left of the line, and three answers.
func TestForecastOfAnEvenRise(t *testing.T) {
	r := Rule{Doubt: 0.1}
	for _, step := range []int{1, 4} {
		var within []float64
		for i := range 12 {
			x := -2 + 0.2*float64(i) // log-odds; the line is at log 9 = 2.197
			within = append(within, 1/(1+math.Exp(-x)))
		}
		got := r.Judge(after(step, within...)).Left
		want := 3 + int(math.Ceil((math.Log(9)-0.2)/0.2*float64(step)-1e-9))
		if got != (idrl.Forecast{Known: true, Least: want, About: want, Most: want}) {
			t.Errorf("every %d answers: %+v, want %d", step, got, want)
		}
	}
}

func TestForecastCannotTell(t *testing.T) {
	r := Rule{Doubt: 0.1}
	for name, within := range map[string][]float64{
		"too few": {0.1, 0.2, 0.3, 0.4, 0.5}, "falling": {0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1},
		"level": {0.5, 0.6, 0.4, 0.5, 0.6, 0.4, 0.5, 0.6, 0.4, 0.5}, "nothing": nil,
	} {
		if got := r.Judge(after(1, within...)).Left; got.Known {
			t.Errorf("%s: %+v, want no forecast", name, got)
		}
	}
	uncertain := []float64{0.3, 0.7, 0.2, 0.8, 0.3, 0.6, 0.2, 0.7, 0.4}
	if got := r.Judge(after(1, uncertain...)).Left; !got.Known || got.Most != 0 || got.Least < 3 {
		t.Errorf("a rise within chance: %+v, want no upper end", got)
	}
}

// On walks with a drift, which is what it assumes, the range of the forecast holds the
// time to the line about as often as is said.
func TestForecastOfWalks(t *testing.T) {
	const runs, n = 400, 24
	r := Rule{Doubt: 0.1}
	inside, told := 0, 0
	for k := range runs {
		stream := rng.New(uint64(k), "walk", 0)
		x, points := -4.0, []Point(nil)
		step := func() { x += 0.12 + 0.25*stream.NormFloat64() }
		for i := range n {
			step()
			points = append(points, Point{Answer: i + 1, Within: 1 / (1 + math.Exp(-x))})
		}
		f := r.Judge(points).Left
		if !f.Known || x > math.Log(9) {
			continue
		}
		left := InARow
		for x < math.Log(9) && left < 10_000 {
			step()
			left++
		}
		told++
		if left >= f.Least && (f.Most == 0 || left <= f.Most) {
			inside++
		}
	}
	if share := float64(inside) / float64(told); told < runs/2 || share < 0.75 {
		t.Errorf("%d of %d forecasts held", inside, told)
	}
}
