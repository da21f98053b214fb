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
		got, want := tracker.Progress(), report.Progress{Kept: 1, Made: made, Total: 6, Left: left.Round(time.Millisecond)}
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
	// 4 s for a run of work 40 + 10/2 by uniform. Left are another, one of 40 + 10 by
	// IDRL, and two of 3000 + 20·25 in driver.
	expect("after one", 1, 4*time.Second*(45+50+2*3500)/45)

	begin(chain, "idrl", 2)
	begin(chain, "uniform", 2) // side by side
	at(110)
	end(chain, "idrl", 2)
	end(chain, "uniform", 2)
	// 16 s for work of 45 + 50 + 45, spent in 10 s.
	expect("side by side", 3, 10*time.Second*(2*3500)/140)

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
