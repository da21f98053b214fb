package teaching

import (
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/behaviour"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"

	"gonum.org/v1/gonum/floats"
)

// An Outcome is what a policy does in episodes from start states that no training has
// seen. No person and no session sees it.
type Outcome struct {
	Episodes []Episode
}

// An Episode is one of them.
type Episode struct {
	Return   float64 // under the true reward; 0 where the environment has none
	Forward  float64 // m, until the robot falls, or to the end
	Steps    int     // until then
	Fell     bool
	Features []float64 // sums over the whole episode
}

const (
	outcomeEpisodes = 8
	outcomeSeed     = 1999
)

// Play returns the outcome of a policy in env.
func Play(ctx context.Context, env idrl.Environment, params []float64) (Outcome, error) {
	p, err := behaviour.New(env.Spec(), params)
	if err != nil {
		return Outcome{}, err
	}
	theta := sim.NewTask(env, nil).Theta
	var out Outcome
	for n := range outcomeEpisodes {
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		e, err := episode(env, p, theta, n)
		if err != nil {
			return Outcome{}, err
		}
		out.Episodes = append(out.Episodes, e)
	}
	return out, nil
}

func episode(env idrl.Environment, p idrl.Policy, theta []float64, n int) (Episode, error) {
	forward := slices.Index(env.Spec().FeatureNames, "Distance forward")
	faller, falls := env.(idrl.Faller)
	e := Episode{Features: make([]float64, env.Spec().FeatureDim())}
	for _, step := range idrl.EpisodeOf(env, p, rng.New(outcomeSeed, "outcome", uint64(n))) {
		if step.Broken {
			return e, fmt.Errorf("the simulation breaks down in episode %d", n)
		}
		if step.Kind == idrl.First {
			continue
		}
		floats.Add(e.Features, step.Phi)
		e.Return += floats.Dot(theta, step.Phi)
		if e.Fell {
			continue
		}
		e.Steps++
		if forward >= 0 {
			e.Forward += step.Phi[forward]
		}
		e.Fell = falls && faller.Fallen()
	}
	return e, nil
}

// Return is the mean of the true returns.
func (o Outcome) Return() float64 { return o.mean(func(e Episode) float64 { return e.Return }) }

// Forward is the median of the ways forward, m.
func (o Outcome) Forward() float64 {
	return o.median(func(e Episode) float64 { return e.Forward })
}

// Steps is the mean number of steps before a fall, or of the episode.
func (o Outcome) Steps() float64 { return o.mean(func(e Episode) float64 { return float64(e.Steps) }) }

// Falls is the number of episodes in which the robot falls.
func (o Outcome) Falls() (n int) {
	for _, e := range o.Episodes {
		if e.Fell {
			n++
		}
	}
	return n
}

func (o Outcome) mean(of func(Episode) float64) (sum float64) {
	for _, e := range o.Episodes {
		sum += of(e) / float64(len(o.Episodes))
	}
	return sum
}

func (o Outcome) median(of func(Episode) float64) float64 {
	var all []float64
	for _, e := range o.Episodes {
		all = append(all, of(e))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}
