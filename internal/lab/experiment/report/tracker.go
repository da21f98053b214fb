package report

import (
	"sync"
	"time"

	"tiebreak/internal/lab/experiment"
)

// A Tracker passes runs on to and from another store, and knows how much of
// several experiments is left to do. Runs that were kept before cost nothing,
// and so say nothing about how long the others take.
type Tracker struct {
	store experiment.Store
	now   func() time.Time

	lock   sync.Mutex                // guards everything below
	kept   map[runKey]experiment.Run // from before, and those that were saved since
	begun  map[runKey]time.Time
	groups []group
	active int           // runs that are being made
	since  time.Time     // when the first of them began
	last   time.Time     // when a run was saved last
	busy   time.Duration // while runs were made, before since
}

type runKey struct {
	experiment, method string
	seed               uint64
}

// A group is the runs of one method in one experiment.
type group struct {
	experiment, method string
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
			g := group{experiment: e.Name(), method: m, total: e.Seeds}
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
		if t.active++; t.active == 1 {
			t.since = t.begun[key]
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
	if t.active--; t.active == 0 {
		t.busy += t.last.Sub(t.since)
	}
	t.kept[runKey{e.Name(), method, seed}] = r
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
	Left              time.Duration // until the rest is made; 0 while Untimed is not
	Untimed           int           // methods of experiments that have runs left to make and none made
}

// Progress returns how far it is. What a run will take is the mean of the runs made of
// its method in its experiment: methods and experiments differ in cost by a factor of
// thousands, so that none says anything about another, and Left is not known before each
// has made a run. Runs made side by side share the time; what is prepared before them is no part of it.
func (t *Tracker) Progress() Progress {
	t.lock.Lock()
	defer t.lock.Unlock()
	var p Progress
	var spent time.Duration
	left := 0.0 // nanoseconds, were runs made one at a time
	for _, g := range t.groups {
		p.Kept, p.Made, p.Total = p.Kept+g.kept, p.Made+g.made, p.Total+g.total
		spent += g.spent
		switch rest := g.total - g.kept - g.made; {
		case rest > 0 && g.made == 0:
			p.Untimed++
		case rest > 0:
			left += float64(g.spent) / float64(g.made) * float64(rest)
		}
	}
	busy := t.busy
	if t.active > 0 && t.last.After(t.since) {
		busy += t.last.Sub(t.since)
	}
	if p.Untimed == 0 && spent > 0 {
		p.Left = time.Duration(left * float64(busy) / float64(spent))
	}
	return p
}

// Firsts returns what to make first of several experiments, so that Left is known early:
// of each the first seeds that lack a run, as many as there are workers.
func (t *Tracker) Firsts(es []experiment.Experiment, workers int) (out []experiment.Experiment) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, e := range es {
		for i := range e.Seeds {
			if !t.has(e, e.Seed(i)) {
				e.Seeds, e.FirstSeed = min(workers, e.Seeds-i), e.Seed(i)
				out = append(out, e)
				break
			}
		}
	}
	return out
}

// has reports whether all runs of a seed are there.
func (t *Tracker) has(e experiment.Experiment, seed uint64) bool {
	for _, m := range e.Methods {
		if _, ok := t.kept[runKey{e.Name(), m, seed}]; !ok {
			return false
		}
	}
	return true
}
