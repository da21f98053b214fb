package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"
	"tiebreak/internal/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Task is an experiment of a user's own, read from a file: features of states
// or clips, candidate policies as feature expectations, and candidate queries.
type Task struct {
	Title    string      `json:"title"`
	Features []string    `json:"features"` // names, length d
	Items    []TaskItem  `json:"items"`    // states or clips
	Policies []TaskItem  `json:"policies"` // feature expectations
	Queries  []TaskQuery `json:"queries"`
	Prior    TaskPrior   `json:"prior"`
	Answers  TaskAnswers `json:"answers"`
	Budget   int         `json:"budget"`       // answers of a run; default 50
	Truth    []float64   `json:"true_weights"` // length d; absent: a draw from the prior for every seed
	index    map[string]int
	sum      string // of the file, for names of results
}

// A TaskItem is a named vector.
type TaskItem struct {
	ID       string    `json:"id"`
	Features []float64 `json:"features"`
}

// A TaskQuery is one candidate question. Exactly one of its forms is given.
type TaskQuery struct {
	Rate    string             `json:"rate"`    // the reward of an item
	Compare []string           `json:"compare"` // two items: which one is better
	Weights map[string]float64 `json:"weights"` // a number: the weighted sum of items' rewards (the paper, Definition 1)
}

// A TaskPrior is N(0, covariance), or independent weights of one variance.
type TaskPrior struct {
	Variance   float64     `json:"variance"` // default 1
	Covariance [][]float64 `json:"covariance"`
}

// TaskAnswers says how noisy the simulated expert is. The belief knows it.
type TaskAnswers struct {
	NoiseStd float64 `json:"noise_std"` // of numbers; default 0.1
	Beta     float64 `json:"beta"`      // rationality of comparisons (Bradley–Terry), per unit of reward; default 3
}

// Limits of a task file.
const (
	maxTaskBytes = 64 << 20
	maxTaskRows  = 100000 // items, policies, queries
)

// ReadTask reads a task. Its errors are of kind Invalid and say what to change.
func ReadTask(r io.Reader) (*Task, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTaskBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the task: %w", err)
	}
	if len(b) > maxTaskBytes {
		return nil, idrl.Errorf(idrl.Invalid, "the task file has more than %d MB", maxTaskBytes>>20)
	}
	t := &Task{sum: fmt.Sprintf("%x", sha256.Sum256(b))[:16]}
	if err := decodeStrict(b, t); err != nil {
		return nil, err
	}
	t.defaults()
	for _, check := range []func() error{t.checkSizes, t.checkItems, t.checkQueries, t.checkNumbers} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	_, err = t.prior()
	return t, err
}

// decodeStrict decodes JSON and refuses fields that are not known and anything
// after the value.
func decodeStrict(b []byte, dst any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err := dec.Decode(dst)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line, col := position(b, syntax.Offset)
		return idrl.Errorf(idrl.Invalid, "the task is not JSON: line %d, column %d: %v", line, col, syntax)
	case errors.As(err, &kind):
		line, col := position(b, kind.Offset)
		return idrl.Errorf(idrl.Invalid, "task: line %d, column %d: %q must be a %s, not a %s", line, col, kind.Field, kind.Type, kind.Value)
	case err != nil:
		return idrl.Errorf(idrl.Invalid, "the task cannot be read: %v", err)
	case dec.More():
		return idrl.Errorf(idrl.Invalid, "the task file goes on after the closing brace")
	}
	return nil
}

func (t *Task) defaults() {
	if t.Title == "" {
		t.Title = "Task"
	}
	if t.Budget == 0 {
		t.Budget = 50
	}
	for _, v := range []struct {
		p   *float64
		def float64
	}{{&t.Prior.Variance, 1}, {&t.Answers.NoiseStd, 0.1}, {&t.Answers.Beta, 3}} {
		if *v.p == 0 {
			*v.p = v.def
		}
	}
}

func (t *Task) checkSizes() error {
	switch d := len(t.Features); {
	case d == 0 || d > belief.MaxDim:
		return idrl.Errorf(idrl.Invalid, "task: \"features\" must name 1 to %d features; it names %d", belief.MaxDim, d)
	case len(t.Policies) < 2:
		return idrl.Errorf(idrl.Invalid, "task: \"policies\" must hold at least two; it holds %d", len(t.Policies))
	case len(t.Items) == 0 || len(t.Queries) == 0:
		return idrl.Errorf(idrl.Invalid, "task: \"items\" and \"queries\" must not be empty")
	case len(t.Items) > maxTaskRows || len(t.Policies) > maxTaskRows || len(t.Queries) > maxTaskRows:
		return idrl.Errorf(idrl.Invalid, "task: at most %d items, policies and queries each", maxTaskRows)
	case t.Truth != nil && len(t.Truth) != d:
		return idrl.Errorf(idrl.Invalid, "task: \"true_weights\" has %d numbers for %d features", len(t.Truth), d)
	case t.Budget < 1:
		return idrl.Errorf(idrl.Invalid, "task: \"budget\" must be at least 1; got %d", t.Budget)
	}
	return nil
}

func (t *Task) checkItems() error {
	t.index = map[string]int{}
	for i, it := range t.Items {
		if _, ok := t.index[it.ID]; ok || it.ID == "" {
			return idrl.Errorf(idrl.Invalid, "task: items[%d] needs an \"id\" of its own; got %q", i, it.ID)
		}
		t.index[it.ID] = i
	}
	for _, list := range []struct {
		name string
		rows []TaskItem
	}{{"items", t.Items}, {"policies", t.Policies}} {
		for i, it := range list.rows {
			if len(it.Features) != len(t.Features) {
				return idrl.Errorf(idrl.Invalid, "task: %s[%d] (%q) has %d numbers for %d features", list.name, i, it.ID, len(it.Features), len(t.Features))
			}
		}
	}
	return nil
}

