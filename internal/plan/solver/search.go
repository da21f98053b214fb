package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A search is one run of ARS.
type search struct {
	ARS
	spec  idrl.EnvSpec
	theta []float64
	envs  []idrl.Environment // one a worker
	seeds [][32]byte         // of the episodes of every evaluation

	weights   []float64 // W by rows
	seen      moments   // of the observations, for Normalise
	spent     int       // environment steps so far
	best      []float64 // parameters of the best policy so far; nil if all broke down
	bestMu    []float64 // its feature expectation
	bestValue float64   // its mean return
}

func newSearch(a ARS, task idrl.SolveTask, rng *rand.Rand) *search {
	s := &search{
		ARS: a, spec: task.Env.Spec(), theta: task.Theta,
		envs: []idrl.Environment{task.Env}, seeds: seeds(rng, a.Episodes), bestValue: math.Inf(-1),
	}
	for len(s.envs) < a.Workers {
		s.envs = append(s.envs, a.NewEnv())
	}
	s.weights = make([]float64, s.spec.Actions.Dim()*s.spec.ObsDim)
	s.seen = newMoments(s.spec.ObsDim)
	return s
}

func (s *search) run(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) error {
	done, resumed := s.resume(task.Resume)
	if resumed {
		for range done {
			s.draw(rng) // what those iterations drew
		}
	} else if err := s.begin(ctx, task.Warm); err != nil {
		return err
	}
	for k := done; k < s.Iterations && s.affords(2*s.Directions+s.Episodes); k++ {
		if err := s.improve(ctx, rng); err != nil {
			return err
		}
		if err := s.judge(ctx, s.params(s.weights)); err != nil {
			return err
		}
		if task.Save != nil {
			task.Save(s.state(k + 1))
		}
	}
	return nil
}

// affords reports whether that many whole episodes are within the bound.
func (s *search) affords(episodes int) bool {
	return s.MaxSteps == 0 || s.spent+episodes*s.spec.Horizon <= s.MaxSteps
}

// begin evaluates the starts and goes on from the best, or from the first if
// all broke down.
func (s *search) begin(ctx context.Context, warm [][]float64) error {
	if len(warm) == 0 {
		warm = [][]float64{slices.Clone(s.weights)}
	}
	for i, w := range warm {
		if i > 0 && !s.affords(s.Episodes) {
			break
		}
		if err := s.judge(ctx, w); err != nil {
			return err
		}
	}
	start := s.best
	if start == nil {
		start = warm[0]
	}
	n := copy(s.weights, start)
	if scales := start[n:]; s.Normalise && len(scales) > 0 {
		// The scales count as much as those of one iteration to come.
		s.seen.assume(scales[:s.spec.ObsDim], scales[s.spec.ObsDim:], float64(2*s.Directions*s.spec.Horizon))
	}
	return nil
}

// params returns the parameters of the policy with these weights.
func (s *search) params(weights []float64) []float64 {
	if !s.Normalise {
		return slices.Clone(weights)
	}
	return slices.Concat(weights, s.seen.mean, s.seen.std())
}

// A try is one episode with perturbed weights.
type try struct {
	value  float64 // return
	steps  int
	broken bool
	seen   moments // of the observations, for Normalise
}

// draw draws the directions of an iteration, and the streams of its episodes.
func (s *search) draw(rng *rand.Rand) (deltas [][]float64, streams []*rand.Rand) {
	deltas = matrix(s.Directions, len(s.weights))
	for _, delta := range deltas {
		for i := range delta {
			delta[i] = rng.NormFloat64()
		}
	}
	return deltas, fork(rng, 2*s.Directions)
}

// improve moves the weights by one iteration of the search.
func (s *search) improve(ctx context.Context, rng *rand.Rand) error {
	deltas, streams := s.draw(rng)
	n := len(streams)
	tries := make([]try, n) // of every direction forth and then back
	err := parallel(ctx, len(s.envs), n, func(worker, i int) (err error) {
		step := s.NoiseStd
		if i%2 == 1 {
			step = -step
		}
		tries[i], err = s.try(worker, deltas[i/2], step, streams[i])
		return err
	})
	if err != nil {
		return err
	}
	s.update(deltas, tries)
	return nil
}

// update moves the weights by the directions that did not break down.
func (s *search) update(deltas [][]float64, tries []try) {
	var kept [][]float64
	var plus, minus []float64
	for k, delta := range deltas {
		forth, back := tries[2*k], tries[2*k+1]
		s.spent += forth.steps + back.steps
		if forth.broken || back.broken {
			continue
		}
		kept, plus, minus = append(kept, delta), append(plus, forth.value), append(minus, back.value)
		s.seen.merge(forth.seen)
		s.seen.merge(back.seen)
	}
	if len(kept) > 0 {
		ARSUpdate(s.weights, kept, plus, minus, s.StepSize, min(s.Top, len(kept)))
	}
}

// try plays one episode with the weights moved by step·delta.
func (s *search) try(worker int, delta []float64, step float64, rng *rand.Rand) (try, error) {
	moved := slices.Clone(s.weights)
	floats.AddScaled(moved, step, delta)
	linear, err := NewLinear(s.spec, s.params(moved))
	if err != nil {
		return try{}, err
	}
	out := try{seen: newMoments(s.spec.ObsDim)}
	var p idrl.Policy = linear
	if s.Normalise {
		p = watched{linear, &out.seen}
	}
	mu := make([]float64, len(s.theta))
	out.steps, out.broken = addEpisode(mu, s.envs[worker], p, rng)
	if !out.broken {
		out.value, err = s.value(mu)
	}
	return out, err
}

// judge evaluates a policy and keeps it if it is the best so far.
func (s *search) judge(ctx context.Context, params []float64) error {
	p, err := NewLinear(s.spec, params)
	if err != nil {
		return err
	}
	mus, steps, broken := matrix(s.Episodes, len(s.theta)), make([]int, s.Episodes), make([]bool, s.Episodes)
	err = parallel(ctx, len(s.envs), s.Episodes, func(worker, i int) error {
		steps[i], broken[i] = addEpisode(mus[i], s.envs[worker], p, stream(s.seeds[i]))
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range steps {
		s.spent += n
	}
	if slices.Contains(broken, true) {
		return nil
	}
	mu := mean(mus)
	v, err := s.value(mu)
	if err == nil && v > s.bestValue {
		s.best, s.bestMu, s.bestValue = params, mu, v
	}
	return err
}

// maxReturn is far above every real return, and small enough for its square to be finite.
const maxReturn = 1e100

// value returns the return θ·mu.
func (s *search) value(mu []float64) (float64, error) {
	v := floats.Dot(mu, s.theta)
	if !(math.Abs(v) <= maxReturn) {
		return 0, fmt.Errorf("random search: an episode of %s has return %v", s.spec.ID, v)
	}
	return v, nil
}

// mean returns the mean of the rows, of which there is at least one.
func mean(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	for _, row := range rows {
		floats.Add(out, row)
	}
	floats.Scale(1/float64(len(rows)), out)
	return out
}
