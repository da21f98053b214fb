package experiment

import (
	"context"
	"fmt"
	"sync"

	"tiebreak/internal/idrl"
)

// A maker makes the instance of a seed.
type maker func(ctx context.Context, seed uint64) (*instance, error)

// A Store keeps finished runs, so that an interrupted experiment goes on where
// it was. Its methods are called by several goroutines.
type Store interface {
	// Load returns the run of a method on a seed, and whether there is one.
	Load(e Experiment, method string, seed uint64) (Run, bool)
	// Save keeps a run.
	Save(e Experiment, method string, seed uint64, r Run) error
}

// Options are what does not change the result of an experiment.
type Options struct {
	Workers  int           // seeds at a time, and episodes of a search in a corridor; default 1
	Store    Store         // of finished runs; nil for none
	Progress idrl.Progress // called by one goroutine at a time; nil for none. It counts runs

	Cache     string        // folder for tables of policies that take seconds to make; "" for none
	Preparing idrl.Progress // like Progress, of such a table
	Answered  idrl.Progress // like Progress, of a run under way in a figure that takes long. It counts answers

	// Elsewhere, if it is not nil, has another process compute the runs of a seed: those of all
	// methods of e, whose only seed is e.FirstSeed, in their order. told hears how far it is, as
	// Answered does. Then nothing is prepared here. It is called by several goroutines.
	Elsewhere func(ctx context.Context, e Experiment, told idrl.Progress) ([]Run, error)

	// For tests; nil for the experiment's own.
	small    *driverSizes   // of Driver
	corridor *corridorSizes // of corridors
	robot    *robot         // in place of that of a corridor
}

// Do runs every method on every seed. Methods are paired: on one seed they share
// the instance, the true reward and the expert's answers. The result is a
// function of e, but for the times in it.
func Do(ctx context.Context, e Experiment, o Options) (Result, error) {
	b, err := Open(ctx, e, o)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := Result{Experiment: e, Runs: make([][]Run, e.Seeds)}
	seeds := make(chan int)
	var wg sync.WaitGroup
	for range max(1, min(o.Workers, e.Seeds)) {
		wg.Go(func() {
			for i := range seeds {
				runs, err := b.Runs(ctx, e.Seed(i))
				if err != nil {
					cancel(fmt.Errorf("%s, seed %d: %w", e.Name(), e.Seed(i), err))
					return
				}
				r.Runs[i] = runs // its own element
			}
		})
	}
	feed(ctx, seeds, e.Seeds)
	wg.Wait()
	return r, context.Cause(ctx)
}

// counter returns a function that counts finished runs for progress.
func counter(progress idrl.Progress, e Experiment) func(method string, seed uint64) {
	var lock sync.Mutex
	done := 0
	return func(method string, seed uint64) {
		lock.Lock()
		defer lock.Unlock()
		if done++; progress != nil {
			progress(done, e.Seeds*len(e.Methods), fmt.Sprintf("seed %d, %s", seed, method))
		}
	}
}

// oneAtATime returns what calls progress, which may be nil, from one goroutine at a time.
func oneAtATime(progress idrl.Progress) idrl.Progress {
	var lock sync.Mutex
	return func(done, total int, what string) {
		lock.Lock()
		defer lock.Unlock()
		if progress != nil {
			progress(done, total, what)
		}
	}
}

// reporter returns a function that reports how far a run is; nil without progress.
func reporter(progress idrl.Progress, e Experiment) func(method string, seed uint64, n int) {
	if progress == nil {
		return nil
	}
	told := oneAtATime(progress)
	return func(method string, seed uint64, n int) {
		told(n, e.Answers, fmt.Sprintf("seed %d, %s, answer %d of %d", seed, method, n, e.Answers))
	}
}

// feed sends 0 to n−1 and closes todo, or stops when ctx is done.
func feed(ctx context.Context, todo chan<- int, n int) {
	defer close(todo)
	for i := range n {
		select {
		case todo <- i:
		case <-ctx.Done():
			return
		}
	}
}

