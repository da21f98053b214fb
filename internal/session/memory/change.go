package memory

import (
	"maps"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A change is one write to a Journal.
type change struct {
	*Journal
	r      *record.Record
	closed []int // assignments that it closed
}

// open returns the place of an assignment that is not answered.
func (t *change) open(id idrl.AssignmentID) (int, error) {
	i := slices.IndexFunc(t.r.Assignments, func(as record.Assignment) bool { return as.ID == id })
	if i < 0 {
		return i, idrl.Errorf(idrl.NotFound, "there is no assignment %q", id)
	}
	if t.r.Assignments[i].Answer != "" {
		return i, idrl.Errorf(idrl.Conflict, "assignment %s is answered already", id)
	}
	return i, nil
}

func (t *change) append(a idrl.Answer) error {
	if n := len(t.r.Log); a.Seq != int64(n)+1 {
		return idrl.Errorf(idrl.Conflict, "row %d does not follow: the log has %d rows", a.Seq, n)
	}
	if a.Reply() {
		if err := t.close(a); err != nil {
			return err
		}
	}
	found := a.Undoes == ""
	for _, b := range t.r.Log {
		if b.ID == a.ID || a.Undoes != "" && b.Undoes == a.Undoes {
			return idrl.Errorf(idrl.Conflict, "answer %s is recorded already, or the answer it withdraws is withdrawn", a.ID)
		}
		found = found || b.ID == a.Undoes
	}
	if !found || !t.joined(a.Annotator) {
		return idrl.Errorf(idrl.NotFound, "answer %s refers to an annotator or an answer that is not recorded", a.ID)
	}
	t.r.Log = append(t.r.Log, a)
	if _, wanted := t.r.Settings.Turned[a.Annotator]; wanted && a.Choice == idrl.Turned {
		t.r.Settings.Turned = maps.Clone(t.r.Settings.Turned)
		t.r.Settings.Turned[a.Annotator] = a.Seq
	}
	return nil
}

// close closes the assignment of a reply.
func (t *change) close(a idrl.Answer) error {
	i, err := t.open(a.Assignment)
	if idrl.KindOf(err) == idrl.NotFound {
		return err
	}
	switch as := t.r.Assignments[i]; {
	case as.Annotator != a.Annotator:
		return idrl.Errorf(idrl.Forbidden, "assignment %s is not yours", as.ID)
	case as.Query.ID != a.Query:
		return idrl.Errorf(idrl.Invalid, "assignment %s holds query %s, not %s", as.ID, as.Query.ID, a.Query)
	case err != nil:
		return err
	}
	t.r.Assignments[i].Answer = a.ID
	t.closed = append(t.closed, i)
	return nil
}

func (t *change) joined(who idrl.AnnotatorID) bool {
	return t.Annotators == nil || slices.Contains(t.Annotators, who)
}

func (t *change) issue(as []record.Assignment) error {
	for _, a := range as {
		if n, want := len(a.Query.Clips), a.Query.Kind.Clips(); n != want {
			return idrl.Errorf(idrl.Invalid, "query %s shows %d clips; a %s must show %d", a.Query.ID, n, a.Query.Kind, want)
		}
		for _, c := range a.Query.Clips {
			if !t.has(c) {
				return idrl.Errorf(idrl.NotFound, "query %s shows a clip that is not recorded", a.Query.ID)
			}
		}
		if !t.joined(a.Annotator) {
			return idrl.Errorf(idrl.NotFound, "assignment %s is for annotator %q, who is not in the session", a.ID, a.Annotator)
		}
		for _, b := range t.r.Assignments {
			if b.ID == a.ID || b.N == a.N {
				return idrl.Errorf(idrl.Conflict, "assignment %s (number %d) is recorded already", a.ID, a.N)
			}
			if b.Query.ID == a.Query.ID && b.Query.Clips[0] == a.Query.Clips[0] && !equal(a.Query, b.Query) {
				return idrl.Errorf(idrl.Conflict, "query %s was asked with another meaning before", a.Query.ID)
			}
		}
		t.r.Assignments = append(t.r.Assignments, a)
		t.r.Clips = maps.Clone(t.r.Clips) // a write that fails leaves the record as it was
		if t.r.Clips == nil {
			t.r.Clips = map[idrl.ClipID]idrl.Clip{}
		}
		for _, c := range a.Query.Clips {
			t.r.Clips[c], _ = t.clip(c)
		}
	}
	return nil
}

func equal(a, b idrl.Query) bool {
	return a.ID == b.ID && a.Kind == b.Kind && slices.Equal(a.Clips, b.Clips)
}

// has reports whether a clip came with a generation.
func (t *change) has(id idrl.ClipID) bool {
	_, known := t.clip(id)
	return known
}

// clip returns a clip that came with a generation.
func (t *change) clip(id idrl.ClipID) (idrl.Clip, bool) {
	c, known := t.clips[id]
	if g := t.r.Generation; !known && g != nil {
		c, known = g.Clips[id]
	}
	return storedClip(c), known
}

func (t *change) adopt(g idrl.Generation, seq int64, by []record.PastTraining) error {
	old := t.r.Generation
	switch {
	case old != nil && old.BasedOn == g.BasedOn && slices.EqualFunc(old.Queries, g.Queries, equal):
		return nil
	case old != nil && old.BasedOn == g.BasedOn:
		return idrl.Errorf(idrl.Conflict, "the session has another generation based on %d", g.BasedOn)
	}
	if err := t.check(g); err != nil {
		return err
	}
	if old != nil {
		t.retire(*old)
	}
	t.r.Pool = append(t.r.Pool, g.Pool...)
	kept := g
	kept.Clips = maps.Clone(g.Clips) // the session goes on to change its own
	t.r.Generation, t.r.AdoptedAt = &kept, seq
	t.keep(g)
	for _, p := range by {
		t.note(p)
	}
	return nil
}

// note adds a training to those of the past.
func (t *change) note(p record.PastTraining) {
	p.N = int64(len(t.trainings)) + 1
	t.trainings = append(t.trainings, p)
}

// check returns an error if g shows a clip that is not there.
func (t *change) check(g idrl.Generation) error {
	for _, q := range g.Queries {
		for _, c := range q.Clips {
			if _, ok := g.Clips[c]; !ok {
				return idrl.Errorf(idrl.Invalid, "query %s shows clip %s, which is not in its generation", q.ID, c)
			}
		}
	}
	for _, c := range slices.Concat(g.Candidates, g.Pool) {
		if _, ok := g.Clips[c.Clip]; !ok && c.Clip != "" && !t.has(c.Clip) {
			return idrl.Errorf(idrl.NotFound, "policy %s is shown by clip %s, which is not in its generation", c.ID, c.Clip)
		}
	}
	return nil
}

func (t *change) extend(g idrl.Generation, from int) error {
	old := t.r.Generation
	switch {
	case from < 1 || from > len(g.Candidates):
		return idrl.Errorf(idrl.Invalid, "there is no candidate from number %d on: generation %d has %d", from, g.BasedOn, len(g.Candidates))
	case old == nil:
		return idrl.Errorf(idrl.NotFound, "there is no generation to extend")
	case old.BasedOn != g.BasedOn:
		return idrl.Errorf(idrl.Conflict, "generation %d is not in use", g.BasedOn)
	case slices.EqualFunc(old.Candidates, g.Candidates, samePolicy) && slices.EqualFunc(old.Queries, g.Queries, equal):
		return nil
	case len(old.Candidates) != from:
		return idrl.Errorf(idrl.Conflict, "generation %d has %d candidates, not %d", g.BasedOn, len(old.Candidates), from)
	}
	if err := t.check(g); err != nil {
		return err
	}
	longer := *old
	longer.Candidates, longer.Queries, longer.Clips = slices.Concat(old.Candidates, g.Candidates[from:]), g.Queries, maps.Clone(g.Clips)
	t.r.Generation = &longer
	t.keep(g)
	return nil
}

func samePolicy(a, b idrl.Candidate) bool {
	return a.ID == b.ID && slices.Equal(a.Params, b.Params) && slices.Equal(a.Mu, b.Mu)
}

// retire moves the generation in use to the archive.
func (t *change) retire(g idrl.Generation) {
	var past []idrl.Candidate
	for _, c := range g.Candidates {
		past = append(past, idrl.Candidate{ID: c.ID, Origin: c.Origin, Params: c.Params, Mu: c.Mu, Mus: c.Mus, Clip: c.Clip, Rollouts: c.Rollouts})
	}
	t.r.Archive = append(t.r.Archive, past)
}

// keep keeps the clips and the raw steps of a generation.
func (t *change) keep(g idrl.Generation) {
	if t.clips == nil {
		t.clips, t.steps, t.media = map[idrl.ClipID]idrl.Clip{}, map[idrl.StepsID][]byte{}, map[idrl.ClipID][]byte{}
	}
	for id, c := range g.Clips {
		t.clips[id] = storedClip(c)
		if c.Media != nil {
			t.media[id] = c.Media
		}
	}
	maps.Copy(t.steps, g.Steps)
}
