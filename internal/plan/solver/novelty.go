package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Novelty finds gaits that differ from one another as much as they can, without any
// reward (Lehman and Stanley: Abandoning objectives: evolution through the search for
// novelty alone, Evolutionary Computation 2011).
//
// It tries given and random gaits; then, repeatedly, a mutation of the most novel of a few
// gaits that are drawn. A gait is described by the features of the last clip
// of its episode, each divided by half of the range of the middle 80 % of all gaits. Its
// novelty is the sum of the distances to its nearest neighbours. Only lively gaits are
// mutated, count as neighbours and may be chosen: those that have not fallen at the end of
// the episode (idrl.Faller) and that Lively accepts. All episodes begin in the same state.
type Novelty struct {
	Random     int // gaits drawn at random; default 60
	Mutants    int // default 140
	Batch      int // mutants made before novelty is computed again; default 20
	Drawn      int // gaits of which the most novel is mutated; default 6
	Neighbours int // default 3
	Steps      int // of an episode, at most the horizon; default a clip and 50 steps more, at least 120

	// Lively may be nil. It says whether a gait is worth showing by the last clip of its episode,
	// which has Snapshots if the environment is an idrl.Snapshotter. The environment may be used to
	// draw them. Workers call it at the same time.
	Lively func(env idrl.Environment, c idrl.Clip) (bool, error)

	Workers int                     // goroutines; default 1. The result does not depend on it
	NewEnv  func() idrl.Environment // returns an environment equal to the one searched in, for further workers; nil means one worker
}

// A Novel is a gait that was found by Novelty.
type Novel struct {
	Params   []float64 // of the gait
	Phi      []float64 // Σ φ over the last clip of its episode, undiscounted, length d
	Distance float64   // to the nearest of those before it, in scaled features; of the first, its novelty
}

func (n Novelty) withDefaults(spec idrl.EnvSpec) Novelty {
	n.Random = cmp.Or(n.Random, 60)
	n.Mutants = cmp.Or(n.Mutants, 140)
	n.Batch = cmp.Or(n.Batch, 20)
	n.Drawn = cmp.Or(n.Drawn, 6)
	n.Neighbours = cmp.Or(n.Neighbours, 3)
	n.Steps = min(cmp.Or(n.Steps, max(spec.ClipSteps+50, 120)), spec.Horizon)
	return n
}

func (n Novelty) check(spec idrl.EnvSpec) error {
	if err := CheckGaits(spec); err != nil {
		return err
	}
	if min(n.Random, n.Batch, n.Drawn, n.Neighbours, n.Steps) < 1 || n.Mutants < 0 {
		return idrl.Errorf(idrl.Invalid, "the settings of a search for novelty must be positive: %d random gaits, %d mutants in batches of %d, %d drawn, %d neighbours, %d steps",
			n.Random, n.Mutants, n.Batch, n.Drawn, n.Neighbours, n.Steps)
	}
	return nil
}

// Find returns at most count gaits by farthest-point selection: first the most novel one, and
// then repeatedly the one with the largest distance to the nearest chosen one. There are
// fewer if fewer lively gaits differ. Given gaits, with or without feedback, are tried first;
// mutations keep feedback. The result is a function of the arguments. Errors are of kind
// Invalid if the environment has no bounded continuous actions, a gait does not fit it or a
// setting is negative; and those of ctx and Lively.
func (n Novelty) Find(ctx context.Context, env idrl.Environment, given [][]float64, count int, rng *rand.Rand) ([]Novel, error) {
	spec := env.Spec()
	n = n.withDefaults(spec)
	if err := n.check(spec); err != nil {
		return nil, err
	}
	for i, params := range given {
		if _, err := NewGait(spec, params); err != nil {
			return nil, fmt.Errorf("gait %d: %w", i+1, err)
		}
	}
	s := &noveltySearch{Novelty: n, ground: newGround(env, n.Workers, n.NewEnv, rng.Uint64())}
	first := slices.Clone(given)
	for range n.Random {
		params, err := RandomGait(spec, rng)
		if err != nil {
			return nil, err
		}
		first = append(first, params)
	}
	if err := s.try(ctx, first); err != nil {
		return nil, err
	}
	for left := n.Mutants; left > 0; left -= n.Batch {
		mutants := make([][]float64, min(n.Batch, left))
		for i := range mutants {
			var err error
			if mutants[i], err = s.mutant(rng); err != nil {
				return nil, err
			}
		}
		if err := s.try(ctx, mutants); err != nil {
			return nil, err
		}
	}
	return s.choose(count), nil
}

// A noveltySearch is a Find in progress.
type noveltySearch struct {
	Novelty
	ground *ground
	lively []*sight
}

// A sight is a gait with the clip of its episode.
type sight struct {
	Novel
	scaled []float64 // Phi
	alive  bool      // has not fallen, and was accepted
}

