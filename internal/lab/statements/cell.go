package statements

import (
	"context"
	"math"
	"sync"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
)

// All does sessions with seeds from first on, workers of them at a time, but for those that kept
// has by seed. It returns the runs by seed.
func All(ctx context.Context, w World, k Kind, first uint64, seeds, answers, workers int, kept map[uint64]Run) ([]Run, error) {
	out, errs := make([]Run, seeds), make([]error, seeds)
	var wg sync.WaitGroup
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				out[i], errs[i] = Do(ctx, w, k, first+uint64(i), answers)
			}
		})
	}
	for i := range seeds {
		if run, ok := kept[first+uint64(i)]; ok {
			out[i] = run
			continue
		}
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A Figure is a number with its 95 % interval over runs; NaN where there is nothing to count.
type Figure struct{ Value, Low, High float64 }

// Figures sum up the moments of runs after a number of answers.
type Figures struct {
	Moments  int     // all
	Withheld float64 // share of moments whose statement is withheld
	Covered  Figure  // share of said statements whose bound holds
	Always   Figure  // the same of all statements, withheld ones included
	Sure     int     // said statements of 90 % and more
	Right    Figure  // share of these where the loss is small
	Regret   Figure  // mean true regret of all moments
	Ratio    Figure  // mean true regret over stated mean, of said statements
}

// sure is the probability from which on a statement counts as sure: that of the rule for stopping by default.
const sure = 0.9

// resamples is the number of draws of a bootstrap.
const resamples = 1000

// Sum sums up the moments after n answers; after all numbers of answers if n is 0.
func Sum(runs []Run, n int) (f Figures) {
	var said, covered, always, all, sures, right, regret, mean, loss []float64 // by run
	var withheld float64
	for _, r := range runs {
		var c [9]float64
		for _, m := range r.Moments {
			if n > 0 && m.Answers != n {
				continue
			}
			holds := one(m.Regret <= m.Bound+rounding)
			c[3]++
			c[2] += holds
			c[6] += m.Regret
			if m.Against != "" {
				withheld++
				continue
			}
			c[0]++
			c[1] += holds
			c[7] += m.Mean
			c[8] += m.Regret
			if m.Within >= sure {
				c[4]++
				c[5] += one(m.Regret <= Tolerance)
			}
		}
		said, covered, always, all = append(said, c[0]), append(covered, c[1]), append(always, c[2]), append(all, c[3])
		sures, right, regret = append(sures, c[4]), append(right, c[5]), append(regret, c[6])
		mean, loss = append(mean, c[7]), append(loss, c[8])
	}
	f.Moments, f.Sure = int(total(all)), int(total(sures))
	f.Withheld = withheld / total(all)
	f.Covered, f.Always, f.Right = quotient(covered, said), quotient(always, all), quotient(right, sures)
	f.Regret, f.Ratio = quotient(regret, all), quotient(loss, mean)
	return f
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

// quotient returns Σa/Σb over runs.
func quotient(a, b []float64) Figure {
	of := make([]int, len(a))
	for i := range of {
		of[i] = i
	}
	statistic := func(of []int) float64 {
		var x, y float64
		for _, i := range of {
			x, y = x+a[i], y+b[i]
		}
		return x / y // NaN without any
	}
	f := Figure{statistic(of), math.NaN(), math.NaN()}
	if drawn := stats.Resample(len(a), resamples, rng.New(1, "statements", 0), statistic); len(drawn) > 0 {
		f.Low, f.High = stats.Middle95(drawn)
	}
	return f
}

// Stops are what came of sessions that said "you can stop", each at the first time.
type Stops struct {
	Stopped, Right, Wrong int
	Answers               float64 // mean over all sessions, those that did not stop with all their answers
}

// StopsOf returns the stops of runs.
func StopsOf(runs []Run) (s Stops) {
	for _, r := range runs {
		after := len(r.Moments)
		for _, m := range r.Moments {
			if !m.MayStop {
				continue
			}
			s.Stopped, after = s.Stopped+1, m.Answers
			if m.Regret <= Tolerance {
				s.Right++
			} else {
				s.Wrong++
			}
			break
		}
		s.Answers += float64(after) / float64(len(runs))
	}
	return s
}
