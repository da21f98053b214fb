package session_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

// A person has done their part after so many replies, whatever they were; what they take back
// they are asked again; and the session goes on with others.
func TestPartOfEach(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.AnswersEach, s.CompletionCode, s.Ahead = 4, "DONE", 3 })
	s, stop := b.start(t)
	for i := range 4 {
		offer := claim(t, s, "ann")
		if want := min(3, 4-i); len(offer.Open) != want || offer.Done || offer.Code != "" {
			t.Fatalf("after %d replies: %d questions, done %v, code %q; want %d", i, len(offer.Open), offer.Done, offer.Code, want)
		}
		row := reply(offer.Open[0], i)
		if i == 1 {
			row.Choice, row.Rating = idrl.CantTell, 0
		}
		mustAnswer(t, s, "ann", row)
	}
	stop()
	s, stop = b.start(t)
	defer stop()
	offer := claim(t, s, "ann")
	if !offer.Done || offer.Code != "DONE" || len(offer.Open) != 0 {
		t.Errorf("at the end: %+v", offer)
	}
	if other := claim(t, s, "bob"); other.Done || len(other.Open) != 3 || other.Code != "" {
		t.Errorf("somebody else: %+v", other)
	}
	must.Get(s.Undo(t.Context(), "ann", "undo", offer.Undo))(t)
	if again := claim(t, s, "ann"); again.Done || len(again.Open) != 1 || again.Code != "" {
		t.Errorf("after an undo: %+v", again)
	}
}
