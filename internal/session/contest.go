package session

import (
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/sequential"
)

// A contest is the test of an arena for a winner, after the answers that count.
type contest struct {
	state *sequential.State // nil without a test
	seq   int64             // log row of the last answer
	n     int               // answers
	edits int               // rows that are no replies
	gen   *idrl.Generation  // whose questions can be asked
}

// contest returns the test of an arena after the answers that count; nil where it has none.
func (s *generation) contest() *sequential.State {
	if s.spec.Arena.Detect == 0 || s.gen == nil {
		return nil
	}
	c := &s.tested
	later := s.history.After(c.seq + 1)
	if c.gen != s.gen || c.edits != len(s.log.edits) || c.n+len(later) != s.history.Len() {
		*c = contest{state: bradley.NewTest(s.spec.Arena, s.gen), edits: len(s.log.edits), gen: s.gen}
		later = s.history.After(0)
	}
	for _, i := range later {
		a, b := meet(i.Query)
		c.state.Add(a, b, i.Choice)
		c.seq = i.Seq
	}
	c.n = s.history.Len()
	return c.state
}

// meet returns the entrants of a question of an arena.
func meet(q *idrl.QueryVector) (a, b int) { return slices.Index(q.X, 1), slices.Index(q.X, -1) }

// decides reports whether answers to a question may still decide the test of an arena; they may in other sessions, and where there is no test.
func (s *generation) decides(q *idrl.QueryVector) bool {
	state := s.contest()
	return state == nil || state.Open(meet(q))
}

// contestOver reports whether the test of an arena is over.
func (s *generation) contestOver() bool {
	state := s.contest()
	return state != nil && state.Verdict().Done
}

// deciding returns, of what may be asked, the questions about the pair of entrants that decides most, beside pending ones; all where an arena has no test.
func (s *selector) deciding(askable, pending []idrl.QueryVector) []idrl.QueryVector {
	state := s.contest()
	if state == nil {
		return askable
	}
	awaited := map[[2]int]int{}
	for i := range pending {
		a, b := meet(&pending[i])
		awaited[[2]int{min(a, b), max(a, b)}]++
	}
	for _, pair := range state.Next(func(i, j int) int { return awaited[[2]int{min(i, j), max(i, j)}] }) {
		other := func(q idrl.QueryVector) bool {
			a, b := meet(&q)
			return a != pair[0] && a != pair[1] || b != pair[0] && b != pair[1]
		}
		if slices.ContainsFunc(askable, func(q idrl.QueryVector) bool { return !other(q) }) {
			return slices.DeleteFunc(askable, other)
		}
	}
	return askable[:0]
}

// balanced returns, of what may be asked about two entrants of an arena of recorded policies, the questions of the task about which they were asked
// least, beside fresh ones: so tasks count alike, however long an arena goes on. It depends on no answer. vectors are all questions, and times says
// how often each was asked.
func (c *queryIndex) balanced(askable, vectors []idrl.QueryVector, times map[idrl.QueryID]int, fresh []record.Assignment) []idrl.QueryVector {
	if c.tasks == nil || len(askable) == 0 {
		return askable
	}
	asked := map[cell]int{}
	for i := range vectors {
		asked[c.cell(&vectors[i])] += times[vectors[i].ID]
	}
	for _, as := range fresh {
		if place, ok := c.index[as.Query.ID]; ok {
			asked[c.cell(&vectors[place])]++
		}
	}
	least := map[[2]int]int{}
	for i := range askable {
		q := c.cell(&askable[i])
		if n, ok := least[q.pair]; !ok || asked[q] < n {
			least[q.pair] = asked[q]
		}
	}
	return slices.DeleteFunc(askable, func(v idrl.QueryVector) bool {
		q := c.cell(&v)
		return asked[q] > least[q.pair]
	})
}

// A cell has the questions of an arena of recorded policies about two entrants in a task.
type cell struct {
	pair [2]int // the lower one first
	task int
}

// cell returns that of a question of the generation.
func (c *queryIndex) cell(q *idrl.QueryVector) cell {
	a, b := meet(q)
	return cell{[2]int{min(a, b), max(a, b)}, c.tasks[c.index[q.ID]]}
}

// noteAsked puts aside the questions of an arena whose clips are still being cut that somebody was asked before: answers of several people about the same few
// episodes would say little of the others, and the test takes answers as independent. Where two entrants have more questions about another task, all
// clips of a task are cut, and its questions come again, so that tasks go on counting alike. vectors are all questions, and times says how often each was asked.
func (c *queryIndex) noteAsked(vectors []idrl.QueryVector, times map[idrl.QueryID]int) {
	has, most := map[cell]int{}, map[[2]int]int{}
	for i := range vectors {
		q := c.cell(&vectors[i])
		has[q]++
		most[q.pair] = max(most[q.pair], has[q])
	}
	for i := range vectors {
		if q := c.cell(&vectors[i]); times[vectors[i].ID] > 0 && has[q] == most[q.pair] {
			c.standings[i] |= learning.Out
		}
	}
}

// tasksOf returns the task of each query of a generation, by its place in the arena; nil unless its entrants are recorded policies.
func tasksOf(arena idrl.Arena, g *idrl.Generation) (out []int) {
	if !arena.Recorded() {
		return nil
	}
	for _, q := range g.Queries {
		m, _ := arena.MeetingOf(g.Clips[q.Clips[0]].From)
		out = append(out, m.Task)
	}
	return out
}
