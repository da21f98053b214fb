package recordings

import (
	"slices"

	"tiebreak/internal/idrl"
)

// An Episode says of a rollout of a Set what comparing policies needs.
type Episode struct {
	Policy  int    // place in Set.Policies; -1 of one that counts for none
	Task    string // what the policy was to do; may be empty
	Start   string // rollouts of one task with equal ones began alike; empty: not known
	Steps   int
	Success *bool // whether it did its task; nil: not known
}

// Episodes returns all rollouts of s, in the order in which Trajectory numbers them.
func (s *Set) Episodes() []Episode {
	out := make([]Episode, len(s.x.Rollouts))
	for i, e := range s.x.Rollouts {
		out[i] = Episode{e.Policy, e.Task, e.Start, e.Steps, e.Success}
	}
	return out
}

// Names returns what the manifest calls the policies, in the order of Policies: for researchers alone.
func (s *Set) Names() []string { return slices.Clone(s.x.Policies) }

// Tasks returns how many tasks the rollouts name, and in how many of these two policies or more have a start in common.
func (s *Set) Tasks() (named, started int) {
	acted := make([]idrl.Acted, 0, len(s.x.Rollouts))
	for _, e := range s.x.Rollouts {
		if e.Policy != noPolicy {
			acted = append(acted, idrl.Acted{Policy: s.x.Policies[e.Policy], Task: e.Task, Start: e.Start})
		}
	}
	return TasksOf(acted)
}

// TasksOf returns how many tasks recorded trajectories name, and in how many of these two policies or more have a start in common.
func TasksOf(acted []idrl.Acted) (named, started int) {
	type start struct{ task, start string }
	by, common, tasks := map[start]string{}, map[string]bool{}, map[string]bool{}
	for _, a := range acted {
		if a.Task == "" {
			continue
		}
		tasks[a.Task] = true
		at := start{a.Task, a.Start}
		if first, known := by[at]; known && first != a.Policy && a.Start != "" {
			common[a.Task] = true
		} else if !known {
			by[at] = a.Policy
		}
	}
	return len(tasks), len(common)
}
