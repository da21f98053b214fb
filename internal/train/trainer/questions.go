package trainer

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
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

func (s *clipSet) addAll(list []idrl.Clip) {
	for _, c := range list {
		s.add(c)
	}
}

// clipLen returns the number of steps of a clip of t.
func (r *simulation) clipLen(t *idrl.Trajectory) int {
	n := r.env.Spec().ClipSteps
	if n <= 0 || n > t.Len() {
		n = t.Len()
	}
	return n
}

// opening returns the clip of the first ClipSteps steps of t; with Ends, of the last ones. The n-th rollouts
// of all policies begin in the same state, so that their openings compare the
// policies fairly.
func (r *simulation) opening(t *idrl.Trajectory) idrl.Clip {
	n := r.clipLen(t)
	if r.ends {
		return idrl.Segment(t, t.Len()-n, n)
	}
	return idrl.Segment(t, 0, n)
}

// others returns the clips of the n-th rollout besides its opening: stills if questions
// are about states, except where these are the same for all policies; else segments.
func (r *simulation) others(t *idrl.Trajectory, n int) []idrl.Clip {
	if !r.kind.Still() {
		return r.randomClips(t, n)
	}
	if _, ok := r.env.(idrl.Tabular); ok {
		return nil
	}
	return stills(t)
}

// randomClips returns clips that begin at uniformly drawn steps of the n-th rollout.
// There are none if it is shorter than two clips. If the robot falls, the clips end
// before the fall, except for the last one, which shows it if the opening does not.
func (r *simulation) randomClips(t *idrl.Trajectory, n int) []idrl.Clip {
	long, count := r.clipLen(t), r.segments
	if t.Len() < 2*long || count == 0 {
		return nil
	}
	fall := t.Fall()
	if fall <= t.Len() {
		count--
	}
	stream := r.stream("segments", n)
	var out []idrl.Clip
	if fall > 2*long {
		for range count {
			out = append(out, idrl.Segment(t, stream.IntN(fall-long), long))
		}
	}
	if fall > long && fall <= t.Len() {
		out = append(out, idrl.Segment(t, min(fall-long/2, t.Len()-long), long))
	}
	return out
}

// openings returns the opening of each policy's first rollout.
func openings(policies [][]rollout) []idrl.Clip {
	out := make([]idrl.Clip, len(policies))
	for i, ts := range policies {
		out[i] = ts[0].clips[0]
	}
	return out
}

// questions returns the clips that may be shown, the first keep of which are the
// candidates' own, from their first rollouts, and the questions about them. It
// takes the rollouts of each policy, and those with a clip that was made each. The questions of a
// follow-up (idrl.TrainJob.From) are about its candidates.
func (r *asking) questions(candidates, pool [][]rollout, made []rollout) (clips []idrl.Clip, keep int, queries []idrl.Query, err error) {
	var set, others clipSet
	for _, c := range openings(candidates) {
		set.add(c)
	}
	keep = len(set.list)
	for _, ro := range made {
		set.addAll(ro.clips)
	}
	offered := offer{keep: len(set.list)}
	if r.job.From > 0 {
		offered.of = policiesOf(candidates)
	}
	if r.everyTwo {
		offered.by = policiesOf(slices.Concat(candidates, pool))
	}
	for _, t := range slices.Concat(slices.Concat(candidates...), slices.Concat(pool...)) {
		if r.kind.Still() {
			others.addAll(t.clips[1:])
		} else {
			set.addAll(t.clips)
		}
	}
	if !r.kind.Still() {
		queries, err = r.ask(set.list, offered)
		return set.list, keep, queries, err
	}
	if env, ok := r.env.(idrl.Tabular); ok {
		others.list = idrl.DistinctStills(env)
	}
	offered.keep = 0
	queries, err = r.ask(others.list, offered)
	return slices.Concat(set.list, others.list), keep, queries, err
}

// An offer says which questions a generation lists.
type offer struct {
	keep int                 // comparisons within the first so many clips are not thinned out
	of   map[idrl.ClipID]int // questions show one of these clips; nil: any
	by   map[idrl.ClipID]int // the policy that a clip shows: the best comparison of every two is not thinned out; may be nil
}

// policiesOf returns the place of the first policy that shows each clip of rollouts.
func policiesOf(policies [][]rollout) map[idrl.ClipID]int {
	out := map[idrl.ClipID]int{}
	for k, rollouts := range policies {
		for _, ro := range rollouts {
			for _, c := range ro.clips {
				if _, known := out[c.ID]; !known {
					out[c.ID] = k
				}
			}
		}
	}
	return out
}

// shows reports whether the offer has questions about clips at these places of a list.
func (o offer) shows(clips []idrl.Clip, places ...int) bool {
	return o.of == nil || slices.ContainsFunc(places, func(i int) bool {
		_, ok := o.of[clips[i].ID]
		return ok
	})
}

// firstOfTwo returns a function that reports whether a comparison is the first one of its two policies among those that it was
// called with.
func (o offer) firstOfTwo(clips []idrl.Clip) func(pair [2]int) bool {
	had := map[[2]int]bool{}
	return func(pair [2]int) bool {
		a, b := o.by[clips[pair[0]].ID], o.by[clips[pair[1]].ID]
		two := [2]int{min(a, b), max(a, b)}
		first := o.by != nil && !had[two]
		had[two] = true
		return first
	}
}

