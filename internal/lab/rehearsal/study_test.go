package rehearsal

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

// seeds returns those of runs.
func seeds(runs []Run) (out []uint64) {
	for _, r := range runs {
		out = append(out, r.Seed)
	}
	return out
}

// Runs that are kept are not done again; if others fail the kept ones are returned.
func TestStudyGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	f := mustOpen(t, file, nil)
	for _, seed := range []uint64{5, 3, 9} {
		must.Do(t, f.add(aRun(seed, 0.5)))
	}
	var asked []uint64
	broken := errors.New("no session can be made")
	s := Study{Runs: 3, First: 3, Parallel: 1, File: file, Open: func(_ context.Context, seed uint64) (Config, error) {
		asked = append(asked, seed)
		return Config{}, broken
	}}
	runs, err := s.Do(t.Context())
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "seed 4") || !slices.Equal(asked, []uint64{4}) || !slices.Equal(seeds(runs), []uint64{3, 5}) {
		t.Errorf("asked for %v, returned %v, %v", asked, seeds(runs), err)
	}
	s.First, s.Runs = 9, 1
	if runs, err = s.Do(t.Context()); err != nil || !slices.Equal(seeds(runs), []uint64{9}) || len(asked) != 1 {
		t.Errorf("a run that is kept: asked for %v, returned %v, %v", asked, seeds(runs), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.First, s.Runs = 8, 2
	if runs, err = s.Do(ctx); !errors.Is(err, context.Canceled) || !slices.Equal(seeds(runs), []uint64{9}) || len(asked) != 1 {
		t.Errorf("stopped before it begins: asked for %v, returned %v, %v", asked, seeds(runs), err)
	}
}

// A run that cannot be done stops those that have not begun.
func TestStudyStopsAtAFault(t *testing.T) {
	n := 0
	s := Study{Runs: 100, First: 1, Parallel: 1, Open: func(context.Context, uint64) (Config, error) {
		n++
		return Config{Link: "hello", Answers: 1, Expert: Expert{Kind: Experts()[0], Temperature: 1}}, nil
	}}
	if runs, err := s.Do(t.Context()); idrl.KindOf(err) != idrl.Invalid || len(runs) != 0 || n != 1 {
		t.Errorf("%d runs begun, %d returned, %v", n, len(runs), err)
	}
}

// Runs that are done elsewhere are kept, told and stopped like those that are done here.
func TestStudyElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	broken := errors.New("the worker is broken")
	var lines []string
	s := Study{Runs: 3, First: 4, Parallel: 1, File: file, Progress: func(line string) { lines = append(lines, line) }}
	s.Elsewhere = func(_ context.Context, seed uint64, heard func(int)) (Run, error) {
		if seed == 5 {
			return Run{}, broken
		}
		heard(2)
		return aRun(seed, 0.5, 0.25), nil
	}
	runs, err := s.Do(t.Context())
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "run with seed 5: ") || !slices.Equal(seeds(runs), []uint64{4}) {
		t.Errorf("returned %v, %v", seeds(runs), err)
	}
	if len(lines) != 2 || lines[0] != "0 of 3 runs, 2 answers" || !strings.HasPrefix(lines[1], "1 of 3 runs, 2 answers, about ") {
		t.Errorf("told %q", lines)
	}
	s.Elsewhere = func(_ context.Context, seed uint64, _ func(int)) (Run, error) { return aRun(seed, 0.5), nil }
	if runs, err = s.Do(t.Context()); err != nil || !slices.Equal(seeds(runs), []uint64{4, 5, 6}) || len(runs[0].Rows) != 2 {
		t.Errorf("continued: returned %v, %v", seeds(runs), err)
	}
}
