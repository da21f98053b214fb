package deep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
)

// A Plan is runs that are compared: every method on every task and seed, and what scores
// are between.
type Plan struct {
	Tasks     []string
	Methods   []string
	Mode      neural.Mode
	Budget    Budget
	Seeds     int // 1 to 10,000
	FirstSeed uint64
}

// Tasks returns the ids of the paper's tasks.
func Tasks() []string {
	return []string{
		"half-cheetah", "hopper", "walker2d", "swimmer", "ant", "reacher", "inverted-pendulum", "inverted-double-pendulum",
	}
}

// Validate returns an error of kind Invalid that says what to change, or one of kind
// Unavailable where a simulator is missing.
func (p Plan) Validate() error {
	if p.Seeds < 1 || p.Seeds > 10_000 {
		return idrl.Errorf(idrl.Invalid, "seeds must be 1 to 10,000; got %d", p.Seeds)
	}
	for what, list := range map[string][]string{"task": p.Tasks, "method": p.Methods} {
		if len(list) == 0 {
			return idrl.Errorf(idrl.Invalid, "name at least one %s", what)
		}
	}
	for i, task := range p.Tasks {
		if slices.Contains(p.Tasks[:i], task) {
			return idrl.Errorf(idrl.Invalid, "task %q is named twice", task)
		}
		if !slices.Contains(Tasks(), task) {
			return idrl.Errorf(idrl.Invalid, "unknown task %q; known: %s", task, strings.Join(Tasks(), ", "))
		}
		if _, err := NewWorld(task); err != nil {
			return err
		}
	}
	for i, m := range p.Methods {
		if slices.Contains(p.Methods[:i], m) {
			return idrl.Errorf(idrl.Invalid, "method %q is named twice", m)
		}
		if err := p.config(p.Tasks[0], m, 0).Validate(); err != nil {
			return err
		}
	}
	return nil
}

// ModeText says what the mode is, for people.
func (p Plan) ModeText() string {
	switch p.Mode {
	case neural.Paper:
		return "paper: what the authors' code does"
	case neural.Anchored:
		return "anchored: what the paper's text says, with the reward network of live sessions"
	case neural.Corrected:
	}
	return "corrected: what the paper's text says"
}

func (p Plan) config(task, method string, i int) Config {
	return Config{Task: task, Method: method, Mode: p.Mode, Budget: p.Budget, Seed: p.FirstSeed + uint64(i)}
}

// Configs returns all runs of the plan. Those of a seed come together, so that a plan that
// was stopped has whole comparisons; references come first.
func (p Plan) Configs() (out []Config) {
	for _, task := range p.Tasks {
		out = append(out, p.references(task)...)
	}
	for i := range p.Seeds {
		for _, task := range p.Tasks {
			for _, m := range p.Methods {
				out = append(out, p.config(task, m, i))
			}
		}
	}
	return out
}

// references returns the runs that the scores of a task are between. They are the same
// whatever the seeds and the mode of the plan.
func (p Plan) references(task string) []Config {
	p.FirstSeed, p.Mode = 1, neural.Corrected
	out := []Config{p.config(task, Random, 0)}
	for i := range ExpertSeeds {
		out = append(out, p.config(task, Expert, i))
	}
	return out
}

// A Store keeps finished runs, and checkpoints of those under way. Its methods are called
// by several goroutines.
type Store interface {
	Load(c Config) (Run, bool)
	Save(c Config, r Run) error // and drops the checkpoint

	LoadState(c Config) []byte // nil without one
	SaveState(c Config, b []byte) error
}

// pause is the least time between two checkpoints of a run.
const pause = 5 * time.Minute

// Options are what does not change a result.
type Options struct {
	Workers int              // runs at a time; default 1
	Store   Store            // of finished runs; nil for none
	Now     func() time.Time // for the wall times of runs; nil for none

	// Progress, if not nil, is called by one goroutine at a time: when runs are finished
	// or found, and with a point of one under way.
	Progress func(done, total int, c Config, at Point)
}

// A Result holds the runs of a plan.
type Result struct {
	Plan Plan
	Runs [][][]Run // by task, method and seed, in the order of Plan

	Random, Expert []float64 // true returns that are the scores 0 and 100, by task
	Experts        [][]Run   // by task
}

