package librarian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/internal/behaviour"
	"tiebreak/internal/idrl"
	"tiebreak/internal/sac"
	"tiebreak/internal/solver"

	"gonum.org/v1/gonum/floats"
)

// A Skill is a behaviour that is trained for a reward.
type Skill struct {
	Name  string
	Theta map[string]float64 // weights of the reward by features
	Falls bool               // episodes of training end at a fall

	// One of these: steps of training by soft actor-critic, iterations of augmented random
	// search over linear policies, or generations of an evolution strategy over gaits.
	Steps, Iterations, Generations int
}

// skills learns what is not known.
func (b *Builder) skills(ctx context.Context) error {
	for k, s := range b.Skills {
		b.report("learning " + s.Name)
		params, ok := b.Known[s.Name]
		if !ok {
			var err error
			if params, err = b.learn(ctx, s, k); err != nil {
				return fmt.Errorf("learn %s: %w", s.Name, err)
			}
			if b.Learnt != nil {
				b.Learnt(s.Name, params)
			}
		}
		if err := b.take(ctx, s.Name, params, true); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) learn(ctx context.Context, s Skill, k int) ([]float64, error) {
	env := b.arena(s.Falls)
	if s.Steps > 0 {
		settings := sac.Live()
		settings.Features = true
		agent, err := sac.New(sac.Config{Settings: settings, Env: env, Reward: sac.Linear(b.weights(s.Theta)), Seed: b.stream("skill", k).Uint64()})
		if err != nil {
			return nil, err
		}
		if err := agent.Run(ctx, s.Steps, nil); err != nil {
			return nil, err
		}
		return behaviour.Network.Params(agent.Policy(false).Params()), nil
	}
	if s.Generations > 0 {
		e := solver.Evolve{
			Generations: s.Generations, First: 60, Judging: solver.Judging{Starts: 4, Steps: 500},
			Workers: b.Workers, NewEnv: func() idrl.Environment { return b.arena(s.Falls) },
		}
		p, err := e.Solve(ctx, idrl.SolveTask{Env: env, Theta: b.weights(s.Theta)}, b.stream("skill", k))
		if err != nil {
			return nil, err
		}
		return behaviour.Gait.Params(p.Params()), nil
	}
	search := b.env.Spec().Search
	ars := solver.ARS{
		StepSize: search.StepSize, NoiseStd: search.NoiseStd, Directions: 8, Top: 4, Episodes: 1, Normalise: true,
		Iterations: s.Iterations, Workers: b.Workers, NewEnv: func() idrl.Environment { return b.arena(s.Falls) },
	}
	p, err := ars.Solve(ctx, idrl.SolveTask{Env: env, Theta: b.weights(s.Theta)}, b.stream("skill", k))
	if err != nil {
		return nil, err
	}
	return behaviour.Linear.Params(p.Params()), nil
}

// arena returns an environment to search in.
func (b *Builder) arena(falls bool) idrl.Environment {
	if falls {
		return idrl.UntilFall(b.NewEnv())
	}
	return b.NewEnv()
}

// A mutation of a network changes its last layer, by up to a share of its size.
const (
	leastMutation = 0.03
	mutationSpan  = 20
)

// mutants tries mutations of the skills, and of those that can be watched.
func (b *Builder) mutants(ctx context.Context) error {
	stream := b.stream("mutants", 0)
	b.report("mutations of what was learnt")
	for k := range b.Mutants {
		if len(b.found) == 0 {
			return nil
		}
		parent := b.found[stream.IntN(len(b.found))]
		params, err := b.mutate(parent.Params, stream)
		if err != nil {
			return err
		}
		if err := b.take(ctx, fmt.Sprintf("%s, changed %d", root(parent.Name), k+1), params, false); err != nil {
			return err
		}
	}
	return nil
}

// root returns the name of the skill that a behaviour is a mutation of.
func root(name string) string {
	name, _, _ = strings.Cut(name, ",")
	return name
}

// mutate returns params with noise: on the last layer of a network, the weights of a linear
// policy, or the oscillator of a gait.
func (b *Builder) mutate(params []float64, stream *rand.Rand) ([]float64, error) {
	spec := b.env.Spec()
	if own, ok := behaviour.Gait.Own(params); ok {
		return behaviour.Gait.Params(solver.Mutate(spec, own, stream)), nil
	}
	out, nu := slices.Clone(params), spec.Actions.Dim()
	part := out[1 : 1+nu*spec.ObsDim]
	if _, ok := behaviour.Network.Own(params); ok {
		hidden := int(params[4+int(params[4])])
		part = out[len(out)-2*nu*(hidden+1):]
		part = part[:nu*hidden]
	}
	share := leastMutation * (1 + (mutationSpan-1)*stream.Float64()*stream.Float64())
	size := rms(part)
	for i := range part {
		part[i] += share * size * stream.NormFloat64()
	}
	return out, nil
}

func rms(x []float64) float64 { return floats.Norm(x, 2) / math.Sqrt(float64(len(x))) }
