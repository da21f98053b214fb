package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/session/view"
)

// gatedJournal is a journal whose writes of rows wait for the gate to be opened.
type gatedJournal struct {
	*journal
	gate   chan struct{}
	sizes  []int                    // rows of each write that was tried
	refuse func([]record.Row) error // if not nil, says what is wrong with them
}

func (j *gatedJournal) Append(ctx context.Context, id idrl.SessionID, rows ...record.Row) error {
	<-j.gate
	j.sizes = append(j.sizes, len(rows))
	if j.refuse != nil {
		if err := j.refuse(rows); err != nil {
			return err
		}
	}
	return j.journal.Append(ctx, id, rows...)
}

// crowd is annotators that all have questions.
func crowd(t *testing.T, s *session.Session, n int) (offers []view.Offer) {
	t.Helper()
	for k := range n {
		offers = append(offers, claim(t, s, name(k)))
	}
	return offers
}

func name(k int) idrl.AnnotatorID { return idrl.AnnotatorID(fmt.Sprintf("ann%d", k)) }

// together gives answers one behind the other, all before the journal has written
// the first. It returns what each was told.
func together(s *session.Session, j *gatedJournal, ask ...func(*session.Session) (view.Receipt, error)) (receipts []view.Receipt, errs []error) {
	receipts, errs = make([]view.Receipt, len(ask)), make([]error, len(ask))
	j.gate = make(chan struct{})
	for i, f := range ask {
		go func() { receipts[i], errs[i] = f(s) }()
		synctest.Wait() // it is in the inbox, or the session waits for the journal with it
	}
	for i, r := range receipts {
		if r.ID != "" || errs[i] != nil {
			panic("a reply came before the row was durable")
		}
	}
	close(j.gate)
	synctest.Wait()
	return receipts, errs
}

func answering(who idrl.AnnotatorID, a idrl.Answer) func(*session.Session) (view.Receipt, error) {
	return func(s *session.Session) (view.Receipt, error) { return s.Answer(context.Background(), who, a) }
}

// Answers that arrive together are recorded by one write, and what is recorded is
// what would be if each had been alone: belief, regret, and the questions that
// follow. Generations are adopted where they are due.
func TestAnswersThatArriveTogether(t *testing.T) {
	for _, trainEvery := range []int64{1000, 4, 3} {
		t.Run(fmt.Sprintf("training=%d", trainEvery), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const people = 7
				spec := func(s *idrl.SessionSpec) { s.TrainEvery = trainEvery }
				alone := newBench(spec)
				s, stop := alone.start(t)
				for round := range 3 {
					for k, o := range crowd(t, s, people) {
						mustAnswer(t, s, name(k), reply(o.Open[0], round*people+k))
					}
				}
				stop()

				b := newBench(spec)
				j := &gatedJournal{journal: b.journal}
				s, stop = b.startOn(t, j)
				for round := range 3 {
					var ask []func(*session.Session) (view.Receipt, error)
					for k, o := range crowd(t, s, people) {
						ask = append(ask, answering(name(k), reply(o.Open[0], round*people+k)))
					}
					receipts, errs := together(s, j, ask...)
					for i, r := range receipts {
						if errs[i] != nil || r.Seq != int64(round*people+i+1) {
							t.Errorf("answer %d: %+v, %v", i, r, errs[i])
						}
					}
				}
				stop()
				if diff := cmp.Diff(alone.journal.rec, b.journal.rec); diff != "" {
					t.Errorf("records differ (-alone +together):\n%s", diff)
				}
				if trainEvery == 1000 && !slices.Equal(j.sizes, []int{1, people - 1, 1, people - 1, 1, people - 1}) {
					t.Errorf("writes of %d rows", j.sizes)
				}
			})
		})
	}
}

