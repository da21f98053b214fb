package main

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/regret"
	"tiebreak/internal/session"
	"tiebreak/internal/train/training"
	"tiebreak/store"
	"tiebreak/web"
)

// newArena makes an arena of the policies that sessions recommend and records it with them. spec
// has the settings that differ between arenas, such as title and budget; its environment and layout
// become those of the entrants. The account owner owns it; empty for none.
func newArena(ctx context.Context, db *store.DB, list envs.List, spec idrl.SessionSpec, wanted []web.Entrant, owner string) (idrl.SessionSpec, error) {
	spec, content, err := planArena(ctx, db, list, spec, wanted)
	if err != nil {
		return spec, err
	}
	return spec, db.CreateArena(ctx, spec, owner, training.EntrantsName, content)
}

// planArena is newArena that records nothing, and returns the encoded policies.
func planArena(ctx context.Context, db *store.DB, list envs.List, spec idrl.SessionSpec, wanted []web.Entrant) (idrl.SessionSpec, []byte, error) {
	list, wanted, from, err := keepUpload(ctx, db, list, wanted)
	if err != nil {
		return spec, nil, err
	}
	if wanted, err = allPolicies(list, wanted); err != nil {
		return spec, nil, err
	}
	if n := len(wanted); n < 2 || n > idrl.MaxEntrants {
		return spec, nil, idrl.Errorf(idrl.Invalid, "an arena compares 2 to %d policies; got %d", idrl.MaxEntrants, n)
	}
	var first idrl.SessionSpec
	var policies []training.EntrantPolicy
	groups := spec.Arena.Tasks
	spec.Arena = idrl.Arena{Detect: spec.Arena.Detect}
	for k, w := range wanted {
		of, entrant, policy, err := findEntrant(ctx, db, list, w)
		if err != nil {
			return spec, nil, err
		}
		if from.Session != "" {
			entrant.Session, entrant.After = from.Session, from.After
		}
		if k == 0 {
			first = of
			spec.Env, spec.Arena.Layout = of.Env, of.LayoutSeed()
		} else if err := sameEnvironment(list, first, of); err != nil {
			return spec, nil, err
		}
		if slices.Contains(spec.Arena.Titles(), entrant.Title) && w.Title == "" {
			entrant.Title = idrl.Titled("", entrant.Title, " ("+strconv.Itoa(k+1)+")")
		}
		same := func(p training.EntrantPolicy) bool {
			return p.Gaits == policy.Gaits && slices.Equal(p.Params, policy.Params)
		}
		if i := slices.IndexFunc(policies, same); i >= 0 {
			if o := spec.Arena.Entrants[i]; isRecorded(of) || o.Policy != entrant.Policy || o.Session != entrant.Session { // else Validate says so
				return spec, nil, samePolicy(o, entrant)
			}
		}
		spec.Arena.Entrants = append(spec.Arena.Entrants, entrant)
		policies = append(policies, policy)
	}
	if spec, err = ofRecordings(list, spec, policies, groups); err != nil {
		return spec, nil, err
	}
	if err := spec.Arena.Validate(); err != nil {
		return spec, nil, err
	}
	if spec, err = readySession(list, spec.AsArena()); err != nil {
		return spec, nil, err
	}
	content, err := training.EncodeEntrants(policies)
	return spec, content, err
}

// samePolicy returns the error of two entrants that are one policy.
func samePolicy(a, b idrl.Entrant) error {
	if a.Session == "" || b.Session == "" || a.Session == b.Session && a.After == b.After {
		return idrl.Errorf(idrl.Invalid, "entrants %q and %q are the same recorded policy. Name each policy once", a.Title, b.Title)
	}
	return idrl.Errorf(idrl.Invalid, "entrants %q and %q are the same policy: session %s after log row %d and session %s after log row %d recommend the same behaviour. Answer more questions, or name another log row",
		a.Title, b.Title, a.Session, a.After, b.Session, b.After)
}

// findEntrant returns the session of an entrant, and the policy that it recommended then: among the
// policies with recorded parameters, the one with the highest mean return. Of an entrant among recordings, the
// session has their environment alone.
func findEntrant(ctx context.Context, db *store.DB, list envs.List, w web.Entrant) (spec idrl.SessionSpec, e idrl.Entrant, p training.EntrantPolicy, err error) {
	if w.Set != "" {
		return recordedEntrant(list, w)
	}
	rec, err := db.Load(ctx, w.Session)
	if err != nil {
		return spec, e, p, err
	}
	spec, name := rec.Spec, strconv.Quote(rec.Spec.Title)
	last := int64(len(rec.Log))
	after := last
	if w.After >= 0 {
		after = w.After
	}
	switch {
	case rec.Settings.State == record.StateArchived:
		return spec, e, p, idrl.Errorf(idrl.Invalid, "session %s (%s) is archived; resume it before its policy enters an arena", spec.ID, name)
	case spec.IsArena():
		return spec, e, p, idrl.Errorf(idrl.Invalid, "session %s (%s) is an arena itself, which trains no policies", spec.ID, name)
	case after > last:
		return spec, e, p, idrl.Errorf(idrl.Invalid, "session %s (%s) has no log row %d; its log ends at %d", spec.ID, name, after, last)
	case spec.Uploads():
		_, err := actedIn(rec)
		if err == nil {
			err = idrl.Errorf(idrl.Invalid, "session %s (%s) is about uploaded trajectories, and recommends no policy: name the policies that acted, each by %s:POLICY", spec.ID, name, spec.ID)
		}
		return spec, e, p, err
	case rec.Generation == nil:
		return spec, e, p, idrl.Errorf(idrl.NotFound, "session %s (%s) has no policies yet: a running server trains the first ones. Wait until it asks questions", spec.ID, name)
	}
	c, err := recommended(ctx, db, list, rec, after)
	if err != nil {
		return spec, e, p, err
	}
	e = idrl.Entrant{Title: strings.TrimSpace(w.Title), Session: spec.ID, Policy: c.ID, After: after}
	if e.Title == "" {
		e.Title = spec.Title
		if after < last {
			e.Title = idrl.Titled("", spec.Title, ", row "+strconv.FormatInt(after, 10))
		}
	}
	p = training.EntrantPolicy{Params: c.Params, Gaits: spec.ByGaits()}
	set, err := training.Recorded(list, spec)
	if acted, ok := training.Acted(set, c); ok {
		p = training.EntrantPolicy{Params: acted.Params()}
	}
	return spec, e, p, err
}

