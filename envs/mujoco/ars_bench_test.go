//go:build mujoco

package mujoco

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
)

// BenchmarkSearch compares the CPU time of augmented random search with that of
// a plain C loop that plays the same episodes: from the same states with the same
// controls, an episode a call. The share of time outside the engine is to stay
// below 15 %.
func BenchmarkSearch(b *testing.B) {
	for _, test := range []struct {
		name string
		new  func() (*Env, error)
	}{
		{"swimmer-corridor", NewSwimmerCorridor},
		{"ant-corridor", NewAntCorridor},
	} {
		b.Run(test.name, func(b *testing.B) {
			env := must.Get(test.new())(b)
			r := &recorder{Env: env}
			spec := env.Spec()
			search := solver.ARSFor(spec)
			search.Iterations, search.Directions, search.Top, search.Episodes = 1, 4, 4, 2
			theta := make([]float64, spec.FeatureDim())
			theta[0] = 1
			stream := rng.New(1, "search", 0)
			var ours, theirs float64
			steps := 0
			for b.Loop() {
				r.episodes = nil
				began := cpu()
				must.Get(search.Solve(context.Background(), idrl.SolveTask{Env: r, Theta: theta}, stream))(b)
				ours += cpu() - began
				began = cpu()
				for _, e := range r.episodes {
					env.Restore(e.start)
					env.must(env.d.Roll(e.ctrl, env.skip, nil))
					steps += len(e.ctrl) / env.m.NU
				}
				theirs += cpu() - began
			}
			b.ReportMetric(100*(1-theirs/ours), "%outside")
			b.ReportMetric(1e9*ours/float64(steps), "ns/envstep")
		})
	}
}

// A recorder is an environment that notes where episodes begin and the controls
// that they play.
type recorder struct {
	*Env
	episodes []*recorded
}

type recorded struct{ start, ctrl []float64 }

func (r *recorder) Reset(rng *rand.Rand) idrl.TimeStep {
	step := r.Env.Reset(rng)
	r.episodes = append(r.episodes, &recorded{start: r.Snapshot(nil), ctrl: make([]float64, 0, r.spec.Horizon*r.m.NU)})
	return step
}

func (r *recorder) Step(a idrl.Action) idrl.TimeStep {
	step := r.Env.Step(a)
	e := r.episodes[len(r.episodes)-1]
	e.ctrl = append(e.ctrl, r.d.Ctrl...)
	return step
}

// cpu returns the CPU seconds of the process.
func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	sec := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return sec(r.Utime) + sec(r.Stime)
}
