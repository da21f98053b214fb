package bradley_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// recordedArena is the record of an arena of two recorded policies in three tasks, the first two of which are a group. The first wins in these, the
// other one in the last; of the first task the starts are known.
func recordedArena(each int) record.Record {
	arena := idrl.Arena{
		Entrants: []idrl.Entrant{{Title: "A", Policy: "a"}, {Title: "B", Policy: "b"}},
		Tasks:    []idrl.ArenaTask{{Name: "cup", Group: "kitchen"}, {Name: "door", Group: "kitchen"}, {Name: "block"}}, Planned: []int{3*each + 1},
	}
	rec := record.Record{Clips: map[idrl.ClipID]idrl.Clip{}, Spec: idrl.SessionSpec{Arena: arena}, Generation: &idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}}}
	for n := range 3 * each {
		m := idrl.Meeting{Task: n % 3, Start: -1}
		if m.Task == 0 {
			m.Start = n
		}
		var clips []idrl.Clip
		for k := range 2 {
			c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("c%d-%d", k, n)), From: idrl.EntrantEpisode(k, n, m), Steps: 2}
			rec.Clips[c.ID], rec.Generation.Clips[c.ID] = c, c
			clips = append(clips, c)
		}
		id, q := idrl.AssignmentID(fmt.Sprint("as", n)), idrl.NewComparison(clips[0], clips[1])
		rec.Generation.Queries = append(rec.Generation.Queries, q)
		rec.Assignments = append(rec.Assignments, record.Assignment{ID: id, Query: q})
		choice := idrl.ChoseA
		if m.Task == 2 {
			choice = idrl.ChoseB
		}
		rec.Log = append(rec.Log, idrl.Answer{ID: idrl.AnswerID(id), Seq: int64(n + 1), Assignment: id, Annotator: idrl.AnnotatorID(fmt.Sprint("p", n%4)), Choice: choice})
	}
	return rec
}

// TestReportOfTasks: the result of an arena of recorded policies is also about each task and each group, says which episodes met, and has wider
// intervals where tasks and people are at least three.
func TestReportOfTasks(t *testing.T) {
	r, outcomes, err := bradley.NewReport(recordedArena(8))
	if err != nil {
		t.Fatal(err)
	}
	if want := "People compare two episodes of one task: 8 pairs in 1 task, matched by start, and 16 pairs in 2 tasks, drawn at random."; r.Meetings() != want {
		t.Errorf("it says %q", r.Meetings())
	}
	if want := "The wider intervals hold for tasks and people like these 3 tasks and 4 people: they account for their differences."; r.Accounts() != want {
		t.Errorf("it says %q", r.Accounts())
	}
	if p := r.Pairs[0]; p.Starts != 25 || p.Unasked != 1 {
		t.Errorf("of %d pairs of episodes %d are left out", p.Starts, p.Unasked)
	}
	wins := func(list []bradley.ReportTask) (out []string) {
		for _, task := range list {
			for _, e := range task.Entrants {
				out = append(out, fmt.Sprintf("%s/%s %s %d of %d", task.Name, task.Group, e.Title, e.Wins, e.Answers))
				if !(e.Low < e.Strength && e.Strength < e.High) || (e.Strength > 0) != (e.Wins > 0) {
					t.Errorf("%s in %s: %+v", e.Title, task.Name, e)
				}
			}
		}
		return out
	}
	if d := cmp.Diff([]string{"cup/kitchen A 8 of 8", "cup/kitchen B 0 of 8", "door/kitchen A 8 of 8", "door/kitchen B 0 of 8", "block/ A 0 of 8", "block/ B 8 of 8"}, wins(r.Tasks)); d != "" {
		t.Errorf("tasks (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"kitchen/ A 16 of 16", "kitchen/ B 0 of 16"}, wins(r.Groups)); d != "" {
		t.Errorf("groups (-want +got):\n%s", d)
	}
	for _, e := range r.Entrants {
		if in := e.Population; in == nil || in.Low > e.Low || in.High < e.High || in.High-in.Low < 1.5*(e.High-e.Low) {
			t.Errorf("the wider interval of %s is %v, the other one %.2f to %.2f", e.Title, in, e.Low, e.High)
		}
	}
	var answers, tasks strings.Builder
	if err := bradley.WriteOutcomes(&answers, recordedArena(8).Spec.Arena, outcomes); err != nil || !strings.HasPrefix(answers.String(), "seq,annotator,a,b,preferred,task\n1,p0,A,B,A,cup\n") {
		t.Errorf("%v, the answers are %.100s", err, answers.String())
	}
	if err := r.WriteTasks(&tasks); err != nil || strings.Count(tasks.String(), "\n") != 9 || !strings.Contains(tasks.String(), "\ngroup,kitchen,,A,") {
		t.Errorf("%v, the tasks are\n%s", err, tasks.String())
	}
	few, _, err := bradley.NewReport(recordedArena(0))
	if err != nil || few.Accounts() != "" || few.Entrants[0].Population != nil || len(few.Tasks) != 3 || few.Tasks[0].Answers != 0 {
		t.Errorf("without answers: %+v, %v", few, err)
	}
}
