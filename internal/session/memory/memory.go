package memory

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A Journal is the record of one session in memory. It refuses what a durable one
// refuses: package journaltest holds it to the same contract.
type Journal struct {
	Record *record.Record // of session Record.Spec.ID; required
	Guard  *sync.Mutex    // guards Record, also against the caller that owns it; required

	// Annotators have joined the session; nil: answers of all are taken.
	Annotators []idrl.AnnotatorID

	// Fail returns the error of the next write, as a full disk does; nil never fails.
	Fail func() error

	Beliefs map[int64][]byte // after each row that was appended, also those that a journal does not keep; guarded by Guard

	clips map[idrl.ClipID]idrl.Clip // guarded by Guard: of all generations, as they are stored
	steps map[idrl.StepsID][]byte   // likewise
	media map[idrl.ClipID][]byte    // likewise

	trainings []record.PastTraining // likewise, by N
}

var _ record.Journal = (*Journal)(nil)

// read runs f on the record of a session.
func (m *Journal) read(id idrl.SessionID, f func(r *record.Record)) error {
	m.Guard.Lock()
	defer m.Guard.Unlock()
	if id != m.Record.Spec.ID {
		return idrl.Errorf(idrl.NotFound, "there is no session %q", id)
	}
	f(m.Record)
	return nil
}

// write lets f change the record of a session. Where f fails, nothing is changed.
func (m *Journal) write(id idrl.SessionID, f func(t *change) error) (err error) {
	missing := m.read(id, func(r *record.Record) {
		if m.Fail != nil {
			err = m.Fail()
		}
		if err != nil {
			return
		}
		t := change{Journal: m, r: r}
		before := *r
		if err = f(&t); err != nil {
			*r = before
			for _, i := range t.closed {
				r.Assignments[i].Answer = ""
			}
		}
	})
	if missing != nil {
		return missing
	}
	return err
}

// Load implements record.Journal.
func (m *Journal) Load(_ context.Context, id idrl.SessionID) (out record.Record, err error) {
	err = m.read(id, func(r *record.Record) {
		out = *r
		out.Settings = settingsOf(r)
		out.Log, out.Assignments, out.Snapshots = slices.Clone(r.Log), slices.Clone(r.Assignments), slices.Clone(r.Snapshots)
		out.Clips, out.Fits = maps.Clone(r.Clips), slices.Clone(r.Fits)
		out.Pool, out.Archive = slices.Clone(r.Pool), slices.Clone(r.Archive)
		for i := range out.Pool {
			out.Pool[i].Policy = nil
		}
		if r.Generation != nil {
			out.Generation = stored(*r.Generation)
		}
	})
	return out, err
}

// stored returns what is kept of a generation.
func stored(g idrl.Generation) *idrl.Generation {
	g.Pool, g.Steps = nil, nil
	g.Candidates, g.Clips = slices.Clone(g.Candidates), maps.Clone(g.Clips)
	for i := range g.Candidates {
		g.Candidates[i].Policy = nil
	}
	for id, c := range g.Clips {
		g.Clips[id] = storedClip(c)
	}
	return &g
}

func storedClip(c idrl.Clip) idrl.Clip {
	c.Media, c.Snapshots = nil, nil
	return c
}

// StageAgents implements record.Journal. It keeps nothing: Adopt gets all of a generation.
func (m *Journal) StageAgents(context.Context, idrl.SessionID, map[string][]byte) error { return nil }

// AdoptFit implements record.Journal.
func (m *Journal) AdoptFit(_ context.Context, id idrl.SessionID, f record.LearntFit) error {
	return m.write(id, func(t *change) error {
		last := int64(len(t.r.Fits))
		switch {
		case f.Version == last && last > 0 && bytes.Equal(f.Content, t.r.Fits[last-1].Content):
			return nil
		case f.Version != last+1:
			return idrl.Errorf(idrl.Conflict, "fit %d does not follow: the session has %d, or another of that version", f.Version, last)
		}
		t.r.Fits = append(t.r.Fits, f)
		return nil
	})
}

// NoteTraining implements record.Journal.
func (m *Journal) NoteTraining(_ context.Context, id idrl.SessionID, p record.PastTraining) error {
	return m.write(id, func(t *change) error {
		t.note(p)
		return nil
	})
}

// Trainings implements record.Journal.
func (m *Journal) Trainings(_ context.Context, id idrl.SessionID, most int) (out []record.PastTraining, err error) {
	err = m.read(id, func(*record.Record) {
		out = slices.Clone(m.trainings)
		slices.Reverse(out)
		if most > 0 && len(out) > most {
			out = out[:most]
		}
	})
	return out, err
}

