package idrl

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Policy chooses actions. It is immutable.
type Policy interface {
	// Act stores the action for obs in dst, whose length is ActionSpec.Dim(),
	// and returns it.
	Act(dst Action, obs []float64, rng *rand.Rand) Action

	// Params returns the numbers that define the policy within its solver's
	// class. They start a later solve warm. The caller must not change them.
	Params() []float64
}

// A SolveTask asks for a policy that maximises θ·μ_π.
type SolveTask struct {
	Env      Environment
	Theta    []float64   // reward weights, length d
	Warm     [][]float64 // Params of earlier policies to start from; may be empty
	Restarts int         // fresh random starts; exact solvers ignore it
}

// A Solver finds good policies.
type Solver interface {
	// Solve returns soon after ctx is done, with ctx.Err(). The result is a
	// function of task and rng.
	Solve(ctx context.Context, task SolveTask, rng *rand.Rand) (Policy, error)
}

// Origin says why a policy is a candidate.
type Origin string

// Origins of a candidate.
const (
	FromSample Origin = "sample" // optimal for a draw from the posterior (Thompson sampling)
	FromMean   Origin = "mean"   // optimal for the posterior mean
	FromPrior  Origin = "prior"  // of the pool: optimal for weights drawn from N(0, I)
	FromDraft  Origin = "draft"  // of the pool: random, where a solve would take too long
)

// A Candidate is a plausibly optimal policy.
type Candidate struct {
	ID     PolicyID
	Origin Origin
	Policy Policy    // nil once read back from a store
	Params []float64 // of Policy
	Theta  []float64 // the weights it was solved for, length d
	Mu     []float64 // μ_π, (discounted) feature expectation, length d; G(π) = θ·Mu
	Clip   ClipID    // shows the policy at work
}

// A Generation is the result of one round of training: candidates, the clips that
// may be shown, and the queries that may be asked about them. It is immutable
// and replaces its predecessor whole. It is a function of the session's seed,
// the belief at BasedOn, and the generation before it.
type Generation struct {
	BasedOn    int64 // Seq of the last log row in the belief it was trained from
	Candidates []Candidate
	Clips      map[ClipID]Clip
	Queries    []Query

	// Steps are the raw steps of the trajectories that the clips were cut from, as
	// package steps encodes them. Those of the pool come with the first generation.
	Steps map[StepsID][]byte

	// Pool is a fixed set of policies that every generation of the session was
	// trained with: Origin, ID, Mu and Clip only. The first generation alone has it.
	Pool []Candidate
}

// A TrainJob asks for a generation from a frozen belief.
type TrainJob struct {
	BasedOn   int64
	Posterior Posterior
	Seed      uint64        // of the session; streams add BasedOn
	Warm      [][]float64   // Params of the last generation's candidates
	First     bool          // the session has no generation: people wait for this one
	Progress  Progress      // may be nil
	Outlook   func(Outlook) // may be nil

	// Solved is what an interrupted training of the same job has solved for, from its
	// first candidate on. It saves time and changes nothing.
	Solved []Solved

	// Save may be nil. It is told what has been solved for whenever that has become
	// more, if a solve takes long. It must not change or keep it.
	Save func([]Solved)
}

// Solved is the outcome of a solve.
type Solved struct {
	Theta  []float64 // the weights that it was for, length d
	Params []float64 // of the policy
	Broken bool      // the simulation breaks down under every policy that was tried; there are no Params
}

// An Outlook says when the result of a job is to be expected.
type Outlook struct {
	Waiting bool      // nothing works on it yet
	Ahead   int       // jobs that come before it, those under way among them, while it is waiting
	Ready   time.Time // by how long others like it took; zero if that is not known
}

// Progress is told how far a long job is: done of total, and what it is doing.
type Progress func(done, total int, what string)

// A Trainer builds generations. Train may run for minutes; it returns ctx.Err()
// soon after ctx is done.
type Trainer interface {
	Train(ctx context.Context, job TrainJob) (Generation, error)
}
