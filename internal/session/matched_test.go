package session_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
	"tiebreak/internal/study/settings"
)

// atStop is a run as the stop rule saw it.
type atStop struct {
	fired    int     // answers; 0 if it did not
	loss     float64 // true, when it fired
	foreAt   int     // answers when a forecast was taken; 0 if none was
	forecast stopping.Forecast
}

// stopped answers questions and returns what was stated on the way, what would have been
// without an average, and how it was at the stop.
func (m *matched) stopped(t testing.TB, answers int) (snapshots, assuming []snapshot, at atStop) {
	t.Helper()
	m.each(t, answers, func(n int, st view.Status) {
		if slices.Contains(snapshotsAt, n) {
			snapshots, assuming = append(snapshots, m.stated(st)), append(assuming, m.assuming(t, st))
		}
		if at.fired > 0 {
			return
		}
		if st.Stopping.Propose {
			at.fired, at.loss = n, m.stated(st).loss
		} else if n == 12 && st.Stopping.Left.Known {
			at.foreAt, at.forecast = n, st.Stopping.Left
		}
	})
	return snapshots, assuming, at
}

// rightly returns how many runs fired, in how many of those the loss was small, after
// how many answers they did on average, and the greatest loss.
func rightly(runs []atStop, tolerance float64) (fired, right int, answers, worst float64) {
	for _, r := range runs {
		if r.fired == 0 {
			continue
		}
		fired++
		answers += float64(r.fired)
		worst = max(worst, r.loss)
		if r.loss <= tolerance {
			right++
		}
	}
	return fired, right, answers / float64(max(1, fired)), worst
}

// forecasts returns how many runs had a forecast, and in how many the rule fired within its range.
func forecasts(runs []atStop, answers int) (told, held int) {
	for _, r := range runs {
		if r.foreAt == 0 {
			continue
		}
		told++
		left := r.fired - r.foreAt
		if r.fired == 0 {
			left = math.MaxInt
			if r.foreAt+r.forecast.Most > answers {
				left = r.forecast.Most // it cannot be seen
			}
		}
		if left >= r.forecast.Least && left <= r.forecast.Most {
			held++
		}
	}
	return told, held
}

// BenchmarkMatched prints, for runs of 50 answers by each kind of question and of expert,
// whether the statements at 5, 10, 20 and 30 answers were true, those that assume what
// they are told beside them, and whether the rule of package stopping was right. An
// iteration is a run:
//
//	go test -run xxx -bench Matched -benchtime 200x -timeout 4h ./internal/session
func BenchmarkMatched(b *testing.B) {
	const answers = 50
	for _, of := range benchmarks() {
		for _, expert := range experts(of.kind) {
			of.expert = expert
			b.Run(of.name+" "+expert, func(b *testing.B) {
				if b.N == 1 {
					return // the benchmark's trial
				}
				var all, assuming []snapshot
				var stops []atStop
				for n := range b.N {
					now, then, at := newMatched(b, of, n).stopped(b, answers)
					all, assuming, stops = append(all, now...), append(assuming, then...), append(stops, at)
				}
				fmt.Printf("%s, %s, %d runs\n  averaged: %s\n  assuming: %s\n", of.name, expert, b.N, summary(all), summary(assuming))
				fired, right, mean, worst := rightly(stops, idrl.DefaultTolerance)
				told, held := forecasts(stops, answers)
				fmt.Printf("  stop rule: fired in %d, after %.1f answers, right in %d (%.0f %%), worst loss %.0f %%; forecasts after 12 answers: %d, %d held\n",
					fired, mean, right, 100*float64(right)/float64(max(1, fired)), 100*worst, told, held)
			})
		}
	}
}

// summary says how true snapshots are, of which each run has one at each of
// snapshotsAt.
func summary(all []snapshot) string {
	coverage, ratio, bias := truth(all)
	zero, bound := 0, 0.0
	at := make([][]snapshot, len(snapshotsAt))
	for i, s := range all {
		at[i%len(at)] = append(at[i%len(at)], s)
		bound += s.bound / float64(len(all))
		if s.bound == 0 {
			zero++
		}
	}
	text := fmt.Sprintf("coverage %.1f %% (", 100*coverage)
	for _, of := range at {
		c, _, _ := truth(of)
		text += fmt.Sprintf(" %.1f", 100*c)
	}
	return text + fmt.Sprintf(" ), true/stated %.2f, bias %+.3f, mean bound %.3f, bound 0 in %.0f %%, %s", ratio, bias, bound, 100*float64(zero)/float64(len(all)), bins(all))
}

// bins returns the stated probabilities of a small loss in five bins, with the shares
// that were small.
func bins(all []snapshot) (text string) {
	for k := range 5 {
		var said, was, n float64
		for _, s := range all {
			if min(4, int(5*s.within)) == k {
				said, was, n = said+s.within, was+s.isWithin, n+1
			}
		}
		text += fmt.Sprintf("%.2f→%.2f (%.0f) ", said/max(1, n), was/max(1, n), n)
	}
	return text
}

// Ratings on a scale that ends: taken for numbers, its ends make the statement too
// sure, the more so the more answers there are; as ends they do not.
func TestRatingsThatAreCut(t *testing.T) {
	const runs = 80
	grid := func(seed uint64) idrl.Environment {
		return gridworld.New(gridworld.Config{MinReachable: 50}, rng.New(seed, "layout", 0))
	}
	covered := map[string]float64{}
	for _, model := range settings.Get("rating_model").Names() {
		of := setting{newEnv: grid, kind: idrl.RateState, likelihood: model, adoptAfter: 1}
		late := make([][]snapshot, runs)
		t.Run(model, func(t *testing.T) {
			for n := range runs {
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					m := newMatched(t, of, n)
					m.each(t, 30, func(answers int, st view.Status) {
						if answers == 20 || answers == 30 {
							late[n] = append(late[n], m.stated(st))
						}
					})
				})
			}
		})
		coverage, ratio, bias := truth(slices.Concat(late...))
		t.Logf("%s: %.1f %% of the losses at 20 and 30 answers below the bound, ratio %.2f, P(small) %+.3f", model, 100*coverage, ratio, bias)
		covered[model] = coverage
	}
	if covered["clipped"] < 0.92 || covered["gaussian"] >= 0.92 {
		t.Error("want at least 92 % where the ends of the scale are ends, and less where they are numbers")
	}
}

// The rule is right at least as often as it claims: in nine of ten matched runs, with
// the default settings.
func TestStopRuleIsRight(t *testing.T) {
	const runs = 40
	for _, of := range benchmarks() {
		if of.name != "driver clip_comparison" && of.name != "chain clip_comparison" {
			continue
		}
		stops := make([]atStop, runs)
		t.Run(of.name, func(t *testing.T) {
			for n := range runs {
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					_, _, stops[n] = newMatched(t, of, n).stopped(t, 40)
				})
			}
		})
		fired, right, answers, worst := rightly(stops, idrl.DefaultTolerance)
		t.Logf("%s: fired in %d of %d, after %.1f answers; right in %d, worst loss %.0f %%", of.name, fired, runs, answers, right, 100*worst)
		if fired < runs*3/4 || float64(right) < 0.9*float64(fired) {
			t.Error("want it to fire in most runs, and to be right in nine of ten of those")
		}
	}
}
