package report

import (
	"sync"
	"time"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/experiment"
)

// A Tracker passes runs on to and from another store, and knows how much of
// several experiments is left to do. Runs that were kept before cost nothing,
// and so say nothing about how long the others take.
type Tracker struct {
	store experiment.Store
	now   func() time.Time

	lock   sync.Mutex // guards everything below
	kept   map[runKey]experiment.Run
	begun  map[runKey]time.Time
	groups []group
	first  time.Time // when the first run began; zero before
	last   time.Time // when the last one was saved
}

type runKey struct {
	experiment, method string
	seed               uint64
}

// A group is the runs of one method in one experiment.
type group struct {
	experiment, method string
	work               float64 // of a run, by what is known beforehand
	total, kept, made  int
	spent              time.Duration // on those made, each by itself
}

var _ experiment.Store = (*Tracker)(nil)

// NewTracker returns a tracker of es, whose names must differ. It loads all runs
// that store has. now is the clock, time.Now outside tests.
func NewTracker(store experiment.Store, es []experiment.Experiment, now func() time.Time) *Tracker {
	t := &Tracker{store: store, now: now, kept: map[runKey]experiment.Run{}, begun: map[runKey]time.Time{}}
	for _, e := range es {
		for _, m := range e.Methods {
			g := group{experiment: e.Name(), method: m, work: work(e, m), total: e.Seeds}
			for i := range e.Seeds {
				if r, ok := store.Load(e, m, e.Seed(i)); ok {
					t.kept[runKey{e.Name(), m, e.Seed(i)}] = r
					g.kept++
				}
			}
			t.groups = append(t.groups, g)
		}
	}
	return t
}

// Load implements experiment.Store.
func (t *Tracker) Load(e experiment.Experiment, method string, seed uint64) (experiment.Run, bool) {
	t.lock.Lock()
	defer t.lock.Unlock()
	key := runKey{e.Name(), method, seed}
	r, ok := t.kept[key]
	if !ok {
		t.begun[key] = t.now()
		if t.first.IsZero() {
			t.first = t.begun[key]
		}
	}
	return r, ok
}

// Save implements experiment.Store.
func (t *Tracker) Save(e experiment.Experiment, method string, seed uint64, r experiment.Run) error {
	if err := t.store.Save(e, method, seed, r); err != nil {
		return err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	t.last = t.now()
	for i := range t.groups {
		if g := &t.groups[i]; g.experiment == e.Name() && g.method == method {
			g.made++
			g.spent += t.last.Sub(t.begun[runKey{e.Name(), method, seed}])
		}
	}
	return nil
}

// Progress is how far all experiments of a Tracker are, in runs.
type Progress struct {
	Kept, Made, Total int           // kept from before, made since, and all there are to be
	Left              time.Duration // until the rest is made; 0 before the first is
}

// work returns about how long a run takes, in answers of a chain (about 0.3 ms): so
// much for the run, and so much for an answer. It counts only until runs of the same
// kind have been timed.
func work(e experiment.Experiment, method string) float64 {
	run, answer := 40.0, 8.0 // a task
	switch e.Figure {
	case "chain", "junction":
		answer = 1
	case "gridworld", "ties":
		answer = 25
	case "driver":
		run, answer = 3000, 25
	}
	switch needs := e.Method(method).Needs; {
	case needs.SolvesEach:
		answer *= 7
	case needs == acquisition.Needs{AllQueries: true}: // as by Uniform, which values none of them
		answer /= 2
	}
	return run + answer*float64(e.Answers)
}

// Progress returns how far it is. What a run will take is the mean of the runs
// made of its method in its experiment; before there is one, it follows from what
// the runs made took for their work: those of its experiment or, before there is
// one, all. Runs made side by side share the time.
func (t *Tracker) Progress() Progress {
	t.lock.Lock()
	defer t.lock.Unlock()
	var p Progress
	var all pace
	of := map[string]pace{} // experiment
	for _, g := range t.groups {
		p.Kept, p.Made, p.Total = p.Kept+g.kept, p.Made+g.made, p.Total+g.total
		all = all.with(g)
		of[g.experiment] = of[g.experiment].with(g)
	}
	if all.spent == 0 {
		return p
	}
	left := 0.0 // nanoseconds, were runs made one at a time
	for _, g := range t.groups {
		var own pace
		left += own.with(g).or(of[g.experiment]).or(all).of(g) * float64(g.total-g.kept-g.made)
	}
	p.Left = time.Duration(left * float64(t.last.Sub(t.first)) / float64(all.spent))
	return p
}

// A pace is the time that some runs took, and their work.
type pace struct {
	spent time.Duration
	work  float64
}

// with adds the runs made of g.
func (p pace) with(g group) pace {
	return pace{p.spent + g.spent, p.work + g.work*float64(g.made)}
}

// or returns p unless it says nothing.
func (p pace) or(other pace) pace {
	if p.work == 0 {
		return other
	}
	return p
}

// of returns what a run of g takes at that pace, in nanoseconds.
func (p pace) of(g group) float64 { return float64(p.spent) / p.work * g.work }
