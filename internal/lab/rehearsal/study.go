package rehearsal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// A Study is many runs: sessions of their own, each with one simulated annotator.
type Study struct {
	Runs     int       // required, ≥ 1
	First    uint64    // seed of the first run; those of the others follow it
	Parallel int       // runs at a time; required, ≥ 1
	Settings []Setting // what the runs have in common and their files record

	// Open makes the session of a seed and returns what its annotator is made of.
	// It may be called from several goroutines. Out and Compared are set by the Study.
	// Required unless runs are done elsewhere.
	Open func(ctx context.Context, seed uint64) (Config, error)

	// Elsewhere, if it is not nil, returns the run of a seed that another process does, as Rehearse
	// does, in place of Open. It may be called from several goroutines.
	Elsewhere func(ctx context.Context, seed uint64, heard func(given int)) (Run, error)

	// File is where the comparisons are kept, a CSV file; beside it are the runs and
	// the summary (docs/simulate.md, section 5). Runs that are there are not done
	// again. Empty: nothing is kept.
	File string

	Progress func(line string) // hears how far it is, after every comparison; may be nil
}

// A Setting is a property that the runs of a study share.
type Setting struct {
	Name, Value string

	Later  bool   // files of earlier versions may lack it
	Before string // value of the runs in those files
}

// A Run is one session with one simulated annotator, who has finished.
type Run struct {
	Seed    uint64
	Session idrl.SessionID
	Seconds float64      // that it took
	Rows    []Comparison // by Given; at least one
}

// Do does the runs that are not done yet, and returns all runs, by seed. If one fails
// or ctx is done it returns those that are finished, with the error.
func (s Study) Do(ctx context.Context) ([]Run, error) {
	files, err := openFiles(s.File, s.Settings)
	if err != nil {
		return nil, err
	}
	w := &work{Study: s, files: files, began: time.Now(), given: map[uint64]int{}}
	var todo []uint64
	for i := range uint64(s.Runs) {
		seed := s.First + i
		if k := slices.IndexFunc(files.runs, func(r Run) bool { return r.Seed == seed }); k >= 0 {
			w.done = append(w.done, files.runs[k])
		} else {
			todo = append(todo, seed)
		}
	}
	w.kept = len(w.done)
	err = w.all(ctx, todo)
	slices.SortFunc(w.done, func(a, b Run) int { return int(int64(a.Seed - b.Seed)) })
	return w.done, err
}

// work is a Study under way.
type work struct {
	Study
	kept  int // runs that were there before
	began time.Time

	mu    sync.Mutex // guards all below
	files *files
	done  []Run
	given map[uint64]int // answers of each run begun, by seed
}

// all does the runs of seeds. The first error stops the others.
func (w *work) all(ctx context.Context, seeds []uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan uint64)
	var wg sync.WaitGroup
	for range min(w.Parallel, len(seeds)) {
		wg.Go(func() {
			for seed := range next {
				if err := w.run(ctx, seed); err != nil {
					cancel(fmt.Errorf("run with seed %d: %w", seed, err))
				}
			}
		})
	}
	for _, seed := range seeds {
		select {
		case next <- seed:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// run does one run, or has it done.
func (w *work) run(ctx context.Context, seed uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	do := w.here
	if w.Elsewhere != nil {
		do = w.Elsewhere
	}
	r, err := do(ctx, seed, func(given int) { w.heard(seed, given) })
	if err != nil {
		return err
	}
	return w.finished(r)
}

// here does one run in this process.
func (w *work) here(ctx context.Context, seed uint64, heard func(given int)) (Run, error) {
	cfg, err := w.Open(ctx, seed)
	if err != nil {
		return Run{}, err
	}
	r, err := Rehearse(ctx, cfg, heard)
	r.Seed = seed
	return r, err
}

// finished keeps a run.
func (w *work) finished(r Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.files.add(r); err != nil {
		return err
	}
	w.done = append(w.done, r)
	w.tell()
	return nil
}

// heard notes how many answers a run has.
func (w *work) heard(seed uint64, given int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given[seed] = given
	w.tell()
}

// tell says how far it is. w.mu is held.
func (w *work) tell() {
	if w.Progress == nil {
		return
	}
	answers, each := 0, 0 // of the runs of this time; of the longest
	for _, n := range w.given {
		answers += n
		each = max(each, n)
	}
	line := fmt.Sprintf("%d of %d runs, %d answers", len(w.done), w.Runs, answers)
	if n := len(w.done) - w.kept; n > 0 {
		total := float64(each * (w.Runs - w.kept))
		left := time.Duration(float64(time.Since(w.began)) * (total - float64(answers)) / float64(answers))
		last := w.done[len(w.done)-1]
		line += fmt.Sprintf(", about %v left; %s", left.Round(time.Second), last.Rows[len(last.Rows)-1].brief())
	}
	w.Progress(line)
}
