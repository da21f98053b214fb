package trainer

import (
	"fmt"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// gradualMore is how many more clips a generation asks about for each row of the log (Thompson.Gradual). To cut them takes less time than a
// person takes to answer, so that the next generation is there before a person who is asked about single clips has seen all.
const gradualMore = 2

// mostClips returns how many clips a generation asks about; 0: all.
func (r *simulation) mostClips() int {
	if r.gradual <= 0 || r.kind.Still() {
		return 0
	}
	if r.job.First {
		return r.gradual
	}
	return r.gradual + gradualMore*int(r.job.BasedOn)
}

// some returns of the candidates' rollouts the first openings, and besides so many clips that there are most in all: openings of first
// rollouts, of second ones and so on, then other clips. The policies of the pool are in an order that the seed draws, the same in every
// generation, so that a later one has the clips of an earlier one and more; the candidates come after them.
func (r *simulation) some(candidates, pool [][]rollout, most int) (own, others [][]rollout) {
	own = brief(candidates)
	var set clipSet
	set.addAll(openings(own))
	policies := make([][]rollout, 0, len(pool)+len(candidates))
	for _, k := range rng.New(r.job.Seed, "gradual", 0).Perm(len(pool)) {
		policies = append(policies, pool[k])
	}
	policies = append(policies, candidates...)
	for _, at := range turns(policies) {
		for _, p := range policies {
			if at.rollout >= len(p) || at.clip >= len(p[at.rollout].clips) {
				continue
			}
			if len(set.list) >= most {
				return own, others
			}
			ro := p[at.rollout]
			ro.clips = ro.clips[at.clip : at.clip+1 : at.clip+1]
			set.addAll(ro.clips)
			others = append(others, []rollout{ro})
		}
	}
	return own, others
}

// A turn is the place of a clip among those of a policy.
type turn struct{ rollout, clip int }

// turns returns the places of clips in the order in which they are taken.
func turns(policies [][]rollout) (out []turn) {
	rollouts, clips := 0, 0
	for _, p := range policies {
		rollouts = max(rollouts, len(p))
		for _, ro := range p {
			clips = max(clips, len(ro.clips))
		}
	}
	for c := range clips {
		for n := range rollouts {
			out = append(out, turn{n, c})
		}
	}
	return out
}

// undrawn adds clips that show policies, without drawings, which a later generation brings.
func undrawn(to map[idrl.ClipID]idrl.Clip, clips []idrl.Clip) {
	for _, c := range clips {
		if _, drawn := to[c.ID]; !drawn {
			c.Media = nil
			to[c.ID] = c
		}
	}
}

// cutting tells that the n-th of so many clips is drawn, where each takes seconds.
func (r *simulation) cutting(n, of int) {
	if r.gradual > 0 && r.job.Progress != nil {
		r.job.Progress(n-1, of, Cutting(n, of))
	}
}

// Cutting says to people that the n-th of so many clips is being cut.
func Cutting(n, of int) string { return fmt.Sprintf("cutting clips: %d of %d", n, of) }
