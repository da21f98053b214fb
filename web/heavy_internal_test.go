package web

import (
	"testing"
	"testing/synctest"
	"time"
)

// While messages of people are dealt with, heavy work waits between its pieces: until none is, and
// at most for heavyPause each time, so that it ends beside any number of people.
func TestHeavyWorkGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeavy()
		pause := h.pauses(t.Context())
		took := func() time.Duration {
			began := time.Now()
			pause()
			return time.Since(began)
		}
		time.Sleep(heavyPiece)
		if d := took(); d != 0 {
			t.Errorf("it waits for %v while nobody sends anything", d)
		}
		first, second := h.first(), h.first()
		if d := took(); d != 0 {
			t.Errorf("it waits for %v in the midst of a piece", d)
		}
		time.Sleep(heavyPiece)
		if d := took(); d != heavyPause {
			t.Errorf("it waits for %v beside people who send without end, want %v", d, heavyPause)
		}
		time.Sleep(heavyPiece)
		time.AfterFunc(heavyPause/4, first)
		time.AfterFunc(heavyPause/2, second)
		if d := took(); d != heavyPause/2 {
			t.Errorf("it waits for %v, want %v: until both messages are dealt with", d, heavyPause/2)
		}
	})
}
