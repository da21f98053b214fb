package experiment

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/stat"
)

// Sittings are what came of asking in each of some ways: by seed, then by way.
type Sittings [][]Sitting

// AskAll asks one person of each of so many consecutive seeds in a world, workers of them at a time. They are right about a share
// of the pairs that the first generation asks about; 0: stats.UsualRight. People answer
// for twice the seconds: as long as a plain comparison may stretch in Worth. It returns an error of kind Invalid for unknown worlds
// and shares that cannot be.
func AskAll(ctx context.Context, name string, ways []Way, first uint64, seeds int, seconds, right float64, workers int) (Sittings, error) {
	w, err := newWorld(ctx, name, right, workers)
	if err != nil {
		return nil, err
	}
	out, errs := make(Sittings, seeds), make([]error, seeds)
	var wg sync.WaitGroup
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				out[i], errs[i] = w.ask(ctx, ways, first+uint64(i), 2*seconds)
			}
		})
	}
	for i := range seeds {
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

// Areas returns the area of each seed in way k.
func (s Sittings) Areas(k int, seconds, stretch float64) (out []float64) {
	for _, ways := range s {
		out = append(out, ways[k].Area(seconds, stretch))
	}
	return out
}

// Worth returns how many seconds an answer may take on average in way k until its regret over
// the time is that of plain comparisons, which are the first way: from half to four times what it
// takes.
func (s Sittings) Worth(k int, seconds float64) float64 {
	plain, low, high := stat.Mean(s.Areas(0, seconds, 1), nil), 0.5, 4.0
	for range 40 {
		if stretch := (low + high) / 2; stat.Mean(s.Areas(k, seconds, stretch), nil) < plain {
			low = stretch
		} else {
			high = stretch
		}
	}
	return low * s.duration(k)
}

// duration returns the mean duration of an answer in way k.
func (s Sittings) duration(k int) float64 {
	var all []float64
	for _, ways := range s {
		all = append(all, ways[k].Seconds...)
	}
	if len(all) == 0 {
		return 0
	}
	return stat.Mean(all, nil)
}

// Answers returns the mean number of answers within a number of seconds in way k.
func (s Sittings) Answers(k int, seconds float64) float64 {
	return s.mean(func(ways []Sitting) float64 { return float64(ways[k].Within(seconds)) })
}

// End returns the mean regret after a number of seconds in way k.
func (s Sittings) End(k int, seconds float64) float64 {
	return s.mean(func(ways []Sitting) float64 { return ways[k].Regret[ways[k].Within(seconds)] })
}

func (s Sittings) mean(of func([]Sitting) float64) float64 {
	sum := 0.0
	for _, ways := range s {
		sum += of(ways) / float64(len(s))
	}
	return sum
}
