package deep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/plan/sac"
)

// A Point is a measurement of the main policy.
type Point struct {
	Labels int     `json:"labels"` // comparisons that had been answered while it was trained
	Steps  int     `json:"steps"`  // of the main policy's training
	Return float64 `json:"return"` // true return, mean over episodes of the deterministic policy
}

// A Run holds the measurements of a finished run.
type Run struct {
	Points []Point `json:"points"` // before the training, and after each batch

	// How well the answers were predicted, each before it was given.
	Answers int     `json:"answers"` // that chose a clip
	LogLoss float64 `json:"log_loss"`
	ECE     float64 `json:"ece"`
	Right   float64 `json:"right"` // share of answers that were the likelier of the two

	AllSteps int   `json:"all_steps"` // of all trainings
	Rolled   int   `json:"rolled"`    // of rollouts for questions, visitations and measurements
	WallNS   int64 `json:"wall_ns"`   // wall time, 0 without a clock; differs between machines
}

// Watch observes a run under way. Every field may be nil.
type Watch struct {
	Progress func(at Point) // after each batch

	// Save is offered a checkpoint after each batch, which state computes; from is one to
	// go on from. A run that goes on ends with the same bytes as one that was never
	// interrupted. A checkpoint that cannot be used is left out.
	Save func(state func() ([]byte, error)) error
	From []byte
}

// Learn makes the run of c in w. It returns ctx.Err() soon after ctx is done, an error of
// kind Invalid if c is wrong, and those of Save.
func Learn(ctx context.Context, w *World, c Config, watch Watch) (Run, error) {
	if err := c.Validate(); err != nil {
		return Run{}, err
	}
	r, err := newRun(w, c)
	if err != nil {
		return Run{}, err
	}
	last := -1
	if watch.From != nil {
		if last, err = r.resume(watch.From); err != nil {
			if r, err = newRun(w, c); err != nil {
				return Run{}, err
			}
			last = -1
		}
	}
	return r.all(ctx, last, func(i int, at Point) error {
		if watch.Progress != nil {
			watch.Progress(at)
		}
		if watch.Save == nil {
			return nil
		}
		return watch.Save(func() ([]byte, error) { return r.checkpoint(i) })
	})
}

// A run is a Run under way.
type run struct {
	w   *World
	c   Config
	by  method
	env idrl.Environment // of rollouts

	first   int   // labels before the training
	perStep []int // and after each batch

	main  *sac.Agent
	seen  []idrl.Steps // of the main policy in its last measurement
	warm  []candidate  // none if the method needs none
	model *neural.Model
	data  idrl.Dataset
	out   Run

	predicted []prediction // of the answers that chose a clip
}

// A candidate is a policy that is kept warm.
type candidate struct {
	agent  *sac.Agent
	visits []idrl.Steps // rollouts behind its visitation
}

