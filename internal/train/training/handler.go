package training

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/trainer"
)

// A Handler trains in a worker process. It keeps the trainers of the sessions that
// it trained last, each of which remembers what does not change between generations:
// up to 21 MB (ant), and up to 6 s to make again.
type Handler struct {
	Envs  func() envs.List // required; the environments that there are now, the same as the server's
	Log   *slog.Logger     // default slog.Default()
	Steps int              // of each agent that a training under a reward network trains; default 10,000

	// GaitSteps are those that searches among gaits may take for each log row; default
	// what suits the environment.
	GaitSteps int

	fleet fleet // of the job under way; one job is done at a time

	mu       sync.Mutex       // guards what follows
	trainers []sessionTrainer // the one used last at the end, at most maxTrainers
	stocks   stockroom
}

var _ jobs.Handler = (*Handler)(nil)

// Kinds returns the kinds of the jobs that a Handler does.
func Kinds() []string { return []string{trainKind, fitKind} }

const maxTrainers = 8

type sessionTrainer struct {
	session idrl.SessionID
	model   idrl.RewardModel
	learner idrl.FeatureLearner // nil where features are not learnt
	*trainer.Thompson
}

// features returns the features of a training, nil for those of the environment, and the
// model of their weights.
func (t *sessionTrainer) features(req request) (idrl.Representation, idrl.RewardModel, error) {
	switch {
	case req.Version == 0:
		return nil, t.model, nil
	case t.learner == nil:
		return nil, nil, idrl.Errorf(idrl.Invalid, "session %s has no learnt features", t.session)
	}
	return t.learner.Open(req.Version, req.Features)
}

// Do learns features, or runs one training and hands over the generation: drawings and raw steps as artefacts
// of their own, those of the pool of a first generation as soon as they are made, and
// how far it is as checkpoints. A checkpoint that cannot be read is left out. If an
// environment fails (idrl.Fallible) its error is returned, and nothing is handed over after it.
// When ctx is done, environments that wait for something are interrupted. All environments are
// closed at the end.
func (h *Handler) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	done := h.fleet.until(ctx)
	err := h.do(ctx, job, to)
	done()
	if failed := h.fleet.failed(); failed != nil {
		err = failed
		if ctx.Err() != nil { // it was interrupted
			err = ctx.Err()
		}
		h.forgetAll() // what is remembered of this job lacks what failed
	}
	if wrong := h.fleet.close(); wrong != nil {
		h.log().Warn("an environment could not be closed", "err", wrong)
	}
	return err
}

func (h *Handler) do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	if job.Kind == fitKind {
		return h.fit(ctx, job, to)
	}
	req, err := decodeRequest(job.JobKey, job.Payload)
	if err != nil {
		return err
	}
	t, err := h.trainer(req.Spec)
	if err != nil {
		return err
	}
	rep, model, err := t.features(req)
	if err != nil {
		return err
	}
	p, err := model.Decode(req.Belief)
	if err != nil {
		return err
	}
	out := &sender{to: to, engine: h.Envs().Engine(req.Spec.Env), failed: h.fleet.failed}
	if req.Spec.IsArena() {
		g, err := h.arena(ctx, t, req, to)
		if err != nil {
			return err
		}
		return out.generation(g)
	}
	network, learnt := rep.(neural.Representation)
	if byAgents(req.Spec, learnt, req.First) {
		g, err := h.trainAgents(ctx, t, req, rep, network.Model, p, to)
		if err != nil {
			return err
		}
		return out.generation(g)
	}
	if byGaits(req.Spec, req.First) {
		g, err := h.trainGaits(ctx, t, req, p, to)
		if err != nil {
			return err
		}
		return out.generation(g)
	}
	state := &saver{job: job, to: to, log: h.log(), failed: h.fleet.failed}
	g, err := t.Train(ctx, idrl.TrainJob{
		BasedOn: req.BasedOn, Posterior: p, Seed: req.Spec.Seed, Warm: req.Warm, First: req.First, Progress: to.Progress,
		Resume: state.last(), Save: state.save,
		Made: func(part idrl.Generation) { _, _, _ = out.parts(part) }, // an error comes again at the end
	})
	if err != nil {
		return err
	}
	state.report()
	return out.generation(g)
}

