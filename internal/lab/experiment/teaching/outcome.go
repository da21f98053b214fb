package teaching

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/plan/behaviour"

	"gonum.org/v1/gonum/floats"
)

// An Outcome holds the episodes of a policy from start states that were not used in training.
// It is not shown to the person or the session of a lesson.
type Outcome struct {
	Episodes []Episode
}

// An Episode is one of them.
type Episode struct {
	Return   float64 // under the true reward; 0 where the environment has none
	Forward  float64 // m, until the robot falls, or to the end
	Turns    float64 // backwards, over the whole episode
	Near     float64 // share of the steps within nearTarget of the target; 0 where there is none
	Arrived  bool    // it was in the middle cell of a corridor
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

// nearTarget is how near the tip of an arm is to its target to be there, m.
const nearTarget = 0.02

// A gauge reads the features of a step.
type gauge struct {
	spec                           idrl.EnvSpec
	forward, turning, target, goal int // places of features, −1 where there is none
}

func newGauge(spec idrl.EnvSpec) gauge {
	at := func(name string) int { return slices.Index(spec.FeatureNames, name) }
	return gauge{spec, at("Distance forward"), at("Rotation backwards"), at("Distance to the target"), at("Cell 7: staying")}
}

func (g gauge) read(e *Episode, phi []float64) {
	if g.turning >= 0 {
		e.Turns += phi[g.turning] / (2 * math.Pi)
	}
	if g.target >= 0 && phi[g.target] <= 50*g.spec.StepSeconds*nearTarget { // in units of 2 cm·s
		e.Near += 1 / float64(g.spec.Horizon)
	}
	e.Arrived = e.Arrived || g.goal >= 0 && phi[g.goal] > 0
	if e.Fell {
		return
	}
	e.Steps++
	if g.forward >= 0 {
		e.Forward += phi[g.forward]
	}
}

func episode(env idrl.Environment, p idrl.Policy, theta []float64, n int) (Episode, error) {
	g := newGauge(env.Spec())
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
		g.read(&e, step.Phi)
		e.Fell = e.Fell || falls && faller.Fallen()
	}
	return e, nil
}

// Return is the mean of the true returns.
func (o Outcome) Return() float64 { return o.mean(func(e Episode) float64 { return e.Return }) }

// Forward is the median of the ways forward, m.
func (o Outcome) Forward() float64 {
	return o.median(func(e Episode) float64 { return e.Forward })
}

// Turns is the median of the turns backwards.
func (o Outcome) Turns() float64 { return o.median(func(e Episode) float64 { return e.Turns }) }

// Near is the median of the shares of the steps near the target.
func (o Outcome) Near() float64 { return o.median(func(e Episode) float64 { return e.Near }) }

// Steps is the mean number of steps before a fall, or of the episode.
func (o Outcome) Steps() float64 { return o.mean(func(e Episode) float64 { return float64(e.Steps) }) }

// Falls is the number of episodes in which the robot falls.
func (o Outcome) Falls() int { return o.count(func(e Episode) bool { return e.Fell }) }

// Arrived is the number of episodes in which the robot comes to the goal.
func (o Outcome) Arrived() int { return o.count(func(e Episode) bool { return e.Arrived }) }

func (o Outcome) count(is func(Episode) bool) (n int) {
	for _, e := range o.Episodes {
		if is(e) {
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
	return stats.Median(all)
}