// An answer that cannot be recorded does no harm to those that came with it.
func TestOneOfAGroupIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery = 1000 })
		j := &gatedJournal{journal: b.journal}
		bad := errors.New("not this one")
		j.refuse = func(rows []record.Row) error {
			if slices.ContainsFunc(rows, func(r record.Row) bool { return r.Answer.ID == "answer-3" }) {
				return bad
			}
			return nil
		}
		s, stop := b.startOn(t, j)
		var ask []func(*session.Session) (view.Receipt, error)
		offers := crowd(t, s, 6)
		for k, o := range offers {
			ask = append(ask, answering(name(k), reply(o.Open[0], k)))
		}
		ask = append(ask, ask[1], ask[3]) // from other tabs
		receipts, errs := together(s, j, ask...)
		for i, want := range []view.Receipt{
			{ID: "answer-0", Seq: 1},
			{ID: "answer-1", Seq: 2},
			{ID: "answer-2", Seq: 3},
			{}, // the refused one
			{ID: "answer-4", Seq: 4},
			{ID: "answer-5", Seq: 5},
			{ID: "answer-1", Seq: 2, Replay: true},
			{},
		} {
			if receipts[i] != want || (want.ID == "") != errors.Is(errs[i], bad) {
				t.Errorf("answer %d: %+v, %v, want %+v", i, receipts[i], errs[i], want)
			}
		}
		if o := claim(t, s, name(3)); o.Open[0].ID != offers[3].Open[0].ID || o.Mine != 0 {
			t.Errorf("whose answer was refused is asked %s, want %s again", o.Open[0].ID, offers[3].Open[0].ID)
		}
		stop()

		alone := newBench(func(s *idrl.SessionSpec) { s.TrainEvery = 1000 })
		s, stop = alone.start(t)
		for k, o := range crowd(t, s, 6) {
			if k != 3 {
				mustAnswer(t, s, name(k), reply(o.Open[0], k))
			}
		}
		claim(t, s, name(3))
		stop()
		if diff := cmp.Diff(alone.journal.rec, b.journal.rec); diff != "" {
			t.Errorf("records differ (-without the refused one +with):\n%s", diff)
		}
	})
}

// What cannot be recorded at all is as if it had not been: answers and a withdrawal.
func TestAGroupIsTakenBack(t *testing.T) {
	for _, trainEvery := range []int64{1000, 2} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery = trainEvery; s.AdoptAfter = 50 })
			j := &gatedJournal{journal: b.journal, gate: make(chan struct{})}
			close(j.gate)
			s, _ := b.startOn(t, j)
			mustAnswer(t, s, name(0), reply(claim(t, s, name(0)).Open[0], 100))
			offers := crowd(t, s, 5)
			status := func() view.Status {
				st := must.Get(s.Status(t.Context()))(t)
				return st
			}
			synctest.Wait()
			before, recorded := status(), b.record(t, s)

			full := errors.New("disk full")
			j.refuse = func([]record.Row) error { return full }
			ask := []func(*session.Session) (view.Receipt, error){func(s *session.Session) (view.Receipt, error) {
				return s.Undo(context.Background(), name(0), "undo", "answer-100")
			}}
			for k, o := range offers {
				ask = append(ask, answering(name(k), reply(o.Open[0], k)))
			}
			if _, errs := together(s, j, ask...); slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, full) }) {
				t.Errorf("told %v", errs)
			}
			if diff := cmp.Diff(before, status()); diff != "" {
				t.Errorf("status (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(offers, crowd(t, s, 5)); diff != "" {
				t.Errorf("offers (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(recorded, b.record(t, s)); diff != "" {
				t.Errorf("record (-before +after):\n%s", diff)
			}

			j.refuse = nil
			if _, errs := together(s, j, ask...); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
				t.Errorf("told %v once there was room", errs)
			}
			if st := status(); st.Seq != 7 || st.Answers != 5 {
				t.Errorf("%d rows, %d answers, want 7 and 5", st.Seq, st.Answers)
			}
		})
	}
}