func newRun(w *World, c Config) (*run, error) {
	by, err := findMethod(c.Method, c.Mode)
	if err != nil {
		return nil, err
	}
	r := &run{w: w, c: c, by: by, env: w.newEnv()}
	r.first, r.perStep = neural.LabelSchedule(c.Mode, c.Budget.Labels, c.Budget.Batches(), firstShare)
	if r.main, err = r.agent("main", 0); err != nil {
		return nil, err
	}
	if by.warm() {
		r.warm = make([]candidate, candidates)
	}
	for k := range r.warm {
		if r.warm[k].agent, err = r.agent("candidate", k); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// stream returns the n-th stream for a purpose. Methods share those of the same seed as
// far as they do the same.
func (r *run) stream(purpose string, n int) *rand.Rand {
	return rng.New(r.c.Seed, "deep "+purpose, uint64(n))
}

// nothing is a reward of 0.
func nothing(dst []float32, _ sac.Batch) { clear(dst) }

// agent returns a new agent whose reward is 0.
func (r *run) agent(role string, k int) (*sac.Agent, error) {
	return sac.New(r.agentConfig(role, k, nothing))
}

func (r *run) agentConfig(role string, k int, reward sac.Reward) sac.Config {
	return sac.Config{Settings: r.c.Budget.Agent, Env: r.w.newEnv(), Reward: reward, Seed: r.stream(role+" seed", k).Uint64()}
}

// all makes the batches after one, of which -1 stands for none.
func (r *run) all(ctx context.Context, last int, after func(i int, at Point) error) (Run, error) {
	for i := last + 1; i <= r.c.Budget.Batches(); i++ {
		do := r.batch
		if i == 0 {
			do = r.begin
		}
		if err := do(ctx, i); err != nil {
			return Run{}, err
		}
		if err := after(i, r.out.Points[i]); err != nil {
			return Run{}, err
		}
	}
	var told quality.Calibration
	for _, p := range r.predicted {
		outcome := 0
		if p.Second {
			outcome = 1
		}
		told.Add([]float64{p.P, 1 - p.P}, outcome)
	}
	r.out.Answers, r.out.LogLoss, r.out.ECE, r.out.Right = told.Len(), told.LogLoss(), told.ECE(), told.Right()
	return r.out, nil
}

// begin asks the first questions, about rollouts of the policy before its training, and
// trains the network on them.
func (r *run) begin(ctx context.Context, _ int) error {
	if err := r.fit(ctx, 0); err != nil { // no answers: features of the first weights, and the prior
		return err
	}
	clips, err := r.rollouts(ctx, 0, max(r.c.Budget.Clips, r.first))
	if err != nil {
		return err
	}
	pairs := somePairs(len(clips), r.first, r.stream("first pairs", 0))
	if err := r.ask(clips, vectors(r.model, clips, pairs), pairs); err != nil {
		return err
	}
	if err := r.fit(ctx, 0); err != nil {
		return err
	}
	return r.measure(ctx, 0)
}

// batch is a turn of the loop of the paper's algorithm: the main policy is trained and
// measured, then candidates are trained if it is time, and then questions are asked.
func (r *run) batch(ctx context.Context, i int) error {
	if err := r.main.Run(ctx, r.c.Budget.Every, nil); err != nil {
		return err
	}
	r.out.AllSteps += r.c.Budget.Every
	if err := r.measure(ctx, i); err != nil {
		return err
	}
	if err := r.refresh(ctx, i); err != nil {
		return err
	}
	if i > len(r.perStep) {
		return nil
	}
	if err := r.query(ctx, i, r.perStep[i-1]); err != nil {
		return err
	}
	return r.fit(ctx, i)
}

// refresh trains candidates if it is their turn. The paper trains them on draws from the
// posterior; the authors' code on its mean, by mistake.
func (r *run) refresh(ctx context.Context, i int) error {
	if len(r.warm) == 0 || i%r.c.Budget.Refresh != 0 {
		return nil
	}
	turn := i/r.c.Budget.Refresh - 1
	for k := range r.warm {
		if r.c.Mode != neural.Paper && k != turn%len(r.warm) && r.warm[k].visits != nil {
			continue
		}
		if err := r.train(ctx, i, k); err != nil {
			return err
		}
	}
	return nil
}

// train trains candidate k and plays the rollouts behind its visitation.
func (r *run) train(ctx context.Context, i, k int) error {
	c, draws := &r.warm[k], r.stream(fmt.Sprint("candidate ", k), i)
	theta := r.model.Posterior().Mean(nil)
	if r.c.Mode != neural.Paper {
		theta = r.model.Posterior().Sample(nil, draws)
	}
	if err := c.agent.SetReward(reward(r.model, theta)); err != nil {
		return err
	}
	if err := c.agent.Run(ctx, r.c.Budget.CandidateSteps, nil); err != nil {
		return err
	}
	r.out.AllSteps += r.c.Budget.CandidateSteps
	c.visits = nil
	p := c.agent.Policy(false)
	for range r.c.Budget.Rollouts {
		e, err := r.play(ctx, p, draws)
		if err != nil {
			return err
		}
		c.visits = append(c.visits, e.steps)
	}
	return nil
}

// reward returns that of a model with weights theta of the last layer.
func reward(m *neural.Model, theta []float64) sac.Reward {
	e, out := m.Evaluator(theta), []float64(nil)
	return func(dst []float32, b sac.Batch) {
		out = slices.Grow(out[:0], b.N)[:b.N]
		e.Reward(out, b.Obs, b.Act, b.N)
		for i, r := range out {
			dst[i] = float32(r)
		}
	}
}

// query asks n questions about rollouts of the present policies.
func (r *run) query(ctx context.Context, i, n int) error {
	clips, err := r.rollouts(ctx, i, r.c.Budget.Clips)
	if err != nil {
		return err
	}
	limit := r.c.Budget.Pairs
	if r.c.Mode == neural.Paper {
		limit = len(clips) * len(clips)
	}
	pairs := somePairs(len(clips), limit, r.stream("pairs", i))
	questions := vectors(r.model, clips, pairs)
	chosen, err := choose(r.c.Mode, r.model, r.by, r.policies(), questions, n, r.stream("choice", i))
	if err != nil {
		return err
	}
	asked, about := make([]idrl.QueryVector, len(chosen)), make([]pair, len(chosen))
	for j, q := range chosen {
		asked[j], about[j] = questions[q], pairs[q]
	}
	return r.ask(clips, asked, about)
}

// rollouts returns clips of the present policies, whose actions are drawn as in training.
func (r *run) rollouts(ctx context.Context, i, n int) ([]clip, error) {
	policies := []idrl.Policy{r.main.Policy(true)}
	for _, c := range r.warm {
		if c.visits != nil && !r.by.alone {
			policies = append(policies, c.agent.Policy(true))
		}
	}
	clips, err := r.w.clips(ctx, r.env, policies, n, fmt.Sprint(i), r.stream("rollouts", i))
	for _, c := range clips {
		r.out.Rolled += c.steps.Len()
	}
	return clips, err
}

// policies returns the policies that a choice looks at, with their features under the
// model; none if the method looks at none, or before there is a candidate.
func (r *run) policies() []idrl.Candidate {
	if len(r.warm) == 0 {
		return nil
	}
	of := func(id string, origin idrl.Origin, visits []idrl.Steps) idrl.Candidate {
		return idrl.Candidate{ID: idrl.PolicyID(id), Origin: origin, Mu: r.model.MeanFeatures(make([]float64, r.model.Dim()), visits)}
	}
	out := []idrl.Candidate{of("main", idrl.FromMean, r.seen)}
	for k, c := range r.warm {
		if c.visits != nil {
			out = append(out, of(fmt.Sprint("candidate ", k), idrl.FromSample, c.visits))
		}
	}
	return out
}

// ask notes the expert's answers, and how well they were predicted.
func (r *run) ask(clips []clip, questions []idrl.QueryVector, pairs []pair) error {
	for i, q := range questions {
		a, b := clips[pairs[i].a], clips[pairs[i].b]
		say := answer(a, b)
		if say.Choice != idrl.Equal {
			r.predicted = append(r.predicted, prediction{r.predict(q), say.Choice == idrl.ChoseB})
		}
		r.data.Queries, r.data.Answers = append(r.data.Queries, q.Query), append(r.data.Answers, say)
		r.data.Shown = append(r.data.Shown, []idrl.Steps{a.steps, b.steps})
	}
	return nil
}

// predict returns the probability of the first of two clips, of those of either, under the
// posterior.
func (r *run) predict(q idrl.QueryVector) float64 {
	mean, v := idrl.Moments(r.model.Posterior(), q.X, r.model.Posterior().Mean(nil), make([]float64, len(q.X)))
	return preference(r.model.Config().Comparison, mean, v)
}

// fit trains the network on all answers, from where it was, and gives the main policy its
// mean as a reward.
func (r *run) fit(ctx context.Context, i int) error {
	c := r.network()
	if i == 0 {
		c.Updates *= 4
	}
	model, err := neural.Train(ctx, c, r.data, r.model, r.stream("network", len(r.data.Answers)))
	if err != nil {
		return err
	}
	r.model = model
	if len(r.data.Answers) == 0 {
		return nil
	}
	return r.main.SetReward(reward(model, nil))
}

// network returns the configuration of the reward network.
func (r *run) network() neural.Config {
	return neural.Config{ObsDim: r.w.spec.ObsDim, ActDim: r.w.spec.Actions.Dim(), Mode: r.c.Mode, Updates: r.c.Budget.Updates}
}

// measure notes the true return of the main policy.
func (r *run) measure(ctx context.Context, i int) error {
	p, stream := r.main.Policy(false), r.stream("measurement", i)
	point := Point{Labels: len(r.data.Answers), Steps: i * r.c.Budget.Every}
	r.seen = nil
	for range r.c.Budget.Evaluations {
		e, err := r.play(ctx, p, stream)
		if err != nil {
			return err
		}
		point.Return += e.value / float64(r.c.Budget.Evaluations)
		r.seen = append(r.seen, e.steps)
	}
	r.out.Points = append(r.out.Points, point)
	return nil
}

func (r *run) play(ctx context.Context, p idrl.Policy, stream *rand.Rand) (episode, error) {
	e, err := r.w.play(ctx, r.env, p, stream)
	r.out.Rolled += e.steps.Len()
	return e, err
}

// preference returns the probability of "a" given that it is "a" or "b", where the reward
// that the answer speaks of is N(mean, v).
func preference(l idrl.Likelihood, mean, v float64) float64 {
	a, _, _ := l.LogZ(idrl.Answer{Choice: idrl.ChoseA}, mean, v)
	b, _, _ := l.LogZ(idrl.Answer{Choice: idrl.ChoseB}, mean, v)
	return logistic(a - b)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
