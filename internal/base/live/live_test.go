package live_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/live"
)

func TestHubTellsTheWatchersOfOneSession(t *testing.T) {
	var hub live.Hub
	var got []int64
	stop := hub.Subscribe("s1", func(e live.Event) { got = append(got, e.Seq) })
	hub.Publish("s1", live.Event{Kind: live.EventAnswered, Seq: 1})
	hub.Publish("s2", live.Event{Kind: live.EventAnswered, Seq: 2})
	stop()
	stop()
	hub.Publish("s1", live.Event{Kind: live.EventAnswered, Seq: 3})
	if len(got) != 1 || got[0] != 1 {
		t.Errorf("events = %v, want only that of answer 1", got)
	}
	if n := hub.Watchers("s1"); n != 0 {
		t.Errorf("watchers left = %d, want 0", n)
	}
}

func TestHubUnderConcurrency(t *testing.T) {
	var hub live.Hub
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				stop := hub.Subscribe("s", func(live.Event) {})
				hub.Publish("s", live.Event{})
				stop()
			}
		})
	}
	group.Wait()
	if n := hub.Watchers("s"); n != 0 {
		t.Errorf("watchers left = %d, want 0", n)
	}
}

func TestPacer(t *testing.T) {
	for _, test := range []struct {
		name     string
		interval time.Duration
		wakes    []time.Duration // one a second from the start, each with this delay
		total    time.Duration   // how long to look
		want     []time.Duration // starts of runs
	}{
		{"at once", 0, []time.Duration{0}, time.Second, []time.Duration{0}},
		{"later", 0, []time.Duration{300 * time.Millisecond}, time.Second, []time.Duration{300 * time.Millisecond}},
		{"spaced", 5 * time.Second, []time.Duration{0, 0, 0}, 20 * time.Second, []time.Duration{0, 5 * time.Second}},
		{"an urgent wake overtakes", 0, []time.Duration{9 * time.Second, 0}, 20 * time.Second, []time.Duration{time.Second}},
		{"a lazy wake does not put off", 0, []time.Duration{2 * time.Second, 9 * time.Second}, 20 * time.Second, []time.Duration{2 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var got []time.Duration
				p := live.NewPacer(test.interval, func() { got = append(got, time.Since(begin)) })
				for _, delay := range test.wakes {
					p.Wake(delay)
					time.Sleep(time.Second) // fake clock
				}
				time.Sleep(test.total)
				p.Stop()
				if len(got) != len(test.want) {
					t.Fatalf("runs at %v, want %v", got, test.want)
				}
				for i := range got {
					if got[i] != test.want[i] {
						t.Errorf("run %d at %v, want %v", i, got[i], test.want[i])
					}
				}
			})
		})
	}
}

func TestPacerRunsOnceMoreAfterAWakeDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, busy := 0, make(chan struct{})
		p := live.NewPacer(0, func() {
			runs++
			<-busy
		})
		p.Wake(0)
		synctest.Wait()
		for range 5 {
			p.Wake(0)
		}
		close(busy)
		synctest.Wait()
		if runs != 2 {
			t.Errorf("runs = %d, want 2", runs)
		}
		p.Stop()
		p.Wake(0)
		synctest.Wait()
		if runs != 2 {
			t.Errorf("runs after Stop = %d, want 2", runs)
		}
	})
}

func TestPacerStopWaitsForTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finished := false
		p := live.NewPacer(0, func() {
			time.Sleep(time.Minute) // fake clock
			finished = true
		})
		p.Wake(0)
		synctest.Wait()
		p.Stop()
		if !finished {
			t.Error("Stop returned while a run was under way")
		}
	})
}

func TestPacerStopCancelsWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		p := live.NewPacer(0, func() { runs++ })
		p.Wake(time.Hour)
		p.Stop()
		p.Stop()
		time.Sleep(2 * time.Hour) // fake clock
		if runs != 0 {
			t.Errorf("runs = %d, want 0", runs)
		}
	})
}
