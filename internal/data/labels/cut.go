package labels

import (
	"cmp"
	"context"
	"slices"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// segments returns those of pairs, each once, one rollout after another.
func segments(pairs []Pair) []Segment {
	var out []Segment
	for _, p := range pairs {
		out = append(out, p.Segments[:]...)
	}
	slices.SortFunc(out, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Rollout, b.Rollout), cmp.Compare(a.Start, b.Start))
	})
	return slices.Compact(out)
}

// Cut cuts the segments of n steps that pairs compare. keep is called with each rollout that has one,
// and which episode it is (recordings.Set.Trajectory), before clips are cut from it; it returns the
// name of its raw steps. Cut returns the errors of keep and of reading.
func Cut(ctx context.Context, set *recordings.Set, pairs []Pair, n int, keep func(t *idrl.Trajectory, episode int) (idrl.StepsID, error)) (map[Segment]idrl.Clip, error) {
	out := map[Segment]idrl.Clip{}
	var t *idrl.Trajectory
	last := -1
	for _, s := range segments(pairs) {
		if s.Rollout != last {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			of, episode, err := set.Trajectory(s.Rollout)
			if err != nil {
				return nil, err
			}
			if of.Raw, err = keep(of, episode); err != nil {
				return nil, err
			}
			t, last = of, s.Rollout
		}
		out[s] = idrl.Segment(t, s.Start, n)
	}
	return out, nil
}
