package web

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/templates"
)

// A RecordedSet is imported rollouts whose policies may enter an arena.
type RecordedSet struct {
	Env      string // id of the environment
	Title    string
	Policies []string // names
	Tasks    int      // that are named; 0 if none are
	Started  int      // of these, in which two rollouts of different policies say that they began alike
}

// TaskGroups reads lines of CSV: a task and its group. A first line "task,group" is a head. It returns an error of kind Invalid that
// says what to change.
func TaskGroups(text string) (out []idrl.ArenaTask, err error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.FieldsPerRecord, r.TrimLeadingSpace = 2, true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the groups of tasks must be lines of CSV with a task and its group, as \"open the drawer,kitchen\": %v", err)
	}
	of := map[string]string{}
	for i, row := range rows {
		task, group := strings.TrimSpace(row[0]), strings.TrimSpace(row[1])
		if i == 0 && task == "task" && group == "group" {
			continue
		}
		if was, ok := of[task]; ok && was != group {
			return nil, idrl.Errorf(idrl.Invalid, "task %.100q is in two groups, %.100q and %.100q", task, was, group)
		}
		of[task] = group
		out = append(out, idrl.ArenaTask{Name: task, Group: group})
	}
	return out, nil
}

// recordedChoices shows the sets of which policies may be ticked.
func recordedChoices(sets []RecordedSet, ticked []string) (out []templates.ArenaSet) {
	for _, set := range sets {
		row := templates.ArenaSet{Env: set.Env, Title: set.Title, Says: fmt.Sprintf("%d policies, no task named", len(set.Policies))}
		if set.Tasks > 0 {
			row.Says = fmt.Sprintf("%d policies, %s, %d with starts in common", len(set.Policies), words.Plural(set.Tasks, "task"), set.Started)
		}
		for _, name := range set.Policies {
			value := set.Env + ":" + name
			on := slices.Contains(ticked, value)
			row.Open = row.Open || on
			row.Policies = append(row.Policies, templates.ArenaPolicy{Value: value, Name: name, On: on})
		}
		out = append(out, row)
	}
	return out
}

// arenaAbout says what people compare, and what they are not asked about.
func arenaAbout(r bradley.Report) (about, different string) {
	if len(r.Tasks) > 0 {
		return "A blind arena: people compare recorded episodes of these policies and are not told which is which.",
			"Only pairs of episodes that look different are asked about."
	}
	return "A blind arena: people compare these policies and are not told which is which.", "Only starts from which the two policies look different are asked about."
}

// taskRows shows the result in each task or group, a column for each entrant.
func taskRows(tasks []bradley.ReportTask) (out []templates.ArenaTask) {
	for _, t := range tasks {
		row := templates.ArenaTask{Name: cmp.Or(t.Name, "Episodes without a task"), Group: t.Group, Answers: words.Count(t.Answers)}
		for _, e := range t.Entrants {
			cell := templates.ArenaTaskCell{Title: e.Title}
			if e.Answers > 0 {
				cell.Strength, cell.Interval = signed(e.Strength, 2), signed(e.Low, 2)+" to "+signed(e.High, 2)
				cell.Count = fmt.Sprintf("preferred in %d of %d", e.Wins, e.Answers)
				if e.Population != nil {
					cell.Wider = signed(e.Population.Low, 2) + " to " + signed(e.Population.High, 2)
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		out = append(out, row)
	}
	return out
}
