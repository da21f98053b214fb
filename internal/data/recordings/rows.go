package recordings

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
)

// Rows are the rows of the data set that the rollouts of a Set are from: one for each step. The
// rollouts say in which row they begin, or else follow one another from row 0 on.
type Rows struct {
	begin, steps []int // of each rollout
	given        bool  // the rollouts say so
}

// Rows returns those of s.
func (s *Set) Rows() Rows {
	var r Rows
	next := 0
	for _, e := range s.x.Rollouts {
		if e.Row != nil {
			next, r.given = *e.Row, true
		}
		r.begin, r.steps = append(r.begin, next), append(r.steps, e.Steps)
		next += e.Steps
	}
	return r
}

// Given reports whether the rollouts say in which rows they begin, so that some may be missing.
func (r Rows) Given() bool { return r.given }

// End returns the row after the last one.
func (r Rows) End() int {
	last := len(r.begin) - 1
	return r.begin[last] + r.steps[last]
}

// Where says whether a segment is part of a rollout.
type Where int

// Whether it is.
const (
	Within  Where = iota
	Across        // it begins in a rollout and ends after it
	Missing       // it begins in a row that no rollout has
)

// Find returns the rollout and the step at which the segment of n steps begins that begins in a row.
func (r Rows) Find(row, n int) (rollout, step int, is Where) {
	i, found := slices.BinarySearchFunc(r.begin, row, cmp.Compare)
	if !found {
		i--
	}
	if i < 0 || row >= r.begin[i]+r.steps[i] {
		return 0, 0, Missing
	}
	if step = row - r.begin[i]; n > r.steps[i]-step {
		is = Across
	}
	return i, step, is
}

// RolloutName returns what the manifest calls rollout i: for researchers alone.
func (s *Set) RolloutName(i int) string { return s.x.Rollouts[i].Name }

// Trajectory returns rollout i as its environment plays it, with its name, and which episode of
// its policy it is; of one that counts for no policy i. It returns an error of kind Damaged if it
// is not as it was imported.
func (s *Set) Trajectory(i int) (t *idrl.Trajectory, episode int, err error) {
	o, err := s.load(i)
	if err != nil {
		return nil, 0, err
	}
	e := s.x.Rollouts[i]
	t = foreign.Episode{Obs: o.Obs, Actions: o.Actions, Phi: o.Phi}.Trajectory(s.ID(), o.Terminated, float64(i))
	t.ID = idrl.TrajectoryID(e.Name)
	if e.Policy == noPolicy {
		return t, i, nil
	}
	return t, slices.Index(s.groups[e.Policy], i), nil
}

// EpisodeFeatures returns the discounted sum of the features of rollout i, length d; with mean its quotient with Σ γᵗ, the mean features of a step.
func (s *Set) EpisodeFeatures(i int, mean bool) []float64 {
	out := slices.Clone(s.x.Rollouts[i].Sum)
	if mean {
		floats.Scale(1/s.x.discounted(s.x.Rollouts[i].Steps), out)
	}
	return out
}
