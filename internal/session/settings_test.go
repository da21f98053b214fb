package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
)

// want changes what researchers want of the session, in the journal alone.
func (b *bench) want(budget int, set record.Settings) {
	b.journal.mu.Lock()
	defer b.journal.mu.Unlock()
	b.journal.rec.Spec.Budget, b.journal.rec.Settings = budget, set
}

func follow(t *testing.T, s *session.Session) {
	t.Helper()
	must.Do(t, s.Follow(t.Context()))
}

// Replies of which nothing can be learnt do not use up the answers wanted.
func TestOnlyInformativeAnswersUseUpTheBudget(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Budget = 4 })
	s, _ := b.start(t)
	choices := []idrl.Choice{idrl.Skip, idrl.ChoseA, idrl.CantTell, idrl.TechnicalFailure, idrl.Equal, idrl.ChoseB, idrl.Skip, idrl.ChoseA}
	n := 0
	for o := claim(t, s, "ann"); !o.Done; o = claim(t, s, "ann") {
		a := reply(o.Open[0], n)
		if a.Choice = choices[n]; a.Choice == idrl.Skip {
			a.Reason = "other"
		}
		mustAnswer(t, s, "ann", a)
		n++
	}
	if n != len(choices) {
		t.Errorf("done after %d replies, want %d", n, len(choices))
	}
	st, err := s.Status(t.Context())
	if err != nil || st.Answers != 4 || st.Skipped != 4 {
		t.Errorf("%d answers, %d skipped, %v; want 4 and 4", st.Answers, st.Skipped, err)
	}
	if o := claim(t, s, "ann"); o.Answers != 4 || o.Mine != 8 || o.Skipped != 4 {
		t.Errorf("offer: %d answers, %d mine, %d skipped; want 4, 8 and 4", o.Answers, o.Mine, o.Skipped)
	}
}

func TestBudgetChanges(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Budget = 2 })
	s, stop := b.start(t)
	n := 0
	finish := func(want int) {
		t.Helper()
		for o := claim(t, s, "ann"); !o.Done; o = claim(t, s, "ann") {
			mustAnswer(t, s, "ann", reply(o.Open[0], n))
			n++
		}
		if n != want || s.Spec().Budget != want {
			t.Errorf("done after %d answers of %d, want %d", n, s.Spec().Budget, want)
		}
	}
	finish(2)
	b.want(5, record.Settings{})
	follow(t, s)
	finish(5)
	stop()
	b.want(7, record.Settings{})
	s, _ = b.start(t)
	finish(7)
	b.want(0, record.Settings{})
	follow(t, s)
	if o := claim(t, s, "ann"); o.Done || len(o.Open) == 0 {
		t.Errorf("without a limit: done %v, %d questions", o.Done, len(o.Open))
	}
	b.want(3, record.Settings{})
	follow(t, s)
	if o := claim(t, s, "ann"); !o.Done || len(o.Open) != 0 || o.Budget != 3 {
		t.Errorf("with fewer answers wanted than there are: %+v", o)
	}
}

// New instructions reach who is asked, also after a restart; an answer to those of before
// counts without a doubt, and one to a version that there is not yet is marked.
func TestInstructionsChange(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	set := func(version int64) {
		b.journal.mu.Lock()
		defer b.journal.mu.Unlock()
		b.journal.rec.Spec.InstructionsVersion, b.journal.rec.Spec.Instructions = version, fmt.Sprint("Version ", version)
	}
	give := func(n int, version int64, want idrl.Doubts) {
		t.Helper()
		a := reply(claim(t, s, "ann").Open[0], n)
		a.Instructions = version
		mustAnswer(t, s, "ann", a)
		b.journal.mu.Lock()
		defer b.journal.mu.Unlock()
		rows := b.journal.rec.Log
		if got := rows[len(rows)-1]; got.Instructions != version || got.Doubts&idrl.DoubtInstructions != want {
			t.Errorf("an answer to version %d is recorded as one to %d with doubts %q", version, got.Instructions, got.Doubts)
		}
	}
	if o := claim(t, s, "ann"); o.Instructions != 1 {
		t.Errorf("at first the instructions have version %d", o.Instructions)
	}
	give(0, 1, 0)
	set(2)
	follow(t, s)
	if o := claim(t, s, "ann"); o.Instructions != 2 || s.Spec().Instructions != "Version 2" {
		t.Errorf("after the change: version %d, %q", o.Instructions, s.Spec().Instructions)
	}
	give(1, 1, 0)
	give(2, 2, 0)
	give(3, 3, idrl.DoubtInstructions)
	stop()
	set(3)
	s, _ = b.start(t)
	if o := claim(t, s, "ann"); o.Instructions != 3 {
		t.Errorf("after a restart: version %d", o.Instructions)
	}
}

