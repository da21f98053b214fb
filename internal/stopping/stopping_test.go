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
			got := r.Judge(after(1, test.within...), Pace{Answers: len(test.within), Every: 1})
			if got.Held != test.held || got.Propose != test.propose {
				t.Errorf("%+v, want %d held", got, test.held)
			}
			if got.Propose && got.Left != (idrl.Forecast{}) {
				t.Errorf("a forecast where nothing is left: %+v", got.Left)
			}
		})
	}
}

// If the log-odds of P rise evenly, the forecast is the answers up to the line and three
// statements more, minus the answers since the last statement.
func TestForecastOfAnEvenRise(t *testing.T) {
	r := Rule{Doubt: 0.1}
	for _, step := range []int{1, 4} {
		var within []float64
		for i := range 12 {
			x := -2 + 0.2*float64(i) // log-odds; the line is at log 9 = 2.197
			within = append(within, 1/(1+math.Exp(-x)))
		}
		for since := range step {
			got := r.Judge(after(step, within...), Pace{Answers: 12*step + since, Every: step}).Left
			want := step*(3+int(math.Ceil((math.Log(9)-0.2)/0.2-1e-9))) - since
			if got != (idrl.Forecast{Known: true, Least: want, About: want, Most: want}) {
				t.Errorf("every %d answers, %d since: %+v, want %d", step, since, got, want)
			}
		}
	}
}

// Where two of three statements hold, the third is as far away as statements are apart.
func TestForecastToTheNextStatement(t *testing.T) {
	points := after(8, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95, 0.95)
	for since, want := range map[int]int{0: 8, 5: 3, 7: 1, 9: 1} {
		got := Rule{Doubt: 0.1}.Judge(points, Pace{Answers: 80 + since, Every: 8}).Left
		if !got.Known || got.Least != want || got.About != want || got.Most < want {
			t.Errorf("%d answers since: %+v, want %d", since, got, want)
		}
	}
}

func TestForecastCannotTell(t *testing.T) {
	r := Rule{Doubt: 0.1}
	for name, within := range map[string][]float64{
		"too few": {0.1, 0.2, 0.3, 0.4, 0.5}, "falling": {0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1},
		"level": {0.5, 0.6, 0.4, 0.5, 0.6, 0.4, 0.5, 0.6, 0.4, 0.5}, "nothing": nil,
	} {
		if got := r.Judge(after(1, within...), Pace{Answers: len(within), Every: 1}).Left; got.Known {
			t.Errorf("%s: %+v, want no forecast", name, got)
		}
	}
	uncertain := []float64{0.3, 0.7, 0.2, 0.8, 0.3, 0.6, 0.2, 0.7, 0.4}
	if got := r.Judge(after(1, uncertain...), Pace{Answers: len(uncertain), Every: 1}).Left; !got.Known || got.Most != 0 || got.Least < 3 {
		t.Errorf("a rise within chance: %+v, want no upper end", got)
	}
}

// On walks with a drift, which is what it assumes, the range of the forecast holds the
// time to the line about as often as is said.
func TestForecastOfWalks(t *testing.T) {
	const runs, n = 400, 24
	r := Rule{Doubt: 0.1}
	for _, every := range []int{1, 4} { // answers from one statement to the next
		inside, told := 0, 0
		for k := range runs {
			stream := rng.New(uint64(k), "walk", 0)
			x, points := -4.0, []Point(nil)
			step := func() {
				for range every {
					x += (0.12 + 0.25*stream.NormFloat64()*math.Sqrt(float64(every))) / float64(every)
				}
			}
			for i := range n {
				step()
				points = append(points, Point{Answer: every * (i + 1), Within: 1 / (1 + math.Exp(-x))})
			}
			since := k % every
			f := r.Judge(points, Pace{Answers: every*n + since, Every: every}).Left
			if !f.Known || x > math.Log(9) {
				continue
			}
			left := every * InARow
			for x < math.Log(9) && left < 10_000 {
				step()
				left += every
			}
			left -= since
			told++
			if left >= f.Least && (f.Most == 0 || left <= f.Most) {
				inside++
			}
		}
		t.Logf("every %d: %d of %d forecasts held", every, inside, told)
		if share := float64(inside) / float64(told); told < runs/2 || share < 0.75 {
			t.Errorf("every %d: %d of %d forecasts held", every, inside, told)
		}
	}
}
