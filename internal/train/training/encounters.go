package training

import (
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// An encounter has one episode each of two recorded policies or more, of one task. Questions are about two of them.
type encounter struct {
	idrl.Meeting
	episodes map[int]int     // rollout of the set, by entrant
	pairs    map[[2]int]bool // of entrants, the lower one first, about which questions are asked
	share    float64         // where the clips begin, of what comes before the last clip of the longest episode
}

// An encounterPlan says which episodes of the entrants of an arena of recordings meet.
type encounterPlan struct {
	tasks      []string // of the encounters
	encounters []encounter
	planned    []int // encounters of every two entrants, by idrl.Arena.PairPlace
	turns      []int // how many encounters there are up to the end of each turn of the tasks
}

// PlanRecorded adds to an arena the tasks of the recordings of set in which its entrants, policies of the set by their
// places, meet; who meets whom is drawn by the seed, which becomes its Layout. It returns an error of kind Invalid if two of them have no task in common.
func PlanRecorded(set *recordings.Set, arena idrl.Arena, places []int, seed uint64) (idrl.Arena, error) {
	plan, err := planEncounters(set.Episodes(), arena, places, seed)
	if err != nil {
		return arena, err
	}
	arena.Tasks, arena.Planned, arena.Layout = nil, plan.planned, seed
	for _, name := range plan.tasks {
		arena.Tasks = append(arena.Tasks, idrl.ArenaTask{Name: name})
	}
	return arena, nil
}

// planEncounters has the entrants of an arena meet in the tasks that two of them or more have episodes of: from each start that two
// have in common (its key, Episode.Start), and where two have none in common in a task, at random: each episode of both is
// used about equally often, and the one with more episodes uses each once. Tasks take turns, in an order and with episodes that the seed draws, until there are
// as many clips or questions as an arena has.
func planEncounters(episodes []recordings.Episode, arena idrl.Arena, places []int, seed uint64) (plan encounterPlan, err error) {
	tasks := tasksOf(episodes, places)
	by := make([][]encounter, len(tasks))
	for t, task := range tasks {
		by[t] = task.encounters(t, seed)
	}
	order := rng.New(seed, "arena tasks", 0).Perm(len(tasks))
	plan.planned = make([]int, len(arena.Entrants)*(len(arena.Entrants)-1)/2)
	used := make([]bool, len(tasks))
	clips, questions := 0, 0
turns:
	for turn := 0; ; turn++ {
		more := false
		for _, t := range order {
			if turn >= len(by[t]) {
				continue
			}
			e := by[t][turn]
			if clips, questions = clips+len(e.episodes), questions+len(e.pairs); clips > arenaClips || questions > arenaQuestions {
				break turns
			}
			more, used[t] = true, true
			plan.encounters = append(plan.encounters, e)
			for p := range e.pairs {
				plan.planned[arena.PairPlace(p[0], p[1])]++
			}
		}
		if !more {
			break
		}
		plan.turns = append(plan.turns, len(plan.encounters))
	}
	if n := len(plan.encounters); n > 0 && (len(plan.turns) == 0 || plan.turns[len(plan.turns)-1] < n) {
		plan.turns = append(plan.turns, n) // a turn that was broken off
	}
	place := make([]int, len(tasks)) // among those that are used
	for t, task := range tasks {
		if used[t] {
			place[t] = len(plan.tasks)
			plan.tasks = append(plan.tasks, task.name)
		}
	}
	for i := range plan.encounters {
		plan.encounters[i].Task = place[plan.encounters[i].Task]
	}
	return plan, allMeet(arena, plan.planned, len(plan.encounters))
}

// allMeet returns an error of kind Invalid unless every two entrants meet.
func allMeet(arena idrl.Arena, planned []int, all int) error {
	for j := range arena.Entrants {
		for i := range j {
			if planned[arena.PairPlace(i, j)] > 0 {
				continue
			}
			why := "they have no task in common, and people compare episodes of one task only"
			if all > 0 && len(arena.Entrants) > 2 {
				why = fmt.Sprintf("they have no task in common, or there are too many tasks and policies for the %d clips of an arena", arenaClips)
			}
			return idrl.Errorf(idrl.Invalid, "entrants %q and %q would never be compared: %s. Leave one of them out", arena.Entrants[i].Title, arena.Entrants[j].Title, why)
		}
	}
	return nil
}

// A recordedTask is a task with the episodes of each entrant.
type recordedTask struct {
	name     string
	episodes [][]int        // by entrant
	starts   map[int]string // of an episode
}

// tasksOf returns the tasks of which two entrants or more have episodes, in the order of their first ones.
func tasksOf(episodes []recordings.Episode, places []int) (out []recordedTask) {
	place := map[string]int{}
	for i, e := range episodes {
		who := slices.Index(places, e.Policy)
		if who < 0 {
			continue
		}
		t, known := place[e.Task]
		if !known {
			t = len(out)
			place[e.Task] = t
			out = append(out, recordedTask{e.Task, make([][]int, len(places)), map[int]string{}})
		}
		out[t].episodes[who] = append(out[t].episodes[who], i)
		out[t].starts[i] = e.Start
	}
	return slices.DeleteFunc(out, func(t recordedTask) bool { return len(present(t.episodes)) < 2 })
}

// present returns the entrants that have episodes.
func present(episodes [][]int) (out []int) {
	for k, list := range episodes {
		if len(list) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// encounters returns those of a task, the t-th one, in a random order.
func (task recordedTask) encounters(t int, seed uint64) []encounter {
	stream := rng.New(seed, "arena pairs", uint64(t)) // #nosec G115 -- a place
	for _, list := range task.episodes {
		stream.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	matched := map[[2]int]bool{}
	var out []encounter
	for n, start := range task.keys() {
		at := make([][]int, len(task.episodes))
		for k, list := range task.episodes {
			for _, i := range list {
				if task.starts[i] == start {
					at[k] = append(at[k], i)
				}
			}
		}
		for _, e := range inTurn(at, idrl.Meeting{Task: t, Start: n}, nil) {
			out = append(out, e)
			for p := range e.pairs {
				matched[p] = true
			}
		}
	}
	out = append(out, inTurn(task.episodes, idrl.Meeting{Task: t, Start: -1}, matched)...)
	stream.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for i := range out {
		if i%2 == 1 {
			out[i].share = stream.Float64()
		}
	}
	return out
}

// keys returns the starts of a task that are known, sorted.
func (task recordedTask) keys() (out []string) {
	for _, start := range task.starts {
		if start != "" {
			out = append(out, start)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inTurn has the n-th episodes of all entrants meet, without the pairs of entrants of but. The episodes of an entrant that has fewer than another one
// come again.
func inTurn(episodes [][]int, m idrl.Meeting, but map[[2]int]bool) (out []encounter) {
	most := 0
	for _, list := range episodes {
		most = max(most, len(list))
	}
	who := present(episodes)
	for n := range most {
		e := encounter{Meeting: m, episodes: map[int]int{}, pairs: map[[2]int]bool{}}
		for x, j := range who {
			for _, i := range who[:x] {
				a, b := episodes[i], episodes[j]
				if but[[2]int{i, j}] || n >= max(len(a), len(b)) {
					continue
				}
				e.pairs[[2]int{i, j}] = true
				e.episodes[i], e.episodes[j] = a[n%len(a)], b[n%len(b)]
			}
		}
		if len(e.pairs) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// recorded makes the generation of an arena of recorded policies, or a part of it: gradual says which.
func (a *arenaShow) recorded(ctx context.Context, req request, policies []EntrantPolicy) (idrl.Generation, error) {
	set := recorded(a.env)
	if set == nil {
		return idrl.Generation{}, idrl.Errorf(idrl.Damaged, "arena %s is of recorded policies, and %q has none", a.spec.ID, a.spec.Env)
	}
	cameras, _ := set.Filmed()
	a.filmed = cameras != nil
	var places []int
	for k, p := range policies {
		policy, ok := Acted(set, idrl.Candidate{Params: p.Params})
		if !ok {
			return idrl.Generation{}, idrl.Errorf(idrl.Damaged, "entrant %q is no policy of %q", a.spec.Arena.Entrants[k].Title, a.spec.Env)
		}
		a.policies, places = append(a.policies, policy), append(places, int(p.Params[0]))
	}
	plan, err := planEncounters(set.Episodes(), a.spec.Arena, places, a.spec.Arena.Layout)
	if err != nil {
		return idrl.Generation{}, err
	}
	if len(plan.tasks) != len(a.spec.Arena.Tasks) {
		return idrl.Generation{}, idrl.Errorf(idrl.Damaged, "arena %s has %d tasks, and the recordings of %q give %d: they have changed. Make a new arena", a.spec.ID, len(a.spec.Arena.Tasks), a.spec.Env, len(plan.tasks))
	}
	return a.gradual(ctx, req, recordedFootage{a, set}, plan)
}

// recordedFootage has the episodes of recordings.
type recordedFootage struct {
	*arenaShow
	set *recordings.Set
}

// episodes returns those of an encounter.
func (f recordedFootage) episodes(ctx context.Context, e encounter) (s shots, out []*idrl.Trajectory, err error) {
	for k := range f.policies {
		i, ok := e.episodes[k]
		if !ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return s, nil, err
		}
		t, _, err := f.set.Trajectory(i)
		if err != nil {
			return s, nil, err
		}
		t.ID, t.Policy = idrl.EntrantEpisode(k, i, e.Meeting), idrl.EntrantID(k)
		content, err := f.record(t, i)
		if err != nil {
			return s, nil, err
		}
		out, s.raw, s.kept, s.who = append(out, t), append(s.raw, t.Raw), append(s.kept, content), append(s.who, k)
	}
	s.asks = func(i, j int) bool { return e.pairs[[2]int{i, j}] }
	return s, out, nil
}

// gather implements footage.
func (f recordedFootage) gather(ctx context.Context, e encounter) (shots, error) {
	s, _, err := f.episodes(ctx, e)
	return s, err
}

// meet implements footage: the clips show whole episodes where they fit into a clip, else the same part of them.
func (f recordedFootage) meet(ctx context.Context, e encounter, n, total int) (shots, error) {
	s, episodes, err := f.episodes(ctx, e)
	longest := 0
	for _, t := range episodes {
		longest = max(longest, t.Len())
	}
	if err != nil {
		return s, err
	}
	f.total = total
	err = f.show(&s, episodes, n, e.share, longest)
	return s, err
}
