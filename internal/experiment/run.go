package experiment

import (
	"context"
	"fmt"
	"sync"

	"tiebreak/internal/idrl"
)

// A maker makes the world of a seed.
type maker func(ctx context.Context, seed uint64) (*world, error)

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
	Workers  int           // seeds at a time; default 1
	Store    Store         // of finished runs; nil for none
	Progress idrl.Progress // called by one goroutine at a time; nil for none. It counts runs

	Cache     string        // folder for tables of policies that take seconds to make; "" for none
	Preparing idrl.Progress // like Progress, of such a table

	small *driverSizes // of Driver, for tests; nil for the experiment's own
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
	tick := counter(o.Progress, e)
	seeds := make(chan int)
	var wg sync.WaitGroup
	for range max(1, o.Workers) {
		wg.Go(func() {
			for i := range seeds {
				runs, err := runSeed(ctx, e, build, e.Seed(i), o.Store, tick)
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

// runSeed returns the runs of every method on one seed. The world is built only
// if a run is missing.
func runSeed(ctx context.Context, e Experiment, build maker, seed uint64, store Store, tick func(string, uint64)) ([]Run, error) {
	var w *world
	runs := make([]Run, len(e.Methods))
	for i, name := range e.Methods {
		if store != nil {
			if r, ok := store.Load(e, name, seed); ok {
				runs[i] = r
				tick(name, seed)
				continue
			}
		}
		var err error
		if w == nil {
			if w, err = build(ctx, seed); err != nil {
				return nil, err
			}
		}
		if runs[i], err = w.treat(name).learn(ctx, e.Method(name), e.Answers); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if store != nil {
			if err := store.Save(e, name, seed, runs[i]); err != nil {
				return nil, err
			}
		}
		tick(name, seed)
	}
	return runs, nil
}