// The questions of a removed person are free at once, and they get no more.
func TestRemovedAnnotator(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Budget = 3 })
	s, stop := b.start(t)
	held := claim(t, s, "bad").Open
	if o, err := s.Claim(t.Context(), "good"); err != nil || len(held) != 3 || len(o.Open) != 0 {
		t.Fatalf("one holds %d questions, the other %d (%v); want 3 and none", len(held), len(o.Open), err)
	}
	first := reply(held[0], 0)
	mustAnswer(t, s, "bad", first)
	b.want(3, record.Settings{Revoked: []idrl.AnnotatorID{"bad"}})
	follow(t, s)
	for _, when := range []string{"at once", "after a restart"} {
		for what, err := range map[string]error{
			"claim":  second(s.Claim(t.Context(), "bad")),
			"answer": second(s.Answer(t.Context(), "bad", reply(held[1], 1))),
			"undo":   second(s.Undo(t.Context(), "bad", "u", first.ID)),
			"renew":  s.Renew(t.Context(), "bad", held[1].ID),
		} {
			if idrl.KindOf(err) != idrl.Forbidden {
				t.Errorf("%s, %s: %v, want it forbidden", when, what, err)
			}
		}
		if r, err := s.Answer(t.Context(), "bad", first); err != nil || !r.Replay {
			t.Errorf("%s, an answer that is recorded: %+v, %v, want its receipt", when, r, err)
		}
		if o := claim(t, s, "good"); len(o.Open) != 2 || o.Answers != 1 {
			t.Errorf("%s, the other has %d questions of 2 that are left, %d answers", when, len(o.Open), o.Answers)
		}
		st, err := s.Status(t.Context())
		if err != nil || slices.ContainsFunc(st.Open, func(a record.Assignment) bool { return a.Annotator == "bad" }) {
			t.Errorf("%s, questions count as asked now: %+v, %v", when, st.Open, err)
		}
		stop()
		s, stop = b.start(t)
	}
	if n := len(b.record(t, s).Log); n != 1 {
		t.Errorf("%d rows in the log, want the one answer", n)
	}
}

func second[T any](_ T, err error) error { return err }