// A Bench computes the runs of an experiment, one seed at a time.
type Bench struct {
	e         Experiment
	build     maker // nil if runs are computed elsewhere
	store     Store // nil for none
	tick      func(method string, seed uint64)
	answered  func(method string, seed uint64, n int) // nil: not called
	elsewhere func(ctx context.Context, e Experiment) ([]Run, error)
}

// Open makes what the seeds of e share, which may take minutes. Workers of o are the episodes of each
// search. The methods of the Bench may be called by several goroutines.
func Open(ctx context.Context, e Experiment, o Options) (*Bench, error) {
	f, err := e.figure()
	if err != nil {
		return nil, err
	}
	b := &Bench{e: e, store: o.Store, tick: counter(o.Progress, e)}
	if o.Elsewhere != nil {
		told := oneAtATime(o.Answered)
		b.elsewhere = func(ctx context.Context, e Experiment) ([]Run, error) { return o.Elsewhere(ctx, e, told) }
		return b, nil
	}
	if f.Long {
		b.answered = reporter(o.Answered, e)
	}
	b.build, err = f.build(ctx, e, o)
	return b, err
}

// kept returns the run of a method on a seed that the store has, and whether it has one.
func (b *Bench) kept(method string, seed uint64) (run Run, ok bool) {
	if b.store == nil {
		return run, false
	}
	if run, ok = b.store.Load(b.e, method, seed); ok {
		b.tick(method, seed)
	}
	return run, ok
}

// keep keeps the run of a method on a seed, which has just been made.
func (b *Bench) keep(method string, seed uint64, run Run) error {
	if b.store != nil {
		if err := b.store.Save(b.e, method, seed, run); err != nil {
			return err
		}
	}
	b.tick(method, seed)
	return nil
}

// Runs returns the runs of every method on one seed, in the order of the methods. It computes those
// that the store lacks.
func (b *Bench) Runs(ctx context.Context, seed uint64) ([]Run, error) {
	if b.elsewhere != nil {
		return b.away(ctx, seed)
	}
	var w *instance // made if a run is missing
	runs := make([]Run, len(b.e.Methods))
	for i, name := range b.e.Methods {
		var err error
		if run, ok := b.kept(name, seed); ok {
			runs[i] = run
			continue
		}
		if w == nil {
			if w, err = b.instance(ctx, seed); err != nil {
				return nil, err
			}
		}
		if b.answered != nil {
			w.answered = func(n int) { b.answered(name, seed, n) }
		}
		if runs[i], err = w.follow(ctx, b.e, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := b.keep(name, seed, runs[i]); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// instance makes the instance of a seed.
func (b *Bench) instance(ctx context.Context, seed uint64) (*instance, error) {
	w, err := b.build(ctx, seed)
	if err != nil {
		return nil, err
	}
	w.every = b.e.Measure
	if b.e.Schedule == CrowdSchedule {
		w.withCrowds()
	}
	return w, nil
}

// away has another process compute the runs of a seed that are missing.
func (b *Bench) away(ctx context.Context, seed uint64) ([]Run, error) {
	runs := make([]Run, len(b.e.Methods))
	missing := b.e
	missing.Methods, missing.Seeds, missing.FirstSeed = nil, 1, seed
	var at []int // of the missing methods
	for i, name := range b.e.Methods {
		if run, ok := b.kept(name, seed); ok {
			runs[i] = run
			continue
		}
		missing.Methods, at = append(missing.Methods, name), append(at, i)
	}
	if len(at) == 0 {
		return runs, nil
	}
	made, err := b.elsewhere(ctx, missing)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		runs[i] = made[k]
		if err := b.keep(missing.Methods[k], seed, made[k]); err != nil {
			return nil, err
		}
	}
	return runs, nil
}
