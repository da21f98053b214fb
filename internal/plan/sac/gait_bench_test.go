//go:build mujoco

package sac_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"

	"gonum.org/v1/gonum/floats"
)

// gaitsEnv is the variable that names a folder in which BenchmarkGaits leaves the best
// policy of each training.
const gaitsEnv = "TIEBREAK_GAITS"

// BenchmarkGaits trains Hopper and Walker2d with the live settings on the true reward,
// until a gait is found or the CPU time is spent, three seeds. A gait is a policy whose
// mean return with mean actions is at least 2,000, in five episodes and then again in 20
// others. A step of standing gives 1 and a metre 125: whoever only stands gets 1,000, and
// a gait goes 8 m on average at least, at 1 m/s.
//
// Episodes of the training last to the horizon (whole) or end at a fall (falls); those
// that are measured always last to the horizon, as the paper has it. It logs robot, way
// of training, seed, steps, episodes, their mean return, mean distance (m), mean steps
// before a fall, how many fell, CPU seconds.
//
//	go test -tags mujoco -run - -bench Gaits/falls -benchtime 1x -timeout 10h ./internal/plan/sac
func BenchmarkGaits(b *testing.B) {
	for _, way := range []string{"whole", "falls"} {
		for _, id := range []string{mujoco.HopperID, mujoco.Walker2dID} {
			for seed := uint64(1); seed <= 3; seed++ {
				b.Run(fmt.Sprintf("%s/%s/seed=%d", way, id, seed), func(b *testing.B) {
					for b.Loop() {
						findGait(b, id, way, seed)
					}
				})
			}
		}
	}
}

func findGait(b *testing.B, id, way string, seed uint64) {
	const limit, wanted = 1800, 2000 // CPU seconds, return
	s := newStudentIn(b, id, mujoco.Options{Ends: way == "falls"}, sac.Live(), seed)
	look := func(first, episodes uint64) gait {
		g := s.gait(first, episodes)
		fmt.Printf("%s %s %d %d %d %.0f %.2f %.0f %d %.1f\n", id, way, seed, g.Steps, episodes, g.Return, g.Distance, g.Upright, g.Fell, s.spent)
		return g
	}
	best, found := gait{}, false
	for s.spent < limit && !found {
		s.train(10_000)
		g := look(0, 5)
		if g.Return >= wanted {
			g = look(5, 20)
			found = g.Return >= wanted
		}
		if best.Params == nil || found || g.Return > best.Return {
			best = g
			keepGait(b, fmt.Sprintf("%s-%s-%d.json", id, way, seed), g)
		}
	}
	b.ReportMetric(best.Return, "return")
	b.ReportMetric(best.Distance, "m")
	b.ReportMetric(best.Upright, "upright-steps")
	b.ReportMetric(s.spent, "cpu-s")
}

// A gait is a policy and its means over some episodes.
type gait struct {
	Task     string
	Seed     uint64
	Steps    int // of the training
	Return   float64
	Distance float64 // m
	Upright  float64 // steps before a fall
	Fell     int     // episodes
	Params   []float64
}

// gait plays episodes with the mean actions, from the given one on.
func (s *student) gait(first, episodes uint64) gait {
	p, spec := s.agent.Policy(false), s.test.Spec()
	standing := slices.Index(spec.FeatureNames, "Standing")
	forward := slices.Index(spec.FeatureNames, "Distance forward")
	g := gait{Task: spec.ID, Seed: s.agent.Seed, Steps: s.agent.Status().Steps, Params: p.Params()}
	part := 1 / float64(episodes)
	for k := range episodes {
		fallen := false
		for _, step := range idrl.EpisodeOf(s.test, p, rng.New(1, "test episode", first+k)) {
			if step.Kind == idrl.First {
				continue
			}
			g.Return += part * floats.Dot(s.theta, step.Phi)
			g.Distance += part * step.Phi[forward]
			if fallen = fallen || step.Phi[standing] == 0; !fallen {
				g.Upright += part
			}
		}
		if fallen {
			g.Fell++
		}
	}
	return g
}

// keepGait stores g in the folder that the variable names, if there is one.
func keepGait(b *testing.B, name string, g gait) {
	dir := os.Getenv(gaitsEnv)
	if dir == "" {
		return
	}
	text := must.Get(json.MarshalIndent(g, "", " "))(b)
	must.Do(b, os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o644))
}
