package episodes

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// places tell which rollout of a set a clip was cut from.
type places struct {
	set   *recordings.Set
	about []recordings.Episode // of each rollout

	arena    bool
	rollouts map[string]int             // by name
	acted    map[idrl.PolicyID][]string // names of the rollouts of each policy of the session
	numbers  []int64                    // episode_index of each rollout
	numbered bool                       // they are those of the data set, by the names of the rollouts
}

// findPlaces reads which policies the session knows.
func findPlaces(ctx context.Context, from bundle.Source, set *recordings.Set, acted func(*recordings.Set, idrl.Candidate) (recordings.Policy, bool)) (p places, err error) {
	p = places{set: set, about: set.Episodes(), arena: from.Spec().IsArena(), rollouts: map[string]int{}, acted: map[idrl.PolicyID][]string{}}
	for i := range p.about {
		p.rollouts[set.RolloutName(i)] = i
	}
	p.number()
	err = from.Policies(ctx, func(_ int64, c idrl.Candidate) error {
		if policy, ok := acted(set, c); ok {
			p.acted[c.ID] = policy.Rollouts()
		}
		return nil
	})
	return p, err
}

// of returns the rollout that a clip was cut from. The name of its trajectory is that of a policy of the session and a number among its rollouts
// (idrl.TrajectoryID.Episode); in an arena that of an entrant and the number of the rollout; of labels that were imported that of the rollout.
func (p *places) of(c *idrl.Clip) (int, error) {
	if p.arena {
		parts := strings.Split(string(c.From), ".")
		if len(parts) > 1 {
			if i, err := strconv.Atoi(parts[1]); err == nil && i >= 0 && i < len(p.about) {
				return i, nil
			}
		}
	}
	id, n := c.From.Episode()
	if names := p.acted[id]; n < len(names) {
		return p.rollouts[names[n]], nil
	}
	if i, ok := p.rollouts[string(c.From)]; ok {
		return i, nil
	}
	return 0, idrl.Errorf(idrl.Damaged, "clip %s is of %q, which is none of the rollouts of %s", c.ID, c.From, p.set.ID())
}

// episodeName matches the names of rollouts that are episodes of a LeRobot data set.
var episodeName = regexp.MustCompile(`^episode-([0-9]{1,18})$`)

// number gives the rollouts their numbers: those in their names, as in episode-000012; where one is called otherwise, or two have one number, their
// places, from 0.
func (p *places) number() {
	p.numbers, p.numbered = make([]int64, len(p.about)), true
	seen := map[int64]bool{}
	for i := range p.about {
		name := episodeName.FindStringSubmatch(p.set.RolloutName(i))
		if p.numbered = name != nil; !p.numbered {
			break
		}
		n, err := strconv.ParseInt(name[1], 10, 64)
		if p.numbered = err == nil && !seen[n]; !p.numbered {
			break
		}
		p.numbers[i], seen[n] = n, true
	}
	for i := range p.numbers {
		if !p.numbered {
			p.numbers[i] = int64(i)
		}
	}
}

// rows returns what is known of each episode before answers.
func (p *places) rows() []episodeRow {
	out := make([]episodeRow, len(p.about))
	for i, e := range p.about {
		out[i] = episodeRow{Index: p.numbers[i], Name: p.set.RolloutName(i), Task: given(e.Task), Start: given(e.Start), Steps: int64(e.Steps), Success: e.Success}
		if policy, ok := p.set.Policy(e.Policy); ok && p.set.Named() {
			out[i].Policy = given(policy.Name())
		}
	}
	return out
}
