package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/store"
	"tiebreak/web"
)

// keepUpload keeps the trajectories that were uploaded to a session as a set of recordings, if policies of them are wanted, and
// returns the list with its environment, the entrants as policies of that, and where they are from: a session and the last row of its log.
// Without such entrants it returns its arguments. All other errors than those of files are of kind Invalid or NotFound.
func keepUpload(ctx context.Context, db *store.DB, list envs.List, wanted []web.Entrant) (envs.List, []web.Entrant, idrl.Entrant, error) {
	var none idrl.Entrant
	for _, w := range wanted {
		if recordings.OfUpload(w.Set) {
			return nil, nil, none, idrl.Errorf(idrl.Invalid, "%q is kept for arenas: name the session of the upload in its place", w.Set)
		}
	}
	i := slices.IndexFunc(wanted, func(w web.Entrant) bool { return w.Set != "" && w.Of() != "" })
	if i < 0 {
		return list, wanted, none, nil
	}
	id := wanted[i].Of()
	rec, err := db.Load(ctx, id)
	if err != nil {
		return nil, nil, none, err
	}
	acted, err := actedIn(rec)
	if err != nil {
		return nil, nil, none, err
	}
	names := policiesOf(acted)
	for _, w := range wanted {
		if w.Of() != id {
			return nil, nil, none, idrl.Errorf(idrl.Invalid, "the entrants must be policies of one session of uploads: people compare trajectories of the same task that were recorded alike. Entrants of session %s (%s) meet no others", id, strconv.Quote(rec.Spec.Title))
		}
		if w.Policy != "" {
			if _, _, _, err := policyOf(names, w); err != nil {
				return nil, nil, none, err
			}
		}
	}
	set, err := recordings.KeepUpload(ctx, uploadOf(ctx, db, rec.Spec, acted))
	if err != nil {
		return nil, nil, none, err
	}
	wanted = slices.Clone(wanted)
	for i := range wanted {
		wanted[i].Set = set.ID()
	}
	entry := envs.OpenSet(filepath.Join(db.Dir(), recordings.FolderName, set.Name()))
	list = append(slices.DeleteFunc(slices.Clone(list), func(e envs.Entry) bool { return e.ID == entry.ID }), entry)
	return list, wanted, idrl.Entrant{Session: id, After: int64(len(rec.Log))}, nil
}

// actedIn returns the uploaded trajectories of a session that name a policy. It returns an error of kind Invalid, which says what to upload, unless they are of two policies or
// more.
func actedIn(rec record.Record) (out []idrl.Candidate, err error) {
	id, title := rec.Spec.ID, strconv.Quote(rec.Spec.Title)
	switch {
	case !rec.Spec.Uploads():
		return nil, idrl.Errorf(idrl.Invalid, "no trajectories are uploaded to session %s (%s): the policy that it recommends enters by the id of the session alone", id, title)
	case rec.Settings.State == record.StateArchived:
		return nil, idrl.Errorf(idrl.Invalid, "session %s (%s) is archived; resume it before its policies enter an arena", id, title)
	case rec.Generation != nil:
		for _, c := range rec.Generation.Candidates {
			if c.Acted.Policy != "" {
				out = append(out, c)
			}
		}
	}
	if names := policiesOf(out); len(names) < 2 {
		have := "no trajectory of session " + string(id) + " (" + title + ") names the policy that acted"
		if len(names) == 1 {
			have = "all trajectories of session " + string(id) + " (" + title + ") that name a policy are of " + strconv.Quote(names[0])
		}
		return nil, idrl.Errorf(idrl.Invalid, "%s: %s", have, web.WhatToUpload)
	}
	return out, nil
}

// policiesOf returns the names of the policies that acted, in the order of their first trajectories.
func policiesOf(acted []idrl.Candidate) (names []string) {
	for _, c := range acted {
		if !slices.Contains(names, c.Acted.Policy) {
			names = append(names, c.Acted.Policy)
		}
	}
	return names
}

// uploadOf describes trajectories of a session, which are read when they are kept.
func uploadOf(ctx context.Context, db *store.DB, spec idrl.SessionSpec, acted []idrl.Candidate) recordings.Upload {
	u := recordings.Upload{Into: filepath.Join(db.Dir(), recordings.FolderName), Features: spec.Features, Scale: spec.PriorScale}
	for _, c := range acted {
		u.Acted, u.Clips = append(u.Acted, c.Acted), append(u.Clips, c.Clip)
	}
	u.Read = func(i int) (out recordings.Uploaded, err error) {
		raw := acted[i].Rollouts[0]
		content, err := db.Steps(ctx, spec.ID, raw)
		if err == nil {
			out.Steps, err = steps.Decode(raw, content)
		}
		if err == nil {
			out.Media, err = db.ClipMedia(ctx, spec.ID, acted[i].Clip)
		}
		return out, err
	}
	return u
}

// Uploaded implements web.Arenas.
func (r arenas) Uploaded(ctx context.Context, id idrl.SessionID) (web.RecordedSet, error) {
	all, err := r.a.db.PoliciesAt(ctx, id, 1<<62)
	out := web.RecordedSet{Env: string(id)}
	var acted []idrl.Acted
	for _, c := range all {
		if c.Acted.Policy == "" {
			out.Unnamed++
			continue
		}
		acted = append(acted, c.Acted)
		if !slices.Contains(out.Policies, c.Acted.Policy) {
			out.Policies = append(out.Policies, c.Acted.Policy)
		}
	}
	out.Tasks, out.Started = recordings.TasksOf(acted)
	return out, err
}
