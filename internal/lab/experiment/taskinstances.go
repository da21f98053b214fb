package experiment

import (
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// query returns query i as the engine knows it.
func (t *Task) query(i int) idrl.QueryVector {
	q := t.Queries[i]
	out := idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(fmt.Sprintf("q%d", i)), Kind: idrl.RateClip}, X: make([]float64, len(t.Features))}
	for k, id := range q.items() {
		weight := 1.0
		switch {
		case q.Weights != nil:
			weight = q.Weights[id]
		case q.Compare != nil:
			out.Kind = idrl.CompareClips
			weight = 1 - 2*float64(k)
		}
		out.Clips = append(out.Clips, idrl.ClipID(id))
		floats.AddScaled(out.X, weight, t.Items[t.index[id]].Features)
	}
	return out
}

// kinds returns the kinds of the task's queries.
func (t *Task) kinds() (out []idrl.QueryKind) {
	for i := range t.Queries {
		kind := idrl.RateClip
		if t.Queries[i].Compare != nil {
			kind = idrl.CompareClips
		}
		if !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// figure returns the task as a figure.
func (t *Task) figure() Figure {
	return Figure{
		Name: "task", Title: t.Title, Unit: "return", Queries: []string{own}, Extra: true,
		Answers: map[string]int{own: t.Budget}, kinds: map[string][]idrl.QueryKind{own: t.kinds()}, build: t.instances,
	}
}

// own is the query type of a user's task, whose queries may be of several kinds.
const own = "own"

// instances makes the instance of every seed, which differ in the true weights, unless
// these are given, and in the answers.
func (t *Task) instances(context.Context, Experiment, Options) (maker, error) {
	table := &solver.Table{}
	for i, p := range t.Policies {
		table.Params, table.Mu = append(table.Params, []float64{float64(i)}), append(table.Mu, p.Features)
	}
	prior, err := t.prior()
	if err != nil {
		return nil, err
	}
	model := belief.Model{
		Start: prior, Rating: belief.Rating{NoiseVar: t.Answers.NoiseStd * t.Answers.NoiseStd},
		Comparison: belief.BradleyTerry{Beta: t.Answers.Beta},
	}
	return func(ctx context.Context, seed uint64) (*instance, error) {
		w := &instance{seed: seed, prior: prior, model: model, distance: acquisition.DiffersIn, theta: t.Truth}
		if w.theta == nil {
			w.theta = prior.Sample(nil, w.stream("task", 0))
		}
		for i := range t.Queries {
			w.queries = append(w.queries, t.query(i))
		}
		w.candidateSolver = lookup{table, w.theta}
		w.evalSolver = w.candidateSolver
		best, err := w.candidateSolver.optimal(ctx, w.theta, nil)
		if err != nil {
			return nil, err
		}
		w.best = best.value
		w.mse = func(mean []float64) float64 {
			e := floats.Distance(mean, w.theta, 2)
			return e * e / float64(len(mean))
		}
		return w, t.expert(w)
	}, nil
}

// expert sets the expert, whose answers are of the model.
func (t *Task) expert(w *instance) error {
	expert, err := sim.NewExpert("bradley-terry", sim.Task{Env: "task", Theta: w.theta},
		sim.Options{Range: 1, Temperature: 1 / t.Answers.Beta, NoiseStd: t.Answers.NoiseStd, Unclamped: true})
	if err != nil {
		return err
	}
	w.answer = func(q int, n uint64) idrl.Answer { return expert.Answer(w.queries[q], w.answerStream(q, n)) }
	return nil
}