// Stills of a trajectory are at least stillEvery steps apart, and not many more
// than maxStills.
const (
	stillEvery = 5
	maxStills  = 10
)

// stills returns states along t to ask about: of those after a fall the first.
func stills(t *idrl.Trajectory) (out []idrl.Clip) {
	every := max(stillEvery, t.Len()/maxStills)
	for step := every - 1; step < t.Len(); step += every {
		out = append(out, idrl.Still(t, step))
		if step+1 >= t.Fall() {
			break
		}
	}
	return out
}

// ask returns the questions about clips: a rating of each that is worth it, or a comparison of
// every two that differ in features and are worth it. If they are more than maxQueries they are
// thinned out at random, but for those that the offer keeps.
func (r *asking) ask(clips []idrl.Clip, offered offer) ([]idrl.Query, error) {
	stream := rng.New(r.job.Seed, "queries", uint64(r.job.BasedOn))
	var out []idrl.Query
	if !r.kind.Comparison() {
		rated, err := r.worthRating(clips)
		if err != nil {
			return nil, err
		}
		rated = slices.DeleteFunc(rated, func(i int) bool { return !offered.shows(clips, i) })
		for _, i := range choose(len(rated), r.maxQueries, stream) {
			out = append(out, idrl.NewRating(clips[rated[i]]))
		}
		return out, nil
	}
	pairs, err := r.worth(clips)
	if err != nil {
		return nil, err
	}
	var kept, rest [][2]int
	firstOfTwo := offered.firstOfTwo(clips)
	for _, pair := range pairs {
		switch {
		case !offered.shows(clips, pair[:]...):
		case slices.Equal(clips[pair[0]].Phi, clips[pair[1]].Phi): // nothing to tell apart
		case pair[1] < offered.keep || firstOfTwo(pair):
			kept = append(kept, pair)
		default:
			rest = append(rest, pair)
		}
	}
	for _, k := range choose(len(rest), max(0, r.maxQueries-len(kept)), stream) {
		kept = append(kept, rest[k])
	}
	for _, pair := range kept {
		if q := idrl.ComparisonVector(clips[pair[0]], clips[pair[1]]); floats.Norm(q.X, 1) > 0 {
			out = append(out, q.Query)
		}
	}
	return out, nil
}

// worthRating returns the places of the clips that are worth a rating.
func (r *asking) worthRating(clips []idrl.Clip) (out []int, err error) {
	if r.rated != nil {
		if err := r.drawEach(clips); err != nil {
			return nil, err
		}
		if out, err = r.rated(clips); err != nil || len(out) > 0 {
			return out, err
		}
	}
	for i := range clips {
		out = append(out, i)
	}
	return out, nil
}

// worth returns the pairs of clips that are worth a comparison, the lower place first.
func (r *asking) worth(clips []idrl.Clip) (out [][2]int, err error) {
	if r.pairs != nil {
		if err := r.drawEach(clips); err != nil {
			return nil, err
		}
		if out, err = r.pairs(clips); err != nil || len(out) > 0 {
			return out, err
		}
	}
	for j := range clips {
		for i := range j {
			out = append(out, [2]int{i, j})
		}
	}
	return out, nil
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
	r.report(r.solves(), "drawing clips")
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
	for i, c := range wanted.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.drawn[c.ID] == nil {
			r.cutting(i+1, len(wanted.list))
		}
		if err := r.drawOne(&c); err != nil {
			return nil, err
		}
		out[c.ID] = c
	}
	return out, nil
}

// drawAll draws the clips of s and tells of them and of its raw steps.
func (r *asking) drawAll(ctx context.Context, s *solved) error {
	for _, ro := range s.rollouts {
		for k := range ro.clips {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.drawOne(&ro.clips[k]); err != nil {
				return err
			}
		}
	}
	r.tell(*s)
	return nil
}

// drawEach adds drawings to clips that have none.
func (r *asking) drawEach(clips []idrl.Clip) error {
	for i := range clips {
		r.cutting(i+1, len(clips))
		if err := r.drawOne(&clips[i]); err != nil {
			return err
		}
	}
	return nil
}

// drawOne adds the drawing to a clip that has none, and keeps it for others like it.
func (r *asking) drawOne(c *idrl.Clip) (err error) {
	if c.Media == nil {
		c.Media = r.drawn[c.ID]
	}
	if c.Media == nil && r.encode != nil {
		if c.Media, err = r.encode(r.env, *c); err != nil {
			return fmt.Errorf("draw clip %s: %w", c.ID, err)
		}
	}
	r.drawn[c.ID] = c.Media
	return nil
}

// tell tells of the clips and the raw steps of s, which are drawn.
func (r *asking) tell(s solved) {
	if r.job.Made == nil {
		return
	}
	part := idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}}
	for _, ro := range s.rollouts {
		for _, c := range ro.clips {
			part.Clips[c.ID] = c
		}
	}
	part.Steps = kept(s.rollouts)
	r.job.Made(part)
}
