package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"

	"gonum.org/v1/gonum/mat"
)

// Sizes of a Garnet: a random Markov decision process (Bhatnagar, Sutton,
// Ghavamzadeh, Lee, "Natural actor-critic algorithms", 2009) with dense features.
const (
	garnetStates   = 50
	garnetActions  = 4
	garnetBranches = 5 // states that an action may lead to
	garnetFeatures = 10
	garnetPairs    = 200 // candidate comparisons
	garnetHorizon  = 100
)

// A garnet is an environment for simulated experts only: it cannot be drawn.
type garnet struct {
	next     [garnetStates][garnetActions][]int     // successors
	prob     [garnetStates][garnetActions][]float64 // of each
	features *mat.Dense                             // n×d, independent normals of variance 1/d

	state, t int
	rng      *rand.Rand
	obs      [1]float64
}

var _ idrl.Tabular = (*garnet)(nil)

func newGarnet(stream *rand.Rand) *garnet {
	g := &garnet{features: mat.NewDense(garnetStates, garnetFeatures, nil)}
	for s := range garnetStates {
		for a := range garnetActions {
			g.next[s][a] = stream.Perm(garnetStates)[:garnetBranches]
			g.prob[s][a] = spacings(garnetBranches, stream)
		}
		for k := range garnetFeatures {
			g.features.Set(s, k, stream.NormFloat64()/math.Sqrt(garnetFeatures))
		}
	}
	return g
}

// spacings returns the lengths of the n parts that n−1 uniform points cut [0, 1]
// into.
func spacings(n int, stream *rand.Rand) []float64 {
	cuts := []float64{0, 1}
	for range n - 1 {
		cuts = append(cuts, stream.Float64())
	}
	slices.Sort(cuts)
	out := make([]float64, n)
	for i := range out {
		out[i] = cuts[i+1] - cuts[i]
	}
	return out
}

// Spec implements idrl.Environment.
func (g *garnet) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "garnet", Actions: idrl.ActionSpec{Num: garnetActions}, ObsDim: 1,
		FeatureNames: garnetNames(), StepSeconds: 1, Horizon: garnetHorizon, Discount: 0.99, ClipSteps: 1, Playback: 1,
		StillLabel: "this state",
	}
}

func garnetNames() (names []string) {
	for k := range garnetFeatures {
		names = append(names, strconv.Itoa(k+1))
	}
	return names
}

// Reset implements idrl.Environment.
func (g *garnet) Reset(stream *rand.Rand) idrl.TimeStep {
	g.rng, g.state, g.t = stream, stream.IntN(garnetStates), 0
	return idrl.TimeStep{Kind: idrl.First, Obs: g.observe()}
}

// Step implements idrl.Environment.
func (g *garnet) Step(a idrl.Action) idrl.TimeStep {
	if g.t >= garnetHorizon {
		panic("garnet: the episode has ended")
	}
	if !(idrl.ActionSpec{Num: garnetActions}).Contains(a) {
		panic("garnet: an action is 0, 1, 2 or 3")
	}
	to, left := g.next[g.state][int(a[0])], g.rng.Float64()
	k := 0
	for p := g.prob[g.state][int(a[0])]; k < len(p)-1 && left >= p[k]; k++ {
		left -= p[k]
	}
	g.state = to[k]
	g.t++
	kind := idrl.Mid
	if g.t == garnetHorizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: g.observe(), Phi: g.features.RawRowView(g.state)}
}

func (g *garnet) observe() []float64 {
	g.obs[0] = float64(g.state)
	return g.obs[:]
}

// Snapshot implements idrl.Snapshotter.
func (g *garnet) Snapshot(dst []float64) []float64 {
	return append(dst[:0], float64(g.state), float64(g.t))
}

// Restore implements idrl.Snapshotter.
func (g *garnet) Restore(s []float64) { g.state, g.t = int(s[0]), int(s[1]) }

// NumStates implements idrl.Tabular.
func (g *garnet) NumStates() int { return garnetStates }

// Transition implements idrl.Tabular.
func (g *garnet) Transition(dst []float64, s, a int) []float64 {
	dst = garnetRow(dst)
	for k, to := range g.next[s][a] {
		dst[to] = g.prob[s][a][k]
	}
	return dst
}

// Start implements idrl.Tabular: every state is as likely.
func (g *garnet) Start(dst []float64) []float64 {
	dst = garnetRow(dst)
	for s := range dst {
		dst[s] = 1.0 / garnetStates
	}
	return dst
}

// garnetRow returns dst with a zero for every state; allocated if nil.
func garnetRow(dst []float64) []float64 {
	if dst == nil {
		return make([]float64, garnetStates)
	}
	if len(dst) != garnetStates {
		panic("garnet: destination has the wrong length")
	}
	clear(dst)
	return dst
}

// Features implements idrl.Tabular.
func (g *garnet) Features(dst *mat.Dense) { dst.Copy(g.features) }

// garnetInstances makes a random decision process of every seed.
func garnetInstances(_ context.Context, e Experiment, _ Options) (maker, error) {
	return func(ctx context.Context, seed uint64) (*instance, error) {
		env := newGarnet(rng.New(seed, "layout", 0))
		t := tabular{
			env: env, theta: sim.NewTask(env, rng.New(seed, "task", 0)).Theta, cov: identity(garnetFeatures), most: garnetPairs,
		}
		return t.instance(ctx, e, seed)
	}, nil
}
