package stopping

import (
	"math"
	"strings"
	"testing"

	"tiebreak/internal/base/rng"
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
			got := r.Judge(after(1, test.within...), Pace{Answers: len(test.within), Every: 1}, nil)
			if got.Held != test.held || got.Propose != test.propose {
				t.Errorf("%+v, want %d held", got, test.held)
			}
			if got.Propose && got.Left != (Forecast{}) {
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
			x := -2 + 0.25*float64(i) // log-odds; the line is at log 9 = 2.197
			within = append(within, 1/(1+math.Exp(-x)))
		}
		for since := range step {
			got := r.Judge(after(step, within...), Pace{Answers: 12*step + since, Every: step}, nil).Left
			want := step*(3+int(math.Ceil((math.Log(9)-0.75)/0.25-1e-9))) - since
			if got != (Forecast{Known: true, Least: want, About: want, Most: want}) {
				t.Errorf("every %d answers, %d since: %+v, want %d", step, since, got, want)
			}
		}
	}
}

// Where two of three statements hold, the third is as far away as statements are apart.
func TestForecastToTheNextStatement(t *testing.T) {
	points := after(8, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95, 0.95)
	for since, want := range map[int]int{0: 8, 5: 3, 7: 1, 9: 1} {
		got := Rule{Doubt: 0.1}.Judge(points, Pace{Answers: 80 + since, Every: 8}, nil).Left
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
		"a rise within chance": {0.3, 0.7, 0.2, 0.8, 0.3, 0.6, 0.2, 0.7, 0.4},
	} {
		if got := r.Judge(after(1, within...), Pace{Answers: len(within), Every: 1}, nil).Left; got.Known {
			t.Errorf("%s: %+v, want no forecast", name, got)
		}
	}
}

// A forecast never goes beyond the answers that it was learnt from: "about 4021 left" was said
// after an answer before "about 19 left".
func TestForecastHasABound(t *testing.T) {
	for _, test := range []struct {
		rise  float64 // of the log-odds per answer
		known bool
	}{{0.2, true}, {0.15, true}, {0.1, false}, {0.01, false}, {0.0005, false}} {
		var within []float64
		for i := range 16 {
			within = append(within, 1/(1+math.Exp(1-test.rise*float64(i)))) // from log-odds of −1
		}
		got := Rule{Doubt: 0.1}.Judge(after(1, within...), Pace{Answers: len(within), Every: 1}, nil).Left
		if got.Known != test.known || got.About > len(within) {
			t.Errorf("a rise of %v: %+v, known is to be %t", test.rise, got, test.known)
		}
	}
}

// While there is an objection the rule proposes nothing and forecasts nothing, for every statement.
func TestObjectionsVeto(t *testing.T) {
	against := []Objection{ObjectUntrained()}
	for name, within := range map[string][]float64{
		"it held": {0.95, 0.97, 0.99}, "it rises": {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85},
	} {
		points, now := after(1, within...), Pace{Answers: len(within), Every: 1}
		without := Rule{Doubt: 0.1}.Judge(points, now, nil)
		if !without.Propose && !without.Left.Known {
			t.Fatalf("%s: %+v; the test is to have something to veto", name, without)
		}
		got := Rule{Doubt: 0.1}.Judge(points, now, against)
		if got.Propose || got.Left.Known || len(got.Objections) != 1 || got.Held != without.Held {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// told is a forecast with what came of it.
type told struct {
	Forecast
	left int // answers until the rule was met
	next int // of the forecast after the next statement, which is about fewer answers by those in between; 0 if there is none
}

// walk returns the forecasts on a walk of the log-odds of P with a drift, as a forecast
// assumes it, after each statement until the rule is met; every so many answers there is one.
func walk(seed uint64, every int) (out []told) {
	stream := rng.New(seed, "walk", 0)
	drifts, noises := []float64{0.03, 0.06, 0.12, 0.25, 0.4}, []float64{0.1, 0.2, 0.35, 0.5}
	x, v, s := -3+3.5*stream.Float64(), drifts[stream.IntN(len(drifts))], noises[stream.IntN(len(noises))]
	r, points := Rule{Doubt: 0.1}, []Point(nil)
	before := false // after the statement before
	for n := every; n < 2000; n += every {
		for range every {
			x += v + s*stream.NormFloat64()
		}
		points = append(points, Point{Answer: n, Within: 1 / (1 + math.Exp(-x))})
		now := r.Judge(points, Pace{Answers: n, Every: every}, nil)
		if now.Propose {
			for i := range out {
				out[i].left += n
			}
			return out
		}
		if f := now.Left; f.Known {
			if before {
				out[len(out)-1].next = f.About
			}
			out = append(out, told{Forecast: f, left: -n})
		}
		before = now.Left.Known
	}
	return nil
}

// The range of a forecast holds in four of five cases, as is said; its number is within a factor
// of three of what comes in 85 of 100; and one statement more does not throw it about.
func TestForecastsAreTrue(t *testing.T) {
	const runs = 300
	for _, every := range []int{1, 4} { // answers from one statement to the next
		var all, held, near, followed, calmly int
		for k := range runs {
			for _, f := range walk(uint64(k), every) {
				all++
				if f.left >= f.Least && f.left <= f.Most {
					held++
				}
				if f.About <= 3*f.left && f.left <= 3*f.About {
					near++
				}
				if f.next == 0 {
					continue
				}
				followed++
				if due := max(1, f.About-every); f.next <= 2*due && due <= 2*f.next {
					calmly++
				}
			}
		}
		share := func(n, of int) float64 { return float64(n) / float64(of) }
		t.Logf("every %d: %d forecasts; %.3f held, %.3f within a factor of 3, %.3f of %d followed by one within a factor of 2",
			every, all, share(held, all), share(near, all), share(calmly, followed), followed)
		if all < runs || share(held, all) < 0.8 || share(near, all) < 0.85 || share(calmly, followed) < 0.9 {
			t.Errorf("every %d: want 80 %% to hold, 85 %% to be within a factor of 3, and 90 %% to be followed by one within a factor of 2", every)
		}
	}
}

// The objection of the features says how sure it is, and names answers.
func TestObjectFeatures(t *testing.T) {
	o := ObjectFeatures(math.Log(40), []int64{12, 31}, false)
	for _, part := range []string{"40 times as probable", "exceeds 20 in at most 5 of 100 sessions", "answers 12, 31 on the page of questions"} {
		if !strings.Contains(o.Words, part) {
			t.Errorf("%q lacks %q", o.Words, part)
		}
	}
	if o.Code != ByFeatures || strings.Contains(ObjectFeatures(1000, nil, false).Words, "Inf") {
		t.Errorf("%+v, %+v", o, ObjectFeatures(1000, nil, false))
	}
	if o := ObjectFeatures(1, nil, true); strings.Contains(o.Words, "network") || !strings.Contains(o.Words, "give the recordings or uploads that as a feature") {
		t.Errorf("of recordings: %q", o.Words)
	}
}

// A probability that is as high as the rule asks for holds, whatever rounding makes of 1 − δ.
func TestHoldsAtTheLine(t *testing.T) {
	for percent := 1; percent < 100; percent++ {
		r := Rule{Doubt: float64(percent) / 100}
		if at := float64(100-percent) / 100; !r.Holds(at) || r.Holds(at-1e-3) {
			t.Errorf("δ = %v: %v holds: %t, a thousandth less holds: %t", r.Doubt, at, r.Holds(at), r.Holds(at-1e-3))
		}
	}
}