// try plays gaits, keeps the lively ones, and computes the novelty of all again.
func (s *noveltySearch) try(ctx context.Context, gaits [][]float64) error {
	seen := make([]*sight, len(gaits))
	err := parallel(ctx, len(s.ground.envs), len(gaits), func(worker, i int) (err error) {
		seen[i], err = s.see(s.ground.envs[worker], gaits[i])
		return err
	})
	if err != nil {
		return err
	}
	for _, v := range seen {
		if v.alive {
			s.lively = append(s.lively, v)
		}
	}
	s.scale()
	for _, v := range s.lively {
		v.Distance = s.novelty(v)
	}
	return nil
}

// see plays an episode of a gait.
func (s *noveltySearch) see(env idrl.Environment, params []float64) (*sight, error) {
	spec := s.ground.spec
	gait, err := NewGait(spec, params)
	if err != nil {
		return &sight{}, nil // a mutation has left the bounds
	}
	snapshotter, _ := env.(idrl.Snapshotter)
	var phis, snapshots [][]float64
	for _, step := range idrl.EpisodeOf(env, gait, s.ground.stream("novelty", 0)) {
		if step.Broken {
			return &sight{}, nil
		}
		if step.Kind != idrl.First {
			phis = append(phis, slices.Clone(step.Phi))
		}
		if s.Lively != nil && snapshotter != nil {
			snapshots = append(snapshots, snapshotter.Snapshot(nil))
		}
		if len(phis) == s.Steps {
			break
		}
	}
	shown := max(1, min(spec.ClipSteps, len(phis)))
	c := idrl.Clip{Start: len(phis) - shown, Steps: shown, Phi: make([]float64, spec.FeatureDim())}
	for _, phi := range phis[c.Start:] {
		floats.Add(c.Phi, phi)
	}
	if snapshots != nil {
		c.Snapshots = snapshots[c.Start:]
	}
	v := &sight{Novel: Novel{Params: slices.Clone(params), Phi: c.Phi}}
	v.alive, err = s.alive(env, c)
	return v, err
}

func (s *noveltySearch) alive(env idrl.Environment, c idrl.Clip) (bool, error) {
	if f, ok := env.(idrl.Faller); ok && f.Fallen() {
		return false, nil
	}
	if s.Lively == nil {
		return true, nil
	}
	return s.Lively(env, c)
}

// scale divides each feature by half of the range of its middle 80 % over the lively gaits, or
// by its standard deviation if that is 0. A feature that does not vary becomes 0.
func (s *noveltySearch) scale() {
	for _, v := range s.lively {
		v.scaled = make([]float64, len(v.Phi))
	}
	if len(s.lively) < 2 {
		return
	}
	column := make([]float64, len(s.lively))
	for i := range s.ground.spec.FeatureDim() {
		for k, v := range s.lively {
			column[k] = v.Phi[i]
		}
		slices.Sort(column)
		unit := (stat.Quantile(0.9, stat.Empirical, column, nil) - stat.Quantile(0.1, stat.Empirical, column, nil)) / 2
		if !(unit > 0) {
			unit = stat.PopStdDev(column, nil)
		}
		if tiny := 1e-9 * max(math.Abs(column[0]), math.Abs(column[len(column)-1])); !(unit > tiny) {
			continue // but for rounding it is the same in all
		}
		for _, v := range s.lively {
			v.scaled[i] = v.Phi[i] / unit
		}
	}
}

// novelty is the sum of the distances to the nearest neighbours.
func (s *noveltySearch) novelty(v *sight) float64 {
	var ds []float64
	for _, o := range s.lively {
		if o != v {
			ds = append(ds, floats.Distance(v.scaled, o.scaled, 2))
		}
	}
	slices.Sort(ds)
	return floats.Sum(ds[:min(s.Neighbours, len(ds))])
}

// mutant returns a mutation of the most novel of a few lively gaits, or a random gait if
// there are none.
func (s *noveltySearch) mutant(rng *rand.Rand) ([]float64, error) {
	if len(s.lively) == 0 {
		return RandomGait(s.ground.spec, rng)
	}
	parent := s.lively[rng.IntN(len(s.lively))]
	for range s.Drawn - 1 {
		if o := s.lively[rng.IntN(len(s.lively))]; o.Distance > parent.Distance {
			parent = o
		}
	}
	return Mutate(s.ground.spec, parent.Params, rng), nil
}

// choose returns at most count lively gaits by farthest point.
func (s *noveltySearch) choose(count int) (chosen []Novel) {
	if len(s.lively) == 0 || count < 1 {
		return nil
	}
	next := slices.MaxFunc(s.lively, func(a, b *sight) int { return cmp.Compare(a.Distance, b.Distance) })
	far := make([]float64, len(s.lively)) // distance to the nearest chosen
	for i := range far {
		far[i] = math.Inf(1)
	}
	distance := next.Distance
	for {
		next.Distance = distance
		chosen = append(chosen, next.Novel)
		for i, v := range s.lively {
			far[i] = min(far[i], floats.Distance(v.scaled, next.scaled, 2))
		}
		k := floats.MaxIdx(far)
		if distance = far[k]; len(chosen) == count || !(distance > 0) {
			return chosen
		}
		next = s.lively[k]
	}
}
