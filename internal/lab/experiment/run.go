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

	// For tests; nil for the experiment's own.
	small    *driverSizes   // of Driver
	corridor *corridorSizes // of corridors
	robot    *robot         // in place of that of a corridor
}

// Do runs every method on every seed. Methods are paired: on one seed they share
// the instance, the true reward and the expert's answers. The result is a
// function of e, but for the times in it.
func Do(ctx context.Context, e Experiment, o Options) (Result, error) {
	f, err := e.figure()
	if err != nil {
		return Result{}, err
	}
	build, err := f.build(ctx, e, o)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := Result{Experiment: e, Runs: make([][]Run, e.Seeds)}
	run := runner{e: e, build: build, store: o.Store, tick: counter(o.Progress, e)}
	if f.Long {
		run.answered = reporter(o.Answered, e)
	}
	seeds := make(chan int)
	var wg sync.WaitGroup
	for range max(1, o.Workers) {
		wg.Go(func() {
			for i := range seeds {
				runs, err := run.seed(ctx, e.Seed(i))
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

// reporter returns a function that reports how far a run is; nil without progress.
func reporter(progress idrl.Progress, e Experiment) func(method string, seed uint64, n int) {
	if progress == nil {
		return nil
	}
	var lock sync.Mutex
	return func(method string, seed uint64, n int) {
		lock.Lock()
		defer lock.Unlock()
		progress(n, e.Answers, fmt.Sprintf("seed %d, %s, answer %d of %d", seed, method, n, e.Answers))
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

// A runner makes the runs of an experiment.
type runner struct {
	e        Experiment
	build    maker
	store    Store // nil for none
	tick     func(method string, seed uint64)
	answered func(method string, seed uint64, n int) // nil: not called
}

// seed returns the runs of every method on one seed. The instance is built only if a
// run is missing.
func (r runner) seed(ctx context.Context, seed uint64) ([]Run, error) {
	var w *instance
	runs := make([]Run, len(r.e.Methods))
	for i, name := range r.e.Methods {
		if r.store != nil {
			if run, ok := r.store.Load(r.e, name, seed); ok {
				runs[i] = run
				r.tick(name, seed)
				continue
			}
		}
		var err error
		if w == nil {
			if w, err = r.build(ctx, seed); err != nil {
				return nil, err
			}
			w.every = r.e.Measure
			if r.e.Schedule == CrowdSchedule {
				w.withCrowds()
			}
		}
		if r.answered != nil {
			w.answered = func(n int) { r.answered(name, seed, n) }
		}
		if runs[i], err = w.follow(ctx, r.e, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if r.store != nil {
			if err := r.store.Save(r.e, name, seed, runs[i]); err != nil {
				return nil, err
			}
		}
		r.tick(name, seed)
	}
	return runs, nil
}
