package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A simulation is a pool without processes, and a clock. Each job that runs gets one processor.
type simulation struct {
	*Pool
	now     time.Time
	running []*ticket // that have a worker, in the order in which they began
	needs   map[*ticket]time.Duration
	heard   []string // what happened, in order
	asked   map[*ticket]time.Time
	waits   map[string][]time.Duration // from asking to the end, by session
	paused  int                        // jobs at once, at most
}

const tick = 100 * time.Millisecond

func simulate(workers int) *simulation {
	p := &Pool{c: Config{Workers: workers}, closed: make(chan struct{}), typical: map[string]length{}}
	p.back = sync.NewCond(&p.mu)
	for k := range workers + 2 {
		p.workers = append(p.workers, &worker{urgentOnly: k == 0})
	}
	p.idle = slices.Clone(p.workers)
	return &simulation{
		Pool: p, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		needs: map[*ticket]time.Duration{}, asked: map[*ticket]time.Time{}, waits: map[string][]time.Duration{},
	}
}

func (s *simulation) say(what string, t *ticket) {
	s.heard = append(s.heard, what+" "+string(t.job.Session))
}

// ask queues a job of a session that needs so much time.
func (s *simulation) ask(session string, needs time.Duration) *ticket {
	return s.add(Job{JobKey: record.JobKey{Session: idrl.SessionID(session)}, Like: needs.String(), Work: needs}, needs)
}

func (s *simulation) add(j Job, needs time.Duration) *ticket {
	_, stop := context.WithCancel(context.Background())
	t := &ticket{job: j, given: make(chan *worker, 1), moved: make(chan struct{}, 1), turn: make(chan bool, 1), stop: stop}
	s.needs[t], s.asked[t] = needs, s.now
	s.enqueue(t, s.now)
	s.take()
	return t
}

// take notes which jobs have begun.
func (s *simulation) take() {
	for _, w := range s.workers {
		if t := w.now; t != nil && !slices.Contains(s.running, t) {
			<-t.given
			s.running = append(s.running, t)
			s.say("begins", t)
		}
	}
	s.paused = max(s.paused, len(s.pausing()))
}

// pass lets time pass, and returns the jobs that have ended.
func (s *simulation) pass(d time.Duration) (ended []*ticket) {
	for range d / tick {
		s.now = s.now.Add(tick)
		for _, t := range slices.Clone(s.running) {
			if t.pausing() {
				continue
			}
			if t.used += tick; t.used < s.needs[t] {
				continue
			}
			ended = append(ended, t)
			s.say("ends", t)
			s.waits[string(t.job.Session)] = append(s.waits[string(t.job.Session)], s.now.Sub(s.asked[t]))
			s.running = slices.DeleteFunc(s.running, func(o *ticket) bool { return o == t })
			w := s.workers[slices.IndexFunc(s.workers, func(w *worker) bool { return w.now == t })]
			s.free(w, true, s.now)
			s.take()
		}
		s.dispatch(s.now) // as tickets that wait have it done now and then
		s.take()
	}
	return ended
}

// keepAsking has sessions ask again a while after each end, for so long.
func (s *simulation) keepAsking(needs map[string]time.Duration, think, long time.Duration) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range needs {
			if !yield(name) {
				return
			}
		}
	})
	due, under := map[string]time.Time{}, map[string]bool{}
	for end := s.now.Add(long); s.now.Before(end); {
		for _, name := range names {
			if !under[name] && !s.now.Before(due[name]) {
				under[name] = true
				s.ask(name, needs[name])
			}
		}
		for _, t := range s.pass(tick) {
			name := string(t.job.Session)
			under[name], due[name] = false, s.now.Add(think)
		}
	}
}

func longest(waits []time.Duration) time.Duration {
	if len(waits) == 0 {
		return -1
	}
	return slices.Max(waits)
}

