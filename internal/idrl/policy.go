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

// A Timed policy also depends on the step of the episode. Its Act is ActAt with t = 0.
type Timed interface {
	Policy
	// ActAt is Act after t steps of the episode. EpisodeOf calls it instead of Act.
	ActAt(dst Action, obs []float64, t int, rng *rand.Rand) Action
}

// A SolveTask asks for a policy that maximises θ·μ_π.
type SolveTask struct {
	Env      Environment
	Theta    []float64   // reward weights, length d
	Warm     [][]float64 // Params of earlier policies to start from; may be empty
	Restarts int         // fresh random starts; exact solvers ignore it

	// Resume is the last argument of Save in an interrupted solve of the same task with an equal
	// stream; nil for none. It saves time and changes no result. Solvers without a state worth
	// keeping ignore both.
	Resume []byte

	// Save may be nil. The solver passes it the state from which the solve can continue after an
	// interruption.
	Save func(state []byte)
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
	FromPrior  Origin = "prior"  // of the pool: optimal for random weights of features, or of features and states
	FromDraft  Origin = "draft"  // of the pool: random, where a solve would take too long

	FromLibrary Origin = "library" // of the library of the robot
	FromUpload  Origin = "upload"  // what a program has uploaded: one episode
	FromGiven   Origin = "given"   // of the pool: acted in rollouts that were imported
)

// A Candidate is a plausibly optimal policy.
type Candidate struct {
	ID     PolicyID
	Origin Origin
	Policy Policy      // nil once read back from a store
	Params []float64   // of Policy
	Theta  []float64   // the weights it was solved for, length d
	Mu     []float64   // μ_π, (discounted) feature expectation of the environment's features; G(π) = θ·Mu
	Mus    [][]float64 // (discounted) features of single episodes, whose mean is Mu, each of length d; nil where policies are ranked without their spread
	Clip   ClipID      // shows the policy in action

	Rollouts []StepsID // raw steps of episodes that are kept, from which other features are computed; may be empty
	Acted    Acted     // what an upload says of its trajectory; empty of others
}

// A Generation is the result of one round of training: candidates, the clips that may be shown, and
// the queries that may be asked about them. It is immutable and replaces its predecessor as a
// whole. It is a function of the session's seed, the posterior at BasedOn, and the generation
// before it; one that a follow-up extended (TrainJob.From) also depends on the available time.
type Generation struct {
	BasedOn    int64 // Seq of the last log row in the belief it was trained from
	Candidates []Candidate
	Clips      map[ClipID]Clip
	Queries    []Query

	// Engine names the physics engine that its episodes were computed with, and its
	// version, "MuJoCo 3.3.7"; that of its last follow-up if they differ. It is empty where there is none, or in older records.
	Engine string

	// Steps are the raw steps of the trajectories that the clips were cut from, as
	// package steps encodes them. Those of the pool come with the first generation.
	Steps map[StepsID][]byte

	// Agents are the states of trainings that continue in the next generation, by name, in a form
	// that only the trainer reads. A journal keeps the newest of each name. Nil if trainings start
	// again each time.
	Agents map[string][]byte

	// Pool is a fixed set of policies that every generation of the session was
	// trained with: Origin, ID, Mu and Clip only. The first generation alone has it.
	Pool []Candidate

	// Cov is the upper triangle, by rows, of the covariance of the weights in the posterior from
	// which it was trained. Journal.Load leaves it out.
	Cov []float64
}

// A TrainJob asks for a generation from a fixed posterior.
type TrainJob struct {
	BasedOn   int64
	Posterior Posterior
	Features  Representation // whose weights Posterior is about; nil for the features of the environment
	Seed      uint64         // of the session; streams add BasedOn
	Warm      [][]float64    // Params of the last generation's candidates
	First     bool           // the session has no generation: people wait for this one
	Last      bool           // no answer is expected after those in Posterior, so that there is time
	Soon      bool           // the generation in use has learnt from no answer
	Progress  Progress       // may be nil
	Outlook   func(Outlook)  // may be nil

	// From is 0, except in a follow-up: then it is the number of candidates of the generation in
	// use, that of BasedOn. A follow-up continues the searches while no training is due, from a
	// posterior that may include later answers. Its result has candidates to be added to that
	// generation, with their clips and queries; only Agents if every policy that it found is in
	// Warm.
	From int

	// Resume is the state of an interrupted training of the same job, as Save received it last. It
	// saves time and changes no result.
	Resume TrainState

	// Save may be nil. It receives the state of the training after each step, if the training takes
	// long. It must not change the state.
	Save func(TrainState)

	// Made may be nil. In a first generation, for which people wait, it receives the drawn clips
	// and the raw steps of each policy of the pool as soon as they are made. The generation
	// contains them, too, except clips about which it has no query. It must not change them.
	Made func(part Generation)
}

// A TrainState is the state of a training.
type TrainState struct {
	Pool   []Solved // policies of the pool, in the order drawn; in a first generation only
	Solved []Solved // for candidates, in the order drawn
	Search []byte   // state of the next solve, as SolveTask.Save receives it; nil for none
}

// Solved is the outcome of a solve.
type Solved struct {
	Theta  []float64 // the weights that it was for, length d
	Params []float64 // of the policy
	Broken bool      // the simulation broke down under every policy that was tried; all else is empty

	// Of a policy of the pool only: others are rolled out again.
	Mu    []float64 // μ_π, length d
	Shown []Shown   // its rollouts, at least one
}

// Shown is the part of a rollout that is kept.
type Shown struct {
	Episode int    // of the policy, from 0
	Clips   []Clip // that may be shown, drawn, without snapshots; the opening first
	Steps   []byte // the raw steps, encoded; nil if they are not kept
}

// An Outlook says when the result of a job can be expected.
type Outlook struct {
	Waiting bool      // nothing works on it yet
	Ahead   int       // jobs that come before it, those under way among them, while it is waiting
	Ready   time.Time // estimated from similar jobs; zero if that is not known
	Paused  bool      // a worker has it, and does a shorter one first
}

// Progress receives the progress of a long job: done of total, and the present step.
type Progress func(done, total int, what string)

// A Trainer builds generations. Train may run for minutes; it returns ctx.Err()
// soon after ctx is done.
type Trainer interface {
	Train(ctx context.Context, job TrainJob) (Generation, error)
}
