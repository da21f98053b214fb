package experiment

import (
	"context"
	"fmt"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
)

// A Point is one row of a learning curve.
type Point struct {
	Answers  int
	Regret   float64 // best return known less the true return of the mean-optimal policy
	Cosine   float64 // of the believed weights with the true ones, over those that answers can tell; 0 without a belief
	Expected float64 // the regret that the belief expects, over the candidates
}

// learn runs one method in w and returns its curve from 0 to answers. Regret
// holds the true return until finish turns it into a difference.
//
// Before the first answer all policies are equally good to a belief with mean
// zero, and the trainer returns one that is optimal for a random draw of the
// weights (Driver) or always takes the first action (Gridworld).
func (w *world) learn(ctx context.Context, method string, answers int) ([]Point, error) {
	acq, err := acquisition.ByName(method)
	if err != nil {
		return nil, err
	}
	tape := tape{w, map[idrl.QueryID]uint64{}}
	p := w.model.Prior()
	var curve []Point
	var warm [][]float64
	for n := 0; ; n++ {
		g, err := w.trainer.Train(ctx, idrl.TrainJob{BasedOn: int64(n), Posterior: p, Seed: w.seed, Warm: warm})
		if err != nil {
			return nil, err
		}
		curve = append(curve, w.measure(n, p, g))
		if n == answers {
			return curve, nil
		}
		chosen := acquisition.Select(acq, w.model, p, g, rng.New(w.seed, "choose", uint64(n)))
		if chosen.Query < 0 {
			return nil, fmt.Errorf("after answer %d: there is nothing to ask", n)
		}
		q := g.Queries[chosen.Query]
		if p, err = w.model.Update(p, q, tape.answer(q)); err != nil {
			return nil, fmt.Errorf("answer %d: %w", n+1, err)
		}
		warm = params(g)
	}
}

func params(g idrl.Generation) [][]float64 {
	var out [][]float64
	for _, c := range g.Candidates {
		out = append(out, c.Params)
	}
	return out
}

// measure returns the point of the curve for belief p and its generation.
func (w *world) measure(n int, p idrl.Posterior, g idrl.Generation) Point {
	leader := len(g.Candidates) - 1
	for i, c := range g.Candidates {
		w.meet(c.Mu)
		if c.Origin == idrl.FromMean {
			leader = i
		}
	}
	return Point{
		Answers:  n,
		Regret:   w.meet(g.Candidates[leader].Mu),
		Cosine:   cosine(w.known(w.task.Theta), w.known(p.Mean(nil))),
		Expected: w.expected(n, p, g.Candidates, leader),
	}
}

// finish turns the true returns of curves into regrets. It is called once all
// methods have run, so that the best return is the best that any of them met.
func (w *world) finish(curves [][]Point) {
	for _, curve := range curves {
		for i := range curve {
			curve[i].Regret = w.best - curve[i].Regret
		}
	}
}

// posteriorSamples is the number of draws behind the expected regret.
const posteriorSamples = 128

// expected returns the mean over draws of θ of what the best candidate would
// bring over the leader. Source: reference "methods", section 4.
func (w *world) expected(n int, p idrl.Posterior, candidates []idrl.Candidate, leader int) float64 {
	draws := rng.New(w.seed, "expected regret", uint64(n))
	theta := make([]float64, p.Dim())
	sum := 0.0
	for range posteriorSamples {
		p.Sample(theta, draws)
		own, most := floats.Dot(theta, candidates[leader].Mu), 0.0
		for _, c := range candidates {
			most = max(most, floats.Dot(theta, c.Mu)-own)
		}
		sum += most
	}
	return sum / posteriorSamples
}

// cosine returns the cosine of the angle between a and b, 0 if one is zero.
func cosine(a, b []float64) float64 {
	if n := floats.Norm(a, 2) * floats.Norm(b, 2); n > 0 {
		return floats.Dot(a, b) / n
	}
	return 0
}
