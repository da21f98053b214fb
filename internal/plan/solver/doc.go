// Package solver finds policies that maximise a known linear reward θ·φ:
// exactly in a tabular environment, by projected quasi-Newton ascent over
// action sequences in a differentiable one, by augmented random search over
// linear policies in any other with continuous actions. Among gaits, policies of one
// oscillator, Evolve searches by an evolution strategy, Feedback adds feedback, and
// Novelty finds gaits that differ, without a reward. A Table lists policies and finds the
// best of them for a reward.
package solver
