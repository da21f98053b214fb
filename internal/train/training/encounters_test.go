package training

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// fought returns episodes of a policy in a task, with the starts in one string of letters; a space: not known.
func fought(policy int, task, starts string) (out []recordings.Episode) {
	for _, s := range starts {
		out = append(out, recordings.Episode{Policy: policy, Task: task, Start: strings.TrimSpace(string(s)), Steps: 10})
	}
	return out
}

func ofAll(lists ...[]recordings.Episode) (out []recordings.Episode) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func entrantsOf(n int) (a idrl.Arena, places []int) {
	for k := range n {
		a.Entrants = append(a.Entrants, idrl.Entrant{Title: fmt.Sprint("P", k), Policy: idrl.PolicyID(fmt.Sprint("P", k))})
		places = append(places, k)
	}
	return a, places
}

// met returns, of a plan, how often each two entrants meet in a task by a common start or at random, and how often each episode is shown.
func (p encounterPlan) met(t *testing.T, episodes []recordings.Episode) (met map[string]int, shown []int) {
	t.Helper()
	met, shown = map[string]int{}, make([]int, len(episodes))
	for _, e := range p.encounters {
		for k, i := range e.episodes {
			shown[i]++
			if episodes[i].Policy != k || episodes[i].Task != p.tasks[e.Task] {
				t.Fatalf("rollout %d of policy %d in %q is shown for %d in %q", i, episodes[i].Policy, episodes[i].Task, k, p.tasks[e.Task])
			}
		}
		for pair := range e.pairs {
			a, b := episodes[e.episodes[pair[0]]], episodes[e.episodes[pair[1]]]
			how := "random"
			if e.Start >= 0 {
				how = "matched"
				if a.Start == "" || a.Start != b.Start {
					t.Fatalf("episodes from %q and %q are called matched", a.Start, b.Start)
				}
			}
			met[fmt.Sprintf("%s %d%d %s", p.tasks[e.Task], pair[0], pair[1], how)]++
		}
	}
	return met, shown
}

// TestEncounters: policies meet within a task alone, from equal starts where two have any in common, and else at random with each episode
// used about equally often; who meets whom is a function of the seed.
func TestEncounters(t *testing.T) {
	for _, test := range []struct {
		name     string
		n        int
		episodes []recordings.Episode
		met      map[string]int
		most     int // how often an episode is shown
	}{
		{"starts in common", 2, ofAll(fought(0, "cup", "abcd"), fought(1, "cup", "dcbx")), map[string]int{"cup 01 matched": 3}, 1},
		{"a start repeats", 2, ofAll(fought(0, "cup", "aab"), fought(1, "cup", "abb")), map[string]int{"cup 01 matched": 4}, 2},
		{"no starts", 3, ofAll(fought(0, "cup", "    "), fought(1, "cup", "    "), fought(2, "cup", "  ")), map[string]int{"cup 01 random": 4, "cup 02 random": 4, "cup 12 random": 4}, 2},
		{"other starts", 2, ofAll(fought(0, "cup", "ab"), fought(1, "cup", "cd")), map[string]int{"cup 01 random": 2}, 1},
		{"one without starts", 3, ofAll(fought(0, "cup", "ab"), fought(1, "cup", "ab"), fought(2, "cup", "  ")), map[string]int{"cup 01 matched": 2, "cup 02 random": 2, "cup 12 random": 2}, 2},
		{
			"tasks", 2, ofAll(fought(0, "cup", "ab"), fought(0, "door", "ab"), fought(0, "alone", "ab"), fought(1, "cup", "ab"), fought(1, "door", "  ")),
			map[string]int{"cup 01 matched": 2, "door 01 random": 2},
			1,
		},
		{"without tasks", 2, ofAll(fought(0, "", "  "), fought(1, "", " ")), map[string]int{" 01 random": 2}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			arena, places := entrantsOf(test.n)
			plan, err := planEncounters(test.episodes, arena, places, 5)
			if err != nil {
				t.Fatal(err)
			}
			met, shown := plan.met(t, test.episodes)
			if diff := cmp.Diff(test.met, met); diff != "" {
				t.Errorf("who meets (-want +got):\n%s", diff)
			}
			for i, n := range shown {
				if n > test.most {
					t.Errorf("rollout %d is shown %d times", i, n)
				}
			}
			again, err := planEncounters(test.episodes, arena, places, 5)
			if err != nil || fmt.Sprintf("%+v", plan) != fmt.Sprintf("%+v", again) {
				t.Errorf("the same seed gives %+v and %+v, %v", plan, again, err)
			}
		})
	}
}

// TestManyEncounters: an arena of many recordings has no more clips than others, all tasks take part alike, and another seed has other episodes meet.
func TestManyEncounters(t *testing.T) {
	var episodes []recordings.Episode
	for k := range 4 {
		for task := range 10 {
			episodes = append(episodes, fought(k, fmt.Sprint("task ", task), strings.Repeat(" ", 40))...)
		}
	}
	arena, places := entrantsOf(4)
	plan, err := planEncounters(episodes, arena, places, 5)
	if err != nil {
		t.Fatal(err)
	}
	clips, of := 0, map[int]int{}
	for _, e := range plan.encounters {
		clips += len(e.episodes)
		of[e.Task]++
	}
	if clips > arenaClips || clips < arenaClips-4 {
		t.Errorf("%d clips", clips)
	}
	for task := range 10 {
		if of[task] != 10 {
			t.Errorf("task %d has %d encounters of %d", task, of[task], len(plan.encounters))
		}
	}
	other, err := planEncounters(episodes, arena, places, 6)
	if err != nil || fmt.Sprint(other.encounters[0].episodes) == fmt.Sprint(plan.encounters[0].episodes) {
		t.Errorf("another seed gives %v too, %v", other.encounters[0], err)
	}
}

// TestStrangersAreRefused: two policies without a common task cannot be compared.
func TestStrangersAreRefused(t *testing.T) {
	arena, places := entrantsOf(3)
	episodes := ofAll(fought(0, "cup", "a"), fought(1, "cup", "a"), fought(1, "door", "b"), fought(2, "door", "b"))
	if _, err := planEncounters(episodes, arena, places, 1); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), `"P0" and "P2" would never be compared`) {
		t.Errorf("%v", err)
	}
	arena, places = entrantsOf(2)
	if _, err := planEncounters(ofAll(fought(0, "cup", "a"), fought(1, "door", "a")), arena, places, 1); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "no task in common") {
		t.Errorf("%v", err)
	}
}
