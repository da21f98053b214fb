package librarian

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/sac"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Network is soft actor-critic with the live settings. The policy takes its mean actions.
//
// What the network observes of the time grows wrong towards the end of an episode, which
// few episodes of training have reached: robots that have hopped for six seconds fall. So
// the time is held at the share of the episode at which the policy is best, by the mean
// less half of the standard deviation of the returns from several starts.
type Network struct {
	Steps int // of training
	Seed  uint64

	// From names an earlier skill by Network whose training goes on under this reward, to
	// which what was seen is relabelled; empty for none.
	From string
}

// Shares of an episode at which time is held, and starts from which policies are judged.
const judgedStarts = 8

var heldAt = []float64{0.1, 0.15, 0.2, 0.3, 0.45}

func (w Network) learn(ctx context.Context, b *Builder, s Skill) ([]float64, error) {
	agent, err := w.agent(b, s)
	if err != nil {
		return nil, err
	}
	if err := agent.Run(ctx, w.Steps, nil); err != nil {
		return nil, err
	}
	if b.trained[s.Name], err = agent.Checkpoint(); err != nil {
		return nil, err
	}
	own := agent.Policy(false).Params()
	b.raw[s.Name] = own
	return b.hold(ctx, own, s)
}

// hold returns the policy whose time is held where that is best.
func (b *Builder) hold(ctx context.Context, own []float64, s Skill) ([]float64, error) {
	best, most := own, math.Inf(-1)
	for _, share := range append([]float64{-1}, heldAt...) {
		params := own
		if share >= 0 {
			params = holdTime(own, b.env.Spec(), share)
		}
		score, err := b.score(ctx, behaviour.Network.Params(params), s)
		if err != nil {
			return nil, err
		}
		if score > most {
			best, most = params, score
		}
	}
	return behaviour.Network.Params(best), nil
}

// Blend is between two skills by Network, of which one was trained from the other: each
// weight is that of A and Share of the way from there to that of B. What lies between
// hopping and standing hops slowly, which no reward that is linear in the features asks for.
type Blend struct {
	A, B  string
	Share float64
}

func (w Blend) learn(ctx context.Context, b *Builder, s Skill) ([]float64, error) {
	from, to := b.raw[w.A], b.raw[w.B]
	if from == nil || len(from) != len(to) {
		return nil, fmt.Errorf("there are no networks %q and %q of one size", w.A, w.B)
	}
	own := make([]float64, len(from))
	for i := range own {
		own[i] = float64(float32((1-w.Share)*from[i] + w.Share*to[i]))
	}
	return b.hold(ctx, own, s)
}

// agent returns what trains.
func (w Network) agent(b *Builder, s Skill) (*sac.Agent, error) {
	settings := sac.Live()
	settings.Features = true
	reward := sac.Linear(b.weights(s.Theta))
	c := sac.Config{Settings: settings, Env: b.saved(s.Falls), Reward: reward, Seed: w.Seed}
	if w.From == "" {
		return sac.New(c)
	}
	agent, err := sac.Resume(c, b.trained[w.From])
	if err != nil {
		return nil, err
	}
	return agent, agent.SetReward(reward)
}

// saved returns an arena whose states can be saved while an episode is under way.
func (b *Builder) saved(falls bool) idrl.Environment {
	env := b.NewEnv()
	states, ok := env.(idrl.Snapshotter)
	if !falls || !ok {
		return env
	}
	return struct {
		idrl.Environment
		idrl.Snapshotter
	}{idrl.UntilFall(env), states}
}

// score returns the mean less half of the standard deviation of the returns of a policy in
// the arena of a skill; −∞ if the simulation breaks down.
func (b *Builder) score(ctx context.Context, params []float64, s Skill) (float64, error) {
	task := b.task(s)
	p, err := behaviour.New(task.Env.Spec(), params)
	if err != nil {
		return 0, err
	}
	returns := make([]float64, judgedStarts)
	for n := range returns {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for _, step := range idrl.EpisodeOf(task.Env, p, stream("judged", uint64(n))) {
			if step.Broken {
				return math.Inf(-1), nil
			}
			if step.Kind != idrl.First {
				returns[n] += floats.Dot(task.Theta, step.Phi)
			}
		}
	}
	mean, std := stat.PopMeanStdDev(returns, nil)
	return mean - std/2, nil
}

// A layout is where the parameters of a network are (sac.Policy).
type layout struct {
	head, seen, hidden int // numbers before the weights, inputs, units of the first layer
}

func layoutOf(own []float64, spec idrl.EnvSpec) layout {
	l := layout{head: 4 + int(own[3]), seen: spec.ObsDim, hidden: int(own[4])}
	if own[2] != 0 {
		l.seen++
	}
	return l
}

// holdTime returns the policy that acts as if the given share of the episode were over: the
// weights of the time become part of the biases.
func holdTime(own []float64, spec idrl.EnvSpec, share float64) []float64 {
	if own[2] == 0 {
		return own
	}
	l := layoutOf(own, spec)
	left := 1 - share
	out := slices.Clone(own[:l.head])
	out[2] = 0
	weights, rest := own[l.head:][:l.hidden*l.seen], own[l.head+l.hidden*l.seen:]
	biases := slices.Clone(rest[:l.hidden])
	for i := range l.hidden {
		row := weights[i*l.seen:][:l.seen]
		out = append(out, row[:l.seen-1]...)
		biases[i] = float64(float32(biases[i] + left*row[l.seen-1]))
	}
	return slices.Concat(out, biases, rest[l.hidden:])
}

// lastWeights returns the weights of the means of the actions, which share the memory of own.
func lastWeights(own []float64, spec idrl.EnvSpec) []float64 {
	hidden, nu := int(own[3+int(own[3])]), spec.Actions.Dim()
	part := own[len(own)-2*nu*(hidden+1):]
	return part[:nu*hidden]
}
