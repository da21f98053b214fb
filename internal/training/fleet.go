package training

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
)

// A fleet knows the environments of a job that may fail, whoever made them: solvers make one
// for each of their goroutines. It says whether one has failed, and closes them.
type fleet struct {
	lock sync.Mutex
	made []idrl.Fallible // guarded by lock
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
	f.made = nil
	return errors.Join(errs...)
}
