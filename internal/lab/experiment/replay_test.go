package experiment

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"

	"gonum.org/v1/gonum/floats"
)

// A replay is what the authors' code made of given questions and answers.
type replay struct {
	ID     string `json:"id"`
	Inputs struct {
		Rewards           []float64           `json:"rewards"`
		QueriesAndAnswers [][]json.RawMessage `json:"queries_and_answers"`
		MSEPoints         []int               `json:"mse_points"`
		MSETargets        []float64           `json:"mse_targets"`
		Tiles             [][]int             `json:"tiles"`
	} `json:"inputs"`
	Outputs struct {
		Return float64 `json:"evaluation_policy_return"`
		Steps  []struct {
			Query  []int   `json:"query"`
			Y      float64 `json:"y"`
			Regret float64 `json:"regret"`
			MSE    float64 `json:"mse"`
			Policy int     `json:"chosen_policy"`
			Gap    float64 `json:"gap_to_second"`
		} `json:"steps"`
	} `json:"outputs"`
}

// The belief, the table of policies and the regret of paper mode are those of the
// authors' code, question by question. The tolerance is that of the vectors;
// where policies tie up to rounding their choice is noise and is not compared,
// as the vectors' notes say.
func TestReplay(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/vectors.json"))(t)
	var file struct{ Vectors []replay }
	must.Do(t, json.Unmarshal(b, &file))
	if len(file.Vectors) != 2 {
		t.Fatalf("%d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		t.Run(v.ID, func(t *testing.T) { v.check(t) })
	}
}

func (v replay) check(t *testing.T) {
	figure := map[string]string{"replay_chain_state": "chain", "replay_gridworld_state": "gridworld"}[v.ID]
	w := v.instance(t, figure)
	within(t, "best return", w.best, v.Outputs.Return, 1e-6)
	compared := 0
	model := w.model
	model.Start, model.OffScale = w.prior, true
	l := learning.New(learning.Config{Model: model, Method: methodOf("uniform")})
	for n, step := range v.Outputs.Steps {
		var state []int
		must.Do(t, json.Unmarshal(v.Inputs.QueriesAndAnswers[n][0], &state))
		x := make([]float64, len(w.theta))
		x[state[0]] = 1
		q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: x}
		must.Do(t, l.Observe(q, idrl.Answer{Choice: idrl.Rated, Rating: float64(float32(step.Y))}))
		mean := l.Posterior().Mean(nil)
		sum := 0.0
		for i, p := range v.Inputs.MSEPoints {
			d := mean[p] - v.Inputs.MSETargets[i]
			sum += d * d
		}
		within(t, "mean squared error", sum/float64(len(v.Inputs.MSEPoints)), step.MSE, 1e-6)
		if step.Gap < 1e-6 {
			continue
		}
		p := must.Get(w.candidateSolver.optimal(t.Context(), mean, nil))(t)
		within(t, "regret", w.best-p.value, step.Regret, 1e-6)
		compared++
	}
	if compared < len(v.Outputs.Steps)/2 {
		t.Errorf("only %d of %d steps could be compared", compared, len(v.Outputs.Steps))
	}
}

// instance finds the seed whose instance the vector is about.
func (v replay) instance(t *testing.T, figure string) *instance {
	t.Helper()
	e := must.Get(Config{Figure: figure, Mode: Paper, Seeds: 30, FirstSeed: 1}.Validate())(t)
	f := must.Get(e.figure())(t)
	build := must.Get(f.build(t.Context(), e, Options{}))(t)
	for i := range e.Seeds {
		w := must.Get(build(t.Context(), e.Seed(i)))(t)
		if floats.EqualApprox(w.rewards(v), v.Inputs.Rewards, 1e-6) {
			return w
		}
	}
	t.Fatal("no instance has the vector's rewards")
	return nil
}

// rewards returns the reward of every state.
func (w *instance) rewards(v replay) []float64 {
	if v.Inputs.Tiles == nil {
		return w.theta
	}
	var out []float64
	for _, row := range v.Inputs.Tiles {
		for _, tile := range row {
			out = append(out, w.theta[tile])
		}
	}
	return out
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.12g, want %.12g within %g", what, got, want, tol)
	}
}
