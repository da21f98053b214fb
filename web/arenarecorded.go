package web

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/bradley"
	"tiebreak/templates"
)

// An Entrant says which policy enters an arena.
type Entrant struct {
	Session idrl.SessionID
	After   int64  // log row after which it was the recommended policy; -1: the last one
	Title   string // for researchers; empty for that of the session, or the name of the policy

	// Set is the environment of recordings of which Policy acted in some, or the id of a session to which trajectories were uploaded, in place of Session; an
	// empty Policy stands for all of them.
	Set, Policy string
}

// Of returns the session of which policies enter; empty of policies of imported recordings.
func (e Entrant) Of() idrl.SessionID {
	if strings.HasPrefix(e.Set, recordings.IDPrefix) {
		return ""
	}
	return cmp.Or(e.Session, idrl.SessionID(e.Set))
}

// mayEnter returns an error if an account or a program may not watch a session of which policies are to enter an arena.
func mayEnter(ctx context.Context, s *site, who auth.Actor, entrants []Entrant) error {
	for _, e := range entrants {
		if of := e.Of(); of != "" {
			if err := s.allowed(ctx, who, auth.WatchSession, of, errNoSession); err != nil {
				return err
			}
		}
	}
	return nil
}

// WhatToUpload says what makes a session of uploads one whose policies can enter an arena.
const WhatToUpload = "upload trajectories that name the policy that acted in \"policy\", of two policies or more, with their task in \"task\", and in \"start\" what is equal where two began alike, such as a seed"

// keptUploads says of what an arena of uploads is.
const keptUploads = "The trajectories are those that had been uploaded when the arena was made; later uploads do not change it."

// A RecordedSet is imported rollouts, or what was uploaded to a session, whose policies may enter an arena.
type RecordedSet struct {
	Env      string // id of the environment, or of the session
	Title    string
	Policies []string // names
	Tasks    int      // that are named; 0 if none are
	Started  int      // of these, in which two rollouts of different policies say that they began alike
	Unnamed  int      // uploaded trajectories that name no policy
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

// arenaChoices returns the sessions of a list whose recommended policies may enter, with what the form v says of them, and the sets of recorded policies.
func (s watching) arenaChoices(ctx context.Context, list []record.Summary, v url.Values) (sessions []templates.ArenaChoice, sets []RecordedSet, err error) {
	sets = s.cfg.Arenas.Recorded()
	for _, sum := range list {
		spec := sum.Spec
		if sum.State == record.StateArchived || spec.IsArena() || sum.Paused != "" {
			continue
		}
		if spec.Uploads() {
			set, err := s.cfg.Arenas.Uploaded(ctx, spec.ID)
			if err != nil {
				return nil, nil, err
			}
			set.Title = spec.Title
			sets = append(sets, set)
			continue
		}
		id := string(spec.ID)
		sessions = append(sessions, templates.ArenaChoice{
			ID: id, Title: spec.Title, Env: s.env(spec.Env).Title, Answers: countText(sum.Answers, sum.Skipped, spec.Budget),
			Now: slices.Contains(v["now"], id), After: v.Get("after-" + id), Name: v.Get("name-" + id),
		})
	}
	return sessions, sets, nil
}

// recordedChoices shows the sets of which policies may be ticked.
func recordedChoices(sets []RecordedSet, ticked []string) (out []templates.ArenaSet) {
	for _, set := range sets {
		row := templates.ArenaSet{Env: set.Env, Title: set.Title, Says: fmt.Sprintf("%d policies, no task named", len(set.Policies))}
		if set.Tasks > 0 {
			row.Says = fmt.Sprintf("%d policies, %s, %d with starts in common", len(set.Policies), words.Plural(set.Tasks, "task"), set.Started)
		}
		if set.Unnamed > 0 {
			row.Says += fmt.Sprintf("; %s without a policy", words.Plural(set.Unnamed, "clip"))
		}
		if len(set.Policies) < 2 {
			row.Says, row.Wrong = "no two policies are named", "None can be compared yet: "+WhatToUpload+"."
			out = append(out, row)
			continue
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