// recommended returns the policy that the session recommends; for an earlier log row, or where no numbers of that
// one are kept, the recorded policy with the highest mean return under the posterior after the row.
func recommended(ctx context.Context, db *store.DB, list envs.List, rec record.Record, after int64) (idrl.Candidate, error) {
	id, last := rec.Spec.ID, int64(len(rec.Log))
	if rec.Spec.Model == idrl.NetworkModel && after < last {
		return idrl.Candidate{}, idrl.Errorf(idrl.Invalid, "session %s learns a reward network, whose policies can enter as they are now, not as of an earlier log row", id)
	}
	source, err := learntOf(db, list, rec)
	if err != nil {
		return idrl.Candidate{}, err
	}
	set, err := training.Recorded(list, rec.Spec)
	if err != nil {
		return idrl.Candidate{}, err
	}
	known := func(c idrl.Candidate) bool { // what it does
		_, acted := training.Acted(set, c)
		return acted || len(c.Params) > 0
	}
	switch kept := known(source.Review.Best); {
	case kept && after == last:
		return source.Review.Best, nil
	case rec.Spec.Model == idrl.NetworkModel:
		return idrl.Candidate{}, notKept(id)
	}
	p := source.Review.Posterior
	adopted := int64(math.MaxInt64)
	if after < last {
		adopted = after
		if p, err = posteriorAt(list, rec, after); err != nil {
			return idrl.Candidate{}, err
		}
	}
	all, err := db.PoliciesAt(ctx, id, adopted)
	if err != nil {
		return idrl.Candidate{}, err
	}
	all = slices.DeleteFunc(all, func(c idrl.Candidate) bool { return !known(c) })
	if len(all) == 0 {
		return idrl.Candidate{}, notKept(id)
	}
	return all[regret.Leader(p, all)], nil
}

func notKept(id idrl.SessionID) error {
	return idrl.Errorf(idrl.NotFound, "session %s keeps no parameters of its policies from that time; answer more of its questions, or name a later log row", id)
}

// posteriorAt returns the posterior of a session after a log row.
func posteriorAt(list envs.List, rec record.Record, after int64) (idrl.Posterior, error) {
	m, err := training.Model(list, rec.Spec)
	if err != nil {
		return nil, err
	}
	if after == 0 {
		return m.Prior(), nil
	}
	for _, s := range rec.Snapshots {
		if s.Seq != after || s.Definition != record.PosteriorDefinition {
			continue
		}
		if s.Belief != nil {
			return m.Decode(s.Belief)
		}
		cfg, err := sessionConfig(list, rec) // for other rows than the last ones only the mean is stored
		if err != nil {
			return nil, err
		}
		return session.BeliefAfter(cfg, after)
	}
	return nil, idrl.Errorf(idrl.NotFound, "session %s has no stored posterior for log row %d; name another row", rec.Spec.ID, after)
}

// sameEnvironment returns an error of kind Invalid unless policies of both sessions act in the same
// environment with the same layout, or acted in the same recordings.
func sameEnvironment(list envs.List, a, b idrl.SessionSpec) error {
	switch ofA, ofB := isRecorded(a), isRecorded(b); {
	case (ofA || ofB) && a.Env != b.Env:
		return idrl.Errorf(idrl.Invalid, "the entrants must be policies of one set of recordings, or of one session of uploads, because people compare episodes of the same task that were recorded alike: got %q and %q", a.Env, b.Env)
	case ofA:
		return nil
	}
	if a.Env != b.Env {
		return idrl.Errorf(idrl.Invalid, "the entrants must be of one environment: session %s has %q, and session %s has %q", a.ID, a.Env, b.ID, b.Env)
	}
	if a.LayoutSeed() == b.LayoutSeed() {
		return nil
	}
	first, err := training.Environment(list, a)
	if err != nil {
		return err
	}
	second, err := training.Environment(list, b)
	if err != nil {
		return err
	}
	if !training.Alike(first, second) {
		return idrl.Errorf(idrl.Invalid, "sessions %s (seed %d) and %s (seed %d) have different layouts of %q, in which the same policy acts differently; "+
			"compare sessions with the same seed ('tiebreak session clone' keeps the seed)", a.ID, a.Seed, b.ID, b.Seed, a.Env)
	}
	return nil
}
