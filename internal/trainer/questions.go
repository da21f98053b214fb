package trainer

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// clipSet is a list of distinct clips in the order they were added.
type clipSet struct {
	list []idrl.Clip
	has  map[idrl.ClipID]bool
}

func (s *clipSet) add(c idrl.Clip) {
	if s.has == nil {
		s.has = map[idrl.ClipID]bool{}
	}
	if !s.has[c.ID] {
		s.has[c.ID] = true
		s.list = append(s.list, c)
	}
}

// clipLen returns the number of steps of a clip of t.
func (r *run) clipLen(t rollout) int {
	n := r.env.Spec().ClipSteps
	if n <= 0 || n > t.Len() {
		n = t.Len()
	}
	return n
}

// opening returns the clip of the first ClipSteps steps of t. The n-th rollouts
// of all policies begin in the same state, so that their openings compare the
// policies fairly; where there are several, a question may also be about what
// befell a policy.
func (r *run) opening(t rollout) idrl.Clip { return idrl.Segment(t.Trajectory, 0, r.clipLen(t)) }

// openings returns the opening of each policy's first rollout.
func (r *run) openings(policies [][]rollout) []idrl.Clip {
	out := make([]idrl.Clip, len(policies))
	for i, ts := range policies {
		out[i] = r.opening(ts[0])
	}
	return out
}

// randomClips returns clips that begin at uniformly drawn steps of t. There are none
// if t is shorter than two clips.
func (r *run) randomClips(t rollout) []idrl.Clip {
	n := r.clipLen(t)
	if t.Len() < 2*n {
		return nil
	}
	stream := r.stream("segments", t.n)
	var out []idrl.Clip
	for range r.segments {
		out = append(out, idrl.Segment(t.Trajectory, stream.IntN(t.Len()-n+1), n))
	}
	return out
}

// questions returns the clips that may be shown, the first keep of which are the
// candidates' own, from their first rollouts, and the questions about them. It
// takes the rollouts of each policy.
func (r *run) questions(candidates, pool [][]rollout) (clips []idrl.Clip, keep int, queries []idrl.Query) {
	var set clipSet
	for _, c := range r.openings(candidates) {
		set.add(c)
	}
	keep = len(set.list)
	all := slices.Concat(slices.Concat(candidates...), slices.Concat(pool...))
	if r.kind.Still() {
		stills := r.stills(all)
		return slices.Concat(set.list, stills), keep, r.ask(stills, 0)
	}
	for _, t := range all {
		set.add(r.opening(t))
		for _, c := range r.randomClips(t) {
			set.add(c)
		}
	}
	return set.list, keep, r.ask(set.list, keep)
}

// Stills of a trajectory are at least stillEvery steps apart, and not many more
// than maxStills.
const (
	stillEvery = 5
	maxStills  = 10
)

// stills returns the states to ask about: in a tabular environment the first
// state of each distinct row of features, since states with equal features have
// equal rewards; elsewhere states along the rollouts.
func (r *run) stills(rollouts []rollout) []idrl.Clip {
	if env, ok := r.env.(idrl.Tabular); ok {
		return tabularStills(env)
	}
	var out clipSet
	for _, t := range rollouts {
		every := max(stillEvery, t.Len()/maxStills)
		for step := every - 1; step < t.Len(); step += every {
			out.add(idrl.Still(t.Trajectory, step))
		}
	}
	return out.list
}

func tabularStills(env idrl.Tabular) []idrl.Clip {
	spec := env.Spec()
	phi := mat.NewDense(env.NumStates(), spec.FeatureDim(), nil)
	env.Features(phi)
	var out []idrl.Clip
	for s := range env.NumStates() {
		row := slices.Clone(phi.RawRowView(s))
		if slices.ContainsFunc(out, func(c idrl.Clip) bool { return slices.Equal(c.Phi, row) }) {
			continue
		}
		out = append(out, idrl.NewStill(spec.ID, "states", s, []float64{float64(s), 0}, row))
	}
	return out
}

// ask returns the questions about clips: a rating of each, or a comparison of
// every two that differ in features. If they are more than maxQueries they are
// thinned out at random, but for comparisons within the first keep clips.
func (r *run) ask(clips []idrl.Clip, keep int) []idrl.Query {
	stream := rng.New(r.job.Seed, "queries", uint64(r.job.BasedOn))
	var out []idrl.Query
	if !r.kind.Comparison() {
		for _, i := range choose(len(clips), r.maxQueries, stream) {
			out = append(out, idrl.NewRating(clips[i]))
		}
		return out
	}
	var kept, rest [][2]int
	for j := range clips {
		for i := range j {
			switch {
			case slices.Equal(clips[i].Phi, clips[j].Phi): // nothing to tell apart
			case j < keep:
				kept = append(kept, [2]int{i, j})
			default:
				rest = append(rest, [2]int{i, j})
			}
		}
	}
	for _, k := range choose(len(rest), max(0, r.maxQueries-len(kept)), stream) {
		kept = append(kept, rest[k])
	}
	for _, pair := range kept {
		if q := idrl.NewComparison(clips[pair[0]], clips[pair[1]]); floats.Norm(q.X, 1) > 0 {
			out = append(out, q)
		}
	}
	return out
}

// choose returns k distinct numbers below n in ascending order, or all of them
// if they are no more than k. It draws by Floyd's algorithm.
func choose(n, k int, stream *rand.Rand) []int {
	if n <= k {
		k = n
	}
	picked := make(map[int]bool, k)
	for j := n - k; j < n; j++ {
		i := stream.IntN(j + 1)
		if picked[i] {
			i = j
		}
		picked[i] = true
	}
	return slices.Sorted(maps.Keys(picked))
}

// draw returns by ID the clips that show policies and those of clips that a query is
// about, encoded.
func (r *run) draw(ctx context.Context, clips, shown []idrl.Clip, queries []idrl.Query) (map[idrl.ClipID]idrl.Clip, error) {
	r.report(r.samples+1, "drawing clips")
	asked := map[idrl.ClipID]bool{}
	for _, q := range queries {
		for _, id := range q.Clips {
			asked[id] = true
		}
	}
	wanted := clipSet{}
	for _, c := range shown {
		wanted.add(c)
	}
	for _, c := range clips {
		if asked[c.ID] {
			wanted.add(c)
		}
	}
	out := make(map[idrl.ClipID]idrl.Clip, len(wanted.list))
	for _, c := range wanted.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.encode != nil {
			media, err := r.encode(r.env, c)
			if err != nil {
				return nil, fmt.Errorf("draw clip %s: %w", c.ID, err)
			}
			c.Media = media
		}
		out[c.ID] = c
	}
	return out, nil
}
