package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/envs"
	"tiebreak/internal/belief"
	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/solver"
	"tiebreak/internal/trainer"
)

// newEnvironment returns the environment of a session. Equal specs give equal
// environments, layout included.
func newEnvironment(list envs.List, spec idrl.SessionSpec) (idrl.Environment, error) {
	e, err := list.Find(spec.Env)
	if err != nil {
		return nil, err
	}
	return e.New(rng.New(spec.Seed, "layout", 0)), nil
}

// nameFeatures returns spec with the names of its features, which sessions of
// earlier versions lack.
func nameFeatures(list envs.List, spec idrl.SessionSpec) (idrl.SessionSpec, error) {
	if spec.Features != nil {
		return spec, nil
	}
	env, err := newEnvironment(list, spec)
	if err == nil {
		spec.Features = env.Spec().FeatureNames
	}
	return spec, err
}

// checkSpec returns an error of kind Invalid if no session can be made of spec.
func checkSpec(list envs.List, spec idrl.SessionSpec) error {
	env, err := newEnvironment(list, spec)
	if err != nil {
		return err
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	_, err = belief.ForSpec(spec, env)
	return err
}

// newTrainer returns the trainer of a session, which draws its clips.
func newTrainer(list envs.List, spec idrl.SessionSpec) (idrl.Trainer, error) {
	if _, err := newEnvironment(list, spec); err != nil {
		return nil, err
	}
	return trainerIn(spec, func() idrl.Environment {
		e, err := newEnvironment(list, spec)
		if err != nil {
			panic(err) // it was found a moment ago, and the catalogue is constant
		}
		return e
	})
}

// trainerIn returns the trainer of a session in the environments of newEnv.
func trainerIn(spec idrl.SessionSpec, newEnv func() idrl.Environment) (*trainer.Thompson, error) {
	env := newEnv()
	sol, err := solver.For(env)
	if err != nil {
		return nil, err
	}
	t := &trainer.Thompson{
		NewEnv: newEnv, Solver: sol, Kind: spec.Kind, Samples: spec.Candidates,
		Restarts: 10, Pool: 30, MaxQueries: 2000, Mu: solver.Mu,
		Encode: clip.Encode,
	}
	if search, ok := sol.(solver.ARS); ok {
		searching(t, search, env.Spec())
	}
	return t, nil
}

// In an environment that must be searched an episode costs up to 0.2 s.
const (
	// liveEpisodes are those behind a feature expectation and an evaluation of the
	// search, if the environment does not ask for fewer evaluations. They are the
	// same for all policies (common random numbers), so that few tell policies
	// apart; offline, where returns are reported, it takes ten.
	liveEpisodes = 3

	// liveSearch is the number of episodes that the search for one policy may take,
	// where the environment does not say how many steps suit it.
	liveSearch = 40
)

// searching sets t up for random search: a few drafts first, so that there is a
// question within seconds, and then searches of bounded length.
func searching(t *trainer.Thompson, search solver.ARS, spec idrl.EnvSpec) {
	search.Episodes = min(cmp.Or(search.Episodes, liveEpisodes), liveEpisodes)
	search.MaxSteps = cmp.Or(spec.Search.LiveSteps, liveSearch*spec.Horizon)
	t.First, t.Solver, t.Remake = solver.Draft{}, breakable{search}, solver.FromParams
	t.Pool, t.Rollouts, t.Segments = 8, 2, 3
	t.Mu, t.MuEpisodes = nil, liveEpisodes
}

// breakable tells a trainer that a search found no policy under which the
// simulation holds.
type breakable struct{ idrl.Solver }

// Solve implements idrl.Solver.
func (b breakable) Solve(ctx context.Context, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	p, err := b.Solver.Solve(ctx, task, stream)
	if errors.Is(err, solver.ErrBroken) {
		err = fmt.Errorf("%w: %w", trainer.ErrBroken, err)
	}
	return p, err
}

// A codec turns beliefs into bytes and back.
type codec struct{}

func (codec) EncodeBelief(p idrl.Posterior) ([]byte, error) {
	g, ok := p.(*belief.Gaussian)
	if !ok {
		return nil, fmt.Errorf("belief of type %T cannot be encoded", p)
	}
	return g.MarshalBinary()
}

func (codec) DecodeBelief(b []byte) (idrl.Posterior, error) {
	g := new(belief.Gaussian)
	if err := g.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	return g, nil
}

// trainRequest is what a worker process is told to do.
type trainRequest struct {
	Spec    idrl.SessionSpec
	BasedOn int64
	Belief  []byte
	Warm    [][]float64
}

// encodeRequest turns a training job of a session into the bytes for a worker.
func encodeRequest(spec idrl.SessionSpec, job idrl.TrainJob) ([]byte, error) {
	b, err := codec{}.EncodeBelief(job.Posterior)
	if err != nil {
		return nil, err
	}
	return json.Marshal(trainRequest{Spec: spec, BasedOn: job.BasedOn, Belief: b, Warm: job.Warm})
}

// workshop trains in the worker process. It keeps the trainers of the sessions that
// it trained last, each of which remembers what does not change between generations:
// up to 21 MB (ant), and up to 6 s to make again.
type workshop struct {
	envs  envs.List
	yield func() // lowers the priority of the process; may be called again

	mu       sync.Mutex       // guards trainers
	trainers []sessionTrainer // the one used last at the end, at most maxTrainers
}

const maxTrainers = 8

type sessionTrainer struct {
	session idrl.SessionID
	idrl.Trainer
}

// handle runs one training and returns the encoded generation.
func (w *workshop) handle(ctx context.Context, payload []byte, report idrl.Progress) ([]byte, error) {
	var req trainRequest
	if err := json.Unmarshal(payload, &req); err != nil {
		return nil, fmt.Errorf("decode the training request: %w", err)
	}
	if req.BasedOn > 0 { // nobody can label before the first generation: it is not to wait
		w.yield()
	}
	p, err := codec{}.DecodeBelief(req.Belief)
	if err != nil {
		return nil, err
	}
	t, err := w.trainer(req.Spec)
	if err != nil {
		return nil, err
	}
	g, err := t.Train(ctx, idrl.TrainJob{
		BasedOn: req.BasedOn, Posterior: p, Seed: req.Spec.Seed, Warm: req.Warm, Progress: report,
	})
	if err != nil {
		return nil, err
	}
	return encodeGeneration(g)
}

// trainer returns the trainer of a session, which it makes if need be. Equal specs
// make equal trainers, so that it does not matter which are kept.
func (w *workshop) trainer(spec idrl.SessionSpec) (idrl.Trainer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := slices.IndexFunc(w.trainers, func(t sessionTrainer) bool { return t.session == spec.ID })
	if k < 0 {
		t, err := newTrainer(w.envs, spec)
		if err != nil {
			return nil, err
		}
		k = len(w.trainers)
		w.trainers = append(w.trainers, sessionTrainer{spec.ID, t})
	}
	t := w.trainers[k]
	w.trainers = append(slices.Delete(w.trainers, k, k+1), t)
	if over := len(w.trainers) - maxTrainers; over > 0 {
		w.trainers = slices.Delete(w.trainers, 0, over)
	}
	return t.Trainer, nil
}

// encodeGeneration leaves out what the server does not need: the policies'
// code, and the snapshots that the clips were drawn from.
func encodeGeneration(g idrl.Generation) ([]byte, error) {
	clips := make(map[idrl.ClipID]idrl.Clip, len(g.Clips))
	for id, c := range g.Clips {
		c.Snapshots = nil
		clips[id] = c
	}
	cands := make([]idrl.Candidate, len(g.Candidates))
	for i, c := range g.Candidates {
		c.Policy = nil
		cands[i] = c
	}
	g.Clips, g.Candidates = clips, cands
	return json.Marshal(g)
}

func decodeGeneration(b []byte) (g idrl.Generation, err error) {
	if err := json.Unmarshal(b, &g); err != nil {
		return idrl.Generation{}, fmt.Errorf("decode the generation: %w", err)
	}
	return g, nil
}
