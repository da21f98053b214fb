package experiment

import (
	"context"
	"math"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/belief"

	"tiebreak/envs/gridworld"
)

// Treatments of an answer that both are equal. Source: docs/reproduction.md,
// section 4.
const (
	interval    = "interval" // it says that the difference lies in a band: the probit's own likelihood
	forced      = "forced"   // there is no such answer; the expert takes the side that it perceives as better
	randomSide  = "random"   // it is turned into a random side
	droppedTies = "dropped"  // it is not used
)

// treatments returns the names of the treatments.
func treatments() []string { return []string{interval, forced, randomSide, droppedTies} }

// tieRows are IDRL with each treatment.
func tieRows() (out []string) {
	for _, t := range treatments() {
		out = append(out, "idrl:"+t)
	}
	return out
}

// tieBeta is the rationality of the expert who may find both equal.
const tieBeta = 3

// tieBand is the difference of rewards in [0, 1] up to which the expert
// perceives two states as equal.
const tieBand = 0.25

// tiesInstances makes gridworlds with an expert who perceives u plus logistic noise
// and finds what lies within the band equal.
func tiesInstances(_ context.Context, e Experiment, _ Options) (maker, error) {
	return func(ctx context.Context, seed uint64) (*instance, error) {
		env := gridworld.New(gridworld.Config{}, rng.New(seed, "layout", 0))
		t := tabular{env: env, theta: sim.NewTask(env, rng.New(seed, "task", 0)).Theta}
		t.cov = identity(len(t.theta))
		w, err := t.instance(ctx, e, seed)
		if err != nil {
			return nil, err
		}
		return w, tieExperts(w, t)
	}, nil
}

// tieExperts gives w its treatments.
func tieExperts(w *instance, t tabular) error {
	task := sim.Task{Env: t.env.Spec().ID, Theta: t.theta}
	opt := sim.Options{Range: 1, Temperature: 1.0 / tieBeta, TieBand: tieBand}
	expert, err := sim.NewExpert("tie-band", task, opt)
	if err != nil {
		return err
	}
	opt.ForcedChoice = true
	chooser, err := sim.NewExpert("tie-band", task, opt)
	if err != nil {
		return err
	}
	ask := func(of sim.Expert, q int, n uint64) idrl.Answer {
		return of.Answer(w.queries[q], w.answerStream(q, n))
	}
	noiseStd := math.Sqrt(8/math.Pi) / tieBeta // as steep as the logistic at zero
	two := belief.Model{Start: w.prior, Comparison: belief.Probit{NoiseStd: noiseStd}}
	three := belief.Model{Start: w.prior, Comparison: belief.Probit{NoiseStd: noiseStd, TieBand: tieBand}}
	w.variants = map[string]func(*instance){}
	for name, t := range map[string]treatment{
		interval: {three, func(q int, n uint64) idrl.Answer { return ask(expert, q, n) }},
		forced:   {two, func(q int, n uint64) idrl.Answer { return ask(chooser, q, n) }},
		randomSide: {two, func(q int, n uint64) idrl.Answer {
			a := ask(expert, q, n)
			if a.Choice == idrl.Equal {
				side := rng.New(w.seed, "side "+string(w.queries[q].ID), n).IntN(2)
				a.Choice = []idrl.Choice{idrl.ChoseA, idrl.ChoseB}[side]
			}
			return a
		}},
		droppedTies: {two, func(q int, n uint64) idrl.Answer {
			a := ask(expert, q, n)
			if a.Choice == idrl.Equal {
				a.Choice = idrl.CantTell
			}
			return a
		}},
	} {
		w.variants[name] = t.in
	}
	return nil
}

// A treatment is what becomes of the expert's answers, and how they are modelled.
type treatment struct {
	model  belief.Model
	answer func(q int, n uint64) idrl.Answer
}

// in makes w the instance of the treatment.
func (t treatment) in(w *instance) { w.model, w.answer = t.model, t.answer }
