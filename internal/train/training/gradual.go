package training

import (
	"context"
	"maps"
	"slices"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/idrl"
)

// EncountersName is the name under which an arena keeps how many of its clips are cut (idrl.Generation.Agents).
const EncountersName = "encounters"

// Partial reports whether an arena asks about a part of its clips, and cuts more. kept is its idrl.Generation.Agents[EncountersName]; of one that cannot be read a
// follow-up says so.
func Partial(kept []byte) bool {
	state, err := pack.Decode[cutState](kept)
	return err != nil || !state.All
}

// A footage has the episodes of encounters.
type footage interface {
	// meet returns the clips of an encounter, the n-th one. total is that of progress.
	meet(ctx context.Context, e encounter, n, total int) (shots, error)
	// gather returns the episodes of an encounter, without clips.
	gather(ctx context.Context, e encounter) (shots, error)
}

// A cutState says how far the clips of an arena of filmed recordings are cut.
type cutState struct {
	Turns int // of encounterPlan that are asked about
	All   bool
}

// gradual makes the clips of an arena of recordings. Where they are cut from videos, which takes seconds each, the first generation has those of
// whole turns of the tasks, the fewest after which there is a question about every two entrants. Each follow-up adds as many turns as there are. Which
// episodes are in a turn, and in which order, was drawn by the seed: at any time each task has as many encounters as each other one that has so many, a random part of
// its own, whatever is answered. The session asks each question once until all clips of its task are cut, so that answers are about episodes drawn without replacement, and
// the test for a winner holds (TestFalseWinnersOfManyArenas). Tasks count alike from the first question on.
func (a *arenaShow) gradual(ctx context.Context, req request, from footage, plan encounterPlan) (idrl.Generation, error) {
	clips := make([]int, 1, 1+len(plan.encounters)) // of the first n encounters
	for n, e := range plan.encounters {
		clips = append(clips, clips[n]+len(e.episodes))
	}
	total := clips[len(plan.encounters)]
	m := &made{shoot: func(ctx context.Context, n int) (shots, error) { return from.meet(ctx, plan.encounters[n], n, total) }}
	switch {
	case req.From > 0:
		return a.more(ctx, req, m, plan, clips)
	case !a.filmed:
		return a.generation(ctx, req.BasedOn, m, len(plan.encounters))
	}
	state := cutState{}
	for state.Turns < len(plan.turns) && (state.Turns == 0 || !m.allAsked(a.spec.Arena)) {
		end := plan.turns[state.Turns]
		total = clips[end]
		if err := m.upTo(ctx, end); err != nil {
			return idrl.Generation{}, err
		}
		state.Turns++
	}
	state.All = state.Turns == len(plan.turns)
	for _, e := range plan.encounters[m.n:] {
		s, err := from.gather(ctx, e)
		if err != nil {
			return idrl.Generation{}, err
		}
		m.keep(s)
	}
	g, err := a.generation(ctx, req.BasedOn, m, m.n)
	if err == nil && !state.All {
		g.Agents, err = state.agents()
	}
	return g, err
}

// more returns the clips and questions of further turns, for a follow-up: nothing if there are none. clips has how many clips the first n encounters have.
func (a *arenaShow) more(ctx context.Context, req request, m *made, plan encounterPlan, clips []int) (g idrl.Generation, err error) {
	g.BasedOn = req.BasedOn
	kept, ok := req.Agents[EncountersName]
	if !ok {
		return g, nil // all were made at once
	}
	state, err := pack.Decode[cutState](kept)
	switch {
	case err != nil || state.Turns < 1 || state.Turns > len(plan.turns):
		return g, idrl.Errorf(idrl.Damaged, "how many clips of arena %s are cut cannot be read: %v", a.spec.ID, err)
	case state.All:
		return g, nil
	}
	from, turns := plan.turns[state.Turns-1], min(2*state.Turns, len(plan.turns))
	a.known = clips[from]
	if err := m.upTo(ctx, plan.turns[turns-1]); err != nil { // the clips of the first ones are in the cache, and questions like them are left out
		return g, err
	}
	old := func(id idrl.ClipID) bool { return m.set[id] < from }
	g.Queries = slices.DeleteFunc(m.questions(), func(q idrl.Query) bool { return old(q.Clips[0]) })
	g.Clips = m.clips
	maps.DeleteFunc(g.Clips, func(id idrl.ClipID, _ idrl.Clip) bool { return old(id) })
	a.shuffle(g.Queries, uint64(from)) // #nosec G115 -- a place
	g.Agents, err = cutState{turns, turns == len(plan.turns)}.agents()
	return g, err
}

// agents returns s as idrl.Generation.Agents.
func (s cutState) agents() (map[string][]byte, error) {
	b, err := pack.Encode(&s)
	return map[string][]byte{EncountersName: b}, err
}

// allAsked reports whether there is a question about every two entrants.
func (m *made) allAsked(arena idrl.Arena) bool {
	pairs := map[int]bool{}
	for _, q := range m.questions() {
		i, _ := arena.EntrantOf(m.clips[q.Clips[0]].From)
		j, _ := arena.EntrantOf(m.clips[q.Clips[1]].From)
		pairs[arena.PairPlace(i, j)] = true
	}
	n := len(arena.Entrants)
	return len(pairs) == n*(n-1)/2
}
