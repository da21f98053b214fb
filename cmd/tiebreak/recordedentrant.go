package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/training"
	"tiebreak/web"
)

// isRecorded reports whether the policies of a session acted in imported rollouts.
func isRecorded(spec idrl.SessionSpec) bool { return strings.HasPrefix(spec.Env, recordings.IDPrefix) }

// recordedSet returns imported rollouts, and the name under which sessions record their environment. Errors are of kind Invalid.
func recordedSet(list envs.List, id string) (set *recordings.Set, ref string, err error) {
	entry, err := list.Find(id)
	if err != nil {
		return nil, "", err
	}
	set, err = training.Recorded(list, idrl.SessionSpec{Env: entry.Ref()})
	switch {
	case err != nil:
		return nil, "", err
	case set == nil:
		return nil, "", idrl.Errorf(idrl.Invalid, "%q has no recorded policies: name imported rollouts, as %sNAME", id, recordings.IDPrefix)
	case !set.Named():
		return nil, "", idrl.Errorf(idrl.Invalid, "the rollouts %s do not say which policy acted: name it in \"policy\" of %s and import them under another name", id, recordings.ManifestName)
	}
	return set, entry.Ref(), nil
}

// allPolicies puts all policies of a set of recordings in the place of an entrant without a policy.
func allPolicies(list envs.List, wanted []web.Entrant) (out []web.Entrant, err error) {
	for _, w := range wanted {
		if w.Set == "" || w.Policy != "" {
			out = append(out, w)
			continue
		}
		set, _, err := recordedSet(list, w.Set)
		if err != nil {
			return nil, err
		}
		names := set.Names()
		if len(names) > idrl.MaxEntrants {
			return nil, idrl.Errorf(idrl.Invalid, "%s has %d policies, and an arena compares 2 to %d: name those that enter, each by --entrant %s:POLICY", w.Set, len(names), idrl.MaxEntrants, w.Set)
		}
		for _, name := range names {
			out = append(out, web.Entrant{Set: w.Set, Policy: name})
		}
	}
	return out, nil
}

// recordedEntrant returns a policy of recordings, with their environment as the session. What follows a policy's name after = is its title.
func recordedEntrant(list envs.List, w web.Entrant) (spec idrl.SessionSpec, e idrl.Entrant, p training.EntrantPolicy, err error) {
	set, ref, err := recordedSet(list, w.Set)
	if err != nil {
		return spec, e, p, err
	}
	k, name, title, err := policyOf(set.Names(), w)
	if err != nil {
		return spec, e, p, err
	}
	e = idrl.Entrant{Title: strings.TrimSpace(title), Policy: idrl.PolicyID(name)}
	if e.Title == "" {
		e.Title = name
	}
	return idrl.SessionSpec{Env: ref}, e, training.EntrantPolicy{Params: []float64{float64(k)}}, nil
}

// policyOf returns which of the policies of a set an entrant is, and its title. It returns an error of kind Invalid if there is none of that name.
func policyOf(names []string, w web.Entrant) (k int, name, title string, err error) {
	name, title = w.Policy, w.Title
	for end := len(name); end > 0 && !slices.Contains(names, name); { // names of policies may have = in them
		if end = strings.LastIndex(w.Policy[:end], "="); end > 0 {
			name, title = w.Policy[:end], w.Policy[end+1:]
		}
	}
	if k = slices.Index(names, name); k < 0 {
		err = idrl.Errorf(idrl.Invalid, "no policy of %s is called %.100q; it has %s", w.Set, w.Policy, listOf(names))
	}
	return k, name, title, err
}

// listOf returns the first names of a list on one line.
func listOf(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// ofRecordings adds the tasks to an arena of recorded policies, with their groups; others stay as they are.
func ofRecordings(list envs.List, spec idrl.SessionSpec, policies []training.EntrantPolicy, groups []idrl.ArenaTask) (idrl.SessionSpec, error) {
	if !isRecorded(spec) {
		if len(groups) > 0 {
			return spec, idrl.Errorf(idrl.Invalid, "groups of tasks are for arenas of recorded policies; those of simulators have no tasks")
		}
		return spec, nil
	}
	set, err := training.Recorded(list, spec)
	if err != nil {
		return spec, err
	}
	var places []int
	for _, p := range policies {
		places = append(places, int(p.Params[0]))
	}
	if spec.Arena, err = training.PlanRecorded(set, spec.Arena, places, spec.Seed); err != nil {
		return spec, err
	}
	known := map[string]bool{}
	for _, e := range set.Episodes() {
		known[e.Task] = true
	}
	for _, g := range groups {
		if !known[g.Name] {
			return spec, idrl.Errorf(idrl.Invalid, "the rollouts of %s have no task %.100q, of which the groups of tasks have a line", spec.Env, g.Name)
		}
		for i := range spec.Arena.Tasks {
			if t := &spec.Arena.Tasks[i]; t.Name == g.Name {
				t.Group = g.Group
			}
		}
	}
	return spec, nil
}

// maxTaskGroups is the most bytes of the groups of tasks.
const maxTaskGroups = 1 << 20

// readTaskGroups reads the groups of tasks from a file.
func readTaskGroups(path string) ([]idrl.ArenaTask, error) {
	f, err := os.Open(path) //nolint:gosec // the user's file
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the groups of tasks cannot be read: %v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxTaskGroups+1))
	switch {
	case err != nil:
		return nil, idrl.Errorf(idrl.Invalid, "the groups of tasks cannot be read: %v", err)
	case len(b) > maxTaskGroups:
		return nil, idrl.Errorf(idrl.Invalid, "%s has more than %d bytes", path, maxTaskGroups)
	}
	return web.TaskGroups(string(b))
}

// Recorded implements web.Arenas.
func (r arenas) Recorded() (out []web.RecordedSet) {
	list := r.a.envs()
	for _, e := range list {
		if !strings.HasPrefix(e.ID, recordings.IDPrefix) || recordings.OfUpload(e.ID) || e.Unavailable != nil {
			continue
		}
		set, _, err := recordedSet(list, e.ID)
		if err != nil || set.Unseen() {
			continue
		}
		tasks, started := set.Tasks()
		out = append(out, web.RecordedSet{Env: e.ID, Title: set.Title(), Policies: set.Names(), Tasks: tasks, Started: started})
	}
	return out
}
