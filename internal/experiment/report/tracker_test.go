package report_test

import (
	"testing"
	"time"

	"tiebreak/internal/experiment"
	"tiebreak/internal/experiment/report"
)

// Chain has four runs of 10 answers, one of which is kept from before; driver
// two of 20.
func TestTracker(t *testing.T) {
	chain := validated(t, experiment.Config{Figure: "chain", Methods: []string{"idrl", "uniform"}, Seeds: 2, FirstSeed: 1, Answers: 10})
	driver := validated(t, experiment.Config{Figure: "driver", Methods: []string{"idrl"}, Seeds: 2, FirstSeed: 1, Answers: 20})
	run := synthetic(t, chain.Config, 0).Runs[0][0]
	folder := report.FolderStore(t.TempDir(), nil)
	if err := folder.Save(chain, "idrl", 1, run); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	tracker := report.NewTracker(folder, []experiment.Experiment{chain, driver}, func() time.Time { return now })
	at := func(second int) { now = time.Unix(1000+int64(second), 0) }
	expect := func(when string, made int, left time.Duration) {
		t.Helper()
		if got, want := tracker.Progress(), (report.Progress{Kept: 1, Made: made, Total: 6, Left: left}); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	begin := func(e experiment.Experiment, method string, seed uint64) {
		if _, ok := tracker.Load(e, method, seed); ok {
			t.Fatalf("a run of %s on seed %d of %s that nobody made", method, seed, e.Name())
		}
	}
	end := func(e experiment.Experiment, method string, seed uint64) {
		if err := tracker.Save(e, method, seed, run); err != nil {
			t.Fatal(err)
		}
	}
	at(5)
	if _, ok := tracker.Load(chain, "idrl", 1); !ok {
		t.Error("the kept run is lost")
	}
	expect("before", 0, 0)

	at(100) // the clock starts with the first run that is missing
	begin(chain, "uniform", 1)
	at(104)
	end(chain, "uniform", 1)
	// 4 s for 10 answers: 4 each for two more in chain, 8 each for two in driver.
	expect("after one", 1, 24*time.Second)

	begin(chain, "idrl", 2)
	begin(chain, "uniform", 2) // side by side
	at(110)
	end(chain, "idrl", 2)
	end(chain, "uniform", 2)
	// 16 s of work in 10 s: 2 × 20 answers of 16/30 s, shared likewise, are 40/3 s.
	expect("side by side", 3, 40*time.Second/3)

	begin(driver, "idrl", 1)
	at(120)
	end(driver, "idrl", 1)
	// The other run of driver takes 10 s of work; 26 were done in 20.
	expect("last one left", 4, 200*time.Second/26)

	begin(driver, "idrl", 2)
	end(driver, "idrl", 2)
	expect("done", 5, 0)
	if _, ok := folder.Load(chain, "uniform", 2); !ok {
		t.Error("the run did not reach the folder")
	}
}
