package experiment

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Constants of the observation models.
const (
	stateNoiseVar      = 0.01  // of a rated state, as both the text's experiments and the authors' code model it
	fixedNoiseStd      = 0.01  // what the authors' code really adds to a state's reward, once for good
	comparisonNoiseVar = 0.25  // of a comparison, as the authors' code models it
	groundingVar       = 0.001 // of the authors' observation that one state has reward 0
)

// A tabular is an instance of a figure with finitely many states.
type tabular struct {
	env   idrl.Tabular
	theta []float64     // true weights
	cov   *mat.SymDense // prior covariance of the weights
	table *solver.Table // the policies that are looked up; nil: every policy, by policy iteration
	most  int           // candidate queries at most, drawn at random; 0: all
}

// instance makes the instance of an instance in the variant that e asks for.
func (t tabular) instance(ctx context.Context, e Experiment, seed uint64) (*instance, error) {
	prior, err := belief.NewGaussian(make([]float64, len(t.theta)), t.cov)
	if err != nil {
		return nil, err
	}
	w := &instance{
		seed: seed, paper: e.Mode == Paper, theta: t.theta, prior: prior,
		candidateSolver: t.planner(), distance: acquisition.DistanceOf(true, e.Mode == Paper),
	}
	w.evalSolver = w.candidateSolver
	best, err := w.candidateSolver.optimal(ctx, t.theta, nil)
	if err != nil {
		return nil, err
	}
	w.best = best.value
	if s, ok := e.schedule(); ok {
		w.mse = t.mse(w, e)
		w.live = t.stage(w, e, s)
		return w, nil
	}
	w.queries = t.queries(w, e)
	if err := t.expert(w, e); err != nil {
		return nil, err
	}
	w.mse = t.mse(w, e)
	if w.paper {
		t.asInCode(w, e)
	}
	return w, nil
}

// stage returns what a session needs of the instance.
func (t tabular) stage(w *instance, e Experiment, s learning.Schedule) *stage {
	prepared, start := solver.Prepare(t.env), t.env.Start(nil)
	out := &stage{
		seed: w.seed, schedule: s, kind: e.kind(), theta: t.theta, best: w.best, prior: w.prior, mse: w.mse, cosine: w.cosine,
		newEnv: func() idrl.Environment { return t.env }, solver: solver.Tabular{For: prepared},
		mu: func(_ idrl.Environment, p idrl.Policy, _ *rand.Rand) []float64 { return prepared.Mu(start, p.Params()) },
	}
	out.right, out.answers, out.made = e.Right, out.people, e.ClipsFrom == idrl.MadeClips
	return out
}

// planner returns the solver: a lookup in the table, or policy iteration.
func (t tabular) planner() policySolver {
	if t.table != nil {
		return lookup{t.table, t.theta}
	}
	return &exact{
		env: t.env, theta: t.theta, prepared: solver.Prepare(t.env), start: t.env.Start(nil), mu: map[string][]float64{},
	}
}

// queries returns the candidate queries.
func (t tabular) queries(w *instance, e Experiment) (out []idrl.QueryVector) {
	stills := t.stills(e.Candidates)
	if e.Queries == States {
		for _, c := range stills {
			out = append(out, idrl.RatingVector(c))
		}
	} else {
		out = t.pairs(stills, e.Candidates)
	}
	if t.most > 0 && len(out) > t.most {
		w.stream("candidate queries", 0).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:t.most]
	}
	return out
}

// stills returns the states to ask about: all, or in the authors' code the first
// of each row of features.
func (t tabular) stills(variant string) []idrl.Clip {
	if variant == Text {
		return idrl.Stills(t.env)
	}
	return idrl.DistinctStills(t.env)
}

// pairs returns comparisons of every two of the states, in the authors' code in
// every order in which states with such features come along.
func (t tabular) pairs(stills []idrl.Clip, variant string) (out []idrl.QueryVector) {
	if variant == Text {
		for i, a := range stills {
			for _, b := range stills[i+1:] {
				out = append(out, idrl.ComparisonVector(a, b))
			}
		}
		return out
	}
	kind := t.kinds(stills)
	seen := map[[2]int]bool{}
	for i := range kind {
		for j := i + 1; j < len(kind); j++ {
			pair := [2]int{kind[i], kind[j]}
			if pair[0] != pair[1] && !seen[pair] {
				seen[pair] = true
				out = append(out, ordered(stills[pair[0]], stills[pair[1]]))
			}
		}
	}
	return out
}

// ordered returns the comparison of a and b as another question than that of b
// and a, with answers of its own.
func ordered(a, b idrl.Clip) idrl.QueryVector {
	q := idrl.ComparisonVector(a, b)
	q.ID = idrl.QueryID(a.ID + "|" + b.ID)
	return q
}

// kinds returns for every state the index of the still with its features.
func (t tabular) kinds(stills []idrl.Clip) (out []int) {
	for _, c := range t.stills(Text) {
		out = append(out, slices.IndexFunc(stills, func(k idrl.Clip) bool { return slices.Equal(k.Phi, c.Phi) }))
	}
	return out
}

