package bradley_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// answer draws an answer about entrants i and j.
func answer(strengths []float64, i, j int, eta float64, who idrl.AnnotatorID, stream *rand.Rand) bradley.Outcome {
	a, b := math.Exp(strengths[i]), math.Exp(strengths[j])
	o := bradley.Outcome{A: i, B: j, Person: who, Choice: idrl.Equal}
	switch u := stream.Float64() * (a + b + math.Exp(eta)*math.Sqrt(a*b)); {
	case u < a:
		o.Choice = idrl.ChoseA
	case u < a+b:
		o.Choice = idrl.ChoseB
	}
	return o
}

// A differing world has strengths that differ between tasks and between people by normal deviates.
type differing struct {
	truth        []float64
	tasks        int
	people, each int // answers of each person
	first        int // answers that the first person gives more
	byTask       float64
	byPerson     float64 // standard deviations
}

// deviates returns one for each entrant of each of n tasks or people.
func (d differing) deviates(n int, std float64, stream *rand.Rand) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for range d.truth {
			out[i] = append(out[i], std*stream.NormFloat64())
		}
	}
	return out
}

// eta is the propensity to say 'equal' in simulated arenas.
const eta = -0.7

// arena draws the answers of an arena: each person about a random pair of entrants in each task in turn.
func (d differing) arena(stream *rand.Rand) []bradley.Outcome {
	return d.about(d.deviates(d.tasks, d.byTask, stream), stream)
}

// about is arena in tasks whose deviates are given.
func (d differing) about(tasks [][]float64, stream *rand.Rand) (out []bradley.Outcome) {
	people := d.deviates(d.people, d.byPerson, stream)
	for p := range d.people {
		answers := d.each
		if p == 0 {
			answers += d.first
		}
		for k := range answers {
			i := stream.IntN(len(d.truth))
			j := (i + 1 + stream.IntN(len(d.truth)-1)) % len(d.truth)
			t := (p + k) % d.tasks
			own := make([]float64, len(d.truth))
			for e := range own {
				own[e] = d.truth[e] + tasks[t][e] + people[p][e]
			}
			o := answer(own, i, j, eta, idrl.AnnotatorID(fmt.Sprint(p)), stream)
			o.Task = t
			out = append(out, o)
		}
	}
	return out
}

// TestWider: where tasks and people differ, the intervals that account for both hold the strengths in all tasks and people in at least
// 90 % of arenas; those of the answers alone hold them far more rarely. Where neither differs they hold them too.
func TestWider(t *testing.T) {
	const arenas = 200
	for _, world := range []differing{
		{truth: []float64{0.6, 0, -0.6}, tasks: 8, people: 10, each: 40, byTask: 0.9, byPerson: 0.5},
		{truth: []float64{0.4, -0.4}, tasks: 6, people: 30, each: 20, byTask: 0.9, byPerson: 0.9},
		{truth: []float64{0.5, 0.2, 0, -0.7}, tasks: 20, people: 8, each: 80, byTask: 0.4, byPerson: 0.9},
		{truth: []float64{0.6, 0, -0.6}, tasks: 8, people: 10, each: 40, byTask: 0, byPerson: 0},
	} {
		whole := world // in which each answer is about a task of its own, of a person of their own
		whole.tasks, whole.people, whole.each = 100_000, 100_000, 1
		f, err := bradley.Of(len(world.truth), whole.arena(rng.New(1, "whole", 0))).Fit(flat)
		if err != nil {
			t.Fatal(err)
		}
		wide, narrow, n := 0, 0, 0
		for seed := range uint64(arenas) {
			outcomes := world.arena(rng.New(seed, "arena", 0))
			r, err := bradley.Analyse(len(world.truth), outcomes)
			if err != nil {
				t.Fatal(err)
			}
			var own []bradley.Interval
			for _, e := range r.Entrants {
				own = append(own, e.Interval)
			}
			w, err := bradley.Widen(len(world.truth), outcomes, own)
			if err != nil || w.Tasks != world.tasks || w.People != world.people {
				t.Fatalf("%+v, %v", w, err)
			}
			for i, is := range f.Strengths {
				n++
				if own[i].Low <= is && is <= own[i].High {
					narrow++
				}
				if w.Strengths[i].Low <= is && is <= w.Strengths[i].High {
					wide++
				}
			}
		}
		held, without := float64(wide)/float64(n), float64(narrow)/float64(n)
		t.Logf("%+v: %.1f %% are held, without tasks and people %.1f %%", world, 100*held, 100*without)
		if held < 0.9 || world.byTask > 0 && without > 0.85 {
			t.Errorf("%+v: %.1f %% are held by intervals that account for tasks and people, %.1f %% by others", world, 100*held, 100*without)
		}
	}
}