// Highest response ratio next, by hand: after 30 s a job of 10 s has (30+10)/10 = 4 and one of
// 20 s that has waited as long has 2.5; one of 10 s that came 10 s later has 3.
func TestResponseRatio(t *testing.T) {
	for _, test := range []struct {
		a, b standing
		want int
	}{
		{standing{waited: 30, left: 10}, standing{waited: 30, left: 20}, -1},
		{standing{waited: 30, left: 20}, standing{waited: 20, left: 10}, 1},
		{standing{waited: 40, left: 20}, standing{waited: 10, left: 10}, -1},
		{standing{waited: 30, left: 10, place: 2}, standing{waited: 30, left: 10, place: 1}, 1},
		{standing{class: yieldingJobs, waited: 1000, left: 1}, standing{class: awaitedJobs, left: 1000}, 1},
		{standing{class: urgentJobs, left: 1000}, standing{class: awaitedJobs, waited: 1000, left: 1}, -1},
	} {
		test.a.waited, test.a.left = test.a.waited*time.Second, test.a.left*time.Second
		test.b.waited, test.b.left = test.b.waited*time.Second, test.b.left*time.Second
		if got := cmp.Compare(test.a.compare(test.b), 0); got != test.want {
			t.Errorf("%+v and %+v: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

// Driver beside four robots: no training of 2 s takes more than 10 s.
func TestShortJobsDoNotWaitForLongOnes(t *testing.T) {
	s := simulate(1)
	s.keepAsking(map[string]time.Duration{
		"ant": 30 * time.Second, "hopper": 20 * time.Second, "cheetah": 20 * time.Second, "walker": 25 * time.Second,
		"driver": 2 * time.Second, "gridworld": 100 * time.Millisecond,
	}, 4*time.Second, 10*time.Minute)
	for name, most := range map[string]time.Duration{"driver": 10 * time.Second, "gridworld": 10 * time.Second, "ant": 3 * time.Minute, "hopper": 3 * time.Minute} {
		if got := longest(s.waits[name]); got < 0 || got > most {
			t.Errorf("%s waits up to %v, want at most %v", name, got, most)
		}
	}
	if n := len(s.waits["driver"]); n < 80 {
		t.Errorf("driver had %d trainings in ten minutes", n)
	}
}

// A long job is done although shorter ones come all the time, as many as are too much for one
// worker.
func TestNoSessionWaitsForEver(t *testing.T) {
	s := simulate(1)
	needs := map[string]time.Duration{"long": 2 * time.Minute}
	for k := range 8 {
		needs[fmt.Sprint("short ", k)] = 10 * time.Second
	}
	s.keepAsking(needs, time.Second, time.Hour)
	for name := range needs {
		if got := longest(s.waits[name]); got < 0 || got > 30*time.Minute {
			t.Errorf("%s: %d jobs done, the longest after %v", name, len(s.waits[name]), got)
		}
	}
	if long, short := longest(s.waits["long"]), longest(s.waits["short 0"]); long < short {
		t.Errorf("the long job took %v, a short one %v", long, short)
	}
	if s.paused != 1 {
		t.Errorf("%d jobs were paused at once, want 1", s.paused)
	}
}

// The same jobs at the same times are served in the same order.
func TestSameOrder(t *testing.T) {
	run := func() []string {
		s := simulate(2)
		s.keepAsking(map[string]time.Duration{"a": 40 * time.Second, "b": 20 * time.Second, "c": 20 * time.Second, "d": 7 * time.Second, "e": time.Second}, 2*time.Second, 5*time.Minute)
		return s.heard
	}
	first := run()
	for range 3 {
		if again := run(); !slices.Equal(again, first) {
			t.Fatalf("served in the order\n%v\nand then\n%v", first, again)
		}
	}
}

func TestLongJobsArePausedForShorterOnes(t *testing.T) {
	s := simulate(1)
	long := s.ask("long", 2*time.Minute)
	s.pass(10 * time.Second)
	s.ask("half", time.Minute) // 110 s are left, which is not twice as much
	s.pass(time.Second)
	s.ask("quarter", 30*time.Second)
	s.pass(5 * time.Second)
	if !long.pausing() || s.paused != 1 {
		t.Fatalf("the long job is not paused: %v", s.heard)
	}
	s.ask("tenth", 6*time.Second) // there is no process to pause another
	s.pass(10 * time.Minute)
	want := []string{
		"begins long", "begins quarter", "ends quarter", "begins tenth", "ends tenth", "begins half", "ends half", "ends long",
	}
	if !slices.Equal(s.heard, want) {
		t.Errorf("heard %q,\nwant  %q", s.heard, want)
	}
	if long.active(s.now) < 0 || s.typical["background 2m0s"].took != 2*time.Minute {
		t.Errorf("pauses count as work: %v", s.typical["background 2m0s"])
	}
}

// The priority of a process: people wait for what is urgent, short or wanted soon.
func TestLevels(t *testing.T) {
	s := simulate(1)
	for _, test := range []struct {
		job  Job
		want level
	}{
		{Job{Priority: record.Urgent, Work: time.Hour}, normal},
		{Job{Work: shortWork}, normal},
		{Job{Work: 2 * shortWork}, nice},
		{Job{}, nice},
		{Job{Work: time.Hour, Soon: true}, normal},
		{Job{Work: time.Second, Yields: true}, idling},
	} {
		if got := s.level(&ticket{job: test.job}); got != test.want {
			t.Errorf("%+v: level %d, want %d", test.job, got, test.want)
		}
	}
}

// What is learnt of a job takes the place of the estimate, and the last jobs count most.
func TestExpectedWork(t *testing.T) {
	s := simulate(1)
	if got := s.work(&ticket{job: Job{Like: "4s", Work: time.Minute}}); got != time.Minute {
		t.Errorf("expected at first: %v", got)
	}
	s.add(Job{Like: "a", Work: time.Minute}, 4*time.Second)
	s.pass(5 * time.Second)
	s.add(Job{Like: "a", Work: time.Minute}, 10*time.Second)
	s.pass(11 * time.Second)
	if got := s.work(&ticket{job: Job{Like: "a", Work: time.Minute}}); got != 6*time.Second {
		t.Errorf("expected after 4 s and 10 s: %v, want 6 s", got)
	}
}

// Urgent jobs that end soon are done one after another for each two workers, so that many new sessions at once leave
// processors to annotators. A long one neither waits for them nor holds them up.
func TestUrgentJobsTakeTurns(t *testing.T) {
	for _, test := range []struct{ workers, atOnce int }{{1, 1}, {2, 1}, {4, 2}} {
		s := simulate(test.workers)
		urgent := func(session string, needs time.Duration) {
			s.add(Job{JobKey: record.JobKey{Session: idrl.SessionID(session)}, Priority: record.Urgent, Like: needs.String(), Work: needs}, needs)
		}
		urgent("long", time.Minute)
		for range 6 {
			urgent("new", time.Second)
		}
		if got := len(s.running); got != 1+test.atOnce {
			t.Errorf("%d workers: %d urgent jobs at once, want a long one and %d", test.workers, got, test.atOnce)
		}
		s.pass(6 * time.Second)
		if got, want := longest(s.waits["new"]), time.Duration(6/test.atOnce)*time.Second; got != want || len(s.waits["new"]) != 6 {
			t.Errorf("%d workers: the last of %d ends after %v, want %v", test.workers, len(s.waits["new"]), got, want)
		}
	}
}

// An urgent job that takes longer than expected does not hold up the next one.
func TestUrgentJobThatTakesLong(t *testing.T) {
	s := simulate(2)
	for _, session := range []string{"slow", "next"} {
		s.add(Job{JobKey: record.JobKey{Session: idrl.SessionID(session)}, Priority: record.Urgent, Like: "a", Work: time.Second}, time.Minute)
	}
	if s.pass(shortWork); len(s.running) != 1 {
		t.Errorf("%d jobs run", len(s.running))
	}
	if s.pass(2 * tick); len(s.running) != 2 {
		t.Errorf("%d jobs run after %v", len(s.running), shortWork)
	}
}
