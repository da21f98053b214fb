package notice

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// A Kind says what a notice is about.
type Kind string

// Kinds of notices. The set is closed.
const (
	MayStop Kind = "may_stop"        // its statement says that one can stop, or the test of an arena is over
	Quiet   Kind = "quiet"           // there was no answer for long, and answers are missing
	Quality Kind = "quality"         // people seem to answer the other way round
	Failed  Kind = "training_failed" // the last training failed
)

// again is the time within which a kind of notice of a session is fresh once: a training that fails after
// each answer is reported once a day.
const again = 24 * time.Hour

// A Notice is something that holds for a session. It names no person.
type Notice struct {
	Session idrl.SessionID `json:"session"`
	Title   string         `json:"title"` // of the session
	Kind    Kind           `json:"kind"`
	Text    string         `json:"text"` // a sentence
	Since   time.Time      `json:"since"`
}

// OfStatus returns the notices that follow from the status of a session, all but Quiet. A session that is paused or has ended has
// none.
func OfStatus(st view.Status) (out []Notice) {
	if st.State != record.StateRunning && st.State != "" {
		return nil
	}
	add := func(kind Kind, text string) { out = append(out, Notice{Session: st.Session, Kind: kind, Text: text}) }
	switch {
	case st.Decided:
		add(MayStop, "It has ended: the test of the arena is over.")
	case st.Stopping.Propose && len(st.Stopping.Objections) == 0:
		add(MayStop, "It can stop: its statement is sure enough of a small loss.")
	}
	wrong := 0
	for _, a := range st.Annotators {
		if a.Reversed && !a.LeftOut {
			wrong++
		}
	}
	switch {
	case wrong == 1:
		add(Quality, "One person seems to answer the other way round.")
	case wrong > 1:
		add(Quality, fmt.Sprintf("%d people seem to answer the other way round.", wrong))
	}
	if st.Training.Err != "" {
		add(Failed, st.Training.Err)
	}
	return out
}

// OfSummary returns Quiet for a session that runs, misses answers, and has got none for some time. holds are the other notices
// that hold for it: where it may stop, most annotators are asked nothing more, or are told that they are done.
func OfSummary(s record.Summary, now time.Time, quiet time.Duration, holds []Notice) (out []Notice) {
	done := s.Spec.Budget > 0 && s.Answers >= s.Spec.Budget
	if slices.ContainsFunc(holds, func(n Notice) bool { return n.Kind == MayStop }) {
		unlimited := s.Spec.Budget == 0 && s.Spec.AnswersEach == 0
		done = done || s.Spec.StopByItself || s.Spec.IsArena() || unlimited && !s.Spec.AskOn
	}
	if quiet <= 0 || s.State != record.StateRunning || s.Paused != "" || done || s.Last.IsZero() || now.Sub(s.Last) < quiet {
		return nil
	}
	return []Notice{{Session: s.Spec.ID, Kind: Quiet, Text: "Nobody has answered since " + s.Last.UTC().Format("2 Jan 2006, 15:04 UTC") + "."}}
}

// A Board has the notices that hold for each session. The zero Board is ready for use, by any goroutine.
type Board struct {
	mu   sync.Mutex
	now  map[idrl.SessionID][]Notice
	told map[idrl.SessionID]map[Kind]time.Time
}

// Set replaces what holds for a session, of the given kinds alone, and returns what is fresh: it did not hold before, and was not fresh
// within the last day.
func (b *Board) Set(session idrl.SessionID, kinds []Kind, holds []Notice, now time.Time) (fresh []Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	var next []Notice
	for _, n := range b.now[session] {
		if !slices.Contains(kinds, n.Kind) {
			next = append(next, n)
		}
	}
	for _, n := range holds {
		n.Since = now
		i := slices.IndexFunc(b.now[session], func(old Notice) bool { return old.Kind == n.Kind })
		if i >= 0 {
			n.Since = b.now[session][i].Since
		} else if last, ok := b.told[session][n.Kind]; !ok || now.Sub(last) >= again {
			fresh = append(fresh, n)
			b.note(session, n.Kind, now)
		}
		next = append(next, n)
	}
	if b.now[session] = next; len(next) == 0 {
		delete(b.now, session)
	}
	return fresh
}

// Told returns what was told of a session and what holds, by kind, to be kept over a restart.
func (b *Board) Told(session idrl.SessionID) (out []record.ToldNotice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, kind := range []Kind{MayStop, Quality, Quiet, Failed} {
		told, known := b.told[session][kind]
		n := record.ToldNotice{Session: session, Kind: string(kind), Told: told, Since: told}
		if i := slices.IndexFunc(b.now[session], func(n Notice) bool { return n.Kind == kind }); i >= 0 {
			n.Text, n.Since, n.Holds = b.now[session][i].Text, b.now[session][i].Since, true
		} else if !known {
			continue
		}
		out = append(out, n)
	}
	return out
}

// Restore puts what Told returned of a session in place of what the board has of it. Titles are not kept.
func (b *Board) Restore(session idrl.SessionID, told []record.ToldNotice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	delete(b.now, session)
	delete(b.told, session)
	for _, n := range told {
		if n.Holds {
			b.now[session] = append(b.now[session], Notice{Session: session, Kind: Kind(n.Kind), Text: n.Text, Since: n.Since})
		}
		if !n.Told.IsZero() {
			b.note(session, Kind(n.Kind), n.Told)
		}
	}
}

// begin makes the maps of a zero Board.
func (b *Board) begin() {
	if b.now == nil {
		b.now, b.told = map[idrl.SessionID][]Notice{}, map[idrl.SessionID]map[Kind]time.Time{}
	}
}

// note notes when a kind was told last.
func (b *Board) note(session idrl.SessionID, kind Kind, at time.Time) {
	if b.told[session] == nil {
		b.told[session] = map[Kind]time.Time{}
	}
	b.told[session][kind] = at
}

// Of returns what holds for a session.
func (b *Board) Of(session idrl.SessionID) []Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.now[session])
}