// Steps implements record.Journal.
func (m *Journal) Steps(_ context.Context, id idrl.SessionID, name idrl.StepsID) (content []byte, err error) {
	err = m.read(id, func(*record.Record) { content = m.steps[name] })
	if err == nil && content == nil {
		err = idrl.Errorf(idrl.NotFound, "session %s has no raw steps %q", id, name)
	}
	return content, err
}

// ClipMedia implements record.Journal.
func (m *Journal) ClipMedia(_ context.Context, id idrl.SessionID, clip idrl.ClipID) (media []byte, err error) {
	err = m.read(id, func(*record.Record) { media = m.media[clip] })
	if err == nil && media == nil {
		err = idrl.Errorf(idrl.NotFound, "session %s has no clip %q", id, clip)
	}
	return media, err
}

// ClipPlaces implements record.Journal.
func (m *Journal) ClipPlaces(_ context.Context, id idrl.SessionID) (out []idrl.Clip, err error) {
	m.Guard.Lock()
	defer m.Guard.Unlock()
	if id != m.Record.Spec.ID {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.clips)) {
		if c := m.clips[name]; m.media[name] != nil {
			out = append(out, idrl.Clip{ID: c.ID, From: c.From, Start: c.Start, Steps: c.Steps})
		}
	}
	return out, nil
}

// Settings implements record.Journal.
func (m *Journal) Settings(_ context.Context, id idrl.SessionID) (s record.Settings, err error) {
	err = m.read(id, func(r *record.Record) { s = settingsOf(r) })
	return s, err
}

func settingsOf(r *record.Record) record.Settings {
	s := r.Settings
	s.Title, s.State = cmp.Or(s.Title, r.Spec.Title), cmp.Or(s.State, record.StateRunning)
	s.Budget, s.Told, s.Gold.Every = r.Spec.Budget, r.Spec.CurrentInstructions(), r.Spec.GoldEvery
	s.Consent = r.Spec.CurrentConsent()
	return s
}

// Append implements record.Journal.
func (m *Journal) Append(_ context.Context, id idrl.SessionID, rows ...record.Row) error {
	for _, row := range rows {
		switch a := row.Answer; {
		case math.IsNaN(a.Rating):
			return idrl.Errorf(idrl.Invalid, "the rating of answer %s is not a number", a.ID)
		case row.After.Seq != a.Seq:
			return idrl.Errorf(idrl.Invalid, "the belief after row %d was sent with row %d", row.After.Seq, a.Seq)
		}
	}
	return m.write(id, func(t *change) error {
		for _, row := range rows {
			if err := t.append(row.Answer); err != nil {
				return err
			}
			t.remember(row.After)
			if err := t.issue(row.Next); err != nil {
				return err
			}
		}
		return nil
	})
}

// remember records s, without the belief that was kept before in its slot.
func (t *change) remember(s record.Snapshot) {
	if t.Beliefs == nil {
		t.Beliefs = map[int64][]byte{}
	}
	t.Beliefs[s.Seq] = s.Belief
	t.r.Snapshots = append(slices.Clone(t.r.Snapshots), s)
	for i, before := range t.r.Snapshots[:len(t.r.Snapshots)-1] {
		if before.Slot == s.Slot && before.Mean != nil {
			t.r.Snapshots[i].Belief, t.r.Snapshots[i].Slot = nil, 0
		}
	}
}

// Issue implements record.Journal.
func (m *Journal) Issue(_ context.Context, id idrl.SessionID, as []record.Assignment) error {
	return m.write(id, func(t *change) error { return t.issue(as) })
}

// Renew implements record.Journal.
func (m *Journal) Renew(_ context.Context, id idrl.SessionID, a idrl.AssignmentID, until time.Time) error {
	return m.write(id, func(t *change) error {
		i, err := t.open(a)
		if err == nil {
			t.r.Assignments[i].LeaseUntil = until
		}
		return err
	})
}

// Adopt implements record.Journal.
func (m *Journal) Adopt(_ context.Context, id idrl.SessionID, g idrl.Generation, seq int64, by ...record.PastTraining) error {
	return m.write(id, func(t *change) error { return t.adopt(g, seq, by) })
}

// Extend implements record.Journal.
func (m *Journal) Extend(_ context.Context, id idrl.SessionID, g idrl.Generation, from int, _ int64) error {
	return m.write(id, func(t *change) error { return t.extend(g, from) })
}