// expert sets the likelihoods and the expert, whose answers are of the model.
func (t tabular) expert(w *instance, e Experiment) error {
	opt := sim.Options{Range: 1, NoiseStd: math.Sqrt(stateNoiseVar), Unclamped: true}
	w.model = belief.Model{Start: w.prior, Rating: belief.Rating{NoiseVar: stateNoiseVar}, Comparison: belief.BernoulliLinear{}}
	if e.Right != 0 {
		p := personOf(t.theta, w.queries, e.Right)
		w.model = p.model(w.prior)
		w.answer = func(q int, n uint64) idrl.Answer { return p.reply(w.queries[q], w.answerStream(q, n)) }
		return nil
	}
	if w.paper {
		w.model.Comparison = belief.PlusMinus{NoiseVar: comparisonNoiseVar}
		opt.NoiseStd = fixedNoiseStd
	}
	expert, err := sim.NewExpert("bernoulli", sim.Task{Env: t.env.Spec().ID, Theta: t.theta}, opt)
	if err != nil {
		return err
	}
	w.answer = func(q int, n uint64) idrl.Answer {
		if query := w.queries[q]; w.paper && !query.Kind.Comparison() {
			n = 0 // one draw for good
		}
		return expert.Answer(w.queries[q], w.answerStream(q, n))
	}
	return nil
}

// mse returns the mean squared error of believed rewards over all states, as the
// text has it. In paper mode it is over the states of the authors' candidate
// queries, and against their noisy answers where states are rated.
func (t tabular) mse(w *instance, e Experiment) func([]float64) float64 {
	variant := Text
	if w.paper {
		variant = Code
	}
	points := t.stills(variant)
	target := make([]float64, len(points))
	for i, c := range points {
		target[i] = floats.Dot(t.theta, c.Phi)
		if w.paper && e.Queries == States {
			target[i] = w.answer(w.about(c), 0).Rating
		}
	}
	return func(mean []float64) float64 {
		sum := 0.0
		for i, c := range points {
			d := floats.Dot(mean, c.Phi) - target[i]
			sum += d * d
		}
		return sum / float64(len(points))
	}
}

// about returns the first query about a state with the features of c.
func (w *instance) about(c idrl.Clip) int {
	return slices.IndexFunc(w.queries, func(q idrl.QueryVector) bool { return slices.Equal(q.X, c.Phi) })
}

// asInCode sets what only the authors' code does: predictive covariances, one
// rollout for the visits of a policy, and a grounding observation.
func (t tabular) asInCode(w *instance, e Experiment) {
	w.noisy, w.noiseVar = true, stateNoiseVar
	if e.Queries == Comparisons {
		w.grounded, w.noiseVar = true, comparisonNoiseVar
		w.prior = w.prior.ConditionOnValue(t.ground(w.stream("grounding", 0)), 0, groundingVar)
		w.model.Start = w.prior
	}
	w.visits = func(p policy, stream *rand.Rand) visitation { return visitation{counts: t.rollout(p, stream)} }
}

// ground returns the features of the state that two random actions lead to.
func (t tabular) ground(stream *rand.Rand) []float64 {
	t.env.Reset(stream)
	var phi []float64
	for range 2 {
		phi = t.env.Step(idrl.Action{float64(stream.IntN(t.env.Spec().Actions.Num))}).Phi
	}
	return slices.Clone(phi)
}

// rollout returns how often one episode of p enters states with each feature,
// the start left out and nothing discounted.
func (t tabular) rollout(p policy, stream *rand.Rand) []float64 {
	sum := make([]float64, len(t.theta))
	act := func(obs []float64) idrl.Action { return idrl.Action{p.params[int(obs[0])]} }
	for _, step := range idrl.Episode(t.env, act, stream) {
		if step.Kind != idrl.First {
			floats.Add(sum, step.Phi)
		}
	}
	return sum
}

// A lookup finds the best policy of a table, the first of equals.
type lookup struct {
	table *solver.Table
	theta []float64
}

func (l lookup) optimal(_ context.Context, theta []float64, _ *rand.Rand) (policy, error) {
	i, _ := l.table.Best(theta)
	return policy{params: l.table.Params[i], mu: l.table.Mu[i], value: floats.Dot(l.theta, l.table.Mu[i])}, nil
}

// exact finds a policy that is the best of all.
type exact struct {
	env      idrl.Tabular
	theta    []float64
	prepared *solver.Prepared
	start    []float64
	mu       map[string][]float64 // feature expectation by policy
}

func (x *exact) optimal(ctx context.Context, theta []float64, stream *rand.Rand) (policy, error) {
	p, err := solver.Tabular{For: x.prepared}.Solve(ctx, idrl.SolveTask{Env: x.env, Theta: theta}, stream)
	if err != nil {
		return policy{}, fmt.Errorf("solve: %w", err)
	}
	k := bits(p.Params())
	if _, ok := x.mu[k]; !ok {
		x.mu[k] = x.prepared.Mu(x.start, p.Params())
	}
	return policy{params: p.Params(), mu: x.mu[k], value: floats.Dot(x.theta, x.mu[k])}, nil
}

// bits returns the bits of x, which serve as its key in a map: equal vectors have
// equal keys and others have not.
func bits(x []float64) string {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return string(b)
}
