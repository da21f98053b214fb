package training

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/plan/sac"
	"tiebreak/internal/train/jobs"
)

// Under a learnt reward network, and in sessions that ask for it, policies are trained by
// soft actor-critic (docs/adr/0025):
// the main policy on the posterior mean of the reward, and some candidates on draws from
// the posterior. Their agents go on from job to job.
const (
	// liveCandidates is how many agents there are besides that of the main policy. Each
	// job trains the main policy and one candidate, in turn.
	liveCandidates = 3

	// liveSteps is how many steps each of the two takes in a job: half a minute in all on
	// a core that has nothing else to do.
	liveSteps = 10_000

	// liveReplay is the rows of a replay at most, and liveReplayBytes its size, so that a
	// checkpoint has a few MB: 50,000 steps (5 MB) of HalfCheetah.
	liveReplay      = 50_000
	liveReplayBytes = 6 << 20
)

// byAgents reports whether a training is one of agents: under learnt features, and where
// the session asks for it; but people do not wait for them at first.
func byAgents(spec idrl.SessionSpec, learnt, first bool) bool {
	return learnt || spec.Model != idrl.NetworkModel && spec.Solver == idrl.ActorCritic && !first
}

// agentListName and agentName are the names under which the states of agents are kept.
const agentListName = "agents"

func agentName(k int) string { return "agent " + strconv.Itoa(k) }

// An agentList has the records of all agents of a session, the main policy first.
type agentList struct {
	Agents []agentRecord
	Turn   int // of the candidate that was trained last; 0 before the first
}

// An agentRecord describes an agent, beside its checkpoint.
type agentRecord struct {
	Theta    []float64 // the weights that it was trained for last
	Params   []float64 // of its policy
	Steps    int       // of the environment, in all jobs
	Restarts uint64    // how often its training began anew, as it had diverged or its checkpoint was damaged
}

// next returns the candidate whose turn it is.
func (r *agentList) next() int { return r.Turn%liveCandidates + 1 }

// liveSettings are those of the agents of an environment, whose reward may be one of its
// features.
func liveSettings(spec idrl.EnvSpec, features bool) sac.Settings {
	s := sac.Live()
	s.NormaliseReward = true // that of a network has no unit, and weights that are drawn have any scale
	s.Features = features
	s.Replay = liveReplay
	s.Replay = min(liveReplay, liveReplay*liveReplayBytes/s.ReplayBytes(spec))
	return s
}

// An agentTraining trains the agents of one job.
type agentTraining struct {
	req   request
	model *neural.Model // of the reward; nil where that is one of the environment's features
	env   func() idrl.Environment
	steps int // of each agent that is trained
	to    jobs.Reporter
	log   *slog.Logger

	list   agentList
	states map[string][]byte // to be kept
	done   int               // steps of this job
}

// train trains the main policy for the mean of p and the next candidate for a draw from p.
// It returns all policies, the main one first, and what is to be kept of the agents.
func (s *agentTraining) train(ctx context.Context, p idrl.Posterior) ([]idrl.Candidate, map[string][]byte, error) {
	s.list, s.states = s.open(), map[string][]byte{}
	turn := s.list.next()
	for len(s.list.Agents) <= turn {
		s.list.Agents = append(s.list.Agents, agentRecord{})
	}
	draw := p.Sample(nil, rng.New(s.req.Spec.Seed, "thompson", uint64(s.req.BasedOn)))
	s.list.Agents[0].Theta, s.list.Agents[turn].Theta = p.Mean(nil), draw
	for _, k := range []int{0, turn} {
		if err := s.trainAgent(ctx, k); err != nil {
			return nil, nil, err
		}
	}
	s.list.Turn = turn
	kept, err := pack.Encode(&s.list)
	if err != nil {
		return nil, nil, err
	}
	s.states[agentListName] = kept
	out, err := s.policies()
	return out, s.states, err
}

// open returns the agentList of the jobs before; an empty one if there is none.
func (s *agentTraining) open() agentList {
	return keptOf(s.req, agentListName, func(r *agentList) error {
		untrained := func(a agentRecord) bool { return a.Params == nil }
		if r.Turn < 1 || r.Turn >= len(r.Agents) || len(r.Agents) > liveCandidates+1 || slices.ContainsFunc(r.Agents, untrained) {
			return fmt.Errorf("%d agents, the last trained is number %d", len(r.Agents), r.Turn)
		}
		return nil
	}, func(err error) { s.warn("all agents start again: their stored states cannot be used", 0, err) })
}

