package training

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/trainer"
)

// In sessions that ask for it, policies are found by searches among gaits: one for the mean
// of the posterior, which goes on from job to job under the weights of the day; one for
// feedback on the best gait, which does likewise once the weights are known well enough;
// and short ones for draws from the posterior. What they find is kept, and valued under
// every posterior anew.
const (
	// gaitRows is for how many log rows a job works at most: those since the last one.
	gaitRows = 5

	// firstRows is for how many the first job works: people are asked about the library until
	// it is done. It searches for the mean alone; for draws it takes the best that is known.
	firstRows = 1

	// lastRows is for how many log rows the last job of a session works, mostly on feedback:
	// about 40 s on a core. Follow-ups come after it.
	lastRows = 20

	// feedbackRow is the log row from which on there is feedback.
	feedbackRow = 15

	// drawSigma is the first step size of a search for a draw. Such a search is short.
	drawSigma = 0.15

	// stuckSigma is the step size below which the search for the mean begins anew from
	// something better, if that is known.
	stuckSigma = 0.05

	// feedbackMargin is by how much, as a share of its own score, another gait must be better
	// than what the search for feedback found, for it to begin anew from there.
	feedbackMargin = 0.05

	// gaitWorkers are goroutines. The result does not depend on them.
	gaitWorkers = 2
)

// gaitsName is the name under which the state of the searches is kept.
const gaitsName = "gaits"

// A gaitState is the state of the searches of a session, as it is kept between jobs.
type gaitState struct {
	BasedOn  int64   // row of the last job
	Tried    []tried // policies of the library and of first generations
	Found    []found // policies that were valued
	Mean     []byte  // the search for the mean
	Feedback []byte  // the search for feedback; nil before it begins
	Restarts uint64  // how often one of the two began
}

// stepsPerRow returns the environment steps that a job may take for each log row: about 2 s
// on a core, as EnvSpec.Search.LiveSteps are about 3 to 4.
func stepsPerRow(spec idrl.EnvSpec) int { return liveSearchSteps(spec) * 3 / 5 }

// configureGaits sets t up for a session whose policies are found by searches among gaits.
// What it solves for itself, before the first search, are random gaits, of which candidates
// are those that look best in a short episode.
func configureGaits(t *trainer.Thompson) {
	drafts := solver.Evolve{First: 1, MaxSteps: 1, Judging: solver.Judging{Starts: 1, Steps: 1}}
	t.Solver = brokenSearch{behaviour.Solver{Class: behaviour.Gait, Solver: drafts}}
	t.First, t.Remake = t.Solver, behaviour.Remake
	t.Pool, t.Rollouts, t.Segments = 8, 2, 3
	t.Mu, t.Spread, t.Pairs = nil, true, worth
}

// byGaits reports whether a training is one of searches among gaits. A first generation, for
// which people wait, is none.
func byGaits(spec idrl.SessionSpec, first bool) bool { return spec.ByGaits() && !first }

// A gaitTraining is one job of searches among gaits.
type gaitTraining struct {
	req     request
	newEnv  func() idrl.Environment
	library [][]float64 // Params of behaviours to start from
	draws   int         // from the posterior
	perRow  int         // steps
	to      jobs.Reporter
	log     *slog.Logger

	state  gaitState
	valuer valuer
	falls  bool             // episodes of the searches end at a fall
	env    idrl.Environment // in which the searches play
	took   int              // steps of the searches so far
	total  int              // steps of the job, about
}

// train returns the candidates, the policy for the mean first, and what is to be kept.
func (s *gaitTraining) train(ctx context.Context, p idrl.Posterior) ([]idrl.Candidate, map[string][]byte, error) {
	s.state = s.open()
	first := s.state.BasedOn == 0 && !s.req.Last
	rows := min(gaitRows, s.req.BasedOn-s.state.BasedOn)
	switch {
	case first:
		rows = firstRows
	case s.req.Last:
		rows = lastRows
	case rows < 1:
		rows = gaitRows
	}
	s.state.BasedOn = s.req.BasedOn
	s.total = int(rows) * s.perRow
	s.valuer = valuer{env: s.newEnv(), seed: s.req.Spec.Seed}
	mean, stream := p.Mean(nil), rng.New(s.req.Spec.Seed, "thompson", uint64(s.req.BasedOn))
	draws := make([][]float64, s.draws)
	for k := range draws {
		draws[k] = p.Sample(nil, stream)
	}
	searched := draws
	if first {
		searched = nil
	}
	if err := s.search(ctx, mean, searched); err != nil {
		return nil, nil, fmt.Errorf("search among gaits from answer %d: %w", s.req.BasedOn, err)
	}
	out, err := s.candidates(mean, draws)
	if err != nil {
		return nil, nil, err
	}
	var keep [][]float64
	for _, c := range out {
		keep = append(keep, c.Params)
	}
	s.forget(mean, keep)
	state, err := pack.Encode(&s.state)
	return out, map[string][]byte{gaitsName: state}, err
}

