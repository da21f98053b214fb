package solver

import (
	"slices"

	"tiebreak/internal/idrl"
)

// maxPolicies is the largest number of policies that AllPolicies returns.
const maxPolicies = 1 << 16

// AllPolicies returns the Params of every deterministic policy of a small
// environment. Only states in which the transition probabilities depend on the
// action are free; the others take action 0. The order is that of counting: the
// action of the last free state changes fastest. It returns an error of kind
// Invalid if there are more than 65536. Source: docs/paper-code.md, section
// 1.2.
func AllPolicies(env idrl.Tabular) ([][]float64, error) {
	m := newModel(env)
	var free []int
	total := 1
	for s := range m.n {
		if !m.free(s) {
			continue
		}
		free = append(free, s)
		if total *= m.actions; total > maxPolicies {
			return nil, idrl.Errorf(idrl.Invalid, "%s has more than %d policies; use a solver that plans", env.Spec().ID, maxPolicies)
		}
	}
	all := matrix(total, m.n)
	for k, p := range all {
		for _, s := range slices.Backward(free) {
			p[s] = float64(k % m.actions)
			k /= m.actions
		}
	}
	return all, nil
}

// free reports whether the actions in s have different transitions.
func (m *model) free(s int) bool {
	to, prob := m.successors(s, 0)
	for a := 1; a < m.actions; a++ {
		if to2, prob2 := m.successors(s, a); !slices.Equal(to, to2) || !slices.Equal(prob, prob2) {
			return true
		}
	}
	return false
}

// ShortestPaths returns for every target state the Params of a policy that goes
// there by a shortest path: in each state it takes the action with the lowest
// index among those that begin one. At the target, and where no path leads
// there, it takes the last action that stays in place, or action 0 if none
// does. It returns an error of kind Invalid if the transitions of env are
// random or a target is no state. Source: docs/paper-code.md, section 1.4
// (Gridworld), where ties are broken by a library.
func ShortestPaths(env idrl.Tabular, targets []int) ([][]float64, error) {
	m := newModel(env)
	from := make([][]int, m.n) // states with an action that leads to a state
	for s := range m.n {
		for a := range m.actions {
			to, prob := m.successors(s, a)
			if len(to) != 1 || prob[0] != 1 {
				return nil, idrl.Errorf(idrl.Invalid, "shortest paths need certain transitions; action %d in state %d of %s is random", a, s, env.Spec().ID)
			}
			from[to[0]] = append(from[to[0]], s)
		}
	}
	out := matrix(len(targets), m.n)
	for i, target := range targets {
		if target < 0 || target >= m.n {
			return nil, idrl.Errorf(idrl.Invalid, "target %d is not one of the states 0 to %d", target, m.n-1)
		}
		m.follow(out[i], distances(from, target))
	}
	return out, nil
}

// unreachable is the distance of states from which no path leads to the target.
const unreachable = -1

// distances returns the least number of steps from every state to target, by
// breadth-first search against the direction of the steps.
func distances(from [][]int, target int) []int {
	dist := slices.Repeat([]int{unreachable}, len(from))
	dist[target] = 0
	for queue := []int{target}; len(queue) > 0; queue = queue[1:] {
		for _, s := range from[queue[0]] {
			if dist[s] == unreachable {
				dist[s] = dist[queue[0]] + 1
				queue = append(queue, s)
			}
		}
	}
	return dist
}

// follow stores in policy an action of every state that reduces its distance,
// or stays where none does.
func (m *model) follow(policy []float64, dist []int) {
	next := func(s, a int) int { to, _ := m.successors(s, a); return to[0] }
	for s := range m.n {
		for a := range m.actions {
			if next(s, a) == s {
				policy[s] = float64(a)
			}
		}
		for a := range m.actions {
			if dist[s] > 0 && dist[next(s, a)] == dist[s]-1 {
				policy[s] = float64(a)
				break
			}
		}
	}
}
