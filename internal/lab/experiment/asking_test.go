package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
)

func TestArea(t *testing.T) {
	s := Sitting{Regret: []float64{4, 2, 1}, Seconds: []float64{3, 5}}
	for _, test := range []struct {
		seconds, stretch, area float64
		within                 int
	}{
		{2, 1, 4, 0},
		{4, 1, (4*3 + 2*1) / 4.0, 1},
		{10, 1, (4*3 + 2*5 + 1*2) / 10.0, 2}, // after the last answer nothing changes
		{10, 2, (4*6 + 2*4) / 10.0, 2},
	} {
		if got := s.Area(test.seconds, test.stretch); math.Abs(got-test.area) > 1e-12 {
			t.Errorf("area of %v s, stretched by %v = %v, want %v", test.seconds, test.stretch, got, test.area)
		}
		if got := s.Within(test.seconds); got != test.within {
			t.Errorf("within %v s are %d answers, want %d", test.seconds, got, test.within)
		}
	}
}

// Ways share the truth and begin alike; each takes its time; and the same seed gives the
// same sittings.
func TestAsk(t *testing.T) {
	const seconds = 12
	ways := Ways()
	w, err := newWorld(t.Context(), "gridworld", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.ask(t.Context(), ways, 7, seconds)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got {
		if len(s.Regret) != len(s.Seconds)+1 || s.Regret[0] != got[0].Regret[0] || slices.Min(s.Regret) < -1e-9 {
			t.Errorf("%s: regret %v", ways[i].Name, s.Regret)
		}
		if ways[i].Name == "best and worst of six" {
			if n := s.Within(seconds); n != 1 || s.Seconds[0] != 9 {
				t.Errorf("%s: %d answers, the first in %v s", ways[i].Name, n, s.Seconds[0])
			}
			continue
		}
		if n := s.Within(seconds); n < 3 || n > 4 || s.Seconds[0] < 3 || s.Seconds[0] > 3.9 {
			t.Errorf("%s: %d answers, the first in %v s", ways[i].Name, n, s.Seconds[0])
		}
	}
	again, err := w.ask(t.Context(), ways, 7, seconds)
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("the same seed: error %v, %s", err, diff)
	}
	if _, err := newWorld(t.Context(), "moon", 0, 1); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("an unknown world: error %v", err)
	}
}

// TestPersonIsRight: of the pairs of the first queries, asked as comparisons or rated one by one, people are right about the share
// that they are said to be.
func TestPersonIsRight(t *testing.T) {
	for _, queries := range []string{Comparisons, Clips} {
		for _, right := range []float64{0.7, 0.9} {
			e, w := instanceOf(t, Config{Figure: "gridworld", Schedule: LiveSchedule, Queries: queries, Right: right}, 3)
			g := must.Get(w.live.trainer(e.Method("lvar")).Train(t.Context(), idrl.TrainJob{First: true, Posterior: w.live.prior, Seed: 3}))(t)
			first := must.Get(vectors(&g))(t)
			p, r := personOf(w.live.theta, first, e.Right), rand.New(rand.NewPCG(1, 2))
			p.tie = 0 // the share is of those who have to choose
			n, of := 0, 0
			for range 40 {
				for i, q := range first {
					a := p.reply(q, r)
					if u := floats.Dot(p.theta, q.X); q.Kind.Comparison() && u != 0 {
						of++
						if (a.Choice == idrl.ChoseA) == (u > 0) {
							n++
						}
					}
					for _, other := range first[:i] {
						if u := floats.Dot(p.theta, q.X) - floats.Dot(p.theta, other.X); !q.Kind.Comparison() && u != 0 {
							of++
							if (p.reply(q, r).Rating > p.reply(other, r).Rating) == (u > 0) {
								n++
							}
						}
					}
				}
			}
			if got := float64(n) / float64(of); math.Abs(got-right) > 0.02 {
				t.Errorf("%s: right about %v of %d pairs, want %v", queries, got, of, right)
			}
		}
	}
}