// open returns the state that the last job left; an empty one if there is none.
func (s *gaitTraining) open() gaitState {
	d := s.newEnv().Spec().FeatureDim()
	other := func(mu []float64) bool { return len(mu) != d }
	return keptOf(s.req, gaitsName, func(state *gaitState) error {
		if slices.ContainsFunc(state.Tried, func(t tried) bool { return t.Mu != nil && other(t.Mu) }) ||
			slices.ContainsFunc(state.Found, func(f found) bool { return len(f.Known.Mus) == 0 || slices.ContainsFunc(f.Known.Mus, other) }) {
			return fmt.Errorf("it has features of another environment")
		}
		return nil
	}, func(err error) { s.warn("all searches start again: their stored states cannot be used", err) })
}

// keptOf returns what the last job kept under a name. It returns the zero value if that is nothing,
// or, after a warning, what cannot be used.
func keptOf[T any](req request, name string, check func(*T) error, warn func(error)) T {
	b, ok := req.Agents[name]
	if !ok {
		return *new(T)
	}
	v, err := pack.Decode[T](b)
	if err == nil {
		err = check(&v)
	}
	if err != nil {
		warn(err)
		return *new(T)
	}
	return v
}

func (s *gaitTraining) warn(what string, err error) {
	s.log.Warn(what, "session", s.req.Spec.ID, "based_on", s.req.BasedOn, "err", err)
}

// tell reports progress. The end is only known roughly.
func (s *gaitTraining) tell(what string) {
	s.to.Progress(min(s.took+s.valuer.took, s.total), s.total+1, what)
}

// search runs all searches of the job, each for its share of the steps: for the mean, for
// feedback, and for each of draws.
func (s *gaitTraining) search(ctx context.Context, mean []float64, draws [][]float64) error {
	if err := s.try(ctx, slices.Concat(s.library, s.req.Warm)); err != nil {
		return err
	}
	if err := s.promote(ctx, mean); err != nil {
		return err
	}
	s.falls = s.endAtFall(mean)
	s.env = s.ground()
	forMean, forFeedback := s.total/2, 0
	switch {
	case len(draws) == 0:
		forMean = s.total
	case s.req.Last, s.req.From > 0:
		forMean, forFeedback = s.total/8, s.total*3/4
	case s.req.BasedOn >= feedbackRow:
		forMean, forFeedback = s.total/4, s.total/2
	}
	if err := s.searchMean(ctx, mean, forMean); err != nil {
		return err
	}
	if forFeedback > 0 {
		if err := s.searchFeedback(ctx, mean, forFeedback); err != nil {
			return err
		}
	}
	for k, theta := range draws {
		if err := s.searchDraw(ctx, k, theta, (s.total-forMean-forFeedback)/len(draws)); err != nil {
			return err
		}
	}
	return nil
}

// ground returns an environment to search in. All searches of a job play in equal ones.
func (s *gaitTraining) ground() idrl.Environment {
	if s.falls {
		return idrl.UntilFall(s.newEnv())
	}
	return s.newEnv()
}

// endAtFall reports whether episodes are to end at a fall: where the best policy that is
// known stands, and gains by it. Then a fall costs the rest of the episode, so that
// balance is learnt, and such episodes are short. Where it loses, a fall would be a way out.
func (s *gaitTraining) endAtFall(theta []float64) bool {
	f, ok := s.best(theta, nil)
	return ok && f.Stands && f.Known.Score(theta) > 0
}

func (s *gaitTraining) evolve(sigma float64) solver.Evolve {
	return solver.Evolve{Sigma: sigma, Workers: gaitWorkers, NewEnv: s.ground}
}

// seed returns that of a search.
func (s *gaitTraining) seed(purpose string, n uint64) uint64 {
	return rng.New(s.req.Spec.Seed, purpose, n).Uint64()
}

func (s *gaitTraining) task(theta []float64) idrl.SolveTask {
	return idrl.SolveTask{Env: s.env, Theta: theta, Warm: s.bestGait(theta)}
}

// goOn has a search go on until it has taken about that many steps since it had taken before,
// and says what it is for.
func (s *gaitTraining) goOn(ctx context.Context, theta []float64, v solver.GaitSearch, before, steps int, what string) error {
	from := s.took
	for s.took = from + v.Spent() - before; s.took-from < steps; s.took = from + v.Spent() - before {
		s.tell(fmt.Sprintf("%s %d%s", what, v.Done()+1, bestReturn(theta, v)))
		if err := v.Run(ctx, theta, 1); err != nil {
			return err
		}
	}
	return nil
}