// Final returns the mean of the last three measurements of a run, less the start.
func (r Run) Final() float64 {
	end := r.Points[max(min(1, len(r.Points)-1), len(r.Points)-3):]
	sum := 0.0
	for _, p := range end {
		sum += p.Return
	}
	return sum / float64(len(end))
}

// Score returns the normalised score of a true return in task t: 0 for random actions, 100
// for the expert.
func (r Result) Score(t int, value float64) float64 {
	if r.Expert[t] == r.Random[t] {
		return 0
	}
	return 100 * (value - r.Random[t]) / (r.Expert[t] - r.Random[t])
}

// Do makes the runs of a plan that are not kept yet.
func Do(ctx context.Context, p Plan, o Options) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	worlds := map[string]*World{}
	for _, task := range p.Tasks {
		w, err := NewWorld(task)
		if err != nil {
			return Result{}, err
		}
		worlds[task] = w
	}
	configs := p.Configs()
	runs, err := each(ctx, configs, worlds, o)
	if err != nil {
		return Result{}, err
	}
	return p.result(runs), nil
}

// each makes all runs.
func each(ctx context.Context, configs []Config, worlds map[string]*World, o Options) ([]Run, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs, todo := make([]Run, len(configs)), make(chan int)
	var lock sync.Mutex
	done := 0
	note := func(c Config, at Point, finished int) {
		lock.Lock()
		defer lock.Unlock()
		if done += finished; o.Progress != nil {
			o.Progress(done, len(configs), c, at)
		}
	}
	var wg sync.WaitGroup
	for range max(1, o.Workers) {
		wg.Go(func() {
			for i := range todo {
				r, err := one(ctx, worlds[configs[i].Task], configs[i], o, func(at Point) { note(configs[i], at, 0) })
				if err != nil {
					cancel(fmt.Errorf("%s, %s, seed %d: %w", configs[i].Task, configs[i].Method, configs[i].Seed, err))
					return
				}
				runs[i] = r // its own element
				note(configs[i], r.Points[len(r.Points)-1], 1)
			}
		})
	}
	for i := range configs {
		select {
		case todo <- i:
		case <-ctx.Done():
		}
	}
	close(todo)
	wg.Wait()
	return runs, context.Cause(ctx)
}

// one returns a run that is kept, or makes it and keeps it.
func one(ctx context.Context, w *World, c Config, o Options, progress func(Point)) (Run, error) {
	if o.Store != nil {
		if r, ok := o.Store.Load(c); ok {
			return r, nil
		}
	}
	var begin time.Time
	if o.Now != nil {
		begin = o.Now()
	}
	learn := Learn
	if c.Method == Random || c.Method == Expert {
		learn = reference
	}
	r, err := learn(ctx, w, c, o.watch(c, progress))
	if err != nil {
		return Run{}, err
	}
	if o.Now != nil {
		r.WallNS = o.Now().Sub(begin).Nanoseconds()
	}
	if o.Store != nil {
		err = o.Store.Save(c, r)
	}
	return r, err
}

// watch returns what is told of a run: checkpoints where there is a store and a clock.
func (o Options) watch(c Config, progress func(Point)) Watch {
	w := Watch{Progress: progress}
	if o.Store == nil || o.Now == nil {
		return w
	}
	w.From = o.Store.LoadState(c)
	last := o.Now()
	w.Save = func(state func() ([]byte, error)) error {
		if o.Now().Sub(last) < pause {
			return nil
		}
		b, err := state()
		if err != nil {
			return err
		}
		last = o.Now()
		return o.Store.SaveState(c, b)
	}
	return w
}

// result sorts the runs of Configs.
func (p Plan) result(runs []Run) Result {
	out := Result{Plan: p}
	for range p.Tasks {
		experts, value := runs[1:1+ExpertSeeds], 0.0
		for _, r := range experts {
			value += r.Final() / ExpertSeeds
		}
		out.Random, out.Expert = append(out.Random, runs[0].Final()), append(out.Expert, value)
		out.Experts = append(out.Experts, experts)
		runs = runs[1+ExpertSeeds:]
		out.Runs = append(out.Runs, make([][]Run, len(p.Methods)))
	}
	for range p.Seeds {
		for t := range p.Tasks {
			for m := range p.Methods {
				out.Runs[t][m] = append(out.Runs[t][m], runs[0])
				runs = runs[1:]
			}
		}
	}
	return out
}
