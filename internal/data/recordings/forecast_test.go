package recordings

import (
	"math"
	"testing"
	"time"
)

// A simulated import has 200 videos, and 1,000 episodes of 100 frames. Its clock is moved by what each piece takes.
const (
	simVideos, simEpisodes, simFrames = 200, 1000, 100
)

// simulate does an import whose pieces take slow times as long as on an ordinary machine, which may depend on the seconds that it ran. At each
// piece it calls check with the seconds since the beginning and those that are told to be left, and at the end it returns all that it took.
func simulate(slow func(second float64) float64, check func(at, left float64)) float64 {
	f := forecast{work: expected(simVideos, simEpisodes, simEpisodes*simFrames)}
	began := time.Unix(0, 0)
	now, last := began, 0.0
	piece := func(stage int, work float64) {
		at := now.Sub(began).Seconds()
		now = now.Add(time.Duration((work - last) * slow(at) * float64(time.Second)))
		last = work
		check(now.Sub(began).Seconds(), f.left(now, stage, work).Seconds())
	}
	for k := range simVideos {
		piece(checkingVideos, videoCost*float64(k))
	}
	for stage := checkingEpisodes; stage <= keepingEpisodes; stage++ {
		now = now.Add(time.Duration((f.work[stage-1] - last) * slow(now.Sub(began).Seconds()) * float64(time.Second)))
		last = 0
		for i := range simEpisodes {
			files := 0
			if stage == keepingEpisodes {
				files = i
			}
			piece(stage, expected(0, files, (i+1)*simFrames)[stage])
		}
	}
	return now.Sub(began).Seconds() + (f.work[keepingEpisodes]-last)*slow(now.Sub(began).Seconds())
}

// TestForecast: at a constant rate the time that is told to be left is the time that is left, whatever the rate is. After a rate has changed it
// comes to be so again.
func TestForecast(t *testing.T) {
	for _, test := range []struct {
		name  string
		slow  func(second float64) float64
		right func(at float64) bool // when it must be right
	}{
		{"ordinary", func(float64) float64 { return 1 }, func(at float64) bool { return at > 2 }},
		{"ten times slower", func(float64) float64 { return 10 }, func(at float64) bool { return at > 10 }},
		{"a hundred times faster", func(float64) float64 { return 0.01 }, func(at float64) bool { return at > 1 }},
		{"slower from the 20th second on", func(s float64) float64 {
			if s < 20 {
				return 1
			}
			return 5
		}, func(at float64) bool { return at > 20+7*forecastHalf.Seconds() }},
		{"faster from the 100th second on", func(s float64) float64 {
			if s < 100 {
				return 20
			}
			return 4
		}, func(at float64) bool { return at > 100+7*forecastHalf.Seconds() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			total, told := simulate(test.slow, func(float64, float64) {}), 0
			simulate(test.slow, func(at, left float64) {
				if !test.right(at) {
					return
				}
				told++
				if want := total - at; math.Abs(left-want) > 0.02*want+0.001 {
					t.Fatalf("after %.1f s of %.1f, %.2f s are told to be left", at, total, left)
				}
			})
			if told == 0 && total > 2 {
				t.Error("nothing is told")
			}
		})
	}
}

// TestForecastOfARateThatChanges: before it is right again, each half-life brings what is told closer to the truth.
func TestForecastOfARateThatChanges(t *testing.T) {
	slow := func(s float64) float64 {
		if s < 20 {
			return 1
		}
		return 5
	}
	total, last, next := simulate(slow, func(float64, float64) {}), math.Inf(1), 25.0
	simulate(slow, func(at, left float64) {
		if at < next || at > 200 {
			return
		}
		wrong := math.Abs(left/(total-at) - 1)
		if wrong > 0.75*last {
			t.Errorf("after %.0f s it is wrong by %.0f%%, and %.0f s before by %.0f%%", at, 100*wrong, forecastHalf.Seconds(), 100*last)
		}
		last, next = wrong, at+forecastHalf.Seconds()
	})
	if last > 0.05 {
		t.Errorf("it is wrong by %.0f%% at last", 100*last)
	}
}

// TestForecastOfNothing: nothing is told before work was measured for a second, and after the last piece nothing is left.
func TestForecastOfNothing(t *testing.T) {
	f := forecast{work: expected(2, 0, 0)}
	now := time.Unix(0, 0)
	if left := f.left(now, checkingVideos, 0); left != 0 {
		t.Errorf("at the beginning %v is left", left)
	}
	if left := f.left(now.Add(forecastLeast/2), checkingVideos, videoCost); left != 0 {
		t.Errorf("after half a second %v is left", left)
	}
	if left := f.left(now.Add(forecastLeast), checkingVideos, 2*videoCost); left != 0 {
		t.Errorf("after the last piece %v is left", left)
	}
}

// TestTimeToldBeforehand: what is told holds the times of imports that were measured (docs/lerobot.md): of 10,000 and of 1,000 episodes, each on
// two cores that others used.
func TestTimeToldBeforehand(t *testing.T) {
	for _, test := range []struct {
		videos, episodes, frames int
		took                     []time.Duration
	}{
		{200, 10_000, 963_348, []time.Duration{104 * time.Second, 216 * time.Second}},
		{20, 1000, 96_426, []time.Duration{14 * time.Second}},
	} {
		least, most := between(expected(test.videos, test.episodes, test.frames))
		for _, took := range test.took {
			if took < least || took > most {
				t.Errorf("%d episodes took %v; told beforehand are %v to %v", test.episodes, took, least, most)
			}
		}
	}
}