// left returns a search as the last job left it; ok is false if there is none, or is to begin anew.
func left[S solver.GaitSearch](s *gaitTraining, what string, state []byte, resume func(idrl.Environment, []byte) (S, error), anew func(S) bool) (v S, ok bool) {
	if state == nil {
		return v, false
	}
	v, err := resume(s.env, state)
	if err != nil {
		s.warn(what+" begins anew: its state cannot be used", err)
		return v, false
	}
	return v, !anew(v)
}

// searchMean has the search for the mean go on for about that many steps.
func (s *gaitTraining) searchMean(ctx context.Context, theta []float64, steps int) error {
	v, err := s.meanSearch(ctx, theta)
	if err == nil {
		err = s.goOn(ctx, theta, v, v.Spent(), steps, "searching for the mean: generation")
	}
	if err != nil {
		return err
	}
	s.state.Mean = v.Encode()
	return s.findGaits(ctx, theta, v, v.Present())
}

// meanSearch returns the search for the mean as the last job left it, unless it is stuck
// and something better is known.
func (s *gaitTraining) meanSearch(ctx context.Context, theta []float64) (*solver.Evolution, error) {
	e := s.evolve(0)
	v, ok := left(s, "the search for the mean", s.state.Mean, e.Continue, func(v *solver.Evolution) bool { return v.StepSize() < stuckSigma && s.better(theta, v) })
	if ok {
		return v, nil
	}
	s.state.Restarts++
	return e.Begin(ctx, s.task(theta), s.seed("search for the mean", s.state.Restarts))
}

// better reports whether a gait is known that is better than the best of v.
func (s *gaitTraining) better(theta []float64, v *solver.Evolution) bool {
	k, ok := v.Best(theta)
	if !ok {
		return true
	}
	warm := s.bestGait(theta)
	return warm != nil && !slices.Equal(warm[0], k.Params)
}

// findGaits values the best gait of a search and others.
func (s *gaitTraining) findGaits(ctx context.Context, theta []float64, v solver.GaitSearch, others ...[]float64) error {
	if k, ok := v.Best(theta); ok {
		others = append(others, k.Params)
	}
	for _, own := range others {
		if err := s.find(ctx, behaviour.Gait.Params(own), theta); err != nil {
			return err
		}
	}
	return nil
}

// bestReturn says what a search has found, for people.
func bestReturn(theta []float64, v solver.GaitSearch) string {
	k, ok := v.Best(theta)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", best return %.1f", k.Score(theta))
}

// searchDraw searches for draw k of the posterior for about that many steps.
func (s *gaitTraining) searchDraw(ctx context.Context, k int, theta []float64, steps int) error {
	e := s.evolve(drawSigma)
	e.Judging = drawJudging
	v, err := e.Begin(ctx, s.task(theta), s.seed(fmt.Sprintf("search for draw %d", k), uint64(s.req.BasedOn)+uint64(s.req.From)<<32))
	if err != nil {
		return err
	}
	if err := s.goOn(ctx, theta, v, 0, steps, fmt.Sprintf("searching for draw %d of %d: generation", k+1, s.draws)); err != nil {
		return err
	}
	return s.findGaits(ctx, theta, v)
}

// drawJudging is by how a search for a draw compares what it finds: it is short.
var drawJudging = solver.Judging{Starts: 3, Steps: 600, Keep: 4}

// candidates returns the best policy for the mean, and those for draws that differ from the
// ones before them. If all are the same the next best for the mean is one, too.
func (s *gaitTraining) candidates(mean []float64, draws [][]float64) ([]idrl.Candidate, error) {
	var out []idrl.Candidate
	fresh := func(f found) bool {
		return !slices.ContainsFunc(out, func(c idrl.Candidate) bool { return slices.Equal(c.Params, f.Known.Params) })
	}
	add := func(theta []float64, origin idrl.Origin, is func(found) bool) error {
		f, ok := s.best(theta, is)
		if !ok || !fresh(f) {
			return nil
		}
		p, err := behaviour.New(s.valuer.env.Spec(), f.Known.Params)
		out = append(out, idrl.Candidate{Origin: origin, Policy: p, Params: f.Known.Params, Mus: f.Known.Mus, Theta: theta})
		return err
	}
	if err := add(mean, idrl.FromMean, nil); err != nil {
		return nil, err
	}
	for _, theta := range draws {
		if err := add(theta, idrl.FromSample, nil); err != nil {
			return nil, err
		}
	}
	if len(out) == 1 {
		if err := add(mean, idrl.FromSample, fresh); err != nil {
			return nil, err
		}
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("%d policies are left, too few to compare: under the others %w", len(out), trainer.ErrBroken)
	}
	return out, nil
}
