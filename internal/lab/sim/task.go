package sim

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
)

// A Task is an environment with a true reward.
type Task struct {
	Env   string    // EnvSpec.ID
	Theta []float64 // true reward weights, length d
}

// NewTask draws a true reward for env. It goes by the part of the environment's
// id before the first hyphen: "gridworld-code" is a gridworld.
//
//   - "driver": four independent normals scaled to norm 0.5, and 0.5 for the
//     constant feature, as in the authors' code.
//   - "gridworld": uniform on [-1, 1] for each object type, 0 for the floor (the
//     first feature), and then shifted and scaled so that the weights span
//     [0, 1], as in the authors' code.
//   - "chain": one draw from a zero-mean Gaussian with the environment's kernel
//     as covariance, shifted and scaled so that the weights span [0, 1], as in
//     the authors' code. The kernel's variance of 4 drops out of the scaling.
//   - "junction": not random, the formula of the paper's appendix: 0 in the
//     corridor, 0.8 on the branch that action 0 leads to (the paper's B), and
//     1-(0.7 i/M-1)² in the i-th of the M states, i = 1..M, of the other (its A).
//   - the locomotion tasks, such as "hopper" or "hopper-classic": not random, the
//     paper's rewards, which are Gym's with a bonus for being alive only while
//     healthy, and penalties for the pendulums (docs/paper-code.md, section
//     1.7). The reward of "ant" includes the cost of contacts, which was always
//     0 in the engine of the paper's results.
//   - "swimmer-corridor" and "ant-corridor": not random, the way in metres to the
//     middle cell, from either side.
//   - any other: independent standard normals.
//
// It panics if the environment lacks what its id promises: a chain a positive
// definite belief.FeatureKernel; a junction idrl.Tabular with as many features as
// states, a fork, and its two branches as the last states; a robot the features
// that its reward goes by.
func NewTask(env idrl.Environment, rng *rand.Rand) Task {
	return newTask(env, textBranch, spanUnit, rng)
}

// NewRawTask is NewTask without the shifting and scaling: a gridworld's types pay
// what is drawn from [-1, 1] and its floor 0, and a chain's rewards are the draw
// from the Gaussian, each of variance 1.
func NewRawTask(env idrl.Environment, rng *rand.Rand) Task {
	return newTask(env, textBranch, func([]float64) {}, rng)
}

// textBranch is x of newTask in the paper's text.
func textBranch(m, i int) float64 { return 0.7*float64(i)/float64(m) - 1 }

// NewCodeTask is NewTask but for "junction", whose second branch pays 1-x² as in
// the authors' code (docs/paper-code.md, section 1.3): x takes M evenly spaced
// values from -1 to -0.3, so that its first state pays 0. Which branch is which
// follows that code in both: the paper's text names them the other way round.
func NewCodeTask(env idrl.Environment, rng *rand.Rand) Task {
	return newTask(env, func(m, i int) float64 { return -1 + 0.7*float64(i-1)/float64(max(1, m-1)) }, spanUnit, rng)
}

// newTask draws a true reward; a branch of m states of a junction pays 1-x² in
// its i-th, with x = x(m, i), and scale is applied to drawn rewards of states.
func newTask(env idrl.Environment, x func(m, i int) float64, scale func([]float64), rng *rand.Rand) Task {
	id := env.Spec().ID
	if t, ok := robotTask(env.Spec()); ok {
		return t
	}
	theta := make([]float64, env.Spec().FeatureDim())
	switch family(id) {
	case "driver":
		free := theta[:len(theta)-1]
		normals(free, rng)
		floats.Scale(0.5/floats.Norm(free, 2), free)
		theta[len(theta)-1] = 0.5
	case "gridworld":
		for i := 1; i < len(theta); i++ {
			theta[i] = 2*rng.Float64() - 1
		}
		scale(theta)
	case "chain":
		correlated(theta, env, rng)
		scale(theta)
	case "junction":
		m := branch(env)
		low, high := theta[len(theta)-2*m:len(theta)-m], theta[len(theta)-m:]
		for i := range m {
			low[i], high[i] = 0.8, 1-math.Pow(x(m, i+1), 2)
		}
	default:
		normals(theta, rng)
	}
	return Task{Env: id, Theta: theta}
}

// spanUnit shifts and scales x so that it spans [0, 1].
func spanUnit(x []float64) {
	low, high := floats.Min(x), floats.Max(x)
	for i := range x {
		x[i] = (x[i] - low) / (high - low)
	}
}

// jitter is added to the diagonal of a kernel: a smooth one is singular to
// machine precision. It is the variance of noise on weights of variance 1.
const jitter = 1e-10

// correlated draws dst from a zero-mean Gaussian with env's kernel as covariance.
func correlated(dst []float64, env idrl.Environment, rng *rand.Rand) {
	kernel, ok := env.(belief.FeatureKernel)
	if !ok {
		panic("sim: a chain without a kernel")
	}
	n := len(dst)
	k := mat.NewSymDense(n, nil)
	kernel.Kernel(k)
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+jitter)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		panic("sim: the kernel is not positive definite")
	}
	normals(dst, rng)
	var lower mat.TriDense
	chol.LTo(&lower)
	v := mat.NewVecDense(n, dst)
	v.MulVec(&lower, mat.NewVecDense(n, slices.Clone(dst)))
}

// branch returns the length of a branch of a junction, M: how far apart the
// states lie that the two actions lead to from its fork.
func branch(env idrl.Environment) int {
	t, ok := env.(idrl.Tabular)
	if !ok || t.NumStates() != env.Spec().FeatureDim() {
		panic("sim: a junction without states that are its features")
	}
	var first, second []float64
	for s := range t.NumStates() {
		first, second = t.Transition(first, s, 0), t.Transition(second, s, 1)
		if m := floats.MaxIdx(second) - floats.MaxIdx(first); m > 0 {
			return m
		}
	}
	panic("sim: a junction without a fork")
}

// family returns the part of an environment's id before the first hyphen.
func family(envID string) string {
	for i, c := range envID {
		if c == '-' {
			return envID[:i]
		}
	}
	return envID
}

func normals(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
}

// Range is of this many episodes, or as many as begin within so many steps. In
// an environment of a physics engine that is up to four seconds.
const (
	randomEpisodes = 200
	randomSteps    = 20000
	randomSec      = 20.0 // seconds of a processor, where a step takes long
)

// Range returns the scale of θ·X over questions of a kind: for comparisons the
// largest difference, for ratings the largest size, over what random actions
// meet in env (over all states if it is tabular and the question is about
// states). Clips that are better than anything random exceed it. It is never 0.
// Episodes in which the simulation breaks down do not count.
func Range(env idrl.Environment, theta []float64, kind idrl.QueryKind, rng *rand.Rand) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	see := func(x []float64, scale float64) {
		u := floats.Dot(theta, x) * scale
		low, high = min(low, u), max(high, u)
	}
	if t, ok := env.(idrl.Tabular); ok && kind.Still() {
		eachState(t, func(phi []float64) { see(phi, 1) })
	} else {
		eachRandomClip(env, rng, func(phi []float64, steps int) {
			scale := 1.0
			if kind.Asked() == idrl.RateClip {
				scale = 1 / float64(steps)
			}
			see(phi, scale)
		}, kind.Still())
	}
	size := high - low
	if !kind.Made().Comparison() {
		size = max(high, -low)
	}
	if !(size > 0) { // so that NaN fails
		return 1
	}
	return size
}
