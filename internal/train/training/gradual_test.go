package training

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// TestFilmedArenaIsGradual: an arena of filmed recordings first has the clips of one episode of each policy in each task, and follow-ups add further turns of
// the tasks, until it has those that were planned, each once. In the end it asks what it would have asked if all had been cut at once.
func TestFilmedArenaIsGradual(t *testing.T) {
	folder, into := t.TempDir(), t.TempDir()
	d := lerobottest.Dataset{Policies: []string{"steady", "steady", "shaky", "shaky"}} // two tasks in turn
	for i := range 28 {
		d.Lengths = append(d.Lengths, 8+i)
	}
	if err := d.Write(folder); err != nil {
		t.Fatal(err)
	}
	if err := recordings.ImportLeRobot(t.Context(), recordings.LeRobotConfig{From: lerobot.Folder{Path: folder}, Into: into, Name: "pen", Options: lerobot.Options{Policy: "policy"}, ClipSeconds: 1}); err != nil {
		t.Fatal(err)
	}
	set, err := recordings.Open(filepath.Join(into, "pen"))
	if err != nil {
		t.Fatal(err)
	}
	arena, places := entrantsOf(2)
	if arena, err = PlanRecorded(set, arena, places, 3); err != nil {
		t.Fatal(err)
	}
	policies := []EntrantPolicy{{Params: []float64{0}}, {Params: []float64{1}}}
	var said []string
	show := func() *arenaShow {
		return &arenaShow{spec: idrl.SessionSpec{ID: "arena", Env: set.ID(), Arena: arena}, env: set.New(), to: says{&said}}
	}
	first, err := show().recorded(t.Context(), request{}, policies)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Clips) != 4 || len(first.Queries) != 2 || len(first.Candidates) != 2 || said[len(said)-1] != "cutting clips: 4 of 4" {
		t.Fatalf("first there are %d clips and %d questions, and it says %q", len(first.Clips), len(first.Queries), said)
	}
	for _, c := range first.Candidates { // whose numbers are known at once
		if len(c.Rollouts) != 14 {
			t.Errorf("%s has %d episodes", c.ID, len(c.Rollouts))
		}
	}
	clips, asked, sizes := maps.Clone(first.Clips), slices.Clone(first.Queries), []int{2}
	for agents := first.Agents; ; {
		if n := tasksAsked(arena, clips, asked); n[0] != n[1] {
			t.Errorf("there are %d questions about one task, and %d about the other one", n[0], n[1])
		}
		g, err := show().recorded(t.Context(), request{From: 2, Agents: agents}, policies)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Queries) == 0 {
			if g.Agents != nil {
				t.Error("where nothing is left to be cut, there is more to come")
			}
			break
		}
		for id := range g.Clips {
			if _, again := clips[id]; again {
				t.Errorf("clip %s comes again", id)
			}
		}
		maps.Copy(clips, g.Clips)
		asked, sizes, agents = append(asked, g.Queries...), append(sizes, len(g.Queries)), g.Agents
	}
	for n := range said[1:] {
		if n >= 4 && said[n] >= said[n+1] && len(said[n]) == len(said[n+1]) {
			t.Errorf("after %q it says %q", said[n], said[n+1])
		}
	}
	if fmt.Sprint(sizes) != "[2 2 4 6]" {
		t.Errorf("the parts have %v questions", sizes)
	}
	plan, err := planEncounters(set.Episodes(), arena, places, arena.Layout)
	if err != nil {
		t.Fatal(err)
	}
	a := show()
	a.filmed, a.policies = true, make([]idrl.Policy, 2)
	whole := made{shoot: func(ctx context.Context, n int) (shots, error) { return recordedFootage{a, set}.meet(ctx, plan.encounters[n], n, 28) }}
	if err := whole.upTo(t.Context(), len(plan.encounters)); err != nil {
		t.Fatal(err)
	}
	ids := func(list []idrl.Query) (out []idrl.QueryID) {
		for _, q := range list {
			out = append(out, q.ID)
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(ids(asked), ids(whole.questions())) || len(clips) != 28 {
		t.Errorf("it asks %d questions about %d clips; at once it would ask %d", len(asked), len(clips), len(whole.questions()))
	}
	other, err := show().recorded(t.Context(), request{From: 2}, policies) // made before clips were cut in parts
	if err != nil || len(other.Queries) > 0 || other.Agents != nil {
		t.Errorf("an arena that has all gets %d questions, %v", len(other.Queries), err)
	}
	if _, err := show().recorded(t.Context(), request{From: 2, Agents: map[string][]byte{EncountersName: {1}}}, policies); idrl.KindOf(err) != idrl.Damaged {
		t.Errorf("what is no state: %v", err)
	}
}

// tasksAsked counts the questions about two tasks.
func tasksAsked(arena idrl.Arena, clips map[idrl.ClipID]idrl.Clip, queries []idrl.Query) (n [2]int) {
	for _, q := range queries {
		m, _ := arena.MeetingOf(clips[q.Clips[0]].From)
		n[m.Task]++
	}
	return n
}
