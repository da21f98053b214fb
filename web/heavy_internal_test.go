package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"

	"github.com/labstack/echo/v4"
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

// Work that a request does where it is admitted gives way by the context that it is given.
func TestAdmittedWorkGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{heavy: newHeavy()}
		c := echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), httptest.NewRecorder())
		defer s.heavy.first()()
		must.Do(t, s.admitted(c, readWork, func(ctx context.Context) error {
			time.Sleep(heavyPiece)
			began := time.Now()
			idrl.Pause(ctx)
			if d := time.Since(began); d != heavyPause {
				t.Errorf("it waits for %v beside a message, want %v", d, heavyPause)
			}
			return nil
		}))
	})
}

// One upload at a time is decoded, however many places there are; one that waits for that has no place.
func TestUploadsAreDecodedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeavy()
		h.places = 2
		var tickets []*ticket
		for _, who := range []person{ada, bob} {
			one := must.Get(h.enter(t.Context(), who, uploadWork))(t)
			one.rest()
			tickets = append(tickets, one)
		}
		leave := must.Get(h.decode(t.Context(), tickets[0]))(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := h.decode(ctx, tickets[1]); err == nil || h.taken != 1 {
			t.Errorf("a second upload is decoded; %d places are taken", h.taken)
		}
		second := make(chan func(), 1)
		go func() { second <- must.Get(h.decode(t.Context(), tickets[1]))(t) }()
		synctest.Wait()
		if len(second) > 0 || h.taken != 1 {
			t.Errorf("a second upload is decoded beside the first; %d places are taken", h.taken)
		}
		leave()
		(<-second)()
		for _, one := range tickets {
			one.leave()
		}
		if h.taken != 0 || h.held != 0 || len(h.decoding) != 0 {
			t.Errorf("left: %d places, %d bytes, %d that decode", h.taken, h.held, len(h.decoding))
		}
	})
}
