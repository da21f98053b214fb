package session

import (
	"math/rand/v2"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
)

// A simulated job of known speed: what is said of the time left is true from when it is
// first said to the end, also between two reports.
func TestPaceIsTrue(t *testing.T) {
	for _, test := range []struct {
		name   string
		total  int
		each   time.Duration            // of a part
		report int                      // every so many parts
		noise  func(*rand.Rand) float64 // factor on a part
		known  time.Duration            // by when something is said
		within float64                  // of the time left, as a share of it
		slack  time.Duration            // and this much more
	}{
		{"parts of 10 s", 6, 10 * time.Second, 1, nil, 11 * time.Second, 0.01, 2500 * time.Millisecond},
		{"60,000 steps of 1 ms", 60_000, time.Millisecond, 250, nil, 4 * time.Second, 0.01, 300 * time.Millisecond},
		{"steps that vary", 2000, 30 * time.Millisecond, 20, func(r *rand.Rand) float64 { return 0.5 + r.Float64() }, 4 * time.Second, 0.1, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			stream := rng.New(1, "test", 0)
			at := []time.Duration{0} // when each part was done
			for range test.total {
				f := 1.0
				if test.noise != nil {
					f = test.noise(stream)
				}
				at = append(at, at[len(at)-1]+time.Duration(f*float64(test.each)))
			}
			start, end := time.Unix(1000, 0), at[test.total]
			var p pace
			said := 0
			next := 0
			for now := time.Duration(0); now < at[test.total-1]; now += end / 500 {
				for ; next <= test.total && at[next] <= now; next += test.report {
					p.note(start.Add(at[next]), next, test.total)
				}
				left, truth := p.left(start.Add(now)), end-now
				if left == 0 {
					if now > test.known {
						t.Fatalf("nothing is said after %v", now)
					}
					continue
				}
				said++
				if wrong := (left - truth).Abs(); wrong > time.Duration(test.within*float64(truth))+test.slack {
					t.Fatalf("%v left are said after %v, in truth %v", left, now, truth)
				}
			}
			if said < 100 {
				t.Errorf("something was said %d times", said)
			}
		})
	}
}

func TestPaceSaysNothing(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	for _, test := range []struct {
		name  string
		notes [][3]float64 // second, done, total
	}{
		{"before any report", nil},
		{"after one report", [][3]float64{{0, 3, 6}}},
		{"in the first two seconds", [][3]float64{{0, 0, 100}, {1.5, 30, 100}}},
		{"after less than a fiftieth", [][3]float64{{0, 0, 1000}, {5, 19, 1000}}},
		{"when all is done", [][3]float64{{0, 0, 100}, {5, 100, 100}}},
		{"when the job was begun anew", [][3]float64{{0, 0, 100}, {5, 50, 100}, {6, 2, 100}}},
		{"when the whole is another", [][3]float64{{0, 0, 100}, {5, 50, 100}, {6, 51, 300}}},
		{"without a whole", [][3]float64{{0, 0, 0}, {5, 0, 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var p pace
			for _, n := range test.notes {
				p.note(at(n[0]), int(n[1]), int(n[2]))
			}
			if left := p.left(at(7)); left != 0 {
				t.Errorf("%v left", left)
			}
		})
	}
}

// A job that has stalled is expected later and later.
func TestPaceOfAStalledJob(t *testing.T) {
	start := time.Unix(1000, 0)
	var p pace
	p.note(start, 0, 10)
	p.note(start.Add(10*time.Second), 5, 10)
	for _, test := range []struct{ after, left time.Duration }{
		{0, 10 * time.Second}, {2 * time.Second, 8500 * time.Millisecond}, {40 * time.Second, 18 * time.Second},
	} {
		if left := p.left(start.Add(10*time.Second + test.after)); left != test.left {
			t.Errorf("%v after the last report %v are left, want %v", test.after, left, test.left)
		}
	}
}
