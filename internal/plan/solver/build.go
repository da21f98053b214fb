package solver

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"tiebreak/internal/idrl"
)

// TableConfig describes the policies of a table.
type TableConfig struct {
	NewEnv   func() idrl.Differentiable // required; called once per worker, returns equal environments
	Thetas   [][]float64                // required; policy k is optimal for the reward weights Thetas[k]
	Restarts int                        // random starts of each solve; default 1
	Workers  int                        // goroutines; default 1. The result does not depend on it
	Progress idrl.Progress              // called by one goroutine at a time; may be nil
}

// BuildTable solves for every one of the weights with ActionSequence and
// returns the table of the solutions. The authors' table for Driver has 1000
// policies of 10 starts each, for weights of which all but that of the constant
// are normal and that one is 1 (docs/paper-code.md, section 1.5). It returns
// ctx.Err() soon after ctx is done, and an error of kind Invalid if there are
// no weights or they do not fit the environment.
func BuildTable(ctx context.Context, c TableConfig, rng *rand.Rand) (*Table, error) {
	n := len(c.Thetas)
	if n == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "a table needs the weights of at least one policy")
	}
	envs := make([]idrl.Differentiable, max(1, min(c.Workers, n)))
	for i := range envs {
		envs[i] = c.NewEnv()
	}
	t := &Table{Params: make([][]float64, n), Mu: matrix(n, envs[0].Spec().FeatureDim())}
	streams := fork(rng, n)
	var reporting sync.Mutex // guards done and calls of Progress
	done := 0
	err := parallel(ctx, len(envs), n, func(worker, k int) error {
		task := idrl.SolveTask{Env: envs[worker], Theta: c.Thetas[k], Restarts: max(1, c.Restarts)}
		p, err := ActionSequence{}.Solve(ctx, task, streams[k])
		if err != nil {
			return err
		}
		t.Params[k] = p.Params()
		copy(t.Mu[k], Mu(envs[worker], p, streams[k]))
		if c.Progress != nil {
			reporting.Lock()
			defer reporting.Unlock()
			done++
			c.Progress(done, n, fmt.Sprintf("solved policy %d of %d of the table", done, n))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// method describes the method of BuildTable; it changes when the same configuration gives other
// policies.
const method = "action sequences 1"

// Key returns a name for the result of BuildTable with c and a stream derived from seed: a hash of
// the method, the environment with one episode as a sample of its dynamics, the weights, the
// restarts, and the seed. It is the key for SaveTable and LoadTable.
func (c TableConfig) Key(seed uint64) string {
	env := c.NewEnv()
	h := sha256.New()
	put := func(vs ...float64) {
		b := make([]byte, 0, 8*len(vs))
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		h.Write(b)
	}
	spec := env.Spec()
	fmt.Fprintf(h, "%s\n%s\n%d %d %d %d\n", method, spec.ID, spec.Horizon, max(1, c.Restarts), seed, len(c.Thetas))
	low, high := bounds(spec)
	put(low...)
	put(high...)
	put(witness(env, low, high)...)
	for _, theta := range c.Thetas {
		put(theta...)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// witness returns the feature sums of an episode whose actions cover the bounds.
func witness(env idrl.Differentiable, low, high []float64) []float64 {
	x := make([]float64, len(low))
	for i := range x {
		x[i] = low[i] + (high[i]-low[i])*float64(i+1)/float64(len(x)+1)
	}
	p, err := newOpenLoop(env.Spec(), x)
	if err != nil {
		panic(fmt.Sprintf("solver: %v", err)) // the bounds themselves are wrong
	}
	return Mu(env, p, nil)
}