func (s *agentTraining) warn(what string, k int, err error) {
	s.log.Warn(what, "session", s.req.Spec.ID, "based_on", s.req.BasedOn, "agent", k, "err", err)
}

// trainAgent trains agent k for its weights. An agent that diverges begins anew, once.
func (s *agentTraining) trainAgent(ctx context.Context, k int) error {
	a, err := s.agent(k)
	if err != nil {
		return err
	}
	from := s.done
	if err = s.run(ctx, k, a); err != nil && idrl.KindOf(err) == idrl.Internal && ctx.Err() == nil {
		s.warn("training diverged and begins anew", k, err)
		s.done = from
		if a, err = s.fresh(k); err == nil {
			err = s.run(ctx, k, a)
		}
	}
	if err != nil {
		return fmt.Errorf("train agent %d from answer %d: %w", k, s.req.BasedOn, err)
	}
	p := &s.list.Agents[k]
	p.Params, p.Steps = a.Policy(false).Params(), a.Status().Steps
	s.states[agentName(k)], err = a.Checkpoint()
	return err
}

// agent returns agent k as the last job left it, with its replay relabelled.
func (s *agentTraining) agent(k int) (*sac.Agent, error) {
	state := s.req.Agents[agentName(k)]
	if state == nil {
		if s.list.Agents[k].Params == nil {
			return sac.New(s.config(k))
		}
		return s.fresh(k)
	}
	c := s.config(k)
	a, err := sac.Resume(c, state)
	if err == nil {
		return a, a.SetReward(c.Reward)
	}
	s.warn("an agent begins anew: its checkpoint cannot be used", k, err)
	return s.fresh(k)
}

// fresh returns agent k as one that begins anew.
func (s *agentTraining) fresh(k int) (*sac.Agent, error) {
	s.list.Agents[k].Restarts++
	return sac.New(s.config(k))
}

func (s *agentTraining) config(k int) sac.Config {
	env, p := s.env(), s.list.Agents[k]
	return sac.Config{
		Settings: liveSettings(env.Spec(), s.model == nil), Env: env, Reward: rewardOf(s.model, p.Theta),
		Seed: rng.New(s.req.Spec.Seed, agentName(k), p.Restarts).Uint64(),
	}
}

// rewardOf returns the reward of a network under weights of its last layer; without one,
// of the environment's features.
func rewardOf(m *neural.Model, theta []float64) sac.Reward {
	if m == nil {
		return sac.Linear(theta)
	}
	e, work := m.Evaluator(theta), []float64(nil)
	return func(dst []float32, b sac.Batch) {
		if len(work) < b.N {
			work = make([]float64, b.N)
		}
		e.Reward(work[:b.N], b.Obs, b.Act, b.N)
		for i, v := range work[:b.N] {
			dst[i] = float32(v)
		}
	}
}

// told is how many steps are taken between two reports of progress.
const told = 500

// run has an agent take the steps of a job.
func (s *agentTraining) run(ctx context.Context, k int, a *sac.Agent) error {
	began, before := time.Now(), a.Status().Updates
	for left := s.steps; left > 0; left -= told {
		n := min(told, left)
		if err := a.Run(ctx, n, nil); err != nil {
			return err
		}
		s.done += n
		st := a.Status()
		rate := float64(st.Updates-before) / max(time.Since(began).Seconds(), 1e-3) // of what is shown only
		s.to.Progress(s.done, 2*s.steps+1, fmt.Sprintf("training %s: step %d, %.0f updates per second", roleOf(k), st.Steps, rate))
	}
	return nil
}

func roleOf(k int) string {
	if k == 0 {
		return "the main policy"
	}
	return fmt.Sprintf("candidate %d of %d", k, liveCandidates)
}

// policies returns those of all agents that were trained so far.
func (s *agentTraining) policies() ([]idrl.Candidate, error) {
	spec := s.env().Spec()
	var out []idrl.Candidate
	for k, p := range s.list.Agents {
		policy, err := sac.NewPolicy(spec, p.Params)
		if err != nil {
			return nil, err
		}
		origin := idrl.FromSample
		if k == 0 {
			origin = idrl.FromMean
		}
		out = append(out, idrl.Candidate{Origin: origin, Policy: policy, Theta: p.Theta})
	}
	return out, nil
}
