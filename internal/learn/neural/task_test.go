package neural_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
)

// A task makes clips of a point on a plane that is pushed about, and answers about them by
// a reward that is linear in position, velocity and action.
type task struct {
	stream *rand.Rand
	theta  []float64 // of x, y, vx, vy, ax, ay and a coordinate that never changes
	beta   float64   // log-odds by unit of reward
	steps  int       // of a clip
}

func newTask(seed uint64) *task { return newTaskOf(seed, 12) }

// newTaskOf returns a task with clips of that many steps.
func newTaskOf(seed uint64, steps int) *task {
	w := &task{stream: rng.New(seed, "task", 0), steps: steps}
	for range 7 {
		w.theta = append(w.theta, w.stream.NormFloat64())
	}
	var sum, square float64
	const n = 400
	for range n {
		u := w.reward(w.clip()) - w.reward(w.clip())
		sum, square = sum+u/n, square+u*u/n
	}
	w.beta = 4 / math.Sqrt(square-sum*sum) // answers are right in nine of ten
	return w
}

// clip returns steps of a constant random push with noise, from a random state.
func (w *task) clip() (s idrl.Steps) {
	g := w.stream.NormFloat64
	x, y, vx, vy := g(), g(), g()/3, g()/3
	px, py := g()/10, g()/10
	for range w.steps {
		ax, ay := px+g()/20, py+g()/20
		s.Obs = append(s.Obs, []float32{float32(x), float32(y), float32(vx), float32(vy), 7})
		s.Actions = append(s.Actions, []float32{float32(ax), float32(ay)})
		s.Phi = append(s.Phi, []float64{0})
		x, y, vx, vy = x+0.1*vx, y+0.1*vy, vx+ax, vy+ay
	}
	s.Obs = append(s.Obs, []float32{float32(x), float32(y), float32(vx), float32(vy), 7})
	return s
}

func (w *task) reward(s idrl.Steps) (sum float64) {
	for t, a := range s.Actions {
		o := s.Obs[t]
		for i, v := range [...]float32{o[0], o[1], o[2], o[3], a[0], a[1], o[4]} {
			sum += w.theta[i] * float64(v)
		}
	}
	return sum
}

// logOdds returns those of preferring a.
func (w *task) logOdds(a, b idrl.Steps) float64 { return w.beta * (w.reward(a) - w.reward(b)) }

// ask returns the answer of a Bradley-Terry annotator to a comparison of two new clips.
func (w *task) ask(d *idrl.Dataset) {
	a, b := w.clip(), w.clip()
	choice := idrl.ChoseB
	if w.stream.Float64() < 1/(1+math.Exp(-w.logOdds(a, b))) {
		choice = idrl.ChoseA
	}
	d.Queries = append(d.Queries, idrl.Query{Kind: idrl.CompareClips})
	d.Answers = append(d.Answers, idrl.Answer{Choice: choice})
	d.Shown = append(d.Shown, []idrl.Steps{a, b})
}

// answers returns n of them.
func (w *task) answers(n int) (d idrl.Dataset) {
	for range n {
		w.ask(&d)
	}
	return d
}

func train(t *testing.T, cfg neural.Config, d idrl.Dataset, warm *neural.Model, seed uint64) *neural.Model {
	t.Helper()
	m := must.Get(neural.Train(t.Context(), cfg, d, warm, rng.New(seed, "train", 0)))(t)
	return m
}
