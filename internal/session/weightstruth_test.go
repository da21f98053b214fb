package session_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"tiebreak/internal/session/view"
)

// An interval is a weight as a session states it, and the true one, both in standard deviations of the prior.
type interval struct{ mean, std, truth float64 }

// within says whether the 95 % interval that pages show holds the truth.
func (i interval) within() bool { return math.Abs(i.truth-i.mean) <= 1.96*i.std }

// named says whether the overview names the weight as liked or disliked.
func (i interval) named() bool { return math.Abs(i.mean) > 1.96*i.std }

// intervals compares the weights of a status with the true ones.
func (m *matched) intervals(st view.Status) (out []interval) {
	prior := m.model.Prior()
	for k, w := range st.Weights {
		unit, column := make([]float64, prior.Dim()), make([]float64, prior.Dim())
		unit[k] = 1
		prior.CovMul(column, unit)
		out = append(out, interval{mean: w.Mean, std: w.Std, truth: m.theta[k] / math.Sqrt(column[k])})
	}
	return out
}

// The 95 % intervals of weights hold the true ones, and what a session says is liked or disliked is, in all but the
// share of cases that such an interval allows, in runs whose true weights are drawn from the prior. As other statements
// they allow for annotators who are not as assumed, so up to 99 % may be within.
func TestIntervalsOfWeightsAreTrue(t *testing.T) {
	const runs = 40
	for _, of := range benchmarks() {
		if !slices.Contains([]string{"driver clip_comparison", "gridworld clip_rating"}, of.name) {
			continue
		}
		all := make([][]interval, runs)
		t.Run(of.name, func(t *testing.T) {
			for n := range runs {
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					m := newMatched(t, of, n)
					m.each(t, 30, func(answers int, st view.Status) {
						if slices.Contains(snapshotsAt, answers) {
							all[n] = append(all[n], m.intervals(st)...)
						}
					})
				})
			}
		})
		var within, named, wrong, of95 float64
		for _, i := range slices.Concat(all...) {
			of95++
			if i.within() {
				within++
			}
			if i.named() {
				named++
				if i.mean*i.truth <= 0 {
					wrong++
				}
			}
		}
		t.Logf("%s: %.1f %% of %.0f weights within; of %.0f named, %.1f %% wrong", of.name, 100*within/of95, of95, named, 100*wrong/named)
		if share := within / of95; !(share >= 0.92 && share <= 0.99) {
			t.Errorf("%s: want 92 to 99 %%", of.name)
		}
		if !(named > 0 && wrong/named <= 0.025) {
			t.Errorf("%s: want some named, and at most 2.5 %% wrong", of.name)
		}
	}
}
