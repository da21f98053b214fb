package session

import "tiebreak/internal/idrl"

// A Review holds the recommendation of a session and its statement of regret.
type Review struct {
	Seq     int64            // of the last log row
	BasedOn int64            // of the generation in use; -1 if there is none
	Best    idrl.Candidate   // what the session recommends; no ID before the first generation
	Known   []idrl.Candidate // every known policy
	Regret  idrl.Regret      // of Definition 0, but with the session's Tolerance, where none is stated
	Mean    []float64        // posterior mean of the weights, length d

	Posterior idrl.Posterior      // of the weights
	Features  idrl.Representation // that the weights are of; nil for those of the environment
	Impaired  error               // why the features learnt last are not in use; nil if they are
	InUse     []idrl.Candidate    // the candidates of the generation in use
}

// ReviewRecord returns what the session of cfg.Record recommends, as its page would
// show it. It runs nothing; of cfg it needs what New needs.
func ReviewRecord(cfg Config) (Review, error) {
	s, err := New(cfg)
	if err != nil {
		return Review{}, err
	}
	r := Review{Seq: s.log.seq(), BasedOn: -1, Mean: s.learner.Posterior().Mean(nil)}
	r.Posterior, r.Features, r.Impaired = s.learner.Posterior(), s.features.rep, s.impaired
	if s.gen == nil {
		return r, nil
	}
	r.InUse = s.gen.Candidates
	r.BasedOn, r.Best, r.Known = s.gen.BasedOn, s.lead().Leader, s.learner.Policies().Known()
	r.Regret.Tolerance = s.spec.Tolerance
	if curve := s.curve(); len(curve) > 0 {
		r.Regret = curve[len(curve)-1]
	}
	return r, nil
}
