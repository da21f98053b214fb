//go:build mujoco

package mujoco_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
)

const (
	behaviours = 24
	clipsOf    = 3 // of a behaviour
)

// behave returns behaviour k of e: two of three are random gaits, the others random
// linear policies as sessions begin with.
func behave(t testing.TB, e *mujoco.Env, k int, stream *rand.Rand) idrl.Policy {
	t.Helper()
	spec := e.Spec()
	var p idrl.Policy
	params, err := solver.RandomGait(spec, stream)
	if err == nil {
		p, err = solver.NewGait(spec, params)
	}
	if k%3 == 2 {
		p, err = solver.Draft{}.Solve(t.Context(), idrl.SolveTask{Env: e, Theta: make([]float64, spec.FeatureDim())}, stream)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startElsewhere moves the robot of a corridor by some cells along it.
func startElsewhere(e *mujoco.Env, cells int) {
	size := map[string]float64{"swimmer-corridor": 3, "ant-corridor": 4}[e.Spec().ID]
	s := e.Snapshot(nil)
	s[2] += size * float64(cells)
	e.Restore(s)
}

// clipSums returns the sums of the features of e over clips of behaviours: for each,
// those of its first clips, up to one in which the robot lies for more than three
// quarters; of the pendulums all, as their poles lie at once. Those of a corridor begin in
// three cells by turns.
func clipSums(t testing.TB, e *mujoco.Env) (out [][][]float64) {
	spec := e.Spec()
	action := make(idrl.Action, spec.Actions.Dim())
	for k := range behaviours {
		stream := rng.New(uint64(k), "behaviour", 0)
		p := behave(t, e, k, stream)
		act := func(obs []float64, step int) idrl.Action {
			if timed, ok := p.(idrl.Timed); ok {
				return timed.ActAt(action, obs, step, stream)
			}
			return p.Act(action, obs, stream)
		}
		now := e.Reset(stream)
		startElsewhere(e, k%3)
		var of [][]float64
		for c := 0; c < clipsOf && !now.Kind.Last(); c++ {
			sum, lies := make([]float64, spec.FeatureDim()), 0
			for step := 0; step < spec.ClipSteps && !now.Kind.Last(); step++ {
				now = e.Step(act(now.Obs, c*spec.ClipSteps+step))
				for i, v := range now.Phi {
					sum[i] += v
				}
				if e.Fallen() {
					lies++
				}
			}
			if c > 0 && 4*lies > 3*spec.ClipSteps && !strings.HasPrefix(spec.ID, "inverted-") {
				break
			}
			of = append(of, sum)
		}
		out = append(out, of)
	}
	return out
}

// typical returns half the range of feature i from the 10th to the 90th percentile.
func typical(sums [][][]float64, i int) float64 {
	var x []float64
	for _, of := range sums {
		for _, s := range of {
			x = append(x, s[i])
		}
	}
	return (quantile(x, 0.9) - quantile(x, 0.1)) / 2
}

func quantile(x []float64, q float64) float64 {
	slices.Sort(x)
	return x[int(q*float64(len(x)-1)+0.5)]
}

// A featureLine is one of the README's table.
type featureLine struct {
	typical float64 // 0 where it says that the feature does not vary
	scale   float64
}

// featureLines reads the README's table: by robot and feature.
func featureLines(t *testing.T) map[[2]string]featureLine {
	t.Helper()
	b := must.Get(os.ReadFile("../../docs/mujoco.md"))(t)
	out := map[[2]string]featureLine{}
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[0]), "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		scale, err := strconv.ParseFloat(cells[4], 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		size := 0.0
		if cells[3] != "–" {
			if size, err = strconv.ParseFloat(cells[3], 64); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		out[[2]string{cells[0], cells[1]}] = featureLine{size, scale}
	}
	return out
}

// Two clips of different behaviours differ by one to five times the noise of an answer,
// in the median and in most pairs, so that an answer is neither chance nor certain. The
// document says of every feature what it usually varies by, and the scale of its prior.
func TestPriorScales(t *testing.T) {
	lines := featureLines(t)
	for _, l := range mujoco.Catalogue() {
		t.Run(l.ID, func(t *testing.T) {
			e := listed(t, l.ID)
			spec, sums := e.Spec(), clipSums(t, e)
			d := envtest.Differences(sums, spec.PriorScale)
			inside := 0.0
			for _, v := range d {
				if v >= 1 && v <= 5 {
					inside += 1 / float64(len(d))
				}
			}
			t.Logf("differences: 10%% %.2f, median %.2f, 90%% %.2f of the noise; %.0f%% within 1 to 5", quantile(d, 0.1), quantile(d, 0.5), quantile(d, 0.9), 100*inside)
			if m := quantile(d, 0.5); !(m >= 1 && m <= 5) || inside < 0.55 || quantile(d, 0.9) > 6 {
				t.Errorf("the median difference is %.2f times the noise, that of the upper tenth %.2f, and %.0f%% are within 1 to 5", m, quantile(d, 0.9), 100*inside)
			}
			names := spec.FeatureNames
			for i, name := range names {
				if cell, ok := strings.CutPrefix(name, "Cell "); ok { // all cells are alike
					if _, name, _ = strings.Cut(cell, ": "); i > 2 && spec.PriorScale[i] == spec.PriorScale[i%3] {
						continue
					}
				}
				line, ok := lines[[2]string{l.ID, name}]
				size := typical(sums, i)
				if !ok || line.scale != spec.PriorScale[i] {
					t.Errorf("README.md: %q has the scale %v, want %v", name, line.scale, spec.PriorScale[i])
				}
				if max(size, line.typical) > 2*min(size, line.typical) && max(size, line.typical) > 0.01 {
					t.Errorf("README.md: %q is of size %v, but %.3g here", name, line.typical, size)
				}
			}
		})
	}
}
