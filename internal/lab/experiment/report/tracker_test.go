package report_test

import (
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
)

// Chain has four runs of 10 answers, one of which is kept from before; driver
// two of 20.
func TestTracker(t *testing.T) {
	chain := validated(t, experiment.Config{Figure: "chain", Methods: []string{"idrl", "uniform"}, Seeds: 2, FirstSeed: 1, Answers: 10})
	driver := validated(t, experiment.Config{Figure: "driver", Methods: []string{"idrl"}, Seeds: 2, FirstSeed: 1, Answers: 20})
	run := synthetic(t, chain.Config, 0).Runs[0][0]
	folder := report.FolderStore(t.TempDir(), nil)
	must.Do(t, folder.Save(chain, "idrl", 1, run))
	now := time.Unix(1000, 0)
	tracker := report.NewTracker(folder, []experiment.Experiment{chain, driver}, func() time.Time { return now })
	at := func(second int) { now = time.Unix(1000+int64(second), 0) }
	expect := func(when string, made, untimed int, left time.Duration) {
		t.Helper()
		got, want := tracker.Progress(), report.Progress{Kept: 1, Made: made, Total: 6, Untimed: untimed, Left: left.Round(time.Millisecond)}
		if got.Left = got.Left.Round(time.Millisecond); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	begin := func(e experiment.Experiment, method string, seed uint64) {
		if _, ok := tracker.Load(e, method, seed); ok {
			t.Fatalf("a run of %s on seed %d of %s that nobody made", method, seed, e.Name())
		}
	}
	end := func(e experiment.Experiment, method string, seed uint64) {
		must.Do(t, tracker.Save(e, method, seed, run))
	}
	at(5)
	if _, ok := tracker.Load(chain, "idrl", 1); !ok {
		t.Error("the kept run is lost")
	}
	expect("before", 0, 3, 0)
	firsts := tracker.Firsts([]experiment.Experiment{chain, driver}, 1)
	if len(firsts) != 2 || firsts[0].Seeds != 1 || firsts[0].Seed(0) != 1 || firsts[1].Name() != driver.Name() || firsts[1].Seeds != 1 {
		t.Errorf("first of all: %+v", firsts)
	}

	at(100) // the clock starts with the first run that is missing
	begin(chain, "uniform", 1)
	at(104)
	end(chain, "uniform", 1)
	expect("after one", 1, 2, 0)
	begin(driver, "idrl", 1)
	at(124)
	end(driver, "idrl", 1)
	expect("but one method", 2, 1, 0)

	begin(chain, "idrl", 2)
	begin(chain, "uniform", 2) // side by side
	at(130)
	end(chain, "idrl", 2)
	at(132)
	end(chain, "uniform", 2)
	// A run of driver is left, which takes 20 s by itself. What took 38 s was done in 32.
	expect("side by side", 4, 0, 20*time.Second*32/38)

	begin(driver, "idrl", 2)
	at(150)
	end(driver, "idrl", 2)
	expect("done", 5, 0, 0)
	if _, ok := tracker.Load(driver, "idrl", 2); !ok {
		t.Error("a run that was made is made again")
	}
	if f := report.NewTracker(folder, []experiment.Experiment{chain}, time.Now).Firsts([]experiment.Experiment{chain}, 4); len(f) != 0 {
		t.Errorf("all is kept, and first are %v", f)
	}
	if _, ok := folder.Load(chain, "uniform", 2); !ok {
		t.Error("the run did not reach the folder")
	}
}
