package recordings

import "slices"

// An Episode says of a rollout of a Set what comparing policies needs.
type Episode struct {
	Policy int    // place in Set.Policies; -1 of one that counts for none
	Task   string // what the policy was to do; may be empty
	Start  string // rollouts of one task with equal ones began alike; empty: not known
	Steps  int
}

// Episodes returns all rollouts of s, in the order in which Trajectory numbers them.
func (s *Set) Episodes() []Episode {
	out := make([]Episode, len(s.x.Rollouts))
	for i, e := range s.x.Rollouts {
		out[i] = Episode{e.Policy, e.Task, e.Start, e.Steps}
	}
	return out
}

// Names returns what the manifest calls the policies, in the order of Policies: for researchers alone.
func (s *Set) Names() []string { return slices.Clone(s.x.Policies) }
