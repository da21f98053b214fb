package sac_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"
)

// BenchmarkUpdate measures updates per CPU second in the shapes of HalfCheetah without
// the time: 17 observations, 6 actions, batches of 256. peers/compare.py runs it beside
// PyTorch.
func BenchmarkUpdate(b *testing.B) {
	for _, hidden := range []int{64, 256} {
		b.Run(fmt.Sprintf("hidden=%d", hidden), func(b *testing.B) {
			s := sac.Live()
			s.Hidden, s.Time, s.Starts, s.Replay = []int{hidden, hidden}, false, 10_000, 10_000
			a := newAgent(b, sac.Config{Settings: s, Env: newNoise(17, 6), Reward: func(dst []float32, batch sac.Batch) {
				for i := range dst {
					dst[i] = batch.Obs[17*i]
				}
			}})
			run(b, a, 9_999)
			began := cpu()
			for b.Loop() {
				must.Do(b, a.Update())
			}
			b.ReportMetric(float64(b.N)/(cpu()-began), "updates/cpu-s")
		})
	}
}

// BenchmarkRelabel gives a full replay of a million steps of HalfCheetah's size another
// reward, linear in 7 features.
func BenchmarkRelabel(b *testing.B) {
	s := sac.Live()
	s.Starts, s.Replay, s.Features = 1_100_000, 1_000_000, true
	theta := make([]float64, 7)
	a := newAgent(b, sac.Config{Settings: s, Env: newNoise(17, 6), Reward: sac.Linear(theta)})
	run(b, a, 1_001_000)
	theta[0] = 1
	for b.Loop() {
		must.Do(b, a.SetReward(sac.Linear(theta)))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(a.Status().Transitions), "ns/row")
}

// noise is an environment whose observations are independent of everything.
type noise struct {
	obs   []float64
	act   int
	t     int
	draws *rand.Rand
}

const noiseHorizon = 1000

func newNoise(obs, act int) *noise { return &noise{obs: make([]float64, obs), act: act} }

func (n *noise) Spec() idrl.EnvSpec {
	low, high := make([]float64, n.act), make([]float64, n.act)
	for i := range low {
		low[i], high[i] = -1, 1
	}
	return idrl.EnvSpec{ID: "noise", ObsDim: len(n.obs), Horizon: noiseHorizon, FeatureNames: make([]string, 7), Actions: idrl.ActionSpec{Low: low, High: high}}
}

func (n *noise) Reset(rng *rand.Rand) idrl.TimeStep {
	n.t, n.draws = 0, rng
	return n.at(idrl.First)
}

func (n *noise) Step(idrl.Action) idrl.TimeStep {
	if n.t++; n.t == noiseHorizon {
		return n.at(idrl.Truncated)
	}
	return n.at(idrl.Mid)
}

func (n *noise) at(kind idrl.StepKind) idrl.TimeStep {
	for i := range n.obs {
		n.obs[i] = n.draws.NormFloat64()
	}
	return idrl.TimeStep{Kind: kind, Obs: n.obs, Phi: n.obs[:7]}
}

func (n *noise) Snapshot(dst []float64) []float64 { return append(dst[:0], float64(n.t)) }
func (n *noise) Restore(s []float64)              { n.t = int(s[0]) }

// cpu returns the CPU seconds of the process.
func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	sec := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return sec(r.Utime) + sec(r.Stime)
}
