package sim_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"

	"gonum.org/v1/gonum/floats"
)

// film maps a clip to its steps.
type film map[idrl.ClipID][][]float64

func (f film) steps(id idrl.ClipID) [][]float64 { return f[id] }

// newFilm makes clips a and b of the rewards of their steps under the true
// reward of ask, which does not look at the second feature.
func newFilm(a, b []float64) film {
	rows := func(rewards []float64) (out [][]float64) {
		for _, r := range rewards {
			out = append(out, []float64{r, 3})
		}
		return out
	}
	return film{"a": rows(a), "b": rows(b)}
}

// compared returns the question whether a or b.
func (f film) compared() idrl.QueryVector {
	q := comparison(0)
	for k, sign := range []float64{1, -1} {
		for _, phi := range f[q.Clips[k]] {
			q.X[0] += sign * phi[0]
		}
	}
	return q
}

// TestTeacher checks each parameter of B-Pref, and what goes before what.
func TestTeacher(t *testing.T) {
	// The returns are 4 and 5; weighted with γ = 1/2 they are 4 and 1.75.
	late := newFilm([]float64{0, 0, 4}, []float64{4, 0.5, 0.5})
	same := newFilm([]float64{1, 2}, []float64{2, 1})
	for _, test := range []struct {
		name           string
		film           film
		teacher        sim.Teacher
		a, equal, skip float64
	}{
		{"the oracle sees the sum", late, sim.Teacher{}, 0, 0, 0},
		{"a tie is the first clip's", same, sim.Teacher{}, 1, 0, 0},
		{"myopic", late, sim.Teacher{Discount: 0.5}, 1, 0, 0},
		{"rationality is per unit of return", late, sim.Teacher{Beta: 0.5}, logistic(-0.5), 0, 0},
		{"rational in a myopic view", late, sim.Teacher{Beta: 0.5, Discount: 0.5}, logistic(0.5 * (4 - 1.75)), 0, 0},
		{"mistakes flip", late, sim.Teacher{Mistake: 0.1}, 0.1, 0, 0},
		{"always mistaken", late, sim.Teacher{Mistake: 1}, 1, 0, 0},
		{"mistakes come after the draw", late, sim.Teacher{Beta: 0.5, Mistake: 0.1}, 0.9*logistic(-0.5) + 0.1*logistic(0.5), 0, 0},
		{"equal within", late, sim.Teacher{EqualWithin: 1.1}, 0, 1, 0},
		{"equal is strict", late, sim.Teacher{EqualWithin: 1}, 0, 0, 0},
		{"equal comes after the mistake", late, sim.Teacher{EqualWithin: 1.1, Mistake: 1, Beta: 0.1}, 0, 1, 0},
		{"equal goes by the sum", late, sim.Teacher{EqualWithin: 1.1, Discount: 0.5}, 0, 1, 0},
		{"skips if both are below", late, sim.Teacher{SkipBelow: 5.1}, 0, 0, 1},
		{"one is enough", late, sim.Teacher{SkipBelow: 4.9}, 0, 0, 0},
		{"skip is strict", late, sim.Teacher{SkipBelow: 5}, 0, 0, 0},
		{"skip comes before all", late, sim.Teacher{SkipBelow: 5.1, EqualWithin: 9, Mistake: 1}, 0, 0, 1},
		{"skip goes by the sum", late, sim.Teacher{SkipBelow: 4.9, Discount: 0.5}, 1, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ask(t, "b-pref", sim.Options{Range: 2, Teacher: test.teacher, Steps: test.film.steps}, test.film.compared()).share
			b := 1 - test.a - test.equal - test.skip
			if !near(got[idrl.ChoseA], test.a) || !near(got[idrl.ChoseB], b) || !near(got[idrl.Equal], test.equal) || !near(got[idrl.Skip], test.skip) {
				t.Errorf("said %v, want a %v, b %v, equal %v, skip %v", got, test.a, b, test.equal, test.skip)
			}
		})
	}
}

// TestTeacherAgreesWithADirectReading answers random questions as the five
// documented steps read, written out with weights and powers.
func TestTeacherAgreesWithADirectReading(t *testing.T) {
	const steps = 6
	p := sim.Teacher{Beta: 0.7, Discount: 0.8, Mistake: 0.2, SkipBelow: 1, EqualWithin: 1}
	stream := rng.New(6, "films", 0)
	said := map[idrl.Choice]int{}
	for k := range uint64(2000) {
		var rewards [2][]float64
		for c := range rewards {
			for range steps {
				rewards[c] = append(rewards[c], stream.NormFloat64())
			}
		}
		f := newFilm(rewards[0], rewards[1])
		e := must.Get(sim.NewExpert("b-pref", sim.Task{Theta: []float64{1, 0}}, sim.Options{Range: 1, Teacher: p, Steps: f.steps}))(t)
		got := e.Answer(f.compared(), rng.New(7, "answers", k))

		draws := rng.New(7, "answers", k)
		rational, mistake := draws.Float64(), draws.Float64()
		var r, m [2]float64
		for c := range r {
			r[c] = floats.Sum(rewards[c])
			for i, v := range rewards[c] {
				m[c] += math.Pow(p.Discount, float64(steps-1-i)) * v
			}
		}
		want := idrl.ChoseB
		if likesA := rational < logistic(p.Beta*(m[0]-m[1])); likesA == (mistake >= p.Mistake) {
			want = idrl.ChoseA
		}
		if math.Abs(r[0]-r[1]) < p.EqualWithin {
			want = idrl.Equal
		}
		if max(r[0], r[1]) < p.SkipBelow {
			want = idrl.Skip
		}
		said[want]++
		if got.Choice != want {
			t.Fatalf("question %d: said %q, want %q", k, got.Choice, want)
		}
	}
	for _, c := range []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal, idrl.Skip} {
		if said[c] < 100 {
			t.Errorf("only %d of the answers are %q", said[c], c)
		}
	}
}

func TestTeacherRatesWithoutSteps(t *testing.T) {
	q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip, Clips: []idrl.ClipID{"a"}}, X: []float64{0.5, 7}}
	got := ask(t, "b-pref", sim.Options{Range: 1, Teacher: sim.Teacher{SkipBelow: 9}, Steps: film{}.steps}, q)
	if got.share[idrl.Rated] < 1-1e-9 {
		t.Errorf("a question without two returns was answered %v", got.share)
	}
}

func TestExpertsPanic(t *testing.T) {
	e := must.Get(sim.NewExpert("b-pref", sim.Task{Theta: []float64{1, 0}}, sim.Options{
		Range: 1, Teacher: sim.Teacher{SkipBelow: 9}, Steps: film{}.steps,
	}))(t)
	for _, test := range []struct {
		name string
		q    idrl.QueryVector
	}{
		{"clip that Steps does not know", comparison(1)},
		{"features of another environment", idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: []float64{1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was answered")
				}
			}()
			e.Answer(test.q, rng.New(1, "answers", 0))
		})
	}
}