// TestLeavingOut: without a person's answers the posterior is that of the others'
// answers, to the byte, also after a kill and if it is made from the log alone; with
// them again it is that of all. What they answer later counts no more than the rest.
func TestLeavingOut(t *testing.T) {
	for _, test := range []struct {
		adoptAfter int64
		own        bool
	}{{0, false}, {2, false}, {0, true}, {2, true}} {
		t.Run(fmt.Sprintf("adopt after %d, own noise %v", test.adoptAfter, test.own), func(t *testing.T) {
			b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = test.adoptAfter })
			if test.own {
				b.own(t)
			}
			s, stop := b.start(t)
			n := 0
			answer := func(people ...idrl.AnnotatorID) {
				t.Helper()
				for _, who := range people {
					mustAnswer(t, s, who, reply(claim(t, s, who).Open[0], n))
					n++
				}
			}
			answer("good", "bad", "bad", "good", "bad", "good", "other")
			must.Get(s.Undo(t.Context(), "bad", "u", "answer-4"))(t)

			b.want(0, record.Settings{LeftOut: []idrl.AnnotatorID{"bad"}})
			follow(t, s)
			follow(t, s) // again: nothing to do
			b.same(t, s, "left out", "good", "other")
			rec := b.record(t, s)
			if last := rec.Log[len(rec.Log)-1]; len(rec.Log) != 9 || last.Choice != idrl.LeftOut || last.Annotator != "bad" {
				t.Errorf("%d rows, the last is %+v", len(rec.Log), last)
			}
			if st, err := s.Status(t.Context()); err != nil || st.Answers != 4 || len(st.Annotators) != 3 {
				t.Errorf("status: %d answers of %d people, %v; want 4 of 3", st.Answers, len(st.Annotators), err)
			}

			before := lastBelief(rec)
			answer("bad")
			if !bytes.Equal(before, lastBelief(b.record(t, s))) {
				t.Error("an answer of somebody who is left out moved the belief")
			}
			answer("good")
			must.Get(s.Undo(t.Context(), "good", "v", "answer-3"))(t)
			b.same(t, s, "after an undo", "good", "other")

			stop()
			s, stop = b.start(t)
			b.same(t, s, "after a kill", "good", "other")
			killed, err := s.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			stop()
			snapshots := b.journal.rec.Snapshots
			b.journal.rec.Snapshots = nil
			s, stop = b.start(t)
			replayed, err := s.Status(t.Context())
			if err != nil || replayed.Answers != 4 || !cmp.Equal(killed.Weights, replayed.Weights) {
				t.Errorf("from the log alone: %d answers, %v; want 4 and the same weights, to the bit", replayed.Answers, err)
			}
			stop()
			b.journal.rec.Snapshots = snapshots
			b.want(0, record.Settings{}) // while the session does not run
			s, _ = b.start(t)
			follow(t, s)
			b.same(t, s, "taken in", "good", "other", "bad")
			if now, err := s.Status(t.Context()); err != nil || cmp.Equal(killed.Weights, now.Weights) {
				t.Errorf("the belief is the same with and without: %v", err)
			}
		})
	}
}

func lastBelief(r record.Record) []byte { return r.Snapshots[len(r.Snapshots)-1].Belief }

// same fails unless the belief after the last row, as it was recorded, is what the
// standing answers of some people make.
func (b *bench) same(t *testing.T, s *session.Session, when string, people ...idrl.AnnotatorID) {
	t.Helper()
	rec := b.record(t, s)
	queries := journaltest.Vectors(t, rec)
	var items []posterior.Item
	for _, a := range record.Standing(rec.Log) {
		if q := queries[a.Assignment]; a.Informative() && slices.Contains(people, a.Annotator) {
			items = append(items, posterior.ItemOf(&q, a))
		}
	}
	model := b.rewards()
	want := must.Get(posterior.Of(t.Context(), model, items))(t)
	text := must.Get(model.Encode(want))(t)
	if !bytes.Equal(text, lastBelief(rec)) {
		t.Errorf("%s: the belief is not that of the %d answers of %v", when, len(items), people)
	}
}

// A decision that cannot be recorded changes nothing, and can be made again.
func TestLeavingOutIsDurableOrNothing(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	for i, who := range []idrl.AnnotatorID{"good", "bad", "good"} {
		mustAnswer(t, s, who, reply(claim(t, s, who).Open[0], i))
	}
	before := must.Get(s.Status(t.Context()))(t)
	b.want(0, record.Settings{LeftOut: []idrl.AnnotatorID{"bad"}})
	b.journal.fails(errors.New("disk full"))
	if err := s.Follow(t.Context()); err == nil {
		t.Error("no error although nothing was recorded")
	}
	after := must.Get(s.Status(t.Context()))(t)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the status changed (-before +after):\n%s", diff)
	}
	b.journal.fails(nil)
	follow(t, s)
	b.same(t, s, "left out", "good")
}

// Only the session itself decides whose answers count.
func TestAnnotatorsDecideNothing(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	for _, choice := range []idrl.Choice{idrl.LeftOut, idrl.Turned, idrl.TakenIn} {
		a := reply(claim(t, s, "ann").Open[0], 0)
		a.Choice = choice
		if _, err := s.Answer(t.Context(), "ann", a); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v, want it invalid", choice, err)
		}
	}
	if n := len(b.record(t, s).Log); n != 0 {
		t.Errorf("%d rows in the log", n)
	}
}