// trainAgents trains agents under the representation rep, nil for that of the environment,
// and returns the generation of their policies. m is its network, nil if it has none.
func (h *Handler) trainAgents(ctx context.Context, t sessionTrainer, req request, rep idrl.Representation, m *neural.Model, p idrl.Posterior, to jobs.Reporter) (idrl.Generation, error) {
	s := agentTraining{req: req, model: m, env: t.NewEnv, steps: cmp.Or(h.Steps, liveSteps), to: to, log: h.log()}
	policies, states, err := s.train(ctx, p)
	if err != nil {
		return idrl.Generation{}, err
	}
	to.Progress(s.done, 2*s.steps+1, "drawing clips")
	g, err := t.Show(ctx, idrl.TrainJob{BasedOn: req.BasedOn, Posterior: p, Features: rep, Seed: req.Spec.Seed}, policies)
	g.Agents = states
	return g, err
}

// trainGaits runs the searches of a job and returns the generation of what they found.
func (h *Handler) trainGaits(ctx context.Context, t sessionTrainer, req request, p idrl.Posterior, to jobs.Reporter) (idrl.Generation, error) {
	env := t.NewEnv().Spec()
	s := gaitTraining{
		req: req, newEnv: t.NewEnv, draws: learning.OfSession(req.Spec).Samples,
		perRow: cmp.Or(h.GaitSteps, stepsPerRow(env)), to: to, log: h.log(),
	}
	if t.Stock != nil {
		for _, b := range t.Stock.Behaviours {
			s.library = append(s.library, b.Params)
		}
	}
	policies, states, err := s.train(ctx, p)
	if err != nil {
		return idrl.Generation{}, err
	}
	if req.From > 0 {
		policies = notIn(req.Warm, policies)
		if len(policies) == 0 {
			return idrl.Generation{BasedOn: req.BasedOn, Agents: states}, nil
		}
	}
	s.tell("drawing clips")
	g, err := t.Show(ctx, idrl.TrainJob{BasedOn: req.BasedOn, Posterior: p, Seed: req.Spec.Seed, From: req.From}, policies)
	g.Agents = states
	return g, err
}

// notIn returns those of the policies whose parameters are not in use.
func notIn(use [][]float64, policies []idrl.Candidate) []idrl.Candidate {
	return slices.DeleteFunc(policies, func(c idrl.Candidate) bool {
		return slices.ContainsFunc(use, func(params []float64) bool { return slices.Equal(params, c.Params) })
	})
}

func (h *Handler) log() *slog.Logger { return cmp.Or(h.Log, slog.Default()) }

// trainer returns the trainer of a session, which it makes if need be. Equal specs
// make equal trainers, so that it does not matter which are kept.
func (h *Handler) trainer(spec idrl.SessionSpec) (sessionTrainer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.index(spec.ID)
	if k < 0 {
		list := h.fleet.track(h.Envs())
		t, err := New(list, spec)
		if err != nil {
			return sessionTrainer{}, err
		}
		if spec.ByGaits() {
			if h.stocks == nil {
				h.stocks = stockroom{}
			}
			if t.Stock, err = h.stocks.get(list, spec, h.log()); err != nil {
				return sessionTrainer{}, err
			}
		}
		m, err := Model(list, spec)
		if err != nil {
			return sessionTrainer{}, err
		}
		l, err := Learner(list, spec)
		if err != nil {
			return sessionTrainer{}, err
		}
		k = len(h.trainers)
		h.trainers = append(h.trainers, sessionTrainer{spec.ID, m, l, t})
	}
	t := h.trainers[k]
	h.trainers = append(slices.Delete(h.trainers, k, k+1), t)
	if over := len(h.trainers) - maxTrainers; over > 0 {
		h.trainers = slices.Delete(h.trainers, 0, over)
	}
	return t, nil
}

// Forget implements jobs.Handler.
func (h *Handler) Forget(session idrl.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.index(session); k >= 0 {
		h.trainers = slices.Delete(h.trainers, k, k+1)
	}
}

// forgetAll forgets what was made for all sessions.
func (h *Handler) forgetAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trainers = nil
	clear(h.stocks)
}

// index returns the place of a session's trainer, or -1. The caller holds mu.
func (h *Handler) index(session idrl.SessionID) int {
	return slices.IndexFunc(h.trainers, func(t sessionTrainer) bool { return t.session == session })
}