// What was computed after an answer that could not be recorded is not used for the answer that comes in its place.
func TestNothingIsKeptOfARowThatWasNotRecorded(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.StopByItself = true })
	s, stop := b.start(t)
	for i := range 3 { // no training is due after the next answer
		mustAnswer(t, s, "eve", reply(claim(t, s, "eve").Open[0], i))
	}
	ann, bob := claim(t, s, "ann").Open[0], claim(t, s, "bob").Open[0]
	lost, taken := reply(ann, 100), reply(bob, 101)
	lost.Choice, taken.Choice = idrl.ChoseA, idrl.ChoseB
	b.journal.fails(errors.New("disk full"))
	if _, err := s.Answer(t.Context(), "ann", lost); err == nil {
		t.Fatal("no error although nothing was recorded")
	}
	b.journal.fails(nil)
	mustAnswer(t, s, "bob", taken)
	live := status(t, s)
	stop()
	s, _ = b.start(t)
	again := status(t, s)
	if diff := cmp.Diff(again.Regret, live.Regret); diff != "" {
		t.Errorf("regret (-after a restart +before):\n%s", diff)
	}
	if diff := cmp.Diff(again.Stopping, live.Stopping); diff != "" {
		t.Errorf("stopping (-after a restart +before):\n%s", diff)
	}
}

// The test of an arena does not count answers that could not be recorded: who comes next is asked what they would be asked after a restart.
func TestArenaDoesNotCountARowThatWasNotRecorded(t *testing.T) {
	b := newArena(t, 200)
	b.journal.rec.Spec.Arena.Detect = 0.8
	s, stop := b.start(t)
	for n := range 30 {
		ann, bob := claim(t, s, "ann").Open[0], claim(t, s, "bob").Open[0]
		win, tie := reply(ann, 2*n), reply(bob, 2*n+1)
		win.Choice, tie.Choice = idrl.ChoseA, idrl.Equal
		b.journal.fails(errors.New("disk full"))
		if _, err := s.Answer(t.Context(), "ann", win); err == nil {
			t.Fatal("no error although nothing was recorded")
		}
		b.journal.fails(nil)
		mustAnswer(t, s, "bob", tie)
	}
	pairs := func(who idrl.AnnotatorID) (out []string) {
		for i := range 12 {
			q := claim(t, s, who).Open[0]
			a, b := entrant(q.Query.Clips[0]), entrant(q.Query.Clips[1])
			out = append(out, fmt.Sprint(min(a, b), max(a, b)))
			answer := reply(q, i)
			answer.ID, answer.Choice = idrl.AnswerID(q.ID), idrl.CantTell
			mustAnswer(t, s, who, answer)
		}
		return out
	}
	live := pairs("eve")
	stop()
	s, _ = b.start(t)
	if again := pairs("dan"); !slices.Equal(live, again) {
		t.Errorf("asked about the pairs %v, after a restart about %v", live, again)
	}
}

// Clips of a question that could not be recorded do not count as asked about: after a restart they would not either.
func TestClipsOfAQuestionThatWasNotRecorded(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	open := claim(t, s, "ann").Open
	before := must.Get(s.AskedClips(t.Context()))(t)
	b.journal.fails(errors.New("disk full"))
	if _, err := s.Answer(t.Context(), "ann", reply(open[0], 1)); err == nil {
		t.Fatal("no error although nothing was recorded")
	}
	if diff := cmp.Diff(before, must.Get(s.AskedClips(t.Context()))(t)); diff != "" {
		t.Errorf("clips asked about (-before +after):\n%s", diff)
	}
	b.journal.fails(nil)
	mustAnswer(t, s, "ann", reply(open[0], 1))
	if after := must.Get(s.AskedClips(t.Context()))(t); len(after) <= len(before) {
		t.Errorf("%d clips were asked about before an answer, %d after the next question", len(before), len(after))
	}
}
