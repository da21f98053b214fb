package bradley_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// expected returns the strengths that the model has in all answers about one task, of people who differ by deviates, each about all pairs
// equally often. strengths are those of a person without deviates in that task.
func expected(t *testing.T, strengths []float64, people [][]float64) []float64 {
	t.Helper()
	const each = 20_000.0 // answers about a pair
	table := bradley.NewTable(len(strengths))
	for i := range strengths {
		for j := range i {
			first, second, tied := 0.0, 0.0, 0.0
			for _, p := range people {
				a, b := math.Exp(strengths[i]+p[i]), math.Exp(strengths[j]+p[j])
				e := math.Exp(eta) * math.Sqrt(a*b)
				first, second, tied = first+a/(a+b+e), second+b/(a+b+e), tied+e/(a+b+e)
			}
			n := each / float64(len(people))
			for range int(n * first) {
				table.Win(i, j)
			}
			for range int(n * second) {
				table.Win(j, i)
			}
			for range int(n * tied) {
				table.Tie(i, j)
			}
		}
	}
	f, err := table.Fit(flat)
	if err != nil {
		t.Fatal(err)
	}
	return f.Strengths
}

// recordOf is the record of an arena of recorded policies with these answers, of which the first half of the tasks is a group, and the others are another one.
func recordOf(d differing, outcomes []bradley.Outcome) record.Record {
	var arena idrl.Arena
	for k := range d.truth {
		arena.Entrants = append(arena.Entrants, idrl.Entrant{Title: fmt.Sprint(k), Policy: idrl.PolicyID(fmt.Sprint(k))})
	}
	for t := range d.tasks {
		arena.Tasks = append(arena.Tasks, idrl.ArenaTask{Name: fmt.Sprint("task ", t), Group: fmt.Sprint("group ", 2*t/d.tasks)})
	}
	rec := record.Record{Clips: map[idrl.ClipID]idrl.Clip{}, Spec: idrl.SessionSpec{Arena: arena}}
	for n, o := range outcomes {
		var clips []idrl.Clip
		for k, who := range []int{o.A, o.B} {
			c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("c%d-%d", k, n)), From: idrl.EntrantEpisode(who, n, idrl.Meeting{Task: o.Task, Start: -1})}
			rec.Clips[c.ID] = c
			clips = append(clips, c)
		}
		id, q := idrl.AssignmentID(fmt.Sprint("as", n)), idrl.NewComparison(clips[0], clips[1])
		rec.Assignments = append(rec.Assignments, record.Assignment{ID: id, Query: q})
		rec.Log = append(rec.Log, idrl.Answer{ID: idrl.AnswerID(id), Seq: int64(n + 1), Assignment: id, Annotator: o.Person, Choice: o.Choice})
	}
	return rec
}

// held counts how often intervals hold the truth.
type held struct{ wide, narrow, of int }

func (h *held) add(is, low, high float64, wide *bradley.ReportInterval) {
	h.of++
	if low <= is && is <= high {
		h.narrow++
	}
	if wide != nil && wide.Low <= is && is <= wide.High {
		h.wide++
	}
}

// TestIntervalsAccountForPeople: in arenas whose tasks and people differ by random effects of known size, the wider intervals of a report hold the true
// strengths in at least 93 % of cases: those of each task, of each group of tasks and of all. So they do where one person
// gives a third of the answers. Those under independent answers are too narrow.
func TestIntervalsAccountForPeople(t *testing.T) {
	var of [3]held
	for _, world := range differingWorlds() {
		for k, h := range intervalsOf(t, world, 40) {
			of[k].wide, of[k].narrow, of[k].of = of[k].wide+h.wide, of[k].narrow+h.narrow, of[k].of+h.of
		}
	}
	areTrue(t, "all worlds", of)
}

// TestIntervalsOfManyArenas is TestIntervalsAccountForPeople in ten times as many arenas, in each of the worlds.
func TestIntervalsOfManyArenas(t *testing.T) {
	for _, world := range differingWorlds() {
		areTrue(t, fmt.Sprintf("%+v", world), intervalsOf(t, world, 400))
	}
}

// areTrue checks the intervals of tasks, of groups and of all.
func areTrue(t *testing.T, where string, of [3]held) {
	t.Helper()
	for k, what := range []string{"tasks", "groups", "all"} {
		wide, narrow := float64(of[k].wide)/float64(of[k].of), float64(of[k].narrow)/float64(of[k].of)
		t.Logf("%s: %s: %.1f %% of %d are held, under independent answers %.1f %%", where, what, 100*wide, of[k].of, 100*narrow)
		if wide < 0.93 || narrow > 0.88 {
			t.Errorf("%s: the intervals of %s are not true", where, what)
		}
	}
}

func differingWorlds() []differing {
	return []differing{
		{truth: []float64{0.6, 0, -0.6}, tasks: 6, people: 8, each: 60, byTask: 0.9, byPerson: 0.9},
		{truth: []float64{0.4, -0.4}, tasks: 6, people: 5, each: 60, byTask: 0.6, byPerson: 1.2},
		{truth: []float64{0.4, -0.4}, tasks: 6, people: 10, each: 24, first: 120, byTask: 0.6, byPerson: 1.2},
		{truth: []float64{0.5, 0.2, 0, -0.7}, tasks: 6, people: 12, each: 90, byTask: 0.5, byPerson: 0.9},
	}
}

// intervalsOf counts how often the intervals of tasks, of groups and of all hold the truth in simulated arenas.
func intervalsOf(t *testing.T, world differing, arenas int) (of [3]held) {
	t.Helper()
	tastes := world.deviates(1000, world.byPerson, rng.New(1, "tastes", 0))
	whole := expected(t, world.truth, world.everything(rng.New(1, "whole", 0)))
	place := func(title string) (k int) {
		if _, err := fmt.Sscan(title, &k); err != nil {
			t.Fatal(err)
		}
		return k
	}
	for seed := range uint64(arenas) {
		stream := rng.New(seed, "arena of people", 0)
		effects := world.deviates(world.tasks, world.byTask, stream)
		r, _, err := bradley.NewReport(recordOf(world, world.about(effects, stream)))
		if err != nil {
			t.Fatal(err)
		}
		for i, about := range r.Tasks {
			own := make([]float64, len(world.truth))
			for k := range own {
				own[k] = world.truth[k] + effects[i][k]
			}
			is := expected(t, own, tastes)
			for _, e := range about.Entrants {
				of[0].add(is[place(e.Title)], e.Low, e.High, e.Population)
			}
		}
		for _, about := range r.Groups {
			for _, e := range about.Entrants {
				of[1].add(whole[place(e.Title)], e.Low, e.High, e.Population)
			}
		}
		for _, e := range r.Entrants {
			of[2].add(whole[place(e.Title)], e.Low, e.High, e.Population)
		}
	}
	return of
}

// everything returns deviates of both, one of each of many people in a task of their own.
func (d differing) everything(stream *rand.Rand) [][]float64 {
	tasks, people := d.deviates(20_000, d.byTask, stream), d.deviates(20_000, d.byPerson, stream)
	for i, p := range people {
		for k := range p {
			p[k] += tasks[i][k]
		}
	}
	return people
}
