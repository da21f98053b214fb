package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"
)

var (
	ada, bob = person{id: "ada"}, person{id: "bob"}
	small    = work{bytes: 1, busy: errHeavy}
)

// onePlace returns a scheduler with one place and 100 bytes.
func onePlace() *scheduler {
	s := newScheduler()
	s.places, s.memory = 1, 100
	return s
}

func mustEnter(t *testing.T, s *scheduler, who person, w work) *ticket {
	t.Helper()
	got := must.Get(s.enter(t.Context(), who, w))(t)
	return got
}

// Actors take turns, however many requests one of them has, and a request that was admitted goes on first.
func TestActorsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onePlace()
		first := mustEnter(t, s, ada, small)
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		ask := func(who person, name string) {
			all.Go(func() {
				got, err := s.enter(t.Context(), who, small)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				got.leave()
			})
			synctest.Wait()
		}
		for n := range 3 {
			ask(ada, fmt.Sprint("ada", n))
		}
		ask(bob, "bob0")
		ask(bob, "bob1")
		first.rest() // ada0 begins, and so on
		must.Do(t, first.resume(t.Context()))
		all.Go(first.leave)
		all.Wait()
		if want := []string{"ada0", "bob0", "ada1", "bob1", "ada2"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

// Long work shares its place: one that waits has it after a slice, and gives it back likewise.
func TestLongWorkSharesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onePlace()
		long := mustEnter(t, s, ada, small)
		time.Sleep(heavySlice)
		long.share(t.Context()) // nobody waits
		began, done := time.Now(), make(chan time.Duration, 1)
		go func() {
			short := mustEnter(t, s, bob, small)
			time.Sleep(heavySlice / 2)
			short.leave()
			done <- time.Since(began)
		}()
		synctest.Wait()
		long.share(t.Context())
		if d := time.Since(began); d != heavySlice/2 {
			t.Errorf("it waits for %v, want %v: until the short one has ended", d, heavySlice/2)
		}
		if d := <-done; d != heavySlice/2 {
			t.Errorf("the short one took %v", d)
		}
		if long.leave(); s.held != 0 || s.taken != 0 || s.waiting != 0 {
			t.Errorf("left: %d bytes, %d places, %d waiting", s.held, s.taken, s.waiting)
		}
	})
}

// A request for more memory than is free waits, is not overtaken for ever, and does not hold up those that were admitted.
func TestMemoryOfHeavyWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onePlace()
		large := work{bytes: 60, busy: errHeavy}
		first := mustEnter(t, s, ada, large)
		first.rest()
		second, third := make(chan *ticket, 1), make(chan *ticket, 1)
		go func() { second <- mustEnter(t, s, bob, large) }()
		synctest.Wait()
		go func() { third <- mustEnter(t, s, ada, work{bytes: 30, busy: errHeavy}) }()
		synctest.Wait()
		if len(second) > 0 || len(third) > 0 {
			t.Error("a request is admitted beyond the memory, or before one that waits longer")
		}
		if err := first.resume(t.Context()); err != nil {
			t.Error(err)
		}
		first.leave()
		synctest.Wait()
		(<-second).leave()
		(<-third).leave()
		if s.held != 0 || s.taken != 0 || s.waiting != 0 {
			t.Errorf("left: %d bytes, %d places, %d waiting", s.held, s.taken, s.waiting)
		}
		mustEnter(t, s, ada, work{bytes: 1 << 40, busy: errHeavy}).leave() // alone it may have all
	})
}

// An actor who has used the saved time of places waits; others do not.
func TestTimeOfHeavyWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onePlace()
		long := mustEnter(t, s, ada, small)
		time.Sleep((timeBurst + timeDebt + 100) * time.Second)
		long.leave()
		began := time.Now()
		mustEnter(t, s, bob, small).leave()
		if d := time.Since(began); d != 0 {
			t.Errorf("another actor waits for %v", d)
		}
		mustEnter(t, s, ada, small).leave()
		want := time.Duration(timeDebt / timeRate * float64(time.Second))
		if d := time.Since(began); d < want || d > want+time.Second {
			t.Errorf("an actor in debt waits for %v, want %v", d, want)
		}
	})
}

// New sessions cost more time than their requests take, for the clips that are made afterwards.
func TestTimeOfNewSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onePlace()
		atOnce := 0
		for began := time.Now(); time.Since(began) == 0; atOnce++ {
			mustEnter(t, s, ada, createWork).leave()
		}
		if want := timeBurst/int(createWork.after) + 1; atOnce < want-1 || atOnce > want+1 {
			t.Errorf("%d new sessions at once, want about %d", atOnce, want)
		}
	})
}

// Requests beyond the queue, or that wait too long, are refused; those whose client leaves give up their place in it.
func TestRefusalOfHeavyWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onePlace()
		first := mustEnter(t, s, ada, small)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan error, heavyOwn)
		for range heavyOwn {
			go func() {
				_, err := s.enter(ctx, ada, small)
				gone <- err
			}()
		}
		synctest.Wait()
		if _, err := s.enter(t.Context(), ada, small); !errors.Is(err, errHeavy) {
			t.Errorf("beyond the queue of an actor: %v", err)
		}
		leave()
		for range heavyOwn {
			if err := <-gone; !errors.Is(err, errHeavy) {
				t.Errorf("a client that left: %v", err)
			}
		}
		began := time.Now()
		if _, err := s.enter(t.Context(), bob, small); !errors.Is(err, errHeavy) || time.Since(began) != heavyWait {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		alone := work{bytes: 1, alone: true, busy: errUploads, waits: 3}
		first.leave()
		one := mustEnter(t, s, ada, alone)
		one.rest()
		began = time.Now()
		if _, err := s.enter(t.Context(), ada, alone); !errors.Is(err, errUploads) || time.Since(began) != 3*heavyWait {
			t.Errorf("a second upload of an actor after %v: %v", time.Since(began), err)
		}
		mustEnter(t, s, bob, alone).leave()
		one.leave()
		if s.held != 0 || s.taken != 0 || s.waiting != 0 {
			t.Errorf("left: %d bytes, %d places, %d waiting", s.held, s.taken, s.waiting)
		}
	})
}
