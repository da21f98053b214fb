package experiment

import (
	"context"
	"fmt"
	"sync"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/idrl"
)

// Config says what to run.
type Config struct {
	Setting   string   // required; one of Settings
	Seeds     int      // required, at least 1
	FirstSeed uint64   // the seeds are FirstSeed, FirstSeed+1, …
	Answers   int      // 0 for the setting's own number
	Methods   []string // acquisition functions; default idrl and uniform
	Workers   int      // seeds at a time; default 1. It does not change the result
}

// Result holds the learning curves of a run.
type Result struct {
	Setting   Setting
	FirstSeed uint64
	Answers   int
	Methods   []string
	Curves    [][][]Point // by seed, method and answers; answers from 0
}

// validated returns c with its defaults, and its setting. It returns an error
// of kind Invalid, before any computation, if c makes no sense.
func (c Config) validated() (Config, Setting, error) {
	s, err := FindSetting(c.Setting)
	if err != nil {
		return c, s, err
	}
	if c.Answers == 0 {
		c.Answers = s.Answers
	}
	if len(c.Methods) == 0 {
		c.Methods = []string{"idrl", "uniform"}
	}
	c.Workers = max(1, c.Workers)
	if c.Seeds < 1 || c.Answers < 1 {
		return c, s, idrl.Errorf(idrl.Invalid, "seeds and answers must be at least 1; got %d and %d", c.Seeds, c.Answers)
	}
	for _, m := range c.Methods {
		if _, err := acquisition.ByName(m); err != nil {
			return c, s, err
		}
	}
	return c, s, nil
}

// Run runs every method on every seed. Methods are paired: on one seed they
// share the instance, the true reward, the pool and the expert's answers. The
// result is a function of c less its Workers. Progress, which may be nil, is
// called by one goroutine at a time.
func Run(ctx context.Context, c Config, progress idrl.Progress) (Result, error) {
	c, s, err := c.validated()
	if err != nil {
		return Result{}, err
	}
	return s.run(ctx, c, progress)
}

// run is Run for a validated c.
func (s Setting) run(ctx context.Context, c Config, progress idrl.Progress) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := Result{Setting: s, FirstSeed: c.FirstSeed, Answers: c.Answers, Methods: c.Methods, Curves: make([][][]Point, c.Seeds)}
	var lock sync.Mutex // guards done, and progress
	done := 0
	one := func(i int) error {
		seed := c.FirstSeed + uint64(i)
		curves, err := runSeed(ctx, s, c, seed)
		if err != nil {
			return fmt.Errorf("setting %s, seed %d: %w", s.Name, seed, err)
		}
		r.Curves[i] = curves // its own element
		lock.Lock()
		defer lock.Unlock()
		if done++; progress != nil {
			progress(done, c.Seeds, fmt.Sprintf("%s: seed %d done", s.Name, seed))
		}
		return nil
	}
	todo := make(chan int)
	var wg sync.WaitGroup
	for range c.Workers {
		wg.Go(func() {
			for i := range todo {
				if err := one(i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	feed(ctx, todo, c.Seeds)
	wg.Wait()
	return r, context.Cause(ctx)
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

// runSeed returns the curves of every method on one seed.
func runSeed(ctx context.Context, s Setting, c Config, seed uint64) ([][]Point, error) {
	w, err := newWorld(ctx, s, seed)
	if err != nil {
		return nil, err
	}
	var curves [][]Point
	for _, m := range c.Methods {
		curve, err := w.learn(ctx, m, c.Answers)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		curves = append(curves, curve)
	}
	w.finish(curves)
	return curves, nil
}
