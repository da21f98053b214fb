package training

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
)

// A fleet holds all environments of a job that may fail, also those that solvers make
// for their goroutines. It reports whether one has failed, interrupts them when the job is
// cancelled, and closes them.
type fleet struct {
	lock        sync.Mutex
	made        []idrl.Fallible // guarded by lock
	interrupted bool            // guarded by lock
}

// track returns list with entries whose environments belong to f.
func (f *fleet) track(list envs.List) envs.List {
	list = slices.Clone(list)
	for i := range list {
		if make := list[i].New; make != nil {
			list[i].New = func(layout *rand.Rand) idrl.Environment {
				env := make(layout)
				f.add(env)
				return env
			}
		}
	}
	return list
}

func (f *fleet) add(env idrl.Environment) {
	if e, ok := env.(idrl.Fallible); ok {
		f.lock.Lock()
		defer f.lock.Unlock()
		f.made = append(f.made, e)
		if f.interrupted {
			interrupt(e)
		}
	}
}

// until has interrupt called when ctx is done, unless done is called before, which must be
// called before close.
func (f *fleet) until(ctx context.Context) (done func()) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		f.interrupt()
	})
	return func() {
		if !stop() {
			<-ended
		}
	}
}

// interrupt has all environments fail that may wait long, also those that are made before close.
func (f *fleet) interrupt() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.interrupted = true
	for _, e := range f.made {
		interrupt(e)
	}
}

func interrupt(env idrl.Environment) {
	if i, ok := env.(Interrupter); ok {
		i.Interrupt()
	}
}

// failed returns why an environment has failed, nil if none has. It must not be called while
// others use them.
func (f *fleet) failed() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, e := range f.made {
		if err := e.Err(); err != nil {
			return err
		}
	}
	return nil
}

// close closes all environments and forgets them.
func (f *fleet) close() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	var errs []error
	for _, e := range f.made {
		errs = append(errs, e.Close())
	}
	f.made, f.interrupted = nil, false
	return errors.Join(errs...)
}
