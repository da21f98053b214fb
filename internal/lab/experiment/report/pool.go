package report

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/lab/experiment"

	"gonum.org/v1/gonum/stat"
)

// Pooled is the relative change of a method's area under the regret curve
// against the reference, averaged over experiments with equal weights.
type Pooled struct {
	Method      string     `json:"method"`
	Reference   string     `json:"reference"`
	Experiments []string   `json:"experiments"` // their names
	Change      float64    `json:"change"`      // mean of area/reference area − 1
	Boot        [2]float64 `json:"boot95"`      // 95 % interval by a bootstrap that draws seeds within each experiment, paired
}

// A stratum is one experiment of a Pooled.
type stratum struct {
	name      string
	own, base []float64 // areas by seed
}

// Pool compares every other method with the reference over the experiments that
// ran both on at least two seeds and in which the reference had any regret. A
// resample in which it has none is left out. Methods come in the order in which
// they first appear.
func Pool(results []experiment.Result, reference string) (out []Pooled) {
	var methods []string
	for _, r := range results {
		for _, m := range r.Experiment.Methods {
			if m != reference && !slices.Contains(methods, m) {
				methods = append(methods, m)
			}
		}
	}
	for _, m := range methods {
		if s := strata(results, m, reference); len(s) > 0 {
			out = append(out, pool(s, m, reference, results[0].Experiment.FirstSeed))
		}
	}
	return out
}

func strata(results []experiment.Result, method, reference string) (out []stratum) {
	for _, r := range results {
		m, ref := slices.Index(r.Experiment.Methods, method), slices.Index(r.Experiment.Methods, reference)
		if m < 0 || ref < 0 || len(r.Runs) < 2 {
			continue
		}
		s := stratum{r.Experiment.Name(), areas(r, m), areas(r, ref)}
		if stat.Mean(s.base, nil) > rounding {
			out = append(out, s)
		}
	}
	return out
}

func pool(s []stratum, method, reference string, seed uint64) Pooled {
	p := Pooled{Method: method, Reference: reference}
	for _, v := range s {
		p.Experiments = append(p.Experiments, v.name)
		p.Change += (stat.Mean(v.own, nil)/stat.Mean(v.base, nil) - 1) / float64(len(s))
	}
	stream := rng.New(seed, "pooled bootstrap", uint64(len(s)))
	var changes []float64
	for range resamples {
		sum := 0.0
		for _, v := range s {
			sum += v.resampled(stream) / float64(len(s))
		}
		if !math.IsNaN(sum) {
			changes = append(changes, sum)
		}
	}
	if len(changes) > 0 {
		p.Boot[0], p.Boot[1] = stats.Middle95(changes)
	}
	return p
}

// resampled returns the relative change on seeds drawn with replacement, NaN if
// the reference has no regret on them.
func (s stratum) resampled(stream *rand.Rand) float64 {
	own, base := 0.0, 0.0
	for range s.own {
		i := stream.IntN(len(s.own))
		own += s.own[i]
		base += s.base[i]
	}
	if base <= rounding {
		return math.NaN()
	}
	return own/base - 1
}