func (t *Task) checkQueries() error {
	for i, q := range t.Queries {
		forms := 0
		for _, given := range []bool{q.Rate != "", q.Compare != nil, q.Weights != nil} {
			if given {
				forms++
			}
		}
		if forms != 1 || q.Compare != nil && len(q.Compare) != 2 {
			return idrl.Errorf(idrl.Invalid, "task: queries[%d] must have exactly one of \"rate\" (an item), \"compare\" (two items) and \"weights\" (a number for each item)", i)
		}
		for _, id := range q.items() {
			if _, ok := t.index[id]; !ok {
				return idrl.Errorf(idrl.Invalid, "task: queries[%d] names item %q, which is not in \"items\"", i, id)
			}
		}
	}
	return nil
}

// items returns the ids of the items that a query is about, in order.
func (q TaskQuery) items() []string {
	switch {
	case q.Rate != "":
		return []string{q.Rate}
	case q.Compare != nil:
		return q.Compare
	default:
		var ids []string
		for id := range q.Weights {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return ids
	}
}

func (t *Task) checkNumbers() error {
	for _, v := range []struct {
		name  string
		value float64
	}{{"prior.variance", t.Prior.Variance}, {"answers.noise_std", t.Answers.NoiseStd}, {"answers.beta", t.Answers.Beta}} {
		if !(v.value > 0) || math.IsInf(v.value, 1) {
			return idrl.Errorf(idrl.Invalid, "task: %q must be a positive number; got %v", v.name, v.value)
		}
	}
	return nil
}

// prior returns the belief before the first answer.
func (t *Task) prior() (*belief.Gaussian, error) {
	d := len(t.Features)
	if t.Prior.Covariance == nil {
		return belief.Isotropic(d, t.Prior.Variance), nil
	}
	cov := mat.NewSymDense(d, nil)
	if len(t.Prior.Covariance) != d {
		return nil, idrl.Errorf(idrl.Invalid, "task: \"prior.covariance\" has %d rows for %d features", len(t.Prior.Covariance), d)
	}
	for i, row := range t.Prior.Covariance {
		if len(row) != d {
			return nil, idrl.Errorf(idrl.Invalid, "task: row %d of \"prior.covariance\" has %d numbers for %d features", i, len(row), d)
		}
		for j, v := range row {
			if math.Abs(v-t.Prior.Covariance[j][i]) > 1e-9*(math.Abs(v)+math.Abs(t.Prior.Covariance[j][i])) {
				return nil, idrl.Errorf(idrl.Invalid, "task: \"prior.covariance\" is not symmetric at %d, %d", i, j)
			}
			cov.SetSym(i, j, v)
		}
	}
	return belief.NewGaussian(make([]float64, d), cov)
}

// query returns query i as the engine knows it.
func (t *Task) query(i int) idrl.Query {
	q := t.Queries[i]
	out := idrl.Query{ID: idrl.QueryID(fmt.Sprintf("q%d", i)), Kind: idrl.RateClip, X: make([]float64, len(t.Features))}
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
		Answers: map[string]int{own: t.Budget}, kinds: map[string][]idrl.QueryKind{own: t.kinds()}, build: t.worlds,
	}
}

// own is the query type of a user's task, whose queries may be of several kinds.
const own = "own"

// worlds makes the world of every seed, which differ in the true weights, unless
// these are given, and in the answers.
func (t *Task) worlds(context.Context, Experiment, Options) (maker, error) {
	table := &solver.Table{}
	for i, p := range t.Policies {
		table.Params, table.Mu = append(table.Params, []float64{float64(i)}), append(table.Mu, p.Features)
	}
	return func(ctx context.Context, seed uint64) (*world, error) {
		prior, err := t.prior()
		if err != nil {
			return nil, err
		}
		w := &world{seed: seed, prior: prior, distance: differing, theta: t.Truth}
		if w.theta == nil {
			w.theta = prior.Sample(nil, w.stream("task", 0))
		}
		w.model = belief.Model{
			Start: prior, Rating: belief.Rating{NoiseVar: t.Answers.NoiseStd * t.Answers.NoiseStd},
			Comparison: belief.BradleyTerry{Beta: t.Answers.Beta},
		}
		for i := range t.Queries {
			w.queries = append(w.queries, t.query(i))
		}
		w.plan = lookup{table, w.theta}
		w.judge = w.plan
		best, err := w.plan.optimal(ctx, w.theta, nil)
		if err != nil {
			return nil, err
		}
		w.best = best.value
		w.mse = func(mean []float64) float64 {
			e := floats.Distance(mean, w.theta, 2)
			return e * e / float64(len(mean))
		}
		expert, err := sim.NewExpert("bradley-terry", sim.Task{Env: "task", Theta: w.theta},
			sim.Options{Range: 1, Temperature: 1 / t.Answers.Beta, NoiseStd: t.Answers.NoiseStd, Unclamped: true})
		if err != nil {
			return nil, err
		}
		w.answer = func(q int, n uint64) idrl.Answer {
			return expert.Answer(w.queries[q], rng.New(seed, "answer "+string(w.queries[q].ID), n))
		}
		return w, nil
	}, nil
}

// position returns the line and column of byte offset, both from 1.
func position(b []byte, offset int64) (line, col int) {
	head := b[:min(int(offset), len(b))]
	return 1 + bytes.Count(head, []byte{'\n'}), len(head) - bytes.LastIndexByte(head, '\n')
}
